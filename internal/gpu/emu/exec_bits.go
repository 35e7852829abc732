package emu

import (
	"math/bits"

	"github.com/collocate/collocate/internal/gpu/driver"
	"github.com/collocate/collocate/internal/gpu/ptx"
)

func init() {
	register("and or xor", decodeLogic)
	register("not cnot", decodeNot)
	register("shl shr", decodeShift)
	register("shf", decodeFunnel)
	register("lop3", decodeLop3)
	register("prmt", decodePrmt)
	register("popc clz brev bfind", decodeCount)
	register("bfe", decodeBfe)
	register("bfi", decodeBfi)
	register("mov", decodeMov)
}

func decodeLogic(d *dec) {
	d.only("")
	if d.t.kind == 'p' {
		decodePredLogic(d)
		return
	}
	switch d.op {
	case "and":
		d.binary(func(a, b uint64) uint64 { return a & b })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = a[l] & b[l]
			}
		})
	case "or":
		d.binary(func(a, b uint64) uint64 { return a | b })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = a[l] | b[l]
			}
		})
	case "xor":
		d.binary(func(a, b uint64) uint64 { return a ^ b })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = a[l] ^ b[l]
			}
		})
	}
}

func decodeNot(d *dec) {
	d.only("")
	if d.t.kind == 'p' {
		decodePredLogic(d)
		return
	}
	mask := d.t.mask()
	if d.op == "not" {
		d.unary(func(a uint64) uint64 { return ^a & mask })
		return
	}
	d.unary(func(a uint64) uint64 {
		if a&mask == 0 {
			return 1
		}
		return 0
	})
}

// decodeShift: shift amounts beyond the width give zeroes, or copies of the sign bit.
func decodeShift(d *dec) {
	d.only("")
	t := d.t
	switch {
	case d.op == "shl" && t.size == 4:
		d.binary(func(a, b uint64) uint64 { return uint64(uint32(a) << uint32(b)) })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = uint64(uint32(a[l]) << uint32(b[l]))
			}
		})
	case d.op == "shl":
		d.binary(func(a, b uint64) uint64 { return a << uint32(b) & t.mask() })
		if t.size == 8 {
			d.whole(func(r, a, b, _ *row) {
				for l := range r {
					r[l] = a[l] << uint32(b[l])
				}
			})
		}
	case t.kind == 's':
		d.binary(func(a, b uint64) uint64 { return uint64(extend(a, t.size)>>uint32(b)) & t.mask() })
	default:
		d.binary(func(a, b uint64) uint64 { return a >> uint32(b) })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = a[l] >> uint32(b[l])
			}
		})
	}
	d.in.b = d.rowOf(d.arg(2), 4)
}

func decodeFunnel(d *dec) {
	d.only("l r wrap clamp")
	left, clamp := d.has("l"), d.has("clamp")
	d.ternary(func(a, b, c uint64) uint64 {
		n := uint32(c)
		if clamp {
			n = min(n, 32)
		} else {
			n &= 31
		}
		v := b<<32 | a&0xffffffff
		if left {
			return v << n >> 32 & 0xffffffff
		}
		return v >> n & 0xffffffff
	})
}

// decodeLop3: any function of three bits, given by its truth table.
func decodeLop3(d *dec) {
	d.only("")
	lut := d.arg(4).Value
	if d.arg(4).Kind != ptx.Imm {
		d.fail("the table of lop3 must be a constant")
	}
	d.ternary(func(a, b, c uint64) uint64 {
		var r uint64
		for i := range 8 {
			if lut>>i&1 != 0 {
				r |= pick(a, i&4 != 0) & pick(b, i&2 != 0) & pick(c, i&1 != 0)
			}
		}
		return r & 0xffffffff
	})
}

func pick(v uint64, plain bool) uint64 {
	if plain {
		return v
	}
	return ^v
}

func decodePrmt(d *dec) {
	d.only("")
	d.ternary(func(a, b, c uint64) uint64 {
		v := b<<32 | a&0xffffffff
		var r uint64
		for i := range 4 {
			sel := c >> (4 * i) & 15
			x := v >> (8 * (sel & 7)) & 255
			if sel&8 != 0 { // replicate the sign
				x = -(x >> 7) & 255
			}
			r |= x << (8 * i)
		}
		return r
	})
}

func decodeCount(d *dec) {
	t := d.t
	switch d.op {
	case "popc":
		d.only("")
		d.unary(func(a uint64) uint64 { return uint64(bits.OnesCount64(a & t.mask())) })
		mask := t.mask()
		d.whole(func(r, a, _, _ *row) {
			for l := range r {
				r[l] = uint64(bits.OnesCount64(a[l] & mask))
			}
		})
	case "clz":
		d.only("")
		d.unary(func(a uint64) uint64 { return uint64(bits.LeadingZeros64(a&t.mask()) - (64 - t.bits())) })
	case "brev":
		d.only("")
		d.unary(func(a uint64) uint64 { return bits.Reverse64(a) >> (64 - t.bits()) })
	case "bfind":
		d.only("shiftamt")
		shift := d.has("shiftamt")
		d.unary(func(a uint64) uint64 {
			if t.kind == 's' && extend(a, t.size) < 0 {
				a = ^a
			}
			a &= t.mask()
			if a == 0 {
				return 0xffffffff
			}
			at := bits.Len64(a) - 1
			if shift {
				at = t.bits() - 1 - at
			}
			return uint64(at)
		})
	}
}

func decodeBfe(d *dec) {
	d.only("")
	t := d.t
	d.ternary(func(a, b, c uint64) uint64 {
		pos, n := b&255, c&255
		if n == 0 {
			return 0
		}
		v := a & t.mask()
		if t.kind == 's' {
			v = uint64(extend(a, t.size))
		}
		if pos >= uint64(t.bits()) {
			pos = uint64(t.bits()) - 1
			if t.kind != 's' {
				return 0
			}
		}
		if t.kind == 's' {
			n = min(n, uint64(t.bits())-pos)
			return uint64(int64(v>>pos<<(64-n))>>(64-n)) & t.mask()
		}
		v >>= pos
		if n < 64 {
			v &= 1<<n - 1
		}
		return v
	})
	d.in.b, d.in.c = d.rowOf(d.arg(2), 4), d.rowOf(d.arg(3), 4)
}

// decodeBfi: insert the low bits of a into b.
func decodeBfi(d *dec) {
	d.only("")
	t := d.t
	d.in.d, d.in.a, d.in.b = d.dst(0), d.src(1), d.src(2)
	d.in.c, d.in.vec = d.rowOf(d.arg(3), 4), []int32{d.rowOf(d.arg(4), 4)}
	d.in.run = func(w *warp, in *instr, m uint32) {
		r, a, b, c, e := &w.rows[in.d], &w.rows[in.a], &w.rows[in.b], &w.rows[in.c], &w.rows[in.vec[0]]
		for ; m != 0; m &= m - 1 {
			l := lowest(m)
			pos, n := c[l]&255, e[l]&255
			field := t.mask()
			if n < 64 {
				field = 1<<n - 1
			}
			field = field << pos & t.mask()
			r[l] = b[l]&^field | a[l]<<pos&field
		}
	}
}

func mov(w *warp, in *instr, m uint32) {
	r, a := &w.rows[in.d], &w.rows[in.a]
	if m == full {
		*r = *a
		return
	}
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		r[l] = a[l]
	}
}

func decodeMov(d *dec) {
	d.only("")
	to, from := d.arg(0), d.arg(1)
	switch {
	case d.t.kind == 'p':
		decodePredMov(d)
	case from.Kind == ptx.Special &&
		(from.Name == "%clock" || from.Name == "%clock64" || from.Name == "%globaltimer" ||
			from.Name == "%clock_hi"):
		// Time is the number of instructions that the warp has run.
		d.in.d = d.dst(0)
		d.in.run = func(w *warp, in *instr, m uint32) {
			for ; m != 0; m &= m - 1 {
				w.rows[in.d][lowest(m)] = uint64(w.lanes)
			}
		}
	case to.Kind == ptx.Vec: // unpack
		n := d.t.size / len(to.Elems)
		d.in.a, d.in.size = d.src(1), uint8(n)
		for _, e := range to.Elems {
			d.in.vec = append(d.in.vec, d.elem(e))
		}
		d.in.run = unpack
	case from.Kind == ptx.Vec: // pack
		n := d.t.size / len(from.Elems)
		d.in.d, d.in.size = d.dst(0), uint8(n)
		for _, e := range from.Elems {
			d.in.vec = append(d.in.vec, d.rowOf(e, n))
		}
		d.in.run = pack
	default:
		d.in.d, d.in.a = d.dst(0), d.src(1)
		d.in.run = mov
	}
}

// elem returns the row of one element of a destination vector.
func (d *dec) elem(e ptx.Operand) int32 {
	if e.Kind == ptx.Sink {
		d.p.rows++
		return int32(d.p.rows - 1)
	}
	if e.Kind != ptx.Reg {
		d.fail("a vector of registers expected")
		return 0
	}
	return d.p.regRow[e.ID]
}

func unpack(w *warp, in *instr, m uint32) {
	mask := maskOf(int(in.size))
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		v := w.rows[in.a][l]
		for i, r := range in.vec {
			w.rows[r][l] = v >> (8 * int(in.size) * i) & mask
		}
	}
}

func pack(w *warp, in *instr, m uint32) {
	mask := maskOf(int(in.size))
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		var v uint64
		for i, r := range in.vec {
			v |= w.rows[r][l] & mask << (8 * int(in.size) * i)
		}
		w.rows[in.d][l] = v
	}
}

func init() {
	register("trap brkpt", func(d *dec) {
		d.in.run = func(w *warp, in *instr, m uint32) {
			w.fail(in, lowest(m), driver.LaunchFailed, "the kernel stopped itself")
		}
	})
}
