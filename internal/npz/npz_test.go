package npz_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/npz/npztest"
	"github.com/collocate/collocate/internal/sections"
)

// archive returns an archive with one array of each kind.
func archive(t *testing.T, date time.Time) []byte {
	t.Helper()
	var b bytes.Buffer
	w := npz.NewWriter(&b)
	w.Date = date
	w.Text("format", "csr")
	w.Int64s("shape", 2, 3)
	w.Bytes("terms", []byte("ab"))
	w.Int64s("empty")
	w.Stream("seven", npz.Int32, 1, func(to io.Writer) error { return sections.Put(to, []int32{7}) })
	w.Stream("data", npz.Float32, 3, func(to io.Writer) error {
		return errors.Join(sections.Put(to, []float32{0.5, 1}), sections.Put(to, []float32{-2}))
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArraysComeBack(t *testing.T) {
	arrays := npztest.Read(t, archive(t, time.Time{}))
	if f := arrays["format"]; f.Type != "|S3" || f.Shape != "()" || string(f.Data) != "csr" {
		t.Errorf("the text came back as %v, want csr of type |S3", f)
	}
	if got := npztest.Vector[int64](t, arrays, "shape", "<i8"); !slices.Equal(got, []int64{2, 3}) {
		t.Errorf("the integers came back as %v, want 2 3", got)
	}
	if got := npztest.Vector[byte](t, arrays, "terms", "|u1"); string(got) != "ab" {
		t.Errorf("the bytes came back as %v, want ab", got)
	}
	if got := npztest.Vector[int64](t, arrays, "empty", "<i8"); len(got) != 0 {
		t.Errorf("the empty array came back as %v", got)
	}
	if got := npztest.Vector[float32](t, arrays, "data", npz.Float32); !slices.Equal(got, []float32{0.5, 1, -2}) {
		t.Errorf("the stream came back as %v, want 0.5 1 -2", got)
	}
}

// The example of the package comment.
func TestArrayAsDocumented(t *testing.T) {
	data := archive(t, time.Time{})
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("seven.npy")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	dict := "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }"
	want := "\x93NUMPY\x01\x00\x76\x00" + dict + strings.Repeat(" ", 117-len(dict)) + "\n\x07\x00\x00\x00"
	if string(got) != want || len(got) != 132 {
		t.Errorf("got %d bytes %q, want %q", len(got), got, want)
	}
}

// The bytes of whole archives, with and without a date, do not change.
func TestBytesArePinned(t *testing.T) {
	for date, want := range map[time.Time]string{
		{}: "1170ae355f9489199527783115c62c88d738951f030347e99557a770b3ccbc95",
		time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC): "c084bb9f920555c106b3afa9e50e7da46ea11c7ae76aaa69e8cb81b85bcb3bdd",
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256(archive(t, date))); got != want {
			t.Errorf("date %v: SHA-256 %s, want %s", date, got, want)
		}
	}
}

var errFull = errors.New("disk full")

// room is a writer with room for the given number of bytes.
type room int

func (r *room) Write(p []byte) (int, error) {
	if len(p) > int(*r) {
		return 0, errFull
	}
	*r -= room(len(p))
	return len(p), nil
}

// The first error is kept, wherever it happens, and fill is not called after it.
func TestFirstErrorIsKept(t *testing.T) {
	for _, left := range []room{0, 100, 5000} {
		w := npz.NewWriter(&left)
		w.Bytes("much", make([]byte, 1<<17))
		w.Stream("more", npz.Int32, 1, func(io.Writer) error {
			t.Error("fill was called after an error")
			return nil
		})
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("a full disk gives %v, want errFull", err)
		}
	}
	w := npz.NewWriter(io.Discard)
	broken := errors.New("broken")
	w.Stream("x", npz.Int32, 1, func(io.Writer) error { return broken })
	w.Text("y", "after it")
	if err := w.Close(); err != broken {
		t.Errorf("a fill that fails gives %v, want its error", err)
	}
}
