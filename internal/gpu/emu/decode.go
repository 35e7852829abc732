package emu

import (
	"fmt"
	"strings"

	"github.com/collocate/collocate/internal/gpu/ptx"
)

// typ is the type part of an opcode.
type typ struct {
	kind byte // u, s, b, f, or p for predicates
	size int  // bytes
}

func parseType(s string) (typ, error) {
	if s == "pred" {
		return typ{'p', 0}, nil
	}
	n := ptx.SizeOf(s)
	if n == 0 {
		return typ{}, fmt.Errorf("unknown type .%s", s)
	}
	return typ{s[0], n}, nil
}

func (t typ) bits() int    { return t.size * 8 }
func (t typ) mask() uint64 { return maskOf(t.size) }

// maskOf returns a mask of the given number of low bytes.
func maskOf(bytes int) uint64 {
	if bytes >= 8 {
		return ^uint64(0)
	}
	return 1<<(8*bytes) - 1
}

// extend sign-extends the low bytes of v to 64 bits.
func extend(v uint64, bytes int) int64 {
	s := 64 - 8*bytes
	return int64(v<<s) >> s
}

// dec decodes one instruction.
type dec struct {
	p   *program
	x   *ptx.Instr
	in  *instr
	op  string
	mod []string // parts of the opcode between name and type
	t   typ
	err error
}

// decoders has a function for each opcode; the files exec*.go register them.
var decoders = map[string]func(*dec){}

func register(names string, f func(*dec)) {
	for _, n := range strings.Fields(names) {
		decoders[n] = f
	}
}

func (p *program) decodeInstr(x *ptx.Instr, in *instr) error {
	*in = instr{pred: -1, d: -1, a: -1, b: -1, c: -1, p: -1, q: -1, meet: -1, line: int32(x.Line), predNot: x.PredNot}
	if x.Pred >= 0 {
		in.pred = p.regRow[x.Pred]
	}
	f := decoders[x.Op[0]]
	if f == nil {
		return fmt.Errorf("instruction %q is not supported by the interpreter", x.Op[0])
	}
	d := &dec{p: p, x: x, in: in, op: x.Op[0], mod: x.Op[1:]}
	// Most opcodes end in a type.
	if n := len(d.mod); n > 0 {
		if t, err := parseType(d.mod[n-1]); err == nil {
			d.t, d.mod = t, d.mod[:n-1]
		}
	}
	f(d)
	if d.err == nil && in.run == nil && in.kind == normal {
		d.fail("this form is not known to the interpreter")
	}
	return d.err
}

func (d *dec) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// has reports whether the opcode has a modifier.
func (d *dec) has(m string) bool {
	for _, x := range d.mod {
		if x == m {
			return true
		}
	}
	return false
}

// only fails if the opcode has a modifier that is not allowed.
func (d *dec) only(allowed string) {
	for _, m := range d.mod {
		if !strings.Contains(" "+allowed+" ", " "+m+" ") {
			d.fail("modifier .%s is not known to the interpreter", m)
		}
	}
}

func (d *dec) arg(i int) ptx.Operand {
	if i >= len(d.x.Args) {
		d.fail("%d operands are too few", len(d.x.Args))
		return ptx.Operand{Kind: ptx.Sink}
	}
	return d.x.Args[i]
}

// rowOf returns the row of a source operand of the given width.
func (d *dec) rowOf(o ptx.Operand, bytes int) int32 {
	switch o.Kind {
	case ptx.Reg:
		if d.p.k.Regs[o.ID] == "pred" {
			d.fail("a predicate where a register should be")
		}
		return d.p.regRow[o.ID]
	case ptx.Imm:
		return d.p.constant(o.Value & maskOf(bytes))
	case ptx.Special:
		r, err := d.p.special(o.Name)
		if err != nil {
			d.fail("%v", err)
		}
		return r
	case ptx.Sym:
		s, ok := d.p.symbols[o.Name]
		if !ok || s.space == param {
			d.fail("the address of %s cannot be taken", o.Name)
		}
		return d.p.constant(s.offset + o.Value)
	}
	d.fail("operand of an unknown form")
	return -1
}

// src returns the row of source operand i, of the opcode's type.
func (d *dec) src(i int) int32 { return d.rowOf(d.arg(i), d.t.size) }

// dst returns the row of destination operand i.
func (d *dec) dst(i int) int32 {
	o := d.arg(i)
	if o.Kind == ptx.Sink {
		d.p.rows++
		return int32(d.p.rows - 1)
	}
	if o.Kind != ptx.Reg || d.p.k.Regs[o.ID] == "pred" {
		d.fail("operand %d should be a register", i)
		return -1
	}
	return d.p.regRow[o.ID]
}

// regSize returns the width in bytes of the register of operand i.
func (d *dec) regSize(i int) int {
	if o := d.arg(i); o.Kind == ptx.Reg {
		return ptx.SizeOf(d.p.k.Regs[o.ID])
	}
	return d.t.size
}

// predicate returns the number of the predicate of operand i, and whether it is negated. The sink
// (_) has a number of its own.
func (d *dec) predicate(i int) (int32, bool) {
	o := d.arg(i)
	if o.Kind == ptx.Sink {
		d.p.preds++
		return int32(d.p.preds - 1), false
	}
	if o.Kind != ptx.Reg || d.p.k.Regs[o.ID] != "pred" {
		d.fail("operand %d should be a predicate", i)
		return -1, false
	}
	return d.p.regRow[o.ID], o.Value == 1
}

// pair returns the predicate of "%r1|%p2", or -1.
func (d *dec) pair(i int) int32 {
	if o := d.arg(i); o.Pair >= 0 {
		return d.p.regRow[o.Pair]
	}
	return -1
}

// unary, binary and ternary decode the usual operands: d, a, b, c. f computes one lane.
func (d *dec) unary(f func(a uint64) uint64) {
	d.in.d, d.in.a = d.dst(0), d.src(1)
	d.in.run = func(w *warp, in *instr, m uint32) {
		r, a := &w.rows[in.d], &w.rows[in.a]
		for ; m != 0; m &= m - 1 {
			l := lowest(m)
			r[l] = f(a[l])
		}
	}
}

func (d *dec) binary(f func(a, b uint64) uint64) {
	d.in.d, d.in.a, d.in.b = d.dst(0), d.src(1), d.src(2)
	d.in.run = func(w *warp, in *instr, m uint32) {
		r, a, b := &w.rows[in.d], &w.rows[in.a], &w.rows[in.b]
		for ; m != 0; m &= m - 1 {
			l := lowest(m)
			r[l] = f(a[l], b[l])
		}
	}
}

func (d *dec) ternary(f func(a, b, c uint64) uint64) {
	d.in.d, d.in.a, d.in.b, d.in.c = d.dst(0), d.src(1), d.src(2), d.src(3)
	d.in.run = func(w *warp, in *instr, m uint32) {
		r, a, b, c := &w.rows[in.d], &w.rows[in.a], &w.rows[in.b], &w.rows[in.c]
		for ; m != 0; m &= m - 1 {
			l := lowest(m)
			r[l] = f(a[l], b[l], c[l])
		}
	}
}

// whole gives an instruction a loop over all lanes, for warps in which most lanes are active: a
// call per lane takes several times as long. f must do to every lane what the function of unary,
// binary or ternary does. Operands that the instruction does not have are arbitrary rows.
func (d *dec) whole(f func(r, a, b, c *row)) {
	d.in.all = f
	d.in.b, d.in.c = max(d.in.b, 0), max(d.in.c, 0)
}
