package ptx

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sample has one of everything that compilers write for our kernels.
const sample = `// made by hand
/* two
lines */
.version 7.8
.target sm_70, debug
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 rows[128];
.global .align 8 .u64 total = 7;
.const .u32 steps[4] = {1, 0x10, -1};
.visible .entry walk(
	.param .u64 walk_param_0,
	.param .u8 walk_param_1,
	.param .align 4 .b8 walk_param_2[12],
	.param .u64 .ptr .global .align 1 walk_param_3
)
.maxntid 64, 2, 1
.minnctapersm 2
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>, %x;
	.reg .b64 %rd<2>;
	.local .align 8 .b8 depot[24];
	.shared .u16 odd;
	.pragma "nounroll";
	.loc 1 10 3
	ld.param.u64 %rd0, [walk_param_0];
	ld.param.v2.u32 {%r0, _}, [walk_param_2+4];
	mov.u32 %r1, %tid.x;
	mov.f32 %r2, 0f3F800000;
	mov.f64 %rd1, -0d3FF0000000000000;
	mov.u64 %rd1, total;
	st.shared.u32 [rows+8], %r1;
	st.global.u32 [%rd0+-4], %x;
	setp.lt.u32 %p0|%p1, %r1, 5, !%p2;
	@!%p0 bra $done;
	{
		.reg .b32 %r<1>;
		add.s32 %r0, %r0, -3;
	}
	table: .branchtargets $again, $done;
	brx.idx.uni %r0, table;
$again:
	atom.global.add.u32 _, [%rd0], WARP_SZ;
$done:
	ret;
}
`

// TestParse parses the sample: variables, parameters, registers, instructions.
func TestParse(t *testing.T) {
	m, err := Parse(sample)
	if err != nil {
		t.Fatal(err)
	}
	if m.Version != "7.8" || m.Target != "sm_70" {
		t.Errorf("version %s, target %s; want 7.8 and sm_70", m.Version, m.Target)
	}
	wantVars := []*Var{
		{Name: "dynamic", Space: "shared", Align: 16, Extern: true, Line: 7},
		{Name: "rows", Space: "shared", Align: 4, Size: 128, Line: 8},
		{Name: "total", Space: "global", Align: 8, Size: 8, Init: []byte{7, 0, 0, 0, 0, 0, 0, 0}, Line: 9},
		{Name: "steps", Space: "const", Align: 4, Size: 16,
			Init: []byte{1, 0, 0, 0, 16, 0, 0, 0, 255, 255, 255, 255}, Line: 10},
	}
	if !reflect.DeepEqual(m.Vars, wantVars) {
		for i, v := range m.Vars[:min(len(m.Vars), len(wantVars))] {
			t.Errorf("variable %d is %+v,\nwant %+v", i, *v, *wantVars[i])
		}
		t.Errorf("%d variables, want %d", len(m.Vars), len(wantVars))
	}
	k := m.Kernel("walk")
	if k == nil || m.Kernel("run") != nil || len(m.Kernels) != 1 {
		t.Fatalf("%d kernels, want one named walk", len(m.Kernels))
	}
	wantParams := []Param{
		{Name: "walk_param_0", Type: "u64", Offset: 0, Size: 8, Align: 8},
		{Name: "walk_param_1", Type: "u8", Offset: 8, Size: 1, Align: 1},
		{Name: "walk_param_2", Type: "b8", Offset: 12, Size: 12, Align: 4},
		{Name: "walk_param_3", Type: "u64", Offset: 24, Size: 8, Align: 8}, // .align 1 is the alignment of the memory pointed to
	}
	if !slices.Equal(k.Params, wantParams) || k.ParamBytes != 32 {
		t.Errorf("parameters are %+v, %d bytes;\nwant %+v, 32 bytes", k.Params, k.ParamBytes, wantParams)
	}
	if k.MaxThreads != 128 {
		t.Errorf("%d threads at most, want 128", k.MaxThreads)
	}
	if got := k.StaticShared(); got != 2+2+128 { // odd, padding, and rows at a multiple of 4
		t.Errorf("%d bytes of shared memory, want 132", got)
	}
	if want := []string{"pred", "pred", "pred", "b32", "b32", "b32", "b32", "b32", "b64", "b64",
		"b32"}; !slices.Equal(k.Regs, want) {
		t.Errorf("registers are %v,\nwant %v", k.Regs, want)
	}
	const x, rd0, rd1, inner = 7, 8, 9, 10
	reg := func(id int) Operand { return Operand{Kind: Reg, ID: id, Pair: -1} }
	imm := func(v uint64, float int) Operand { return Operand{Kind: Imm, ID: -1, Value: v, Pair: -1, Float: float} }
	named := func(kind Kind, name string) Operand { return Operand{Kind: kind, ID: -1, Name: name, Pair: -1} }
	at := func(id int, name string, offset int64) Operand {
		return Operand{Kind: Addr, ID: id, Name: name, Value: uint64(offset), Pair: -1}
	}
	pair, not := reg(0), reg(2)
	pair.Pair, not.Value = 1, 1
	for i, want := range []struct {
		op   string
		args []Operand
	}{
		{"ld.param.u64", []Operand{reg(rd0), at(-1, "walk_param_0", 0)}},
		{"ld.param.v2.u32", []Operand{{Kind: Vec, ID: -1, Pair: -1,
			Elems: []Operand{reg(3), named(Sink, "")}}, at(-1, "walk_param_2", 4)}},
		{"mov.u32", []Operand{reg(4), named(Special, "%tid.x")}},
		{"mov.f32", []Operand{reg(5), imm(0x3f800000, 32)}},
		{"mov.f64", []Operand{reg(rd1), imm(0xbff0000000000000, 64)}},
		{"mov.u64", []Operand{reg(rd1), named(Sym, "total")}},
		{"st.shared.u32", []Operand{at(-1, "rows", 8), reg(4)}},
		{"st.global.u32", []Operand{at(rd0, "", -4), reg(x)}},
		{"setp.lt.u32", []Operand{pair, reg(4), imm(5, 0), not}},
		{"bra", []Operand{{Kind: Label, ID: 13, Name: "$done", Pair: -1}}},
		{"add.s32", []Operand{reg(inner), reg(inner), imm(^uint64(2), 0)}},
		{"brx.idx.uni", []Operand{reg(3), {Kind: Table, Name: "table", Pair: -1}}},
		{"atom.global.add.u32", []Operand{named(Sink, ""), at(rd0, "", 0), named(Special, "WARP_SZ")}},
		{"ret", nil},
	} {
		in := k.Body[i]
		if strings.Join(in.Op, ".") != want.op || !reflect.DeepEqual(in.Args, want.args) {
			t.Errorf("instruction %d is %v %+v,\nwant %s %+v", i, in.Op, in.Args, want.op, want.args)
		}
	}
	if b := k.Body[9]; b.Pred != 0 || !b.PredNot || b.Line != 36 {
		t.Errorf("the branch is %+v, want it guarded by not register 0, in line 36", b)
	}
	if want := map[string][]int{"table": {12, 13}}; !reflect.DeepEqual(k.Targets, want) {
		t.Errorf("branch tables are %v, want %v", k.Targets, want)
	}
}

// TestErrors: errors say what is wrong, and in which line.
func TestErrors(t *testing.T) {
	const head = ".version 7.8\n.target sm_70\n"
	kernel := func(body string) string { return head + ".entry k()\n{\n.reg .pred %p;\n.reg .b32 %r<2>;\n" + body }
	for text, want := range map[string]string{
		"hello":                                        `line 1: found "hello", expected a directive`,
		"\n.func f()":                                  "line 2: a function that was not inlined",
		".file 1":                                      "line 1: directive .file is not known",
		".version":                                     `line 1: found "" after .version`,
		".version 7.8\n.target ,":                      `line 2: found "," after .target`,
		".target sm_70,":                               `line 1: found "" after .target`,
		"\n.address_size 32":                           `line 2: .address_size "32", expected 64`,
		"\n/* open":                                    "line 2: comment without end",
		"\n\"open":                                     "line 2: string without end",
		"\n\"a\nb\" \x80":                              `line 3: unexpected character "\x80"`,
		".global .align 3 .u32 x;":                     "alignment 3 is not a power of two",
		".global .align -8 .u32 x;":                    `found "-", expected an alignment from 1`,
		".global .u128 x;":                             "unknown .u128 in a variable",
		".global x;":                                   "variable without a type",
		".global .u32 ;":                               `found ";", expected the name of a variable`,
		".global .u32 x[a];":                           `found "a", expected a length`,
		".global .u32 x[4000000000];":                  `found "4000000000", expected a length`,
		".global .u32 x[65536][65536];":                "x has more than 1073741824 bytes",
		".global .u32 x[2] = {1,2,3};":                 "x has more values than elements",
		".global .u32 x[2] = {1 2};":                   `found "2" in the values of x`,
		".global .u32 x[2] = {\n1,\none}":              `line 3: found "one", expected a number`,
		".global .u32 x[2] = {1,":                      `found "", expected a number`,
		".global .u32 x = 0fzz000000;":                 `found "0fzz000000", expected a number`,
		".global .u32 x":                               `found "", expected ";"`,
		head + ".entry":                                `line 3: found "", expected the name of a kernel`,
		head + ".entry k":                              `line 3: found "", expected "("`,
		head + ".entry k(":                             `line 3: found "", expected ".param"`,
		head + ".entry k(.param":                       "line 3: parameter without a type",
		head + ".entry k(.param .u32":                  `found "", expected the name of a parameter`,
		head + ".entry k(.param .u32 a .param .u32 b)": `found ".param", expected ","`,
		head + ".entry k(.param .b8 a[0])":             `found "0", expected a length from 1`,
		head + ".entry k(.param .u64 a[513])":          "kernel k has more than 4096 bytes of parameters",
		head + ".entry k(.param .u32 .tex a)":          "unknown .tex in a parameter",
		head + ".entry k() .maxntid 0":                 `found "0", expected a number after .maxntid from 1`,
		head + ".entry k() .maxntid 1,":                `found "", expected a number after .maxntid from 1`,
		head + ".entry k()":                            `found "", expected "{"`,
		kernel(""):                                     "line 7: kernel k without end",
		kernel("ret; }\n.entry k(){ret; }"):            "line 8: kernel k twice",
		kernel(".reg .b99 %z;"):                        `unknown register type "b99"`,
		kernel(".reg .b32 %z<-1>;"):                    `found "-", expected a number of registers`,
		kernel(".reg .b32 %z<300000>;"):                `found "300000", expected a number of registers`,
		kernel(".reg .b32 %z<3;"):                      `found ";", expected ">"`,
		kernel(".reg .b32"):                            `found "", expected the name of a register`,
		kernel("@%q bra L;"):                           `no predicate "%q"`,
		kernel("@%r0 bra L;"):                          `no predicate "%r0"`,
		kernel("@%p"):                                  `found "", expected an instruction`,
		kernel("\n, ;"):                                `line 8: found ",", expected an instruction`,
		kernel("add"):                                  `found "", expected an operand`,
		kernel("add %r0"):                              `found "" in add`,
		kernel("add %r0, ;"):                           `found ";", expected an operand`,
		kernel("add %r0 %r1;"):                         `found "%r1" in add`,
		kernel("call (%r0), f;"):                       `found "(", expected an operand`,
		kernel("ld %r0, ["):                            `found "", expected the name of a variable`,
		kernel("ld %r0, [%r1"):                         `found "", expected "]"`,
		kernel("ld %r0, [%r1+"):                        `found "", expected a number`,
		kernel("ld %r0, [%r1-x]"):                      `found "x", expected a number`,
		kernel("ld %r0, [99999999999999999999]"):       "expected a number",
		kernel("ld {"):                                 `found "", expected an operand`,
		kernel("ld {%r0"):                              `found "" in a vector`,
		kernel("ld {%r0,"):                             `found "", expected an operand`,
		kernel("ld {%r0, {%r1}}"):                      `found "{" in a vector`,
		kernel("ld {%r0, !%r1}"):                       `found "!" in a vector`,
		kernel("ld {%r0, \nL};L:}"):                    "line 8: no register L",
		kernel("setp !"):                               `found "", expected a predicate after !`,
		kernel("setp !!%p"):                            `found "!", expected a predicate after !`,
		kernel("shfl %r0|%r1"):                         `no predicate "%r1"`,
		kernel("shfl %r0|"):                            `no predicate ""`,
		kernel("bra\nL;\nret; }"):                      "line 8: no label L",
		kernel("\nL: ret;\n\nL: ret; }"):               "line 10: label L twice",
		kernel("t: .branchtargets"):                    `found "", expected the name of a label`,
		kernel("t: .branchtargets L,"):                 `found "", expected the name of a label`,
		kernel("t: .branchtargets L"):                  `found "", expected ";"`,
		kernel("t: .branchtargets L;\nret; }"):         "line 7: no label L",
		kernel(".shared .b8 x[2"):                      `found "", expected "]"`,
		kernel(".pragma \"x\""):                        `found "", expected ";"`,
		kernel(".loc 1 2 3"):                           "kernel k without end",
	} {
		m, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) || m != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v, want %s", text, err, want)
		}
	}
}

// TestCutOff: a truncated text is parsed, or refused with an error in one of its lines.
func TestCutOff(t *testing.T) {
	for n := range len(sample) {
		checkParse(t, sample[:n])
	}
}

// checkParse parses a text and checks that the result has the properties that package emu relies
// on.
func checkParse(t *testing.T, text string) {
	t.Helper()
	m, err := Parse(text)
	if err != nil {
		var e *Error
		if lines := 1 + strings.Count(text, "\n"); !errors.As(err, &e) || e.Line < 1 || e.Line > lines {
			t.Fatalf("%q: error %v in a text of %d lines", text, err, lines)
		}
		return
	}
	for _, v := range m.Vars {
		if v.Name == "" || v.Size < 0 || v.Align < 1 || len(v.Init) > v.Size {
			t.Fatalf("%q: variable %+v", text, *v)
		}
	}
	for _, k := range m.Kernels {
		end := 0
		for _, p := range k.Params {
			if p.Offset < end || p.Size < 1 || p.Offset%p.Align != 0 {
				t.Fatalf("%q: parameter %+v after %d bytes", text, p, end)
			}
			end = p.Offset + p.Size
		}
		if end != k.ParamBytes || k.MaxThreads < 0 || k.StaticShared() < 0 {
			t.Fatalf("%q: kernel %s: %d bytes of parameters, want %d", text, k.Name, k.ParamBytes, end)
		}
		for _, in := range k.Body {
			if len(in.Op) == 0 || in.Line < 1 || in.Pred >= len(k.Regs) {
				t.Fatalf("%q: instruction %+v", text, in)
			}
			for _, a := range in.Args {
				checkOperand(t, text, k, a)
			}
		}
		for name, table := range k.Targets {
			for _, at := range table {
				if at < 0 || at > len(k.Body) {
					t.Fatalf("%q: table %s leads to instruction %d", text, name, at)
				}
			}
		}
	}
}

func checkOperand(t *testing.T, text string, k *Kernel, a Operand) {
	t.Helper()
	ok := a.Pair < len(k.Regs)
	switch a.Kind {
	case Reg:
		ok = ok && a.ID >= 0 && a.ID < len(k.Regs)
	case Addr:
		ok = ok && a.ID < len(k.Regs)
	case Label:
		ok = ok && a.ID >= 0 && a.ID <= len(k.Body)
	case Vec:
		for _, e := range a.Elems {
			checkOperand(t, text, k, e)
		}
	}
	if !ok {
		t.Fatalf("%q: operand %+v of %d registers, %d instructions", text, a, len(k.Regs), len(k.Body))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add(sample[:len(sample)/2])
	f.Add(".version 7.8\n.target sm_70\n.address_size 64\n.entry k(.param .u64 a){ .reg .b64 %rd<2>; ld.param.u64 %rd0, [a]; ret; }")
	f.Add(".entry k(){ t: .branchtargets")
	f.Add(".entry k(){ ld {")
	f.Add(".entry k(){ ld [")
	f.Add(".global .b8 x[9223372036854775807] = {1}")
	f.Fuzz(func(t *testing.T, text string) { checkParse(t, text) })
}
