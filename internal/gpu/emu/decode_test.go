package emu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// around puts instructions into a kernel that declares a parameter, registers, a shared and a
// global variable, and a label.
func around(body string) string {
	return `.version 7.8
.target sm_70
.address_size 64
.global .u32 word;
.visible .entry k(.param .u64 a)
{
.reg .pred %p<3>;
.reg .b32 %r<3>;
.reg .b64 %rd<3>;
.shared .b8 rows[64];
` + body + "\nend: ret;\n}\n"
}

// tryDecode loads a kernel and returns the error; a panic fails the test.
func tryDecode(t *testing.T, text string) error {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic %v on:\n%s", r, text)
		}
	}()
	d := New(Options{})
	m, err := d.LoadModule(text)
	if err != nil {
		return err
	}
	_, err = d.Kernel(m, "k")
	return err
}

// TestWrongOperands gives every opcode operands of every kind and number. Wrong ones must be
// refused without a panic.
func TestWrongOperands(t *testing.T) {
	var ops []string
	for op := range decoders {
		ops = append(ops, op)
	}
	slices.Sort(ops)
	taken := map[string]int{}
	tried := 0
	for _, op := range ops {
		for _, mod := range []string{"", ".u32", ".f32", ".b64", ".pred", ".global.u32",
			".shared.v2.u32", ".param.u64", ".sync.idx.b32", ".lo.u32", ".wide.s32", ".rn.f32.u32",
			".eq.u32", ".global.add.u32", ".sync", ".sync.any.pred"} {
			for _, operand := range []string{"%r0", "%rd0", "%p0", "7", "[%rd0]", "[rows+4]", "[a]",
				"{%r0, %r1}", "word", "end", "%tid.x", "_", "!%p1", "%r1|%p1"} {
				for n := range 6 {
					list := strings.Repeat(operand+", ", n)
					text := around(fmt.Sprintf("%s%s %s;", op, mod, strings.TrimSuffix(list, ", ")))
					if tried++; tried%trials.Every(11) != 0 {
						continue
					}
					if tryDecode(t, text) == nil {
						taken[op]++
					}
					if t.Failed() {
						return
					}
				}
			}
		}
	}
	if len(taken) == 0 || len(ops) < 30 {
		t.Errorf("of %d opcodes only %d were accepted in some form (%d forms tried)", len(ops), len(taken), tried)
	}
}

// FuzzDecode: any text in a kernel is decoded or refused.
func FuzzDecode(f *testing.F) {
	f.Add("mad.lo.s32 %r0, %r1, %r2, 3;")
	f.Add("ld.param.u64 %rd0, [a]; @%p0 bra end; st.global.v2.u32 [%rd0+8], {%r0, %r1};")
	f.Add("shfl.sync.idx.b32 %r0|%p0, %r1, %r2, 31, -1; bar.sync 0; vote.sync.ballot.b32 %r0, %p1, -1;")
	f.Add("atom.global.cas.b64 %rd0, [%rd1], %rd2, 5; cvt.rn.f32.u32 %r0, %r1; setp.lt.and.f32 %p0|%p1, %r0, 0f3F800000, !%p2;")
	f.Add("x: add.s32 %r0, %r0, -1; setp.ne.s32 %p0, %r0, 0; @%p0 bra x;")
	f.Add("t: .branchtargets end, u; u: brx.idx %r0, t;")
	f.Fuzz(func(t *testing.T, body string) { _ = tryDecode(t, around(body)) })
}
