// Package ptx parses PTX, the assembly language of NVIDIA's compilers: kernels, their parameters
// and their instructions, with registers numbered and names resolved. It knows the syntax, not what
// instructions do; package emu runs them.
//
//	m, err := ptx.Parse(text)
//	k := m.Kernel("scan_u32")
//	k.Params   // offsets and sizes, as a launch must pack them
//	k.Body[7]  // {Line:42 Op:[add s32] Args:[reg 3, reg 1, imm 1]}
package ptx

import (
	"fmt"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// Module is one PTX text.
type Module struct {
	Version string // "7.8"
	Target  string // "sm_70"
	Vars    []*Var // of the whole module: .global, .const, .shared
	Kernels []*Kernel
}

// Kernel returns the entry of that name, or nil.
func (m *Module) Kernel(name string) *Kernel {
	for _, k := range m.Kernels {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Var is a variable in some memory.
type Var struct {
	Name   string
	Space  string // global, const, shared, local
	Align  int
	Size   int    // bytes; 0 for dynamic shared memory
	Extern bool   // dynamic shared memory
	Init   []byte // the first bytes; the rest is zero
	Line   int
}

// Param is one parameter of a kernel.
type Param = driver.Param

// Kernel is one entry point.
type Kernel struct {
	Name       string
	Line       int
	Params     []Param
	ParamBytes int
	MaxThreads int      // .maxntid, or 0
	Vars       []*Var   // .shared and .local of this kernel, and module-wide .shared that it uses
	Regs       []string // type of each register, "pred" among them
	Body       []Instr
	Targets    map[string][]int // branch tables: name to instruction numbers
}

// StaticShared returns the bytes of static shared memory of a block.
func (k *Kernel) StaticShared() int {
	n := 0
	for _, v := range k.Vars {
		if v.Space == "shared" {
			n = alignUp(n, v.Align) + v.Size
		}
	}
	return n
}

// Instr is one instruction.
type Instr struct {
	Line    int
	Op      []string // "ld", "global", "nc", "u32"
	Pred    int      // register that guards it, or -1
	PredNot bool
	Args    []Operand
}

// Kind says what an operand is.
type Kind uint8

const (
	Reg     Kind = iota // register ID
	Imm                 // Value, the bits of an integer or float
	Special             // Name, such as %tid.x
	Sym                 // address of variable Name, plus Value
	Addr                // [register ID or variable Name, plus Value]
	Vec                 // {Elems}
	Label               // instruction number ID
	Table               // branch table Name
	Sink                // _
)

// Operand is one argument of an instruction.
type Operand struct {
	Kind  Kind
	ID    int    // register, or instruction number; for Addr -1 when it has a Name
	Value uint64 // immediate bits or address offset
	Name  string
	Elems []Operand
	Pair  int // the predicate of "%r1|%p2", or -1
	Float int // 32 or 64 for a float immediate written as bits
}

// Error is a PTX text that cannot be read.
type Error struct {
	Line int
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("PTX line %d: %s", e.Line, e.Msg) }

func alignUp(n, a int) int {
	if a <= 1 {
		return n
	}
	return (n + a - 1) / a * a
}

// SizeOf returns the size in bytes of a type such as u32, b8 or f64, or 0 if there is no such type.
func SizeOf(typ string) int {
	switch typ {
	case "u8", "s8", "b8":
		return 1
	case "u16", "s16", "b16", "f16":
		return 2
	case "u32", "s32", "b32", "f32":
		return 4
	case "u64", "s64", "b64", "f64":
		return 8
	}
	return 0
}
