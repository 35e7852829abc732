package emu

import (
	"math"
	"math/bits"

	"github.com/collocate/collocate/internal/gpu/ptx"
)

func init() {
	register("setp", decodeSetp)
	register("set", decodeSet)
	register("selp", decodeSelp)
}

// compare returns a comparison by its name, for a type, or nil.
func compare(op string, t typ) func(a, b uint64) bool {
	if t.kind == 'f' {
		return compareFloat(op, t)
	}
	mask := t.mask()
	if t.kind == 's' && op != "eq" && op != "ne" {
		x := func(v uint64) int64 { return extend(v, t.size) }
		switch op {
		case "lt":
			return func(a, b uint64) bool { return x(a) < x(b) }
		case "le":
			return func(a, b uint64) bool { return x(a) <= x(b) }
		case "gt":
			return func(a, b uint64) bool { return x(a) > x(b) }
		case "ge":
			return func(a, b uint64) bool { return x(a) >= x(b) }
		}
		return nil
	}
	switch op {
	case "eq":
		return func(a, b uint64) bool { return a&mask == b&mask }
	case "ne":
		return func(a, b uint64) bool { return a&mask != b&mask }
	case "lt", "lo":
		return func(a, b uint64) bool { return a&mask < b&mask }
	case "le", "ls":
		return func(a, b uint64) bool { return a&mask <= b&mask }
	case "gt", "hi":
		return func(a, b uint64) bool { return a&mask > b&mask }
	case "ge", "hs":
		return func(a, b uint64) bool { return a&mask >= b&mask }
	}
	return nil
}

// compareFloat: with a NaN the plain comparisons are false and those with a u are true.
func compareFloat(op string, t typ) func(a, b uint64) bool {
	val := func(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }
	if t.size == 8 {
		val = math.Float64frombits
	}
	ordered := func(f func(a, b float64) bool) func(a, b uint64) bool {
		return func(a, b uint64) bool { return f(val(a), val(b)) }
	}
	switch op {
	case "eq":
		return ordered(func(a, b float64) bool { return a == b })
	case "ne":
		return ordered(func(a, b float64) bool { return a < b || a > b })
	case "lt":
		return ordered(func(a, b float64) bool { return a < b })
	case "le":
		return ordered(func(a, b float64) bool { return a <= b })
	case "gt":
		return ordered(func(a, b float64) bool { return a > b })
	case "ge":
		return ordered(func(a, b float64) bool { return a >= b })
	case "equ":
		return ordered(func(a, b float64) bool { return !(a < b || a > b) })
	case "neu":
		return ordered(func(a, b float64) bool { return a != b })
	case "ltu":
		return ordered(func(a, b float64) bool { return !(a >= b) })
	case "leu":
		return ordered(func(a, b float64) bool { return !(a > b) })
	case "gtu":
		return ordered(func(a, b float64) bool { return !(a <= b) })
	case "geu":
		return ordered(func(a, b float64) bool { return !(a < b) })
	case "num":
		return ordered(func(a, b float64) bool { return a == a && b == b })
	case "nan":
		return ordered(func(a, b float64) bool { return a != a || b != b })
	}
	return nil
}

// decodeSetp: setp.cmp{.bool}.type p{|q}, a, b{, c}
func decodeSetp(d *dec) {
	if len(d.mod) == 0 {
		return
	}
	f := compare(d.mod[0], d.t)
	if f == nil {
		d.fail("comparison .%s.%c%d is not known to the interpreter", d.mod[0], d.t.kind, d.t.bits())
		return
	}
	in := d.in
	in.p, _ = d.predicate(0)
	other := d.pair(0)
	in.a, in.b = d.src(1), d.src(2)
	combine := ""
	if len(d.mod) > 1 {
		combine = d.mod[1]
		in.q, in.neg = d.predicate(3)
	}
	if combine == "" && other < 0 {
		in.run = func(w *warp, in *instr, m uint32) {
			w.setPred(in.p, m, w.compareLanes(in, m, f))
		}
		if g := compareWhole(d.mod[0], d.t); g != nil {
			part := in.run
			in.run = func(w *warp, in *instr, m uint32) {
				if bits.OnesCount32(m) < wholeFrom {
					part(w, in, m)
					return
				}
				w.setPred(in.p, m, g(&w.rows[in.a], &w.rows[in.b]))
			}
		}
		return
	}
	in.run = func(w *warp, in *instr, m uint32) {
		r := w.compareLanes(in, m, f)
		c := uint32(0)
		if in.q >= 0 {
			c = w.preds[in.q]
			if in.neg {
				c = ^c
			}
		}
		first, second := logic(combine, r, c), logic(combine, ^r, c)
		w.setPred(in.p, m, first)
		if other >= 0 {
			w.setPred(other, m, second)
		}
	}
}

func logic(op string, a, b uint32) uint32 {
	switch op {
	case "and":
		return a & b
	case "or":
		return a | b
	case "xor":
		return a ^ b
	}
	return a
}

// compareWhole returns a comparison of all lanes by its name, for the types that are compared most,
// or nil.
func compareWhole(op string, t typ) func(a, b *row) uint32 {
	switch {
	case t.kind == 'f' || t.size < 4:
		return nil
	case t.kind == 's' && t.size == 4:
		return compareInts[int32](op)
	case t.kind == 's':
		return compareInts[int64](op)
	case t.size == 4:
		return compareInts[uint32](op)
	}
	return compareInts[uint64](op)
}

func compareInts[T int32 | int64 | uint32 | uint64](op string) func(a, b *row) uint32 {
	switch op {
	case "eq":
		return equal32[T]
	case "ne":
		return func(a, b *row) uint32 { return ^equal32[T](a, b) }
	case "lt", "lo":
		return less32[T]
	case "ge", "hs":
		return func(a, b *row) uint32 { return ^less32[T](a, b) }
	case "gt", "hi":
		return func(a, b *row) uint32 { return less32[T](b, a) }
	case "le", "ls":
		return func(a, b *row) uint32 { return ^less32[T](b, a) }
	}
	return nil
}

// less32 compares 32 lanes, four at a time, since shifts by a variable are slow.
func less32[T int32 | int64 | uint32 | uint64](a, b *row) (r uint32) {
	for l := 0; l < 32; l += 4 {
		x, y := (*[4]uint64)(a[l:]), (*[4]uint64)(b[l:])
		r |= (b2u(T(x[0]) < T(y[0])) | b2u(T(x[1]) < T(y[1]))<<1 |
			b2u(T(x[2]) < T(y[2]))<<2 | b2u(T(x[3]) < T(y[3]))<<3) << l
	}
	return r
}

// equal32 is less32 for equality.
func equal32[T int32 | int64 | uint32 | uint64](a, b *row) (r uint32) {
	for l := 0; l < 32; l += 4 {
		x, y := (*[4]uint64)(a[l:]), (*[4]uint64)(b[l:])
		r |= (b2u(T(x[0]) == T(y[0])) | b2u(T(x[1]) == T(y[1]))<<1 |
			b2u(T(x[2]) == T(y[2]))<<2 | b2u(T(x[3]) == T(y[3]))<<3) << l
	}
	return r
}

func (w *warp) compareLanes(in *instr, m uint32, f func(a, b uint64) bool) (r uint32) {
	a, b := &w.rows[in.a], &w.rows[in.b]
	for ; m != 0; m &= m - 1 {
		if l := lowest(m); f(a[l], b[l]) {
			r |= 1 << l
		}
	}
	return r
}

// setPred writes the lanes m of a predicate.
func (w *warp) setPred(p int32, m, v uint32) { w.preds[p] = w.preds[p]&^m | v&m }

// readPred returns a predicate operand, negated if neg is set.
func (w *warp) readPred(p int32, neg bool) uint32 {
	if neg {
		return ^w.preds[p]
	}
	return w.preds[p]
}

// decodeSet: set.cmp.dtype.stype d, a, b: all ones or zero (1.0 for floats).
func decodeSet(d *dec) {
	if len(d.mod) != 2 {
		d.fail("this form of set is not known to the interpreter")
		return
	}
	f := compare(d.mod[0], d.t)
	dt, err := parseType(d.mod[1])
	if f == nil || err != nil {
		d.fail("this form of set is not known to the interpreter")
		return
	}
	yes := dt.mask()
	if dt.kind == 'f' {
		yes = uint64(math.Float32bits(1))
	}
	d.binary(func(a, b uint64) uint64 {
		if f(a, b) {
			return yes
		}
		return 0
	})
}

func decodeSelp(d *dec) {
	d.only("")
	d.in.d, d.in.a, d.in.b = d.dst(0), d.src(1), d.src(2)
	d.in.q, d.in.neg = d.predicate(3)
	d.in.run = func(w *warp, in *instr, m uint32) {
		r, a, b := &w.rows[in.d], &w.rows[in.a], &w.rows[in.b]
		p := w.readPred(in.q, in.neg)
		if m == full {
			for l := range r {
				x := b[l]
				if p>>l&1 != 0 {
					x = a[l]
				}
				r[l] = x
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			if l := lowest(m); p>>l&1 != 0 {
				r[l] = a[l]
			} else {
				r[l] = b[l]
			}
		}
	}
}

// predOperand reads operand i as a mask: a predicate or a constant.
func (d *dec) predOperand(i int) func(w *warp) uint32 {
	if o := d.arg(i); o.Kind == ptx.Imm {
		v := uint32(0)
		if o.Value != 0 {
			v = full
		}
		return func(*warp) uint32 { return v }
	}
	p, neg := d.predicate(i)
	return func(w *warp) uint32 { return w.readPred(p, neg) }
}

func decodePredLogic(d *dec) {
	d.in.p, _ = d.predicate(0)
	a := d.predOperand(1)
	if d.op == "not" {
		d.in.run = func(w *warp, in *instr, m uint32) { w.setPred(in.p, m, ^a(w)) }
		return
	}
	b, op := d.predOperand(2), d.op
	d.in.run = func(w *warp, in *instr, m uint32) { w.setPred(in.p, m, logic(op, a(w), b(w))) }
}

func decodePredMov(d *dec) {
	d.in.p, _ = d.predicate(0)
	a := d.predOperand(1)
	d.in.run = func(w *warp, in *instr, m uint32) { w.setPred(in.p, m, a(w)) }
}
