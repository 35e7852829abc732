package ptx

import (
	"strconv"
	"strings"
)

// body parses what stands between a kernel's outer braces.
type body struct {
	*parser
	k      *Kernel
	scopes []map[string]int // register names, innermost last
	labels map[string]int
	uses   []labelUse
	shared map[string]bool // module-wide shared variables already listed in k
}

// labelUse is a branch whose target may come later in the text.
type labelUse struct {
	instr, arg int
	name       string
	line       int
	table      string // or the branch table it belongs to
}

func (b *body) parse() error {
	b.shared = map[string]bool{}
	if err := b.expect("{"); err != nil {
		return err
	}
	b.scopes = append(b.scopes, map[string]int{})
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
		b.scopes = append(b.scopes, map[string]int{})
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
		return b.errorf("register type %q is not known", typ)
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
			for i := range n {
				scope[name+strconv.Itoa(i)] = len(b.k.Regs)
				b.k.Regs = append(b.k.Regs, typ)
			}
			if err := b.expect(">"); err != nil {
				return err
			}
		} else {
			scope[name] = len(b.k.Regs)
			b.k.Regs = append(b.k.Regs, typ)
		}
		if !b.accept(",") {
			return b.expect(";")
		}
	}
}

func (b *body) register(name string) (int, bool) {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if id, ok := b.scopes[i][name]; ok {
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
	in.Op = strings.Split(op, ".")
	for !b.accept(";") {
		if len(in.Args) > 0 && !b.accept(",") {
			return b.errorf("found %q in %s", b.peek(), op)
		}
		arg, err := b.operand(len(in.Args))
		if err != nil {
			return err
		}
		in.Args = append(in.Args, arg)
	}
	b.k.Body = append(b.k.Body, in)
	return nil
}
