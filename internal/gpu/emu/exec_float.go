package emu

import (
	"math"
)

func init() {
	register("fma", decodeFMA)
	register("sqrt rcp", decodeFloatUnary)
	register("rsqrt", decodeEstimate)
	register("copysign", func(d *dec) {
		d.only("")
		if d.t.kind != 'f' {
			d.fail("copysign is of .f32 or .f64")
			return
		}
		sign := uint64(1) << (d.t.bits() - 1)
		d.binary(func(a, b uint64) uint64 { return b&^sign | a&sign })
	})
	register("testp", decodeTestp)
	for _, op := range []string{"ex2", "lg2", "sin", "cos", "tanh"} {
		register(op, func(d *dec) {
			d.fail("%s is approximate: results would not be equal to the CPU's", d.op)
		})
	}
}

func f32(v uint64) float32 { return math.Float32frombits(uint32(v)) }
func f64(v uint64) float64 { return math.Float64frombits(v) }

// bits32 returns the bits of a float32 result; every NaN becomes the same one.
func bits32(x float32) uint64 {
	if x != x {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(x))
}

func bits64(x float64) uint64 { return math.Float64bits(x) }

// rounding returns the opcode's rounding mode: rn (nearest, ties to even), rz, rm (down) or rp
// (up). Flushing of subnormals and approximations are refused: the CPU does neither.
func (d *dec) rounding() string {
	r := "rn"
	for _, m := range d.mod {
		switch m {
		case "rn", "rz", "rm", "rp":
			r = m
		default:
			d.fail("modifier .%s would give results that are not equal to the CPU's", m)
		}
	}
	return r
}

// twoSum returns the rounded sum of a and b and its rounding error.
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	t := sum - a
	err = (a - (sum - t)) + (b - t)
	if err != err {
		err = 0 // infinities
	}
	return sum, err
}

// round32 rounds the exact value x+err, where err is at most half of x's last place, to a float32.
func round32(x, err float64, mode string) float32 {
	if mode == "rn" {
		if err != 0 {
			// Round to odd: the last bit of x then records the rest, so that rounding twice gives
			// the same as rounding once.
			b := math.Float64bits(x)
			if b&1 == 0 {
				if (err > 0) == (x > 0) {
					b++
				} else {
					b--
					b |= 1
				}
			}
			x = math.Float64frombits(b)
		}
		return float32(x)
	}
	r := float32(x)
	cmp := x - float64(r) // has the sign of the exact value minus r
	if cmp == 0 || r != r || math.IsInf(x, 0) {
		cmp = err
	}
	if cmp == 0 || r != r || math.IsInf(x, 0) {
		return r
	}
	up := cmp > 0
	switch {
	case mode == "rp" && up, mode == "rz" && up && x < 0:
		return math.Nextafter32(r, float32(math.Inf(1)))
	case mode == "rm" && !up, mode == "rz" && !up && x > 0:
		return math.Nextafter32(r, float32(math.Inf(-1)))
	}
	return r
}

func decodeFloatArith(d *dec) {
	mode := d.rounding()
	if d.t.size == 8 {
		if mode != "rn" {
			d.fail("f64 with rounding .%s is not known to the interpreter", mode)
			return
		}
		switch d.op {
		case "add":
			d.binary(func(a, b uint64) uint64 { return bits64(f64(a) + f64(b)) })
			d.whole(func(r, a, b, _ *row) {
				for l := range r {
					r[l] = bits64(f64(a[l]) + f64(b[l]))
				}
			})
		case "sub":
			d.binary(func(a, b uint64) uint64 { return bits64(f64(a) - f64(b)) })
			d.whole(func(r, a, b, _ *row) {
				for l := range r {
					r[l] = bits64(f64(a[l]) - f64(b[l]))
				}
			})
		case "mul":
			d.binary(func(a, b uint64) uint64 { return bits64(f64(a) * f64(b)) })
			d.whole(func(r, a, b, _ *row) {
				for l := range r {
					r[l] = bits64(f64(a[l]) * f64(b[l]))
				}
			})
		case "div":
			d.binary(func(a, b uint64) uint64 { return bits64(f64(a) / f64(b)) })
			d.whole(func(r, a, b, _ *row) {
				for l := range r {
					r[l] = bits64(f64(a[l]) / f64(b[l]))
				}
			})
		}
		return
	}
	if d.t.size != 4 {
		return
	}
	switch d.op + mode {
	case "addrn":
		d.binary(func(a, b uint64) uint64 { return bits32(f32(a) + f32(b)) })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = bits32(f32(a[l]) + f32(b[l]))
			}
		})
	case "subrn":
		d.binary(func(a, b uint64) uint64 { return bits32(f32(a) - f32(b)) })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = bits32(f32(a[l]) - f32(b[l]))
			}
		})
	case "mulrn":
		d.binary(func(a, b uint64) uint64 { return bits32(f32(a) * f32(b)) })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = bits32(f32(a[l]) * f32(b[l]))
			}
		})
	case "divrn":
		d.binary(func(a, b uint64) uint64 { return bits32(f32(a) / f32(b)) })
		d.whole(func(r, a, b, _ *row) {
			for l := range r {
				r[l] = bits32(f32(a[l]) / f32(b[l]))
			}
		})
	default:
		d.directed(mode)
	}
}

// directed decodes arithmetic that rounds toward zero, down or up.
func (d *dec) directed(mode string) {
	switch d.op {
	case "add", "sub":
		sign := uint64(0)
		if d.op == "sub" {
			sign = 1 << 31
		}
		d.binary(func(a, b uint64) uint64 {
			x, err := twoSum(float64(f32(a)), float64(f32(b^sign)))
			return bits32(round32(x, err, mode))
		})
	case "mul":
		d.binary(func(a, b uint64) uint64 { return bits32(round32(float64(f32(a))*float64(f32(b)), 0, mode)) })
	case "div":
		d.binary(func(a, b uint64) uint64 {
			x, y := float64(f32(a)), float64(f32(b))
			q := x / y
			err := math.FMA(-q, y, x) / y
			if err != err || math.IsInf(err, 0) {
				err = 0
			}
			return bits32(round32(q, err, mode))
		})
	}
}

func decodeFMA(d *dec) {
	mode := d.rounding()
	if d.t.size == 8 {
		if mode != "rn" {
			d.fail("f64 with rounding .%s is not known to the interpreter", mode)
		}
		d.ternary(func(a, b, c uint64) uint64 { return bits64(math.FMA(f64(a), f64(b), f64(c))) })
		return
	}
	d.ternary(func(a, b, c uint64) uint64 {
		x, err := twoSum(float64(f32(a))*float64(f32(b)), float64(f32(c)))
		return bits32(round32(x, err, mode))
	})
}

func decodeFloatUnary(d *dec) {
	if mode := d.rounding(); mode != "rn" {
		d.fail("%s with rounding .%s is not known to the interpreter", d.op, mode)
		return
	}
	switch {
	case d.op == "sqrt" && d.t.size == 4:
		d.unary(func(a uint64) uint64 { return bits32(float32(math.Sqrt(float64(f32(a))))) })
	case d.op == "sqrt":
		d.unary(func(a uint64) uint64 { return bits64(math.Sqrt(f64(a))) })
	case d.t.size == 4:
		d.unary(func(a uint64) uint64 { return bits32(1 / f32(a)) })
	default:
		d.unary(func(a uint64) uint64 { return bits64(1 / f64(a)) })
	}
}

// decodeEstimate is for kernels that refine an estimate until it is rounded like the CPU's result.
// Estimates here are off by up to one unit in the last place, which reveals kernels that do not.
func decodeEstimate(d *dec) {
	d.only("approx ftz")
	if d.t.size != 4 {
		d.fail("%s is known to the interpreter as .f32 only", d.op)
		return
	}
	d.unary(func(a uint64) uint64 {
		y := float32(1 / math.Sqrt(float64(f32(a))))
		return bits32(y) + (a*0x9e3779b97f4a7c15>>32)%3 - 1
	})
}

func decodeFloatSign(d *dec) {
	d.only("")
	sign := uint64(1) << (d.t.bits() - 1)
	if d.op == "abs" {
		d.unary(func(a uint64) uint64 { return a &^ sign })
		return
	}
	d.unary(func(a uint64) uint64 { return a ^ sign })
}

// decodeFloatMinMax: of a NaN and a number the result is the number, and -0 is below +0.
func decodeFloatMinMax(d *dec) {
	d.only("")
	wantMax, wide := d.op == "max", d.t.size == 8
	d.binary(func(a, b uint64) uint64 {
		x, y := float64(f32(a)), float64(f32(b))
		if wide {
			x, y = f64(a), f64(b)
		}
		switch {
		case x != x && y != y && !wide:
			return 0x7fffffff
		case x != x:
			return b
		case y != y:
			return a
		case x == y:
			if math.Signbit(x) == wantMax {
				return b
			}
			return a
		case x < y == wantMax:
			return b
		}
		return a
	})
}

func decodeTestp(d *dec) {
	if len(d.mod) != 1 {
		return
	}
	test := map[string]func(x float64) bool{
		"finite":   func(x float64) bool { return !math.IsInf(x, 0) && x == x },
		"infinite": func(x float64) bool { return math.IsInf(x, 0) },
		"number":   func(x float64) bool { return x == x },
		"notanumber": func(x float64) bool {
			return x != x
		},
	}[d.mod[0]]
	if test == nil {
		return
	}
	wide := d.t.size == 8
	d.in.p, _ = d.predicate(0)
	d.in.a = d.src(1)
	d.in.run = func(w *warp, in *instr, m uint32) {
		var r uint32
		for s := m; s != 0; s &= s - 1 {
			l := lowest(s)
			x := float64(f32(w.rows[in.a][l]))
			if wide {
				x = f64(w.rows[in.a][l])
			}
			if test(x) {
				r |= 1 << l
			}
		}
		w.setPred(in.p, m, r)
	}
}
