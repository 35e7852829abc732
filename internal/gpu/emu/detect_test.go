package emu

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// TestMistakesAreFound runs kernels with one mistake each. Hardware would often not notice; the
// interpreter stops and names the line.
func TestMistakesAreFound(t *testing.T) {
	for _, c := range []struct {
		name, body, want string
		threads          int
	}{
		{"read behind the end", `ld.global.u32 %r1, [%buf+4096];`,
			"4 bytes at offset 4096 of an allocation of 4096 bytes", 1},
		{"vector over the end", `ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%buf+4088];`, "offset 4088", 1},
		{"write before the beginning", `add.s64 %d1, %buf, -4; st.global.u32 [%d1], %t;`, "no allocation is there", 1},
		{"null pointer", `mov.u64 %d1, 0; st.global.u32 [%d1], %t;`, "a null pointer", 1},
		{"misaligned", `ld.global.u32 %r1, [%buf+2];`, "4 bytes at offset 2", 1},
		{"shared memory's end", `mov.u64 %d1, sh; ld.shared.u32 %r1, [%d1+1024];`,
			"at 0x400 of shared memory, which has 1024", 1},
		{"atomic outside", `atom.global.add.u32 %r1, [%buf+4096], 1;`, "offset 4096", 1},
		{"shared memory that nobody wrote", `mov.u64 %d1, sh; ld.shared.u32 %r1, [%d1+8];`, "never written", 1},
		{"race between warps", `
mul.wide.u32 %d1, %t, 4;
mov.u64 %d2, sh;
add.s64 %d3, %d1, %d2;
st.shared.u32 [%d3], %t;
setp.ge.u32 %p1, %t, 32;
@%p1 ld.shared.u32 %r2, [%d2];`, "reads shared memory at 0x0 that thread 0 wrote, without a barrier in between", 64},
		{"race within a warp", `
mul.wide.u32 %d1, %t, 4;
mov.u64 %d2, sh;
add.s64 %d3, %d1, %d2;
st.shared.u32 [%d3], %t;
xor.b32 %r1, %t, 1;
mul.wide.u32 %d1, %r1, 4;
add.s64 %d3, %d1, %d2;
ld.shared.u32 %r2, [%d3];`, "race: reads shared memory", 32},
		{"write over what others still read", `
mov.u64 %d2, sh;
setp.eq.s32 %p1, %t, 0;
@%p1 st.shared.u32 [%d2], %t;
bar.sync 0;
ld.shared.u32 %r1, [%d2];
setp.eq.s32 %p1, %t, 1;
mov.u32 %r2, 9;
@%p1 st.shared.u32 [%d2], %r2;`, "race: writes shared memory at 0x0 that thread", 64},
		{"two values for one place", `mov.u64 %d2, sh; st.shared.u32 [%d2], %t;`, "race: writes shared memory", 2},
		{"atomic and plain", `
mov.u64 %d2, sh;
setp.eq.s32 %p1, %t, 0;
@%p1 st.shared.u32 [%d2], 0;
@!%p1 atom.shared.add.u32 %r1, [%d2], 1;`, "race", 2},
		{"half a warp at a barrier", `setp.lt.u32 %p1, %t, 16; @%p1 bra L; bra M;
L: bar.sync 0;
M: mov.u32 %r1, 0;`, "divergent barrier: lanes 0x0000ffff of the warp's 0xffffffff", 32},
		{"threads gone at a barrier", `setp.lt.u32 %p1, %t, 32; @%p1 ret; bar.sync 0;`,
			"32 threads of the block have returned", 64},
		{"lanes gone at a barrier", `setp.eq.u32 %p1, %t, 3; @%p1 ret; bar.sync 0;`,
			"lanes 0x00000008 of the warp have returned", 32},
		{"mask with absent lanes",
			`setp.lt.u32 %p1, %t, 16; @%p1 shfl.sync.idx.b32 %r1, %t, 0, 31, -1;`,
			"names lanes 0xffff0000 that are not here", 32},
		{"mask without itself", `vote.sync.ballot.b32 %r1, %p1, 1;`, "does not name the lane itself", 2},
		{"trap", `trap;`, "stopped itself", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := launch(t, entry(c.body), "k", 1, c.threads, make([]byte, 4096))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, want one with %q", err, c.want)
			}
			var e *driver.Error
			if !errors.As(err, &e) || !e.Sticky() {
				t.Errorf("%v is not sticky", err)
			}
			if !strings.Contains(err.Error(), "kernel k, block [0 0 0], thread (") ||
				!strings.Contains(err.Error(), "PTX line ") {
				t.Errorf("%v does not name the line", err)
			}
		})
	}
}

// TestCorrectKernelsPass runs kernels like those of TestMistakesAreFound, without the mistakes.
func TestCorrectKernelsPass(t *testing.T) {
	for name, body := range map[string]string{
		"barrier between": `
mul.wide.u32 %d1, %t, 4;
mov.u64 %d2, sh;
add.s64 %d3, %d1, %d2;
st.shared.u32 [%d3], %t;
bar.sync 0;
xor.b32 %r1, %t, 32;
mul.wide.u32 %d1, %r1, 4;
add.s64 %d3, %d1, %d2;
ld.shared.u32 %r2, [%d3];
bar.sync 0;
st.shared.u32 [%d3], %t;`,
		"warps that keep to themselves": `
mul.wide.u32 %d1, %t, 4;
mov.u64 %d2, sh;
add.s64 %d3, %d1, %d2;
st.shared.u32 [%d3], %t;
bar.warp.sync -1;
xor.b32 %r1, %t, 1;
mul.wide.u32 %d1, %r1, 4;
add.s64 %d3, %d1, %d2;
ld.shared.u32 %r2, [%d3];`,
		"the same value":   `mov.u64 %d2, sh; st.shared.u32 [%d2], 7;`,
		"atomics among us": `mov.u64 %d2, sh; setp.eq.s32 %p1, %t, 0; @%p1 st.shared.u32 [%d2], 0; bar.sync 0; atom.shared.add.u32 %r1, [%d2], 1; bar.sync 0; ld.shared.u32 %r1, [%d2];`,
		"atomics after a look": `
setp.ge.u32 %p1, %t, 32;
@%p1 bra L;
mov.u64 %d2, sh;
setp.eq.s32 %p1, %t, 0;
@%p1 st.shared.u32 [%d2], 0;
bar.warp.sync -1;
ld.shared.u32 %r1, [%d2];
bar.warp.sync -1;
atom.shared.cas.b32 %r1, [%d2], 0, %t;
L: mov.u32 %r1, 0;`,
		"bytes side by side": `cvt.u64.u32 %d1, %t; mov.u64 %d2, sh; add.s64 %d3, %d1, %d2; st.shared.u8 [%d3], %t; ld.shared.u8 %r1, [%d3];`,
		"part of the block at its own barrier": `
setp.ge.u32 %p1, %t, 32;
@%p1 bra L;
mov.u64 %d2, sh;
bar.sync 1, 32;
L: bar.sync 0;`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := launch(t, entry(body), "k", 2, 64, make([]byte, 4096)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUnknownIsRefused: loading a kernel with an instruction that the interpreter does not know is
// an error that names the line.
func TestUnknownIsRefused(t *testing.T) {
	for body, want := range map[string]string{
		"frobnicate.b32 %r1, %r2;":                  "frobnicate",
		"add.sat.s32 %r1, %r2, %r3;":                ".sat",
		"ex2.approx.f32 %f1, %f2;":                  "not be equal",
		"add.ftz.f32 %f1, %f2, %f3;":                ".ftz",
		"ld.global.v8.u32 %r1, [%buf];":             ".v8",
		"mov.u32 %r1, %pm0;":                        "%pm0",
		"wmma.load.a.sync %r1, [%buf];":             "wmma",
		"atom.global.add.noftz.f16 %h1,[%buf],%h2;": "not known",
	} {
		_, err := launch(t, entry(body), "k", 1, 1, make([]byte, 16))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "PTX line 15") {
			t.Errorf("%s: error is %v, want one with %q and the line", body, err, want)
		}
	}
}

// TestBlocksMayWait: a block may wait for a later one; a kernel that does not end is stopped.
func TestBlocksMayWait(t *testing.T) {
	// Every block but the last waits for the word that the last one writes.
	body := `
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %nctaid.x;
add.s32 %r2, %r2, -1;
setp.eq.s32 %p1, %r1, %r2;
@%p1 bra LAST;
WAIT: ld.volatile.global.u32 %r3, [%buf];
setp.eq.s32 %p2, %r3, 0;
@%p2 bra WAIT;
bra DONE;
LAST: st.volatile.global.u32 [%buf], 1;
DONE: atom.global.add.u32 %r4, [%buf+4], 1;`
	out, err := launch(t, entry(body), "k", 20, 1, make([]byte, 8))
	if err != nil {
		t.Fatal(err)
	}
	if n := binary.LittleEndian.Uint32(out[4:]); n != 20 {
		t.Errorf("%d blocks finished, want 20", n)
	}

	d := New(Options{Timeout: 100 * time.Millisecond})
	m, err := d.LoadModule(entry(`L: bra L;`))
	if err != nil {
		t.Fatal(err)
	}
	k, _ := d.Kernel(m, "k")
	s, _ := d.NewStream()
	p, _ := d.Alloc(16)
	if err := d.Launch(k, driver.Dim{Blocks: [3]int{2, 1, 1}, Threads: [3]int{1, 1, 1}},
		binary.LittleEndian.AppendUint64(nil, uint64(p)), s); err != nil {
		t.Fatal(err)
	}
	if err := d.SyncStream(s); err == nil || !strings.Contains(err.Error(), "timed out") {
		t.Errorf("an endless kernel ended with %v, want a timeout", err)
	}
}

// TestOwnTime: an hour during which the process was stopped counts as one turn at most.
func TestOwnTime(t *testing.T) {
	at := time.Now()
	ran := ownTime{last: at}
	for _, step := range []time.Duration{3 * time.Millisecond, 5 * time.Millisecond, time.Hour, 2 * time.Millisecond} {
		at = at.Add(step)
		ran.tick(at)
	}
	if want := longestTurn + 10*time.Millisecond; ran.sum != want {
		t.Errorf("ran for %v, want %v", ran.sum, want)
	}
}

// TestLazyStreams: no work runs before somebody waits for it, and events order streams.
func TestLazyStreams(t *testing.T) {
	d := New(Options{})
	a, _ := d.NewStream()
	b, _ := d.NewStream()
	e, _ := d.NewEvent(true)
	p, _ := d.Alloc(4)
	out := make([]byte, 4)
	if err := errors.Join(d.Fill8(p, 1, 4, a), d.RecordEvent(e, a), d.Fill8(p, 2, 4, a),
		d.WaitEvent(b, e), d.CopyOut(out, p, b)); err != nil {
		t.Fatal(err)
	}
	if out[0] != 0 {
		t.Error("a copy ran before anybody waited for it")
	}
	if err := d.SyncStream(b); err != nil {
		t.Fatal(err)
	}
	if out[0] != 1 {
		t.Errorf("the copy saw %d, want 1: the value at the event", out[0])
	}
	if err := d.SyncStream(a); err != nil {
		t.Fatal(err)
	}
}

// TestDivergence runs lanes through nested branches, loops of different lengths and a branch table,
// and checks that they reconverge.
func TestDivergence(t *testing.T) {
	body := `
mul.wide.u32 %d1, %t, 8;
add.s64 %at, %buf, %d1;
and.b32 %r1, %t, 7;
mov.u32 %r2, 0;
LOOP: setp.ge.u32 %p1, %r2, %r1;
@%p1 bra OUT;
add.s32 %r2, %r2, 1;
and.b32 %r3, %r2, 1;
setp.eq.s32 %p2, %r3, 0;
@%p2 bra LOOP;
activemask.b32 %r5;
bra LOOP;
OUT: activemask.b32 %r4;
st.global.u32 [%at], %r2;
setp.lt.u32 %p3, %t, 3;
@%p3 ret;
and.b32 %r6, %t, 3;
brx.idx %r6, TABLE;
A: mov.u32 %r7, 10;
bra END;
B: mov.u32 %r7, 11;
bra END;
C: mov.u32 %r7, 12;
END: vote.sync.ballot.b32 %r5, %p0, -1;
activemask.b32 %r5;
popc.b32 %r5, %r5;
mad.lo.s32 %r7, %r7, 100, %r5;
st.global.u32 [%at+4], %r7;
ret;
TABLE: .branchtargets A, B, C, A;`
	out, err := launch(t, entry(body), "k", 1, 32, make([]byte, 32*8))
	if err != nil {
		t.Fatal(err)
	}
	for l := range 32 {
		loops, last := binary.LittleEndian.Uint32(out[8*l:]), binary.LittleEndian.Uint32(out[8*l+4:])
		want := uint32([]int{10, 11, 12, 10}[l&3]*100 + 29)
		if l < 3 {
			want = 0
		}
		if loops != uint32(l&7) || last != want {
			t.Errorf("lane %d: %d iterations and result %d, want %d and %d", l, loops, last, l&7, want)
		}
	}
}
