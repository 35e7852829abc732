package emu

import "math/bits"

// lowest returns the lowest lane of a mask.
func lowest(m uint32) int { return bits.TrailingZeros32(m) & 31 }

func init() {
	register("add sub", decodeAddSub)
	register("mul", decodeMul)
	register("mad", decodeMad)
	register("div rem", decodeDivRem)
	register("min max", decodeMinMax)
	register("abs neg", decodeAbsNeg)
	register("sad", func(d *dec) {
		d.only("")
		t := d.t
		d.ternary(func(a, b, c uint64) uint64 {
			if less(t, a, b) {
				a, b = b, a
			}
			return (c + a - b) & t.mask()
		})
	})
	register("dp4a", decodeDP4A)
}

func decodeAddSub(d *dec) {
	if d.t.kind == 'f' {
		decodeFloatArith(d)
		return
	}
	d.only("")
	switch {
	case d.op == "add" && d.t.size == 8:
		d.binary(func(a, b uint64) uint64 { return a + b })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = a[l] + b[l]
			}
		})
	case d.op == "add" && d.t.size == 4:
		d.binary(func(a, b uint64) uint64 { return uint64(uint32(a) + uint32(b)) })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = uint64(uint32(a[l]) + uint32(b[l]))
			}
		})
	case d.op == "sub" && d.t.size == 8:
		d.binary(func(a, b uint64) uint64 { return a - b })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = a[l] - b[l]
			}
		})
	case d.op == "sub" && d.t.size == 4:
		d.binary(func(a, b uint64) uint64 { return uint64(uint32(a) - uint32(b)) })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = uint64(uint32(a[l]) - uint32(b[l]))
			}
		})
	case d.op == "add" && d.t.size == 2:
		d.binary(func(a, b uint64) uint64 { return uint64(uint16(a + b)) })
	case d.op == "sub" && d.t.size == 2:
		d.binary(func(a, b uint64) uint64 { return uint64(uint16(a - b)) })
	}
}

// product returns a function for a*b: its low half, high half, or both (wide), by mode.
func product(t typ, mode string) func(a, b uint64) uint64 {
	signed := t.kind == 's'
	switch {
	case mode == "lo":
		return func(a, b uint64) uint64 { return a * b & t.mask() }
	case t.size == 8 && mode == "hi" && !signed:
		return func(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }
	case t.size == 8 && mode == "hi":
		return func(a, b uint64) uint64 {
			hi, _ := bits.Mul64(a, b)
			return hi - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
		}
	case t.size < 8 && (mode == "hi" || mode == "wide"):
		return func(a, b uint64) uint64 {
			var v uint64
			if signed {
				v = uint64(extend(a, t.size) * extend(b, t.size))
			} else {
				v = (a & t.mask()) * (b & t.mask())
			}
			if mode == "hi" {
				v >>= t.bits()
				return v & t.mask()
			}
			return v & maskOf(2*t.size)
		}
	}
	return nil
}

func decodeMul(d *dec) {
	if d.t.kind == 'f' {
		decodeFloatArith(d)
		return
	}
	d.only("lo hi wide")
	f := product(d.t, mode(d))
	if f == nil {
		return
	}
	d.binary(f)
	switch {
	case d.has("wide") && d.t == typ{'u', 4}:
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = uint64(uint32(a[l])) * uint64(uint32(b[l]))
			}
		})
	case d.has("wide") && d.t == typ{'s', 4}:
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = uint64(int64(int32(a[l])) * int64(int32(b[l])))
			}
		})
	case d.has("lo") && d.t.size == 4:
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = uint64(uint32(a[l]) * uint32(b[l]))
			}
		})
	case d.has("lo") && d.t.size == 8:
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = a[l] * b[l]
			}
		})
	}
}

func mode(d *dec) string {
	if len(d.mod) == 1 {
		return d.mod[0]
	}
	return ""
}

func decodeMad(d *dec) {
	if d.t.kind == 'f' {
		decodeFMA(d)
		return
	}
	d.only("lo hi wide")
	f := product(d.t, mode(d))
	if f == nil {
		return
	}
	t, wide := d.t, d.has("wide")
	out := t.mask()
	if wide {
		out = maskOf(2 * t.size)
	}
	d.ternary(func(a, b, c uint64) uint64 { return (f(a, b) + c) & out })
	if wide { // the addend is as wide as the result
		d.in.c = d.rowOf(d.arg(3), 2*t.size)
	}
	if d.has("lo") && t.size == 4 {
		d.whole(func(r, a, b, c *row) {
			for l := range r {
				r[l] = uint64(uint32(a[l])*uint32(b[l]) + uint32(c[l]))
			}
		})
	}
}

func decodeDivRem(d *dec) {
	if d.t.kind == 'f' {
		decodeFloatArith(d)
		return
	}
	d.only("")
	t, rem := d.t, d.op == "rem"
	d.binary(func(a, b uint64) uint64 {
		a, b = a&t.mask(), b&t.mask()
		if b == 0 { // unspecified by PTX; hardware gives all ones, and remainder a
			if rem {
				return a
			}
			return t.mask()
		}
		if t.kind == 's' {
			x, y := extend(a, t.size), extend(b, t.size)
			if rem {
				return uint64(x%y) & t.mask()
			}
			return uint64(x/y) & t.mask()
		}
		if rem {
			return a % b
		}
		return a / b
	})
	if t == (typ{'u', 4}) {
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				x, y := uint32(a[l]), uint32(b[l])
				switch {
				case y == 0 && rem:
					r[l] = uint64(x)
				case y == 0:
					r[l] = 1<<32 - 1
				case rem:
					r[l] = uint64(x % y)
				default:
					r[l] = uint64(x / y)
				}
			}
		})
	}
}

// less compares integers of a type.
func less(t typ, a, b uint64) bool {
	if t.kind == 's' {
		return extend(a, t.size) < extend(b, t.size)
	}
	return a&t.mask() < b&t.mask()
}

func decodeMinMax(d *dec) {
	if d.t.kind == 'f' {
		decodeFloatMinMax(d)
		return
	}
	d.only("")
	t, wantMax := d.t, d.op == "max"
	d.binary(func(a, b uint64) uint64 {
		if less(t, a, b) == wantMax {
			return b
		}
		return a
	})
	switch {
	case t == typ{'u', 4} && wantMax:
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = uint64(max(uint32(a[l]), uint32(b[l])))
			}
		})
	case t == typ{'u', 4}:
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = uint64(min(uint32(a[l]), uint32(b[l])))
			}
		})
	}
}

func decodeAbsNeg(d *dec) {
	if d.t.kind == 'f' {
		decodeFloatSign(d)
		return
	}
	d.only("")
	t, abs := d.t, d.op == "abs"
	d.unary(func(a uint64) uint64 {
		if abs && extend(a, t.size) >= 0 {
			return a
		}
		return -a & t.mask()
	})
}

// decodeDP4A: c plus the sum of four products of bytes.
func decodeDP4A(d *dec) {
	// dp4a.atype.btype: decodeInstr has taken the last part as the type.
	first := d.t
	if len(d.mod) == 1 {
		first, _ = parseType(d.mod[0])
	}
	second := d.t
	byteOf := func(v uint64, i int, signed bool) int32 {
		if signed {
			return int32(int8(v >> (8 * i)))
		}
		return int32(uint8(v >> (8 * i)))
	}
	d.ternary(func(a, b, c uint64) uint64 {
		sum := int32(uint32(c))
		for i := range 4 {
			sum += byteOf(a, i, first.kind == 's') * byteOf(b, i, second.kind == 's')
		}
		return uint64(uint32(sum))
	})
}
