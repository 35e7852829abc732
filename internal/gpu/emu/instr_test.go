package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// launch runs a kernel of a PTX text, with a buffer of bytes as its only parameter, and returns the
// buffer afterwards.
func launch(t *testing.T, text, kernel string, blocks, threads int, buf []byte) ([]byte, error) {
	t.Helper()
	d := New(Options{})
	m, err := d.LoadModule(text)
	if err != nil {
		return nil, err
	}
	k, err := d.Kernel(m, kernel)
	if err != nil {
		return nil, err
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Alloc(int64(len(buf)))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CopyIn(p, buf, s); err != nil {
		t.Fatal(err)
	}
	args := binary.LittleEndian.AppendUint64(nil, uint64(p))
	if err := d.Launch(k, driver.Dim{Blocks: [3]int{blocks, 1, 1}, Threads: [3]int{threads, 1, 1}},
		args, s); err != nil {
		return nil, err
	}
	out := make([]byte, len(buf))
	if err := d.CopyOut(out, p, s); err != nil {
		return nil, err
	}
	return out, d.SyncStream(s)
}

// entry wraps a body in a minimal PTX module. The buffer's address is in %buf, the thread's number
// in %t. Registers of 64, 32 and 16 bits, floats and predicates are declared.
func entry(body string) string {
	return `.version 7.8
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_param_0)
{
.reg .b64 %buf, %at, %d<8>;
.reg .b32 %t, %r<8>;
.reg .b16 %h<8>;
.reg .f32 %f<8>;
.reg .f64 %g<8>;
.reg .pred %p<8>;
.shared .align 16 .b8 sh[1024];
ld.param.u64 %buf, [k_param_0];
mov.u32 %t, %tid.x;
` + body + `
ret;
}
`
}

// operands returns values that are likely to reveal mistakes, and random ones.
func operands(n int, seed uint64) []uint64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	odd := []uint64{0, 1, 2, 31, 32, 33, 63, 64, 255, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff,
		0x7fffffff, 0x80000000, 0xffffffff,
		1 << 32, 1<<63 - 1, 1 << 63, ^uint64(0), ^uint64(1), 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
		0x3ff0000000000000, 0x7ff0000000000000, 0x4b800000, 0x4f000000, 0xcf000000, 0xbf000000, 0x3effffff}
	out := make([]uint64, n)
	for i := range out {
		switch rng.IntN(4) {
		case 0:
			out[i] = odd[rng.IntN(len(odd))]
		case 1:
			out[i] = uint64(rng.IntN(70))
		case 2:
			f := float32(math.Ldexp(rng.Float64()*2-1, rng.IntN(80)-40))
			out[i] = uint64(math.Float32bits(f))
		default:
			out[i] = rng.Uint64()
		}
	}
	return out
}

func s32(v uint64) int32 { return int32(uint32(v)) }
func u32(v int32) uint64 { return uint64(uint32(v)) }

func boolBits(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// TestInstructions runs every arithmetic instruction on unusual values and compares with what Go
// computes. The letters before the colon are the registers: d, r, h are integers of 64, 32 and 16
// bits, f and g floats of 32 and 64 bits, p a predicate.
func TestInstructions(t *testing.T) {
	nan32 := func(f float32) uint64 {
		if f != f {
			return 0x7fffffff
		}
		return uint64(math.Float32bits(f))
	}
	for _, c := range []struct {
		op   string
		want func(a, b, c uint64) uint64
	}{
		{"rrr: add.s32", func(a, b, _ uint64) uint64 { return uint64(uint32(a) + uint32(b)) }},
		{"ddd: add.s64", func(a, b, _ uint64) uint64 { return a + b }},
		{"hhh: add.s16", func(a, b, _ uint64) uint64 { return uint64(uint16(a) + uint16(b)) }},
		{"rrr: sub.s32", func(a, b, _ uint64) uint64 { return uint64(uint32(a) - uint32(b)) }},
		{"ddd: sub.s64", func(a, b, _ uint64) uint64 { return a - b }},
		{"rrr: mul.lo.s32", func(a, b, _ uint64) uint64 { return uint64(uint32(a) * uint32(b)) }},
		{"ddd: mul.lo.s64", func(a, b, _ uint64) uint64 { return a * b }},
		{"rrr: mul.hi.u32", func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) >> 32 }},
		{"rrr: mul.hi.s32", func(a, b, _ uint64) uint64 { return uint64(int64(s32(a))*int64(s32(b))>>32) & full }},
		{"ddd: mul.hi.u64", func(a, b, _ uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }},
		{"ddd: mul.hi.s64", func(a, b, _ uint64) uint64 {
			p := new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(int64(b)))
			return uint64(p.Rsh(p, 64).Int64())
		}},
		{"drr: mul.wide.u32", func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) }},
		{"drr: mul.wide.s32", func(a, b, _ uint64) uint64 { return uint64(int64(s32(a)) * int64(s32(b))) }},
		{"rhh: mul.wide.u16", func(a, b, _ uint64) uint64 { return uint64(uint32(uint16(a)) * uint32(uint16(b))) }},
		{"rrrr: mad.lo.s32", func(a, b, c uint64) uint64 { return uint64(uint32(a)*uint32(b) + uint32(c)) }},
		{"drrd: mad.wide.u32", func(a, b, c uint64) uint64 { return uint64(uint32(a))*uint64(uint32(b)) + c }},
		{"drrd: mad.wide.s32", func(a, b, c uint64) uint64 { return uint64(int64(s32(a))*int64(s32(b))) + c }},
		{"rrr: div.u32", func(a, b, _ uint64) uint64 {
			if uint32(b) == 0 {
				return full
			}
			return uint64(uint32(a) / uint32(b))
		}},
		{"rrr: div.s32", func(a, b, _ uint64) uint64 {
			if s32(b) == 0 {
				return full
			}
			return u32(s32(a) / s32(b))
		}},
		{"ddd: rem.u64", func(a, b, _ uint64) uint64 {
			if b == 0 {
				return a
			}
			return a % b
		}},
		{"rrr: min.s32", func(a, b, _ uint64) uint64 { return u32(min(s32(a), s32(b))) }},
		{"rrr: max.u32", func(a, b, _ uint64) uint64 { return uint64(max(uint32(a), uint32(b))) }},
		{"ddd: max.s64", func(a, b, _ uint64) uint64 { return uint64(max(int64(a), int64(b))) }},
		{"rr: abs.s32", func(a, _, _ uint64) uint64 { return u32(max(s32(a), -s32(a))) }},
		{"rr: neg.s32", func(a, _, _ uint64) uint64 { return u32(-s32(a)) }},
		{"rrrr: sad.u32", func(a, b, c uint64) uint64 {
			x, y := uint32(a), uint32(b)
			return uint64(max(x, y) - min(x, y) + uint32(c))
		}},
		{"rrr: and.b32", func(a, b, _ uint64) uint64 { return uint64(uint32(a & b)) }},
		{"ddd: or.b64", func(a, b, _ uint64) uint64 { return a | b }},
		{"rrr: xor.b32", func(a, b, _ uint64) uint64 { return uint64(uint32(a ^ b)) }},
		{"rr: not.b32", func(a, _, _ uint64) uint64 { return uint64(^uint32(a)) }},
		{"dd: not.b64", func(a, _, _ uint64) uint64 { return ^a }},
		{"rr: cnot.b32", func(a, _, _ uint64) uint64 { return boolBits(uint32(a) == 0) }},
		{"rrr: shl.b32", func(a, b, _ uint64) uint64 { return uint64(uint32(a) << uint32(b)) }},
		{"ddr: shl.b64", func(a, b, _ uint64) uint64 { return a << uint32(b) }},
		{"rrr: shr.u32", func(a, b, _ uint64) uint64 { return uint64(uint32(a) >> uint32(b)) }},
		{"rrr: shr.s32", func(a, b, _ uint64) uint64 { return u32(s32(a) >> uint32(b)) }},
		{"ddr: shr.s64", func(a, b, _ uint64) uint64 { return uint64(int64(a) >> uint32(b)) }},
		{"rrrr: shf.l.wrap.b32", func(a, b, c uint64) uint64 {
			return (b<<32 | a&full) << (c & 31) >> 32 & full
		}},
		{"rrrr: shf.r.clamp.b32", func(a, b, c uint64) uint64 {
			return (b<<32 | a&full) >> min(uint32(c), 32) & full
		}},
		{"rrrr: prmt.b32", func(a, b, c uint64) uint64 {
			var all [8]byte
			binary.LittleEndian.PutUint32(all[:], uint32(a))
			binary.LittleEndian.PutUint32(all[4:], uint32(b))
			var r uint32
			for i := range 4 {
				sel := uint32(c) >> (4 * i) & 15
				x := uint32(all[sel&7])
				if sel&8 != 0 {
					x = uint32(uint8(int8(x) >> 7))
				}
				r |= x << (8 * i)
			}
			return uint64(r)
		}},
		{"rr: popc.b32", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount32(uint32(a))) }},
		{"rd: popc.b64", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
		{"rr: clz.b32", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
		{"rd: clz.b64", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
		{"rr: brev.b32", func(a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
		{"rr: bfind.u32", func(a, _, _ uint64) uint64 { return uint64(uint32(bits.Len32(uint32(a)) - 1)) }},
		{"rd: bfind.u64", func(a, _, _ uint64) uint64 { return uint64(uint32(bits.Len64(a) - 1)) }},
		{"rr: bfind.shiftamt.u32", func(a, _, _ uint64) uint64 {
			if uint32(a) == 0 {
				return full
			}
			return uint64(bits.LeadingZeros32(uint32(a)))
		}},
		{"rrrr: bfe.u32", func(a, b, c uint64) uint64 {
			pos, n := b&255, c&255
			if pos > 31 {
				return 0
			}
			return a & full >> pos & (1<<min(n, 32) - 1)
		}},
		{"rr: cvt.s32.s8", func(a, _, _ uint64) uint64 { return u32(int32(int8(a))) }},
		{"dr: cvt.s64.s32", func(a, _, _ uint64) uint64 { return uint64(int64(s32(a))) }},
		{"dr: cvt.u64.u32", func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
		{"rd: cvt.u32.u64", func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
		{"hr: cvt.u16.u32", func(a, _, _ uint64) uint64 { return uint64(uint16(a)) }},
		{"rd: cvt.sat.u32.u64", func(a, _, _ uint64) uint64 { return min(a, full) }},
		{"rd: cvt.sat.s32.s64", func(a, _,
			_ uint64) uint64 {
			return u32(int32(min(max(int64(a), math.MinInt32), math.MaxInt32)))
		}},
		{"fr: cvt.rn.f32.u32", func(a, _, _ uint64) uint64 { return nan32(float32(uint32(a))) }},
		{"fr: cvt.rn.f32.s32", func(a, _, _ uint64) uint64 { return nan32(float32(s32(a))) }},
		{"fd: cvt.rn.f32.u64", func(a, _,
			_ uint64) uint64 {
			return nan32(bigFloat(new(big.Float).SetUint64(a), big.ToNearestEven))
		}},
		{"fd: cvt.rp.f32.u64", func(a, _,
			_ uint64) uint64 {
			return nan32(bigFloat(new(big.Float).SetUint64(a), big.ToPositiveInf))
		}},
		{"fd: cvt.rz.f32.s64", func(a, _,
			_ uint64) uint64 {
			return nan32(bigFloat(new(big.Float).SetInt64(int64(a)), big.ToZero))
		}},
		{"gd: cvt.rn.f64.s64", func(a, _, _ uint64) uint64 { return math.Float64bits(float64(int64(a))) }},
		{"gf: cvt.f64.f32", func(a, _, _ uint64) uint64 { return math.Float64bits(float64(f32(a))) }},
		{"ff: cvt.rmi.f32.f32", func(a, _, _ uint64) uint64 { return nan32(float32(math.Floor(float64(f32(a))))) }},
		{"rf: cvt.rzi.u32.f32", func(a, _, _ uint64) uint64 {
			x := math.Trunc(float64(f32(a)))
			switch {
			case !(x > 0):
				return 0
			case x >= 1<<32:
				return full
			}
			return uint64(x)
		}},
		{"rf: cvt.rni.s32.f32", func(a, _, _ uint64) uint64 {
			x := math.RoundToEven(float64(f32(a)))
			switch {
			case x != x:
				return 0
			case x >= 1<<31:
				return 0x7fffffff
			case x < -1<<31:
				return 0x80000000
			}
			return u32(int32(x))
		}},
		{"fff: add.rn.f32", func(a, b, _ uint64) uint64 { return nan32(f32(a) + f32(b)) }},
		{"fff: sub.f32", func(a, b, _ uint64) uint64 { return nan32(f32(a) - f32(b)) }},
		{"fff: mul.rn.f32", func(a, b, _ uint64) uint64 { return nan32(f32(a) * f32(b)) }},
		{"fff: div.rn.f32", func(a, b, _ uint64) uint64 { return nan32(f32(a) / f32(b)) }},
		{"fff: add.rp.f32", directedWant(big.ToPositiveInf, (*big.Float).Add)},
		{"fff: add.rm.f32", directedWant(big.ToNegativeInf, (*big.Float).Add)},
		{"fff: mul.rz.f32", directedWant(big.ToZero, (*big.Float).Mul)},
		{"fff: mul.rp.f32", directedWant(big.ToPositiveInf, (*big.Float).Mul)},
		{"fff: div.rm.f32", directedWant(big.ToNegativeInf, (*big.Float).Quo)},
		{"ffff: fma.rn.f32", func(a, b, c uint64) uint64 {
			x, y, z := f32(a), f32(b), f32(c)
			if !finite(x) || !finite(y) || !finite(z) {
				return nan32(x*y + z)
			}
			p := new(big.Float).SetPrec(400).Mul(wide(x), wide(y))
			if p.Add(p, wide(z)); p.Sign() == 0 {
				return nan32(x*y + z)
			}
			return nan32(bigFloat(p, big.ToNearestEven))
		}},
		{"ff: sqrt.rn.f32", func(a, _, _ uint64) uint64 { return nan32(float32(math.Sqrt(float64(f32(a))))) }},
		{"ff: neg.f32", func(a, _, _ uint64) uint64 { return uint64(uint32(a) ^ 1<<31) }},
		{"ff: abs.f32", func(a, _, _ uint64) uint64 { return uint64(uint32(a) &^ (1 << 31)) }},
		{"ggg: add.f64", func(a, b, _ uint64) uint64 { return math.Float64bits(f64(a) + f64(b)) }},
		{"ggg: mul.rn.f64", func(a, b, _ uint64) uint64 { return math.Float64bits(f64(a) * f64(b)) }},
		{"gggg: fma.rn.f64", func(a, b, c uint64) uint64 { return math.Float64bits(math.FMA(f64(a), f64(b), f64(c))) }},
		{"prr: setp.lt.s32", func(a, b, _ uint64) uint64 { return boolBits(s32(a) < s32(b)) }},
		{"prr: setp.ge.u32", func(a, b, _ uint64) uint64 { return boolBits(uint32(a) >= uint32(b)) }},
		{"prr: setp.eq.s32", func(a, b, _ uint64) uint64 { return boolBits(uint32(a) == uint32(b)) }},
		{"pdd: setp.le.s64", func(a, b, _ uint64) uint64 { return boolBits(int64(a) <= int64(b)) }},
		{"phh: setp.gt.s16", func(a, b, _ uint64) uint64 { return boolBits(int16(a) > int16(b)) }},
		{"pff: setp.lt.f32", func(a, b, _ uint64) uint64 { return boolBits(f32(a) < f32(b)) }},
		{"pff: setp.neu.f32", func(a, b, _ uint64) uint64 { return boolBits(f32(a) != f32(b)) }},
		{"pff: setp.gtu.f32", func(a, b, _ uint64) uint64 { return boolBits(!(f32(a) <= f32(b))) }},
		{"rrr: set.lt.u32.s32", func(a, b, _ uint64) uint64 { return -boolBits(s32(a) < s32(b)) & full }},
	} {
		t.Run(c.op, func(t *testing.T) { testInstruction(t, c.op, c.want) })
	}
}

func finite(x float32) bool     { return x-x == 0 }
func wide(x float32) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(float64(x)) }

// bigFloat rounds an exact value to a float32 in the given mode.
func bigFloat(x *big.Float, mode big.RoundingMode) float32 {
	if x.Sign() == 0 {
		f, _ := x.Float32()
		return f
	}
	// Subnormals have fewer bits.
	prec := 24
	if e := x.MantExp(nil); e < -125 {
		prec = max(24-(-125-e), 0)
	}
	if prec == 0 {
		f := float32(math.SmallestNonzeroFloat32)
		if x.Sign() < 0 {
			f = -f
		}
		up := mode == big.ToPositiveInf && x.Sign() > 0 || mode == big.ToNegativeInf && x.Sign() < 0
		half := new(big.Float).SetFloat64(math.Ldexp(1, -150))
		if mode == big.ToNearestEven && new(big.Float).Abs(x).Cmp(half) > 0 || up {
			return f
		}
		return f * 0
	}
	r := new(big.Float).SetMode(mode).SetPrec(uint(prec)).Set(x)
	f, _ := r.Float32()
	if math.IsInf(float64(f), 0) && mode != big.ToNearestEven {
		if mode == big.ToZero || (mode == big.ToPositiveInf) != (x.Sign() > 0) {
			f = math.MaxFloat32 * float32(x.Sign())
		}
	}
	return f
}

// directedWant computes arithmetic with directed rounding. For zeroes and infinities it uses Go's
// own arithmetic.
func directedWant(mode big.RoundingMode, op func(z, x, y *big.Float) *big.Float) func(a, b, c uint64) uint64 {
	return func(a, b, _ uint64) uint64 {
		x, y := f32(a), f32(b)
		z := new(big.Float).SetPrec(400)
		if !finite(x) || !finite(y) || x == 0 || y == 0 || op(z, wide(x), wide(y)).Sign() == 0 {
			return skip
		}
		return bits32(bigFloat(z, mode))
	}
}

const skip = 0xabcdef0123456789

// testInstruction runs "regs: op" on 512 sets of operands: in whole warps, and again with five
// lanes of a warp before the others.
func testInstruction(t *testing.T, spec string, want func(a, b, c uint64) uint64) {
	testGuarded(t, spec, want, "")
	testGuarded(t, spec, want, "@%p7", "@!%p7")
}

func testGuarded(t *testing.T, spec string, want func(a, b, c uint64) uint64, guards ...string) {
	regs, op, _ := strings.Cut(spec, ": ")
	var body strings.Builder
	fmt.Fprintf(&body, "mad.wide.u32 %%at, %%t, 32, %%buf;\n")
	args := []string{"%" + regs[:1] + "0"}
	for i, r := range regs[1:] {
		typ := map[rune]string{'d': "u64", 'r': "u32", 'h': "u16", 'f': "f32", 'g': "f64"}[r]
		fmt.Fprintf(&body, "ld.global.%s %%%c%d, [%%at+%d];\n", typ, r, i+1, 8*i)
		args = append(args, fmt.Sprintf("%%%c%d", r, i+1))
	}
	body.WriteString("and.b32 %r7, %t, 31;\nsetp.lt.u32 %p7, %r7, 5;\n")
	for _, guard := range guards {
		fmt.Fprintf(&body, "%s %s %s;\n", guard, op, strings.Join(args, ", "))
	}
	switch regs[0] {
	case 'p':
		body.WriteString("selp.u64 %d0, 1, 0, %p0;\nst.global.u64 [%at+24], %d0;\n")
	case 'd', 'g':
		fmt.Fprintf(&body, "st.global.b64 [%%at+24], %%%c0;\n", regs[0])
	case 'h':
		body.WriteString("cvt.u64.u16 %d0, %h0;\nst.global.u64 [%at+24], %d0;\n")
	default:
		fmt.Fprintf(&body, "mov.b64 %%d0, {%%%c0, 0};\nst.global.u64 [%%at+24], %%d0;\n", regs[0])
	}
	const n = 512
	vals := operands(3*n, 11)
	buf := make([]byte, n*32)
	for i := range n {
		for j := range 3 {
			binary.LittleEndian.PutUint64(buf[i*32+8*j:], vals[3*i+j])
		}
	}
	out, err := launch(t, entry(body.String()), "k", 1, n, buf)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		a, b, c := vals[3*i], vals[3*i+1], vals[3*i+2]
		got, exp := binary.LittleEndian.Uint64(out[i*32+24:]), want(a, b, c)
		if exp == skip {
			continue
		}
		if regs[0] == 'g' && f64(exp) != f64(exp) && f64(got) != f64(got) {
			continue
		}
		if got != exp {
			t.Fatalf("%#x, %#x, %#x: got %#x, want %#x", a, b, c, got, exp)
		}
	}
}
