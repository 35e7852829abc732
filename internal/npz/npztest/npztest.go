// Package npztest reads NumPy's archives in tests.
package npztest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/sections"
)

// Array is one array of an archive.
type Array struct {
	Type  npz.Type
	Shape string // as Python writes it
	Data  []byte
}

var header = regexp.MustCompile(`^{'descr': '([^']*)', 'fortran_order': False, 'shape': (\([^)]*\)), } *\n$`)

// Read returns the arrays of an archive by name.
func Read(t testing.TB, archive []byte) map[string]Array {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	arrays := map[string]Array{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r) // also compares the checksum
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		name, isArray := strings.CutSuffix(f.Name, ".npy")
		if !isArray || f.Method != zip.Store || len(b) < 10 || string(b[:8]) != "\x93NUMPY\x01\x00" {
			t.Fatalf("%s, method %d, begins with %q", f.Name, f.Method, b[:min(10, len(b))])
		}
		begin := 10 + int(binary.LittleEndian.Uint16(b[8:]))
		h := header.FindSubmatch(b[10:begin])
		if h == nil || begin%64 != 0 {
			t.Fatalf("%s: header %q", f.Name, b[10:begin])
		}
		arrays[name] = Array{npz.Type(h[1]), string(h[2]), b[begin:]}
	}
	return arrays
}

// Vector returns the numbers of a vector, which must be of the given type.
func Vector[T sections.Number](t testing.TB, arrays map[string]Array, name string, want npz.Type) []T {
	t.Helper()
	a := arrays[name]
	v, err := sections.View[T](slices.Clone(a.Data))
	if err != nil || a.Type != want || a.Shape != fmt.Sprintf("(%d,)", len(v)) {
		t.Fatalf("%s is %d numbers of type %s, shape %s; want type %s (%v)", name, len(v), a.Type, a.Shape, want, err)
	}
	return v
}
