package weigh

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/npz/npztest"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

func written(t testing.TB, w *Weights, f Format) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := w.Write(t.Context(), &b, f, 2); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTSV(t *testing.T) {
	docs := []text.Document{{ID: "one", Text: []byte(`a\b a`)}, {ID: "two\tto", Text: []byte("c")}}
	w := weighAll(t, docs, Options{}, 1)
	want := "term\tdocument\ttf\tweight\n" +
		"a\tone\t1\t0.6099695\n" +
		`a\\b` + "\tone\t1\t0.6099695\n" +
		"c\ttwo\\tto\t1\t0.80259144\n"
	if got := string(written(t, w, TSV)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// All formats hold the same numbers, for words that come whole and for words that come in pieces.
func TestFormatsHoldTheSame(t *testing.T) {
	docs := randomDocs(5, 500, 300, 40)
	for i := range docs { // Parquet's text is UTF-8
		docs[i].Text = bytes.ReplaceAll(docs[i].Text, []byte{0xff}, []byte("d"))
	}
	for i := range 2*pieceLen + 100 {
		docs = append(docs, text.Document{ID: fmt.Sprint("short", i), Text: []byte("often")})
	}
	w := weighAll(t, docs, Options{Threads: 2}, 1)
	defer w.Close()
	want := weightsOf(t, w, 1)

	// Binary, through a file.
	path := filepath.Join(t.TempDir(), "x.weights")
	c, err := w.WriteFile(t.Context(), path, FormatAuto, 2)
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []weight
	for i := range f.Len() {
		x := f.At(i)
		for k, d := range x.Docs {
			got = append(got, weight{string(x.Word), x.DF, d, x.TFs[k], math.Float32bits(x.Weights[k])})
		}
		if y, ok := f.Find(x.Word); !ok || !bytes.Equal(y.Word, x.Word) {
			t.Fatalf("%q is not found", x.Word)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("binary: %d weights differ from the expected %d", len(got), len(want))
	}
	if _, ok := f.Find([]byte("no such word")); ok || f.ID(500) != "short0" ||
		c.Terms != int64(f.Len()) || c.Pairs != int64(len(want)) {
		t.Errorf("binary: found an absent word: %v; ID(500) %q, want \"short0\"; %+v, want %d terms, %d pairs",
			ok, f.ID(500), c, f.Len(), len(want))
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}

	// Parquet.
	rows, err := parquet.Read[ParquetRow](bytes.NewReader(written(t, w, Parquet)), int64(len(written(t, w, Parquet))))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(want) {
		t.Fatalf("parquet: %d rows, want %d", len(rows), len(want))
	}
	for i, r := range rows {
		x := want[i]
		if r.Term != x.word || r.Document != docs[x.doc].ID || r.TF != int32(x.tf) ||
			math.Float32bits(r.Weight) != x.bits {
			t.Fatalf("parquet: row %d is %+v, want %+v", i, r, x)
		}
	}

	// NPZ: the arrays of the CSR matrix.
	arrays := npztest.Read(t, written(t, w, NPZ))
	weights := npztest.Vector[float32](t, arrays, "data", npz.Float32)
	indices := npztest.Vector[int32](t, arrays, "indices", npz.Int32)
	if len(weights) != len(want) || len(indices) != len(want) {
		t.Fatalf("npz: %d weights and %d indices, want %d", len(weights), len(indices), len(want))
	}
	for i, x := range want {
		if math.Float32bits(weights[i]) != x.bits || uint32(indices[i]) != x.doc {
			t.Fatalf("npz: weight %d is %v in document %d, want %+v", i, weights[i], indices[i], x)
		}
	}

	// TSV has a line for each weight, and the format None counts the same.
	if lines := bytes.Count(written(t, w, TSV), []byte("\n")); lines != len(want)+1 {
		t.Errorf("tsv: %d lines, want %d", lines, len(want)+1)
	}
	if again, err := w.Write(t.Context(), io.Discard, None, 2); err != nil || again != c {
		t.Errorf("counted %v, %v; want %v", again, err, c)
	}
}

// The arrays are those in the comment of writeNPZ, and the archive is the same to the bit.
func TestNPZAsDocumented(t *testing.T) {
	data := written(t, weighAll(t, texts("a", "a b"), Options{}, 1), NPZ)
	arrays := npztest.Read(t, data)
	for _, a := range []struct {
		name, shape string
		kind        npz.Type
		data        []byte
	}{
		{"format", "()", "|S3", []byte("csr")},
		{"shape", "(2,)", "<i8", sections.Bytes([]int64{2, 2})},
		{"indptr", "(3,)", "<i8", sections.Bytes([]int64{0, 2, 3})},
		{"indices", "(3,)", "<i4", sections.Bytes([]int32{0, 1, 1})},
		{"terms", "(2,)", "|u1", []byte("ab")},
		{"term_ends", "(2,)", "<i8", sections.Bytes([]int64{1, 2})},
		{"ids", "(4,)", "|u1", []byte("d0d1")},
		{"id_ends", "(2,)", "<i8", sections.Bytes([]int64{2, 4})},
	} {
		if got := arrays[a.name]; got.Type != a.kind || got.Shape != a.shape || !bytes.Equal(got.Data, a.data) {
			t.Errorf("%s is %v, want %v", a.name, got, a)
		}
	}
	if got, want := fmt.Sprintf("%x", sha256.Sum256(data)),
		"6f54042d8c93df58051698d3abb704d7ab115a98b66c38c1d14db37c676f69f1"; got != want {
		t.Errorf("the archive's SHA-256 is %s, want %s", got, want)
	}
}

// The sections are those of the example in binary.go.
func TestBinaryAsDocumented(t *testing.T) {
	data := written(t, weighAll(t, texts("a", "a b"), Options{}, 1), Binary)
	f, err := sections.Parse(data, binaryMagic, binaryVersion)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{
		"docs": sections.Bytes([]uint32{0, 1, 1}), "tfs": sections.Bytes([]uint32{1, 1, 1}),
		"first": sections.Bytes([]uint64{0, 2, 3}), "words": []byte("ab"), "ends": sections.Bytes([]uint64{1, 2}),
		"lengths": sections.Bytes([]uint32{1, 2}), "ids": []byte("d0d1"), "id-ends": sections.Bytes([]uint64{2, 4}),
	} {
		if got, err := f.Section(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("section %s is %v, want %v (%v)", name, got, want, err)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	w := weighAll(t, texts("a b", "b"), Options{}, 1)
	dir := t.TempDir()
	if _, err := w.WriteFile(t.Context(), filepath.Join(dir, "x.doc"), FormatAuto, 1); err == nil ||
		!strings.Contains(err.Error(), ".parquet") {
		t.Errorf("x.doc: error %v, want one that lists the known endings", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range []Format{TSV, Parquet, NPZ, Binary, None} {
		path := filepath.Join(dir, "x")
		if _, err := w.WriteFile(ctx, path, f, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: error %v, want %v", f, err, context.Canceled)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%v leaves an incomplete file", f)
		}
		if f == None {
			continue
		}
		if _, err := w.Write(t.Context(), full{}, f, 1); !errors.Is(err, errFull) {
			t.Errorf("%v: error %v, want that of the writer", f, err)
		}
	}
	if _, err := w.Write(t.Context(), io.Discard, None+1, 1); err == nil {
		t.Error("writing an unknown format: no error")
	}
	for _, name := range Formats() {
		if f, err := ParseFormat(name); err != nil || f.String() != name {
			t.Errorf("ParseFormat(%q) is %v, %v", name, f, err)
		}
	}
	if _, err := ParseFormat("doc"); err == nil {
		t.Error("format doc: no error")
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func FuzzOpenFile(f *testing.F) {
	w := weighAll(f, texts("a rose is a rose", "a thorn", ""), Options{}, 1)
	data := written(f, w, Binary)
	f.Add(data)
	f.Add(data[:len(data)-1])
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sections.Parse(bytes.Clone(data), binaryMagic, binaryVersion)
		if err != nil {
			return
		}
		if x, err := parseFile(s); err == nil {
			for i := range x.Len() {
				x.Find(x.At(i).Word)
			}
		}
	})
}
