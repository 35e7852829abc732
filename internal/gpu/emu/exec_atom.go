package emu

import (
	"sync/atomic"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu/ptx"
)

func init() {
	register("atom red", decodeAtom)
}

// decodeAtom: atom{.sem}{.scope}{.space}.op.type d, [a], b{, c}; red has no d.
func decodeAtom(d *dec) {
	var name string
	rest := d.mod[:0:0]
	for _, m := range d.mod {
		switch m {
		case "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec":
			name = m
		default:
			rest = append(rest, m)
		}
	}
	d.mod = rest
	d.memory()
	d.in.sync = true
	d.in.signed = false
	f := update(name, d.t)
	if f == nil {
		d.fail("atomic .%s.%c%d is not known to the interpreter", name, d.t.kind, d.t.bits())
		return
	}
	i := 1
	if d.op == "red" {
		i = 0
		d.p.rows++
		d.in.d = int32(d.p.rows - 1)
	} else {
		d.in.d = d.dst(0)
	}
	d.address(i)
	d.in.b = d.src(i + 1)
	d.in.c = d.in.b
	if name == "cas" {
		d.in.c = d.src(i + 2)
	} else if len(d.x.Args) > i+2 && d.arg(i+2).Kind != ptx.Sink {
		d.fail("too many operands")
	}
	d.in.run = func(w *warp, in *instr, m uint32) { w.atomic(in, m, f) }
}

// update returns the new value as a function of the old one and the operands.
func update(op string, t typ) func(old, b, c uint64) uint64 {
	mask := t.mask()
	switch {
	case op == "add" && t.kind == 'f' && t.size == 4:
		return func(old, b, _ uint64) uint64 { return bits32(f32(old) + f32(b)) }
	case op == "add" && t.kind == 'f' && t.size == 8:
		return func(old, b, _ uint64) uint64 { return bits64(f64(old) + f64(b)) }
	case t.kind == 'f' || t.size < 4:
		return nil
	}
	switch op {
	case "add":
		return func(old, b, _ uint64) uint64 { return (old + b) & mask }
	case "min":
		return func(old, b, _ uint64) uint64 {
			if less(t, b, old) {
				return b & mask
			}
			return old
		}
	case "max":
		return func(old, b, _ uint64) uint64 {
			if less(t, old, b) {
				return b & mask
			}
			return old
		}
	case "and":
		return func(old, b, _ uint64) uint64 { return old & b }
	case "or":
		return func(old, b, _ uint64) uint64 { return (old | b) & mask }
	case "xor":
		return func(old, b, _ uint64) uint64 { return (old ^ b) & mask }
	case "exch":
		return func(_, b, _ uint64) uint64 { return b & mask }
	case "cas":
		return func(old, b, c uint64) uint64 {
			if old == b&mask {
				return c & mask
			}
			return old
		}
	case "inc":
		return func(old, b, _ uint64) uint64 {
			if old >= b&mask {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, b, _ uint64) uint64 {
			if old == 0 || old > b&mask {
				return b & mask
			}
			return old - 1
		}
	}
	return nil
}

func (w *warp) atomic(in *instr, m uint32, f func(old, b, c uint64) uint64) {
	r, a, b, c := &w.rows[in.d], &w.rows[in.a], &w.rows[in.b], &w.rows[in.c]
	n := uint64(in.size)
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		addr := a[l] + in.imm
		p := w.at(in, l, addr, n)
		if p == nil {
			return
		}
		if off, ok := in.isShared(addr); ok {
			s := &w.b.shadow
			if !s.read(w, in, l, off, n, true) || !s.write(w, in, l, off, n, true, false) {
				return
			}
		}
		r[l] = swap(p, in.size, b[l], c[l], f)
	}
}

// swap applies the update atomically, as other blocks may access the same address.
func swap(p unsafe.Pointer, size uint8, b, c uint64, f func(old, b, c uint64) uint64) uint64 {
	for {
		if size == 4 {
			old := atomic.LoadUint32((*uint32)(p))
			if atomic.CompareAndSwapUint32((*uint32)(p), old, uint32(f(uint64(old), b, c))) {
				return uint64(old)
			}
			continue
		}
		old := atomic.LoadUint64((*uint64)(p))
		if atomic.CompareAndSwapUint64((*uint64)(p), old, f(old, b, c)) {
			return old
		}
	}
}
