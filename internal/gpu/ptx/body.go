package ptx

import (
	"strconv"
	"strings"
)

// body parses the text between a kernel's outer braces.
type body struct {
	*parser
	k      *Kernel
	scopes []scope // innermost last
	labels map[string]int
	uses   []labelUse
	shared map[string]bool // module-wide shared variables already listed in k
	args   []Operand       // of the current instruction
}

// scope holds the registers declared between two braces.
type scope struct {
	names  map[string]int
	series map[string]series // by the part of the name before the number
}

// series is ".reg .b32 %r<98>": registers %r0 to %r97. first is the ID of %r0.
type series struct{ first, n int }

func newScope() scope { return scope{map[string]int{}, map[string]series{}} }

// register finds a register by its name.
func (s scope) register(name string) (int, bool) {
	if id, ok := s.names[name]; ok {
		return id, true
	}
	at := len(name)
	for at > 0 && name[at-1] >= '0' && name[at-1] <= '9' {
		at--
	}
	// A prefix may itself end in digits: "%r1<20>" declares %r10 to %r119.
	for ; at < len(name); at++ {
		r, ok := s.series[name[:at]]
		if !ok || name[at] == '0' && at+1 < len(name) {
			continue
		}
		if n, err := strconv.Atoi(name[at:]); err == nil && n < r.n {
			return r.first + n, true
		}
	}
	return 0, false
}

// labelUse is a branch whose target may come later in the text.
type labelUse struct {
	instr, arg int
	name       string
	line       int
	table      string // the branch table that the label is in, if any
}

func (b *body) parse() error {
	b.shared = map[string]bool{}
	if err := b.expect("{"); err != nil {
		return err
	}
	b.scopes = append(b.scopes, newScope())
	for len(b.scopes) > 0 {
		if err := b.statement(); err != nil {
			return err
		}
	}
	tables := map[string][]int{}
	for _, u := range b.uses {
		at, ok := b.labels[u.name]
		if u.table == "" && !ok {
			if _, isTable := b.labels["table "+u.name]; isTable {
				b.k.Body[u.instr].Args[u.arg] = Operand{Kind: Table, Name: u.name, Pair: -1}
				continue
			}
		}
		if !ok {
			return &Error{u.line, "no label " + u.name}
		}
		if u.table != "" {
			tables[u.table] = append(tables[u.table], at)
			continue
		}
		b.k.Body[u.instr].Args[u.arg].ID = at
	}
	b.k.Targets = tables
	return nil
}

func (b *body) statement() error {
	switch t := b.peek(); {
	case t == eof:
		return b.errorf("kernel %s without end", b.k.Name)
	case t == "{":
		b.next()
		b.scopes = append(b.scopes, newScope())
		return nil
	case t == "}":
		b.next()
		b.scopes = b.scopes[:len(b.scopes)-1]
		return nil
	case t == ".reg":
		b.next()
		return b.registers()
	case t == ".shared" || t == ".local":
		b.next()
		v, err := b.variable(t[1:])
		b.k.Vars = append(b.k.Vars, v)
		return err
	case t == ".pragma": // up to the semicolon
		for b.peek() != ";" && b.peek() != eof {
			b.next()
		}
		return b.expect(";")
	case t == ".loc": // up to the end of the line
		for line := b.line(); b.peek() != eof && b.line() == line; {
			b.next()
		}
		return nil
	case isName(t) && b.toks[b.pos+1].text == ":":
		line, name := b.line(), b.next()
		b.next()
		if b.accept(".branchtargets") {
			return b.branchTargets(name)
		}
		if _, twice := b.labels[name]; twice {
			return &Error{line, "label " + name + " twice"}
		}
		b.labels[name] = len(b.k.Body)
		return nil
	default:
		return b.instruction()
	}
}

// branchTargets reads "$L1, $L2;", the labels of a table.
func (b *body) branchTargets(table string) error {
	b.labels["table "+table] = 0
	for {
		line := b.line()
		name, err := b.name("label")
		if err != nil {
			return err
		}
		b.uses = append(b.uses, labelUse{name: name, line: line, table: table})
		if !b.accept(",") {
			return b.expect(";")
		}
	}
}

// registers reads ".reg .b32 %r<98>;" or ".reg .pred %p, %q;".
func (b *body) registers() error {
	typ := strings.TrimPrefix(b.peek(), ".")
	if SizeOf(typ) == 0 && typ != "pred" {
		return b.errorf("unknown register type %q", typ)
	}
	b.next()
	scope := b.scopes[len(b.scopes)-1]
	for {
		name, err := b.name("register")
		if err != nil {
			return err
		}
		if b.accept("<") {
			n, err := b.count("a number of registers", 0, maxRegs-len(b.k.Regs))
			if err != nil {
				return err
			}
			scope.series[name] = series{len(b.k.Regs), n}
			for range n {
				b.k.Regs = append(b.k.Regs, typ)
			}
			if err := b.expect(">"); err != nil {
				return err
			}
		} else {
			scope.names[name] = len(b.k.Regs)
			b.k.Regs = append(b.k.Regs, typ)
		}
		if !b.accept(",") {
			return b.expect(";")
		}
	}
}

func (b *body) register(name string) (int, bool) {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if id, ok := b.scopes[i].register(name); ok {
			return id, true
		}
	}
	return 0, false
}

func (b *body) instruction() error {
	in := Instr{Line: b.line(), Pred: -1}
	if b.accept("@") {
		in.PredNot = b.accept("!")
		id, ok := b.register(b.peek())
		if !ok || b.k.Regs[id] != "pred" {
			return b.errorf("no predicate %q", b.peek())
		}
		b.next()
		in.Pred = id
		in.Line = b.line()
	}
	op := b.peek()
	if op == eof || op[0] < 'a' || op[0] > 'z' {
		return b.errorf("found %q, expected an instruction", op)
	}
	b.next()
	in.Op = b.opcode(op)
	b.args = b.args[:0]
	for !b.accept(";") {
		if len(b.args) > 0 && !b.accept(",") {
			return b.errorf("found %q in %s", b.peek(), op)
		}
		arg, err := b.operand(len(b.args))
		if err != nil {
			return err
		}
		b.args = append(b.args, arg)
	}
	in.Args = b.keep(b.args)
	b.k.Body = append(b.k.Body, in)
	return nil
}
