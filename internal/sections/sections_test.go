package sections

import (
	"bytes"
	"encoding/hex"
	"testing"
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
		t.Error("header or section is not where the comment says")
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
			t.Errorf("section %s: %q, %v", name, got, err)
		}
	}
	b, _ := f.Section("numbers")
	if v, err := View[uint32](b); err != nil || len(v) != 2 || v[0] != 1 || v[1] != 2 {
		t.Errorf("View: %v, %v", v, err)
	}
	b, _ = f.Section("b")
	if _, err := View[uint32](b); err == nil {
		t.Error("View of 5 bytes as uint32 is not refused")
	}
}

// Every flipped bit and every cut is noticed, but for the padding between
// sections, which nobody reads.
func TestDamageIsNoticed(t *testing.T) {
	parts := map[string]string{"b": "hello", "c": "world"}
	good := build(t, parts, "b", "c")
	for cut := range good {
		if _, err := Parse(good[:cut], magic, 1); err == nil {
			t.Fatalf("cut at %d is not noticed", cut)
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
