package vecfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/npz"
)

func TestFormats(t *testing.T) {
	var npy bytes.Buffer
	if err := npz.WriteFloats(&npy, 2, 3, []float32{1, 2, 3, 4, 5, 6}); err != nil {
		t.Fatal(err)
	}
	half := "\x93NUMPY\x01\x00\x46\x00" + fmt.Sprintf("%-69s\n", "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }") + "\x00\x3c\x00\xc0"
	var fvecs []byte
	for range 2 {
		fvecs = binary.LittleEndian.AppendUint32(fvecs, 1)
		fvecs = binary.LittleEndian.AppendUint32(fvecs, 0x3f800000)
	}
	for in, want := range map[string]string{
		npy.String():       "[[1 2 3] [4 5 6]]",
		half:               "[[1 -2]]",
		"[1, 2.5]":         "[[1 2.5]]",
		"[1,2]\n[3,4]\n":   "[[1 2] [3 4]]",
		"[[1, 2], [3, 4]]": "[[1 2] [3 4]]",
	} {
		got, err := Read(strings.NewReader(in), false)
		if fmt.Sprint(got) != want || err != nil {
			t.Errorf("%.20q: %v, %v; want %s", in, got, err, want)
		}
	}
	if got, err := Read(bytes.NewReader(fvecs), true); fmt.Sprint(got) != "[[1] [1]]" || err != nil {
		t.Errorf("fvecs: %v, %v", got, err)
	}
	for in, want := range map[string]string{
		"[1, 2] [3]":       "vector 2 has 1 dimensions, and the first 2",
		"1 2 3":            "vector 1: ",
		"[]":               "vector 1: it is empty",
		"[1, ":             "vector 1: ",
		npy.String()[:100]: "EOF",
		strings.Replace(npy.String(), "<f4", "<U1", 1): "want float64, float32",
	} {
		if _, err := Read(strings.NewReader(in), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v; want %s", in, err, want)
		}
	}
	for n := 1; n < len(fvecs); n++ {
		if _, err := Read(bytes.NewReader(fvecs[:n]), true); n != 8 && (err == nil || !strings.Contains(err.Error(), "truncated")) {
			t.Errorf("%d bytes of fvecs: %v", n, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("[1, 2]", false)
	f.Add("\x01\x00\x00\x00\x00\x00\x80\x3f", true)
	f.Add("\x93NUMPY\x01\x00\x06\x00abcdef", false)
	f.Fuzz(func(t *testing.T, s string, fvecs bool) {
		list, err := Read(strings.NewReader(s), fvecs)
		for _, v := range list {
			if err == nil && len(v) != len(list[0]) {
				t.Fatalf("vectors of %d and %d numbers", len(v), len(list[0]))
			}
		}
	})
}
