package ptx

import "strings"

// operand reads an argument of the current instruction; index is its position among the arguments.
func (b *body) operand(index int) (Operand, error) {
	o := Operand{Pair: -1, ID: -1}
	switch t := b.peek(); {
	case t == "{":
		return b.vector(index)
	case t == "[":
		return b.address()
	case t == "!":
		b.next()
		id, ok := b.register(b.peek())
		if !ok {
			return o, b.errorf("found %q, expected a predicate after !", b.peek())
		}
		b.next()
		o.Kind, o.ID, o.Value = Reg, id, 1
		return o, nil
	case t == "_":
		b.next()
		o.Kind = Sink
	case beginsNumber(t):
		var err error
		o.Kind = Imm
		o.Value, o.Float, err = b.number()
		return o, err
	case !isName(t):
		return o, b.errorf("found %q, expected an operand", t)
	default:
		b.named(&o, index)
	}
	if b.accept("|") {
		if b.accept("_") {
			return o, nil
		}
		id, ok := b.register(b.peek())
		if !ok || b.k.Regs[id] != "pred" {
			return o, b.errorf("no predicate %q", b.peek())
		}
		b.next()
		o.Pair = id
	}
	return o, nil
}

// named reads a register, a variable or a label, which may come later in the text.
func (b *body) named(o *Operand, index int) {
	line, t := b.line(), b.next()
	if id, ok := b.register(t); ok {
		o.Kind, o.ID = Reg, id
	} else if strings.HasPrefix(t, "%") || t == "WARP_SZ" {
		o.Kind, o.Name = Special, t
	} else if b.useVar(t) {
		o.Kind, o.Name = Sym, t
	} else {
		o.Kind, o.Name = Label, t
		b.uses = append(b.uses, labelUse{instr: len(b.k.Body), arg: index, name: t, line: line})
	}
}

// vector reads "{%r1, %r2}", whose elements are registers and numbers.
func (b *body) vector(index int) (Operand, error) {
	o := Operand{Kind: Vec, Pair: -1, ID: -1}
	b.next()
	for !b.accept("}") {
		if len(o.Elems) > 0 && !b.accept(",") {
			return o, b.errorf("found %q in a vector", b.peek())
		}
		switch t := b.peek(); t {
		case "{", "[", "!":
			return o, b.errorf("found %q in a vector", t)
		}
		line, uses := b.line(), len(b.uses)
		e, err := b.operand(index)
		if err != nil {
			return o, err
		}
		if len(b.uses) > uses {
			return o, &Error{line, "no register " + e.Name}
		}
		o.Elems = append(o.Elems, e)
	}
	return o, nil
}

// address reads "[%rd1+8]", with a register, a variable or a number before the offset.
func (b *body) address() (Operand, error) {
	o := Operand{Kind: Addr, Pair: -1, ID: -1}
	b.next()
	if id, ok := b.register(b.peek()); ok {
		o.ID = id
		b.next()
	} else if beginsNumber(b.peek()) {
		v, _, err := b.number()
		if err != nil {
			return o, err
		}
		o.Value = v
	} else {
		name, err := b.name("variable")
		if err != nil {
			return o, err
		}
		o.Name = name
		b.useVar(name)
	}
	if b.accept("+") || b.peek() == "-" {
		v, _, err := b.number()
		if err != nil {
			return o, err
		}
		o.Value += v
	}
	return o, b.expect("]")
}

func beginsNumber(t string) bool {
	return t != eof && (t[0] == '-' || t[0] >= '0' && t[0] <= '9')
}

// useVar reports whether name is a variable. Module-wide shared variables become part of the
// kernel's shared memory.
func (b *body) useVar(name string) bool {
	for _, v := range b.k.Vars {
		if v.Name == name {
			return true
		}
	}
	v, ok := b.vars[name]
	if ok && v.Space == "shared" && !b.shared[name] {
		b.shared[name] = true
		b.k.Vars = append(b.k.Vars, v)
	}
	return ok
}
