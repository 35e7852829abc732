package emu

import (
	"fmt"
	"strings"
	"sync"

	"github.com/collocate/collocate/internal/gpu/ptx"
)

// handler executes an instruction for the lanes in the mask.
type handler func(w *warp, in *instr, mask uint32)

// kind says how the warp's loop treats an instruction; all kinds but normal change the control
// flow.
type kind uint8

const (
	normal kind = iota
	branch
	branchTable
	exit
	barrier
)

// instr is a decoded instruction. Operands are numbers of rows (32 lanes of 64
// bits each) or of predicates (one bit a lane).
type instr struct {
	run     handler
	all     func(r, a, b, c *row) // like run, for all lanes at once, or nil
	kind    kind
	predNot bool
	pred    int32 // guarding predicate, or -1
	d       int32 // destination row, or -1
	a, b, c int32
	p, q    int32 // predicates written or read, or -1

	// Memory and branches.
	space  space
	size   uint8 // bytes of one element
	signed bool
	sync   bool // volatile, or with a memory order: safe against other blocks
	imm    uint64
	vec    []int32 // rows of a vector's elements
	target int32   // of a branch
	meet   int32   // where the sides of a branch reconverge, or -1
	table  []int32
	mode   uint8 // kind of barrier, rounding or comparison
	neg    bool  // the predicate q (or a barrier's p) is negated
	named  bool  // the member mask is a constant with all lanes
	line   int32
}

type space uint8

const (
	generic space = iota
	global
	shared
	local
	constant
	param
)

// program is a kernel, ready to run.
type program struct {
	name       string
	k          *ptx.Kernel
	mod        *module
	code       []instr
	rows       int // per warp
	preds      int
	consts     []constRow
	specials   []specialRow
	static     int // bytes of shared memory
	dynOffset  int // where dynamic shared memory starts
	localBytes int // per thread
	shadowUnit uint
	symbols    map[string]symbol
	regRow     []int32 // register to row or predicate
	maxThreads int
}

type constRow struct {
	row   int32
	value uint64
}

// specialRow is a special register that the kernel reads.
type specialRow struct {
	name string
	row  int32
}

type symbol struct {
	space  space
	offset uint64
}

func (p *program) source(line int32) string {
	lines := strings.Split(p.mod.text, "\n")
	if int(line) > len(lines) || line < 1 {
		return ""
	}
	return strings.Join(strings.Fields(lines[line-1]), " ")
}

// programs holds decoded kernels. Kernels of modules with variables in global memory are not kept:
// these have another address each time the module is loaded.
var programs struct {
	sync.Mutex
	of map[*ptx.Kernel]*program
}

// maxPrograms is more than the number of kernels in the program; further ones are not kept.
const maxPrograms = 2048

// decodeOnce is decode, once for all devices.
func decodeOnce(k *ptx.Kernel, m *module) (*program, error) {
	programs.Lock()
	defer programs.Unlock()
	if p := programs.of[k]; p != nil {
		return p, nil
	}
	p, err := decode(k, m)
	if err == nil && len(m.globals) == 0 && len(programs.of) < maxPrograms {
		if programs.of == nil {
			programs.of = map[*ptx.Kernel]*program{}
		}
		programs.of[k] = p
	}
	return p, err
}

// decode turns a kernel into a program.
func decode(k *ptx.Kernel, m *module) (*program, error) {
	p := &program{
		name: k.Name, k: k, mod: m, symbols: map[string]symbol{},
		regRow: make([]int32, len(k.Regs)), maxThreads: k.MaxThreads, shadowUnit: 2,
	}
	p.place()
	for i, typ := range k.Regs {
		if typ == "pred" {
			p.regRow[i] = int32(p.preds)
			p.preds++
		} else {
			p.regRow[i] = int32(p.rows)
			p.rows++
		}
	}
	p.code = make([]instr, len(k.Body), len(k.Body)+1)
	for i := range k.Body {
		if err := p.decodeInstr(&k.Body[i], &p.code[i]); err != nil {
			return nil, fmt.Errorf("PTX line %d: %s: %w", k.Body[i].Line, p.source(int32(k.Body[i].Line)), err)
		}
	}
	// The end of the code is a return.
	p.code = append(p.code, instr{kind: exit, pred: -1, line: int32(k.Line)})
	p.exits()
	p.findMeets()
	return p, nil
}

// place assigns offsets to the variables.
func (p *program) place() {
	for _, v := range p.k.Vars {
		switch {
		case v.Space == "shared" && !v.Extern:
			p.static = alignUp(p.static, v.Align)
			p.symbols[v.Name] = symbol{shared, uint64(p.static)}
			p.static += v.Size
		case v.Space == "local":
			p.localBytes = alignUp(p.localBytes, v.Align)
			p.symbols[v.Name] = symbol{local, uint64(p.localBytes)}
			p.localBytes += v.Size
		}
	}
	p.dynOffset = alignUp(p.static, 16)
	for _, v := range p.k.Vars {
		if v.Extern {
			p.symbols[v.Name] = symbol{shared, uint64(p.dynOffset)}
		}
	}
	for _, v := range p.mod.m.Vars {
		if at, ok := p.mod.globals[v.Name]; ok {
			sp := global
			if v.Space == "const" {
				sp = constant
			}
			p.symbols[v.Name] = symbol{sp, uint64(at)}
		}
	}
	for _, q := range p.k.Params {
		p.symbols[q.Name] = symbol{param, uint64(q.Offset)}
	}
}

func alignUp(n, a int) int {
	if a <= 1 {
		return n
	}
	return (n + a - 1) / a * a
}

// constant returns a row that has the value in every lane.
func (p *program) constant(v uint64) int32 {
	for _, c := range p.consts {
		if c.value == v {
			return c.row
		}
	}
	r := int32(p.rows)
	p.rows++
	p.consts = append(p.consts, constRow{r, v})
	return r
}

// specialNames are the special registers that do not change while a block runs.
var specialNames = map[string]bool{
	"%tid.x": true, "%tid.y": true, "%tid.z": true, "%ntid.x": true, "%ntid.y": true, "%ntid.z": true,
	"%ctaid.x": true, "%ctaid.y": true, "%ctaid.z": true, "%nctaid.x": true, "%nctaid.y": true, "%nctaid.z": true,
	"%laneid": true, "%warpid": true, "%nwarpid": true, "%smid": true, "%nsmid": true, "%gridid": true,
	"%lanemask_lt": true, "%lanemask_le": true, "%lanemask_gt": true, "%lanemask_ge": true, "%lanemask_eq": true,
	"%dynamic_smem_size": true, "%total_smem_size": true, "WARP_SZ": true,
}

func (p *program) special(name string) (int32, error) {
	for _, s := range p.specials {
		if s.name == name {
			return s.row, nil
		}
	}
	if !specialNames[name] {
		return 0, fmt.Errorf("unknown special register %s", name)
	}
	r := int32(p.rows)
	p.rows++
	p.specials = append(p.specials, specialRow{name, r})
	return r, nil
}
