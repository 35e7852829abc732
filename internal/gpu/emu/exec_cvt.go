package emu

import (
	"math"
)

func init() {
	register("cvt", decodeCvt)
	register("cvta", decodeCvta)
}

// decodeCvt: cvt{.rounding}{.sat}.dtype.atype d, a
func decodeCvt(d *dec) {
	if len(d.mod) == 0 {
		return
	}
	from := d.t
	to, err := parseType(d.mod[len(d.mod)-1])
	if err != nil {
		d.fail("%v", err)
		return
	}
	mods := d.mod[:len(d.mod)-1]
	round, sat := "", false
	for _, m := range mods {
		switch m {
		case "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi":
			round = m
		case "sat":
			sat = true
		default:
			d.fail("modifier .%s is not known to the interpreter", m)
			return
		}
	}
	if sat && (to.kind == 'f' || from.kind == 'f') {
		sat = false
		if to.kind == 'f' {
			d.fail("a saturated float is not known to the interpreter")
			return
		}
	}
	// A destination register that is wider than the type is filled by extension.
	out := max(d.regSize(0), to.size)
	switch {
	case from.kind != 'f' && to.kind != 'f':
		if sat {
			d.unary(saturate(from, to, out))
			return
		}
		d.unary(convertInt(from, to, out))
		switch {
		case from == typ{'u', 4} && to.size == 8:
			d.whole(func(r, a, _, _ *row) {
				for l := range r {
					r[l] = uint64(uint32(a[l]))
				}
			})
		case from == typ{'s', 4} && to.size == 8:
			d.whole(func(r, a, _, _ *row) {
				for l := range r {
					r[l] = uint64(int64(int32(a[l])))
				}
			})
		case from.kind != 's' && to.kind != 's':
			mask := from.mask() & to.mask()
			d.whole(func(r, a, _, _ *row) {
				for l := range r {
					r[l] = a[l] & mask
				}
			})
		}
	case from.kind != 'f':
		d.unary(intToFloat(from, to, round))
		if round == "rn" && from.size == 4 {
			d.wholeToFloat(from, to)
		}
	case to.kind != 'f':
		d.unary(floatToInt(from, to, round, out))
	default:
		d.unary(floatToFloat(from, to, round))
	}
}

// widen extends a value of type t to a register of the given number of bytes.
func widen(v uint64, t typ, bytes int) uint64 {
	if t.kind == 's' {
		return uint64(extend(v, t.size)) & maskOf(bytes)
	}
	return v & t.mask()
}

func convertInt(from, to typ, out int) func(uint64) uint64 {
	if from.kind != 's' && to.kind != 's' {
		mask := from.mask() & to.mask()
		return func(a uint64) uint64 { return a & mask }
	}
	return func(a uint64) uint64 {
		return widen(widen(a, from, 8), to, out)
	}
}

func saturate(from, to typ, out int) func(uint64) uint64 {
	lo, hi := int64(0), uint64(to.mask())
	if to.kind == 's' {
		hi = to.mask() >> 1
		lo = -int64(hi) - 1
	}
	return func(a uint64) uint64 {
		v := widen(a, from, 8)
		if from.kind == 's' && int64(v) < 0 {
			return uint64(max(int64(v), lo)) & maskOf(out)
		}
		return min(v, hi)
	}
}

func intToFloat(from, to typ, round string) func(uint64) uint64 {
	return func(a uint64) uint64 {
		v := widen(a, from, 8)
		neg := from.kind == 's' && int64(v) < 0
		if neg {
			v = -v
		}
		if to.size == 8 && round == "rn" {
			x := float64(v)
			if neg {
				x = -x
			}
			return bits64(x)
		}
		// The value as a sum of two exact float64 numbers.
		x, err := twoSum(float64(v>>32)*(1<<32), float64(v&0xffffffff))
		if neg {
			x, err = -x, -err
		}
		return bits32(round32(x, err, round))
	}
}

// wholeToFloat is intToFloat for all lanes, from 32-bit integers, rounding to nearest.
func (d *dec) wholeToFloat(from, to typ) {
	switch {
	case from.kind == 's' && to.size == 8:
		d.whole(func(r, a, _, _ *row) {
			for l := range r {
				r[l] = bits64(float64(int32(a[l])))
			}
		})
	case from.kind == 's':
		d.whole(func(r, a, _, _ *row) {
			for l := range r {
				r[l] = uint64(math.Float32bits(float32(int32(a[l]))))
			}
		})
	case to.size == 8:
		d.whole(func(r, a, _, _ *row) {
			for l := range r {
				r[l] = bits64(float64(uint32(a[l])))
			}
		})
	default:
		d.whole(func(r, a, _, _ *row) {
			for l := range r {
				r[l] = uint64(math.Float32bits(float32(uint32(a[l]))))
			}
		})
	}
}

// floatToInt rounds in the given mode and saturates to the type's range; a NaN gives 0 (for 64
// bits, the sign bit alone).
func floatToInt(from, to typ, round string, out int) func(uint64) uint64 {
	integral := map[string]func(float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc,
		"rmi": math.Floor, "rpi": math.Ceil}[round]
	return func(a uint64) uint64 {
		x := float64(f32(a))
		if from.size == 8 {
			x = f64(a)
		}
		if x != x {
			if to.size == 8 {
				return 1 << 63
			}
			return 0
		}
		x = integral(x)
		limit := math.Ldexp(1, to.bits()) // first value too large
		if to.kind == 's' {
			limit /= 2
		}
		switch {
		case x >= limit:
			if to.kind == 's' {
				return to.mask() >> 1
			}
			return to.mask()
		case to.kind == 's' && x < -limit:
			return widen(to.mask()>>1+1, to, out)
		case to.kind != 's' && x < 0:
			return 0
		case to.kind == 's':
			return uint64(int64(x)) & maskOf(out)
		case x >= 1<<63:
			return uint64(int64(x-1<<63)) + 1<<63
		}
		return uint64(int64(x))
	}
}

func floatToFloat(from, to typ, round string) func(uint64) uint64 {
	integral := map[string]func(float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc,
		"rmi": math.Floor, "rpi": math.Ceil}[round]
	if integral == nil {
		integral = func(x float64) float64 { return x }
	}
	switch {
	case from.size == 4 && to.size == 4:
		return func(a uint64) uint64 { return bits32(float32(integral(float64(f32(a))))) }
	case from.size == 4 && to.size == 8:
		return func(a uint64) uint64 { return bits64(integral(float64(f32(a)))) }
	case from.size == 8 && to.size == 4:
		return func(a uint64) uint64 { return bits32(round32(integral(f64(a)), 0, round)) }
	default:
		return func(a uint64) uint64 { return bits64(integral(f64(a))) }
	}
}

// decodeCvta converts between generic addresses and those of one memory.
func decodeCvta(d *dec) {
	to := d.has("to")
	var window uint64
	switch {
	case d.has("shared"):
		window = sharedWindow
	case d.has("local"):
		window = localWindow
	case d.has("global"), d.has("const"), d.has("param"):
	default:
		return
	}
	if to {
		window = -window
	}
	d.unary(func(a uint64) uint64 { return a + window })
	d.whole(func(r, a, _, _ *row) {
		for l := range r {
			r[l] = a[l] + window
		}
	})
}
