package ptx

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Limits that keep a damaged text from requesting absurd amounts of memory. CUDA's own are lower.
const (
	maxAlign   = 1 << 16
	maxVar     = 1 << 30 // bytes of a variable
	maxParams  = 4096    // bytes of a kernel's parameters: CUDA's own limit
	maxThreads = 1 << 20
	maxRegs    = 1 << 18 // registers of a kernel
)

type parser struct {
	toks []token
	pos  int
	m    *Module
	vars map[string]*Var // module-wide

	// A text has tens of thousands of instructions, so opcodes are shared and operands allocated in
	// slabs.
	opcodes map[string][]string
	slab    []Operand
}

// opcode returns the parts of an opcode; equal opcodes share them.
func (p *parser) opcode(text string) []string {
	parts, ok := p.opcodes[text]
	if !ok {
		parts = strings.Split(text, ".")
		p.opcodes[text] = parts
	}
	return parts
}

// keep copies operands into a slab.
func (p *parser) keep(args []Operand) []Operand {
	if len(args) == 0 {
		return nil
	}
	if len(p.slab)+len(args) > cap(p.slab) {
		p.slab = make([]Operand, 0, max(256, len(args)))
	}
	at := len(p.slab)
	p.slab = append(p.slab, args...)
	return p.slab[at:len(p.slab):len(p.slab)]
}

// Parse reads a PTX text.
func Parse(src string) (m *Module, err error) {
	toks, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks, m: &Module{}, vars: map[string]*Var{}, opcodes: map[string][]string{}}
	if err := p.module(); err != nil {
		return nil, err
	}
	return p.m, nil
}

// shared has the modules that Shared has parsed, by their text.
var shared struct {
	sync.Mutex
	modules map[string]*Module
}

// maxShared is more than the number of modules in the program; further ones are not kept.
const maxShared = 128

// Shared is Parse for texts that every device loads: it parses each text once. The module must not
// be changed.
func Shared(src string) (*Module, error) {
	shared.Lock()
	m := shared.modules[src]
	shared.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := Parse(src)
	if err != nil {
		return nil, err
	}
	shared.Lock()
	defer shared.Unlock()
	if first := shared.modules[src]; first != nil {
		return first, nil
	}
	if shared.modules == nil {
		shared.modules = map[string]*Module{}
	}
	if len(shared.modules) < maxShared {
		shared.modules[src] = m
	}
	return m, nil
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

// value reads the word after a directive. The end of the text and punctuation are errors.
func (p *parser) value(of string) (string, error) {
	if t := p.peek(); t == eof || !isWord(t[0]) {
		return "", p.errorf("found %q after %s", t, of)
	}
	return p.next(), nil
}

// name reads the name of a kernel, parameter, variable or register.
func (p *parser) name(of string) (string, error) {
	if t := p.peek(); !isName(t) {
		return "", p.errorf("found %q, expected the name of a %s", t, of)
	}
	return p.next(), nil
}

// count reads a number from low to high, written in decimal.
func (p *parser) count(of string, low, high int) (int, error) {
	n, err := strconv.Atoi(p.peek())
	if err != nil || n < low || n > high {
		return 0, p.errorf("found %q, expected %s from %d to %d", p.peek(), of, low, high)
	}
	p.next()
	return n, nil
}

// alignment reads the number after .align.
func (p *parser) alignment() (int, error) {
	line := p.line()
	n, err := p.count("an alignment", 1, maxAlign)
	if err == nil && n&(n-1) != 0 {
		err = &Error{line, fmt.Sprintf("alignment %d is not a power of two", n)}
	}
	return n, err
}

func (p *parser) module() (err error) {
	for {
		t := p.peek()
		if t == eof {
			return nil
		}
		if !strings.HasPrefix(t, ".") {
			return p.errorf("found %q, expected a directive", t)
		}
		line := p.line()
		switch p.next(); t {
		case ".version":
			if p.m.Version, err = p.value(t); err != nil {
				return err
			}
		case ".target":
			if p.m.Target, err = p.value(t); err != nil {
				return err
			}
			for p.accept(",") {
				if _, err := p.value(t); err != nil {
					return err
				}
			}
		case ".address_size":
			if p.peek() != "64" {
				return p.errorf(".address_size %q, expected 64", p.peek())
			}
			p.next()
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
			return &Error{line, "a function that was not inlined: mark it __forceinline__"}
		default:
			return &Error{line, fmt.Sprintf("directive %s is not known", t)}
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
			n, err := p.alignment()
			if err != nil {
				return nil, err
			}
			v.Align = max(v.Align, n)
		case SizeOf(t[1:]) > 0:
			elem = SizeOf(t[1:])
			v.Align = max(v.Align, elem)
		default:
			return nil, p.errorf("unknown %s in a variable", t)
		}
	}
	if elem == 0 {
		return nil, p.errorf("variable without a type")
	}
	var err error
	if v.Name, err = p.name("variable"); err != nil {
		return nil, err
	}
	count := 1
	for p.accept("[") {
		if p.accept("]") {
			count = 0
			continue
		}
		n, err := p.count("a length", 0, maxVar)
		if err != nil {
			return nil, err
		}
		if count *= n; count > maxVar/elem {
			return nil, p.errorf("%s has more than %d bytes", v.Name, maxVar)
		}
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
	v.Init = []byte{}
	braces := p.accept("{")
	for i := 0; ; i++ {
		if braces && p.accept("}") {
			return nil
		}
		if (i+1)*elem > v.Size {
			return p.errorf("%s has more values than elements", v.Name)
		}
		val, _, err := p.number()
		if err != nil {
			return err
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], val)
		v.Init = append(v.Init, b[:elem]...)
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
	line, t := p.line(), p.next()
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
		return 0, 0, &Error{line, fmt.Sprintf("found %q, expected a number", t)}
	}
	return bits, float, nil
}

// entry reads a kernel: name, parameters, tuning directives, body.
func (p *parser) entry() error {
	k := &Kernel{Line: p.line(), Targets: map[string][]int{}}
	var err error
	if k.Name, err = p.name("kernel"); err != nil {
		return err
	}
	if p.m.Kernel(k.Name) != nil {
		return &Error{k.Line, "kernel " + k.Name + " twice"}
	}
	if err := p.expect("("); err != nil {
		return err
	}
	for !p.accept(")") {
		if len(k.Params) > 0 {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		if err := p.param(k); err != nil {
			return err
		}
	}
	for strings.HasPrefix(p.peek(), ".") {
		if err := p.tuning(k); err != nil {
			return err
		}
	}
	b := &body{parser: p, k: k, labels: map[string]int{}}
	if err := b.parse(); err != nil {
		return err
	}
	p.m.Kernels = append(p.m.Kernels, k)
	return nil
}

// tuning reads a directive between parameters and body: a name and up to three
// numbers.
func (p *parser) tuning(k *Kernel) error {
	dir, product := p.next(), 1
	for range 3 {
		n, err := p.count("a number after "+dir, 1, maxThreads)
		if err != nil {
			return err
		}
		product *= n
		if !p.accept(",") {
			break
		}
	}
	if dir == ".maxntid" || dir == ".reqntid" {
		k.MaxThreads = product
	}
	return nil
}

func (p *parser) param(k *Kernel) error {
	if err := p.expect(".param"); err != nil {
		return err
	}
	var q Param
	pointer := false
	for strings.HasPrefix(p.peek(), ".") {
		switch t := p.next(); {
		case t == ".align":
			n, err := p.alignment()
			if err != nil {
				return err
			}
			if !pointer { // else it is the alignment of the memory pointed to
				q.Align = max(q.Align, n)
			}
		case SizeOf(t[1:]) > 0:
			q.Type, q.Size = t[1:], SizeOf(t[1:])
			q.Align = max(q.Align, q.Size)
		case t == ".ptr" || t == ".global":
			pointer = true
		default:
			return p.errorf("unknown %s in a parameter", t)
		}
	}
	if q.Size == 0 {
		return p.errorf("parameter without a type")
	}
	var err error
	if q.Name, err = p.name("parameter"); err != nil {
		return err
	}
	if p.accept("[") {
		n, err := p.count("a length", 1, maxParams)
		if err != nil {
			return err
		}
		q.Size *= n
		if err := p.expect("]"); err != nil {
			return err
		}
	}
	q.Offset = alignUp(k.ParamBytes, q.Align)
	if k.ParamBytes = q.Offset + q.Size; k.ParamBytes > maxParams {
		return p.errorf("kernel %s has more than %d bytes of parameters", k.Name, maxParams)
	}
	k.Params = append(k.Params, q)
	return nil
}
