package ptx

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

type parser struct {
	toks []token
	pos  int
	m    *Module
	vars map[string]*Var // module-wide
}

// Parse reads a PTX text.
func Parse(src string) (m *Module, err error) {
	toks, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks, m: &Module{}, vars: map[string]*Var{}}
	if err := p.module(); err != nil {
		return nil, err
	}
	return p.m, nil
}

func (p *parser) peek() string { return p.toks[p.pos].text }
func (p *parser) line() int    { return p.toks[p.pos].line }

func (p *parser) next() string {
	t := p.toks[p.pos].text
	if p.pos < len(p.toks)-1 {
		p.pos++
	}
	return t
}

func (p *parser) accept(text string) bool {
	if p.peek() == text {
		p.next()
		return true
	}
	return false
}

func (p *parser) errorf(format string, args ...any) error {
	return &Error{p.line(), fmt.Sprintf(format, args...)}
}

func (p *parser) expect(text string) error {
	if !p.accept(text) {
		return p.errorf("found %q, expected %q", p.peek(), text)
	}
	return nil
}

func (p *parser) module() error {
	for {
		switch t := p.next(); t {
		case eof:
			return nil
		case ".version":
			p.m.Version = p.next()
		case ".target":
			p.m.Target = p.next()
			for p.accept(",") {
				p.next()
			}
		case ".address_size":
			if n := p.next(); n != "64" {
				return p.errorf(".address_size %s, expected 64", n)
			}
		case ".visible", ".weak", ".extern":
			if t == ".extern" && p.peek() == ".shared" {
				p.next()
				v, err := p.variable("shared")
				if err != nil {
					return err
				}
				v.Extern, v.Size = true, 0
				p.vars[v.Name] = v
				p.m.Vars = append(p.m.Vars, v)
			}
		case ".global", ".const", ".shared":
			v, err := p.variable(t[1:])
			if err != nil {
				return err
			}
			p.vars[v.Name] = v
			p.m.Vars = append(p.m.Vars, v)
		case ".entry":
			if err := p.entry(); err != nil {
				return err
			}
		case ".func":
			return p.errorf("a function that was not inlined: mark it __forceinline__")
		default:
			return p.errorf("found %q, expected a directive", t)
		}
	}
}

// variable reads what follows .global, .shared and so on:
//
//	.align 4 .b8 name[256] = {1, 2};
func (p *parser) variable(space string) (*Var, error) {
	v := &Var{Space: space, Align: 1, Line: p.line()}
	var elem int
	for strings.HasPrefix(p.peek(), ".") {
		switch t := p.next(); {
		case t == ".align":
			n, err := strconv.Atoi(p.next())
			if err != nil {
				return nil, p.errorf("bad alignment")
			}
			v.Align = n
		case SizeOf(t[1:]) > 0:
			elem = SizeOf(t[1:])
			v.Align = max(v.Align, elem)
		default:
			return nil, p.errorf("%s in a variable is not known", t)
		}
	}
	if elem == 0 {
		return nil, p.errorf("variable without a type")
	}
	v.Name = p.next()
	count := 1
	for p.accept("[") {
		if p.accept("]") {
			count = 0
			continue
		}
		n, err := strconv.Atoi(p.next())
		if err != nil || n < 0 {
			return nil, p.errorf("bad length of %s", v.Name)
		}
		count *= n
		if err := p.expect("]"); err != nil {
			return nil, err
		}
	}
	v.Size = count * elem
	if p.accept("=") {
		if err := p.initializer(v, elem); err != nil {
			return nil, err
		}
	}
	return v, p.expect(";")
}

func (p *parser) initializer(v *Var, elem int) error {
	v.Init = make([]byte, v.Size)
	braces := p.accept("{")
	for i := 0; ; i++ {
		if braces && p.accept("}") {
			return nil
		}
		val, _, err := p.number()
		if err != nil {
			return err
		}
		if (i+1)*elem > v.Size {
			return p.errorf("%s has more values than places", v.Name)
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], val)
		copy(v.Init[i*elem:(i+1)*elem], b[:])
		if !braces {
			return nil
		}
		if !p.accept(",") && p.peek() != "}" {
			return p.errorf("found %q in the values of %s", p.peek(), v.Name)
		}
	}
}

// number reads an integer or float literal as its bits; float is 0, 32 or 64.
func (p *parser) number() (bits uint64, float int, err error) {
	neg := false
	for p.accept("-") {
		neg = !neg
	}
	t := p.next()
	switch {
	case len(t) == 10 && (strings.HasPrefix(t, "0f") || strings.HasPrefix(t, "0F")):
		bits, err = strconv.ParseUint(t[2:], 16, 32)
		if neg {
			bits ^= 1 << 31
		}
		float = 32
	case len(t) == 18 && (strings.HasPrefix(t, "0d") || strings.HasPrefix(t, "0D")):
		bits, err = strconv.ParseUint(t[2:], 16, 64)
		if neg {
			bits ^= 1 << 63
		}
		float = 64
	default:
		bits, err = strconv.ParseUint(strings.TrimSuffix(t, "U"), 0, 64)
		if neg {
			bits = -bits
		}
	}
	if err != nil {
		return 0, 0, p.errorf("found %q, expected a number", t)
	}
	return bits, float, nil
}

// entry reads a kernel: name, parameters, tuning directives, body.
func (p *parser) entry() error {
	k := &Kernel{Line: p.line(), Name: p.next(), Targets: map[string][]int{}}
	if err := p.expect("("); err != nil {
		return err
	}
	for !p.accept(")") {
		if err := p.param(k); err != nil {
			return err
		}
		p.accept(",")
	}
	for strings.HasPrefix(p.peek(), ".") {
		dir := p.next()
		dims := []int{}
		for {
			n, err := strconv.Atoi(p.next())
			if err != nil {
				return p.errorf("bad number after %s", dir)
			}
			dims = append(dims, n)
			if !p.accept(",") {
				break
			}
		}
		if dir == ".maxntid" || dir == ".reqntid" {
			k.MaxThreads = 1
			for _, n := range dims {
				k.MaxThreads *= n
			}
		}
	}
	b := &body{parser: p, k: k, labels: map[string]int{}}
	if err := b.parse(); err != nil {
		return err
	}
	p.m.Kernels = append(p.m.Kernels, k)
	return nil
}

func (p *parser) param(k *Kernel) error {
	if err := p.expect(".param"); err != nil {
		return err
	}
	var q Param
	for strings.HasPrefix(p.peek(), ".") {
		switch t := p.next(); {
		case t == ".align":
			n, err := strconv.Atoi(p.next())
			if err != nil {
				return p.errorf("bad alignment")
			}
			q.Align = n
		case SizeOf(t[1:]) > 0:
			q.Type, q.Size = t[1:], SizeOf(t[1:])
			q.Align = max(q.Align, q.Size)
		case t == ".ptr" || t == ".global":
		default:
			return p.errorf("%s in a parameter is not known", t)
		}
	}
	if q.Size == 0 {
		return p.errorf("parameter without a type")
	}
	q.Name = p.next()
	if p.accept("[") {
		n, err := strconv.Atoi(p.next())
		if err != nil {
			return p.errorf("bad length of %s", q.Name)
		}
		q.Size *= n
		if err := p.expect("]"); err != nil {
			return err
		}
	}
	q.Offset = alignUp(k.ParamBytes, q.Align)
	k.ParamBytes = q.Offset + q.Size
	k.Params = append(k.Params, q)
	return nil
}
