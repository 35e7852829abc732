package emu

import "github.com/collocate/collocate/internal/gpu/driver"

func init() { register("mma", decodeMMA) }

// mmaShape is the product of whole numbers that the kernels use: 16 rows of A and 8 columns of B,
// of 32 codes each.
const mmaShape = "sync aligned m16n8k32 row col s32 s8 s8"

// decodeMMA: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {d0-d3}, {a0-a3}, {b0, b1}, {c0-c3}
//
// With g the lane divided by 4, and t the rest, a lane holds of A the codes 4t to 4t+3 of the rows
// g and g+8 in a0 and a1, and the codes 16 further in a2 and a3; of B the same codes of column g in
// b0 and b1; of C and D the columns 2t and 2t+1 of row g, then of row g+8. Sums wrap around.
func decodeMMA(d *dec) {
	d.only(mmaShape)
	if len(d.mod) != 8 || d.mod[2] != "m16n8k32" || d.t != (typ{'s', 4}) {
		d.fail("this form is not known to the interpreter")
		return
	}
	for i, n := range []int{4, 4, 2, 4} {
		elems := d.arg(i).Elems
		if len(elems) != n {
			d.fail("a vector of %d registers expected", n)
			return
		}
		for _, e := range elems {
			if i == 0 {
				d.in.vec = append(d.in.vec, d.elem(e))
			} else {
				d.in.vec = append(d.in.vec, d.rowOf(e, 4))
			}
		}
	}
	d.in.run = mma
}

func mma(w *warp, in *instr, m uint32) {
	if m != full {
		w.fail(in, lowest(m), driver.LaunchFailed, "only the lanes 0x%08x are here: mma needs all of a warp", m)
		return
	}
	var a [16][32]int32
	var b [8][32]int32
	unpack := func(to *[32]int32, at int, word uint64) {
		for i := range 4 {
			to[at+i] = int32(int8(word >> (8 * i)))
		}
	}
	for l := range 32 {
		g, t := l/4, l%4
		for half := range 2 {
			unpack(&a[g], 16*half+4*t, w.rows[in.vec[4+2*half]][l])
			unpack(&a[g+8], 16*half+4*t, w.rows[in.vec[5+2*half]][l])
			unpack(&b[g], 16*half+4*t, w.rows[in.vec[8+half]][l])
		}
	}
	var sums [4]row // the destinations may be sources
	for l := range 32 {
		g, t := l/4, l%4
		for i := range sums {
			x, y := &a[g+i/2*8], &b[2*t+i%2]
			sum := int32(uint32(w.rows[in.vec[10+i]][l]))
			for k := range x {
				sum += x[k] * y[k]
			}
			sums[i][l] = uint64(uint32(sum))
		}
	}
	for i := range sums {
		w.rows[in.vec[i]] = sums[i]
	}
}
