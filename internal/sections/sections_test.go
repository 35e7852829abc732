package sections

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/collocate/collocate/internal/trials"
)

const magic = "TESTFILE"

func build(t testing.TB, parts map[string]string, order ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range order {
		if err := w.Section(name, []byte(parts[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// The worked example of the package comment, byte for byte.
func TestBytesArePinned(t *testing.T) {
	got := build(t, map[string]string{"docs": "x"}, "docs")
	if len(got) != 200 {
		t.Fatalf("%d bytes, want 200", len(got))
	}
	if string(got[:8]) != magic || got[64] != 'x' {
		t.Error("header or section is not where the package comment says")
	}
	const tail = "646f6373000000000000000000000000" + // docs
		"4000000000000000" + "0100000000000000" + "935f3ca9" + "00000000" +
		"8000000000000000" + "01000000" + "d2ea524e" + "0000000000000000" + "5445535446494c45"
	if h := hex.EncodeToString(got[128:]); h != tail {
		t.Errorf("table and trailer\n got %s\nwant %s", h, tail)
	}
}

func TestReadsBackWhatWasWritten(t *testing.T) {
	parts := map[string]string{"a": "", "b": "hello", "numbers": "\x01\x00\x00\x00\x02\x00\x00\x00"}
	f, err := Parse(build(t, parts, "a", "b", "numbers"), magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(); err != nil {
		t.Fatal(err)
	}
	for name, want := range parts {
		if got, err := f.Section(name); err != nil || string(got) != want {
			t.Errorf("section %s: %q, %v; want %q", name, got, err, want)
		}
	}
	b, _ := f.Section("numbers")
	if v, err := View[uint32](b); err != nil || len(v) != 2 || v[0] != 1 || v[1] != 2 {
		t.Errorf("View: %v, %v; want 1 2", v, err)
	}
	b, _ = f.Section("b")
	if _, err := View[uint32](b); err == nil {
		t.Error("View accepted 5 bytes as uint32")
	}
}

// Every flipped bit and every truncation is noticed, except in the padding between sections.
func TestDamageIsNoticed(t *testing.T) {
	parts := map[string]string{"b": "hello", "c": "world"}
	good := build(t, parts, "b", "c")
	for cut := range good {
		if _, err := Parse(good[:cut], magic, 1); err == nil {
			t.Fatalf("truncation to %d bytes is not noticed", cut)
		}
	}
	for i := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << bit
			f, err := Parse(bad, magic, 1)
			if err == nil {
				err = f.Verify()
			}
			padding := i >= 69 && i < 128 || i >= 133 && i < 192
			if reserved := i >= len(good)-16 && i < len(good)-8; err == nil && !padding && !reserved {
				t.Fatalf("bit %d of byte %d flipped: not noticed", bit, i)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(build(f, map[string]string{"b": "hello"}, "b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data, magic, 1)
		if err != nil {
			return
		}
		s.Verify()
		for _, i := range s.Sections() {
			s.Section(i.Name)
		}
	})
}

// buildPaged returns a paged file of several pages.
func buildPaged(t testing.TB, size int) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewPaged(&buf, magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	section := make([]byte, size)
	for i := range section {
		section[i] = byte(i * i >> 3)
	}
	for _, name := range []string{"a", "b"} {
		if err := w.Begin(name); err != nil {
			t.Fatal(err)
		}
		for p := section; len(p) > 0; p = p[min(len(p), 1000):] {
			if _, err := w.Write(p[:min(len(p), 1000)]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// In a paged file every change before the checksums is noticed by Verify or Parse, and by Touch if
// it is in a page that is touched.
func TestPages(t *testing.T) {
	for _, size := range []int{0, 1, 4032, 5000, 400_000} {
		good := buildPaged(t, size)
		f, err := Parse(good, magic, 1)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(f.Sections()); n != 2 {
			t.Errorf("%d sections, want 2", n)
		}
		a, _ := f.Section("a")
		if err := f.Touch(a); err != nil {
			t.Error(err)
		}
		for i := 0; i < len(good); i += 1 + len(good)/trials.Of(3000) {
			bad := bytes.Clone(good)
			bad[i] ^= 4
			f, err := Parse(bad, magic, 1)
			if err == nil {
				if err = f.Verify(); err == nil && i < len(f.pages.data) {
					t.Fatalf("size %d, byte %d: Verify returned no error", size, i)
				}
				a, _ := f.Section("a")
				b, _ := f.Section("b")
				page := func(s []byte) bool { // whether the byte is in a page of the section
					if len(s) == 0 {
						return false
					}
					start := indexOf(bad, s)
					return i < len(f.pages.data) && i>>12 >= start>>12 && i>>12 <= (start+len(s)-1)>>12
				}
				for _, s := range [][]byte{a, b} {
					for range 2 { // the error is returned again
						if err := f.Touch(s); (err != nil) != page(s) {
							t.Fatalf("size %d, byte %d: Touch returned %v, want an error: %t", size, i, err, page(s))
						}
					}
				}
			}
		}
		changed := bytes.Clone(good)
		if size > 0 {
			changed[64+size/2] ^= 1
			if !Repair(changed) {
				t.Fatal("Repair returned false")
			}
			f, err := Parse(changed, magic, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Verify(); err != nil {
				t.Error(err)
			}
		}
	}
}

// indexOf returns the offset of part in whole.
// A page that changes after it was verified is noticed by Check at once, and by Touch once Forget
// has let it verify pages again, which it does after the given time and not before.
func TestForget(t *testing.T) {
	data := buildPaged(t, 400_000)
	f, err := Parse(data, magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := f.Section("a")
	if err := f.Touch(a); err != nil {
		t.Fatal(err)
	}
	a[len(a)-1] ^= 1
	f.Forget(time.Hour)
	if err := f.Touch(a); err != nil {
		t.Errorf("before the time is over: %v", err)
	}
	if f.Check(a) == nil {
		t.Error("Check returned no error")
	}
	f.Forget(time.Nanosecond)
	if f.Touch(a) == nil {
		t.Error("after the time is over: no error")
	}
	a[len(a)-1] ^= 1
	if err := f.Touch(a); err != nil {
		t.Errorf("after the byte was restored: %v", err)
	}
}

func indexOf(whole, part []byte) int {
	return int(uintptr(unsafe.Pointer(&part[0])) - uintptr(unsafe.Pointer(&whole[0])))
}

func BenchmarkTouch(b *testing.B) {
	f, err := Parse(buildPaged(b, 1<<20), magic, 1)
	if err != nil {
		b.Fatal(err)
	}
	s, _ := f.Section("a")
	for _, n := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if err := f.Touch(s[20_000 : 20_000+n]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
