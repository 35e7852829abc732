package emu

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// mmaText loads for each lane four words of A, two of B and four of C, and stores four of D.
const mmaText = `.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0)
{
.reg .b64 %at, %d;
.reg .b32 %t, %a<4>, %b<2>, %c<4>;
.reg .pred %p;
ld.param.u64 %at, [k_param_0];
mov.u32 %t, %tid.x;
setp.eq.u32 %p, %t, 40;
mul.wide.u32 %d, %t, 40;
add.s64 %at, %at, %d;
ld.global.u32 %a0, [%at];
ld.global.u32 %a1, [%at+4];
ld.global.u32 %a2, [%at+8];
ld.global.u32 %a3, [%at+12];
ld.global.u32 %b0, [%at+16];
ld.global.u32 %b1, [%at+20];
ld.global.u32 %c0, [%at+24];
ld.global.u32 %c1, [%at+28];
ld.global.u32 %c2, [%at+32];
ld.global.u32 %c3, [%at+36];
GUARDmma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%c0,%c1,%c2,%c3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, {%c0,%c1,%c2,%c3};
st.global.u32 [%at+24], %c0;
st.global.u32 [%at+28], %c1;
st.global.u32 [%at+32], %c2;
st.global.u32 [%at+36], %c3;
ret;
}
`

// The product is that of matrices whose parts the lanes hold as the manual of PTX says: a_i is in
// row g, or g+8 if i/4 is odd, and column 4t + i%4, or 16 further from i = 8 on; b_i in row
// 4t + i%4, or 16 further from i = 4 on, and column g; c_i in row g, or g+8 from i = 2 on, and
// column 2t + i%2.
func TestMMAIsAMatrixProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for round := range 20 {
		var a [16][32]int8
		var b [32][8]int8
		var c [16][8]int32
		for i := range 16 {
			for k := range 32 {
				a[i][k] = int8(rng.Uint32())
				if round == 0 {
					a[i][k] = -128
				}
			}
			for j := range 8 {
				c[i][j] = int32(rng.Uint32()) // sums wrap around
			}
		}
		for k := range 32 {
			for j := range 8 {
				b[k][j] = int8(rng.Uint32())
				if round == 0 {
					b[k][j] = -128
				}
			}
		}
		buf := make([]byte, 32*40)
		for l := range 32 {
			g, t := l/4, l%4
			at := buf[l*40:]
			for i := range 16 {
				at[i] = byte(a[g+i/4%2*8][4*t+i%4+i/8*16])
			}
			for i := range 8 {
				at[16+i] = byte(b[4*t+i%4+i/4*16][g])
			}
			for i := range 4 {
				binary.LittleEndian.PutUint32(at[24+4*i:], uint32(c[g+i/2*8][2*t+i%2]))
			}
		}
		out, err := launch(t, strings.Replace(mmaText, "GUARD", "", 1), "k", 1, 32, buf)
		if err != nil {
			t.Fatal(err)
		}
		for l := range 32 {
			for i := range 4 {
				row, col := l/4+i/2*8, l%4*2+i%2
				want := c[row][col]
				for k := range 32 {
					want += int32(a[row][k]) * int32(b[k][col])
				}
				if got := int32(binary.LittleEndian.Uint32(out[l*40+24+4*i:])); got != want {
					t.Fatalf("round %d, row %d, column %d: %d, want %d", round, row, col, got, want)
				}
			}
		}
	}
}

// A warp that is not whole cannot multiply, and other shapes are refused by name.
func TestMMANeedsAWholeWarp(t *testing.T) {
	for _, guard := range []string{"@!%p ", "@%p "} { // lane 8 of the second warp is away, or alone
		_, err := launch(t, strings.Replace(mmaText, "GUARD", guard, 1), "k", 1, 64, make([]byte, 64*40))
		if err == nil || !strings.Contains(err.Error(), "all of a warp") {
			t.Errorf("%q: %v", guard, err)
		}
	}
	for _, shape := range []string{"m16n8k16.row.col.s32.s8.s8.s32", "m16n8k32.row.col.s32.u8.s8.s32"} {
		text := strings.Replace(mmaText, "m16n8k32.row.col.s32.s8.s8.s32", shape, 1)
		if _, err := launch(t, strings.Replace(text, "GUARD", "", 1), "k", 1, 32, make([]byte, 32*40)); err == nil {
			t.Errorf("%s was accepted", shape)
		}
	}
}
