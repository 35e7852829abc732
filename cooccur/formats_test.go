package cooccur

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/npz/npztest"
	"github.com/collocate/collocate/internal/sections"
)

// A file of every format holds the cells of the matrix.
func TestFormatsHoldTheMatrix(t *testing.T) {
	corpus := corpusOf(t, zipfText(3000, 200, 9))
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	readers := map[Format]func(*testing.T, string, *Vocabulary) map[[2]uint32]float64{
		CSR: readCSR, GloVe: readBin, MatrixMarket: readMTX, NPZ: readNPZ, Parquet: readParquet, TSV: readTSV,
	}
	for _, opt := range []Options{{Window: 3}, {Window: 3, Side: Left, Weighting: Count}, {Window: 25, Threads: 2}} {
		var want cells
		if _, err := Matrix(t.Context(), corpus, v, opt, &want); err != nil {
			t.Fatal(err)
		}
		for format, read := range readers {
			path := filepath.Join(t.TempDir(), "matrix")
			writeMatrix(t, corpus, v, opt, path, format)
			if got := read(t, path, v); !maps.Equal(got, want.m) {
				t.Errorf("%v, window %d: cells %v, want %v", format, opt.Window, got, want.m)
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
				t.Errorf("%v: files %v, want only the matrix", format, entries)
			}
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readCSR(t *testing.T, path string, v *Vocabulary) map[[2]uint32]float64 {
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Verify(); err != nil {
		t.Fatal(err)
	}
	m := map[[2]uint32]float64{}
	for id := range v.Len() {
		cols, values, err := r.Row(id)
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range cols {
			m[[2]uint32{uint32(id), c}] = values[k]
		}
		if found, ok := r.Lookup(string(v.Word(id))); !ok || found != id || r.Count(id) != v.Count(id) {
			t.Errorf("word %q: ID %d, %t, count %d; want ID %d, count %d", v.Word(id), found, ok, r.Count(id),
				id, v.Count(id))
		}
	}
	if _, ok := r.Lookup("not there"); ok || int(r.Entries()) != len(m) || r.Len() != v.Len() {
		t.Errorf("%d entries, %d words, \"not there\" found: %v; want %d, %d, false", r.Entries(), r.Len(), ok,
			len(m), v.Len())
	}
	return m
}

func readBin(t *testing.T, path string, _ *Vocabulary) map[[2]uint32]float64 {
	m := map[[2]uint32]float64{}
	for r, err := range ReadGloVe(bytes.NewReader(readFile(t, path))) {
		if err != nil {
			t.Fatal(err)
		}
		m[[2]uint32{r.Row, r.Col}] = r.Value
	}
	return m
}

func readMTX(t *testing.T, path string, v *Vocabulary) map[[2]uint32]float64 {
	lines := strings.Split(strings.TrimSuffix(string(readFile(t, path)), "\n"), "\n")
	symmetric := strings.HasSuffix(lines[0], " symmetric")
	if !strings.HasPrefix(lines[0], "%%MatrixMarket matrix coordinate ") || !strings.HasPrefix(lines[1], "%") {
		t.Fatalf("header %q, want %%%%MatrixMarket matrix coordinate and a comment", lines[:2])
	}
	var rows, cols, entries int
	fmt.Sscan(lines[2], &rows, &cols, &entries)
	if rows != v.Len() || cols != v.Len() || entries != len(lines)-3 {
		t.Errorf("size line %q, want %d rows and columns and %d entries", lines[2], v.Len(), len(lines)-3)
	}
	m := map[[2]uint32]float64{}
	for _, line := range lines[3:] {
		var r, c uint32
		var x float64
		if _, err := fmt.Sscan(line, &r, &c, &x); err != nil {
			t.Fatal(err)
		}
		m[[2]uint32{r - 1, c - 1}] = x
		if symmetric {
			m[[2]uint32{c - 1, r - 1}] = x
		}
	}
	return m
}

func readNPZ(t *testing.T, path string, v *Vocabulary) map[[2]uint32]float64 {
	arrays := npztest.Read(t, readFile(t, path))
	if got := npztest.Vector[int64](t, arrays, "shape",
		"<i8"); string(arrays["format"].Data) != "csr" ||
		!slices.Equal(got, []int64{int64(v.Len()), int64(v.Len())}) {
		t.Errorf("format %q, shape %v; want csr, %d rows and columns", arrays["format"].Data, got, v.Len())
	}
	indptr := npztest.Vector[int64](t, arrays, "indptr", "<i8")
	cols := npztest.Vector[int32](t, arrays, "indices", npz.Int32)
	values := npztest.Vector[float64](t, arrays, "data", npz.Float64)
	m := map[[2]uint32]float64{}
	for row := range v.Len() {
		for k := indptr[row]; k < indptr[row+1]; k++ {
			m[[2]uint32{uint32(row), uint32(cols[k])}] = values[k]
		}
	}
	return m
}

func readParquet(t *testing.T, path string, v *Vocabulary) map[[2]uint32]float64 {
	rows, err := parquet.ReadFile[parquetRow](path)
	if err != nil {
		t.Fatal(err)
	}
	m := map[[2]uint32]float64{}
	for _, r := range rows {
		if string(v.Word(int(r.ID1))) != r.Word1 || string(v.Word(int(r.ID2))) != r.Word2 {
			t.Fatalf("row %+v: want the words %q and %q of these IDs", r, v.Word(int(r.ID1)), v.Word(int(r.ID2)))
		}
		m[[2]uint32{uint32(r.ID1), uint32(r.ID2)}] = r.Value
	}
	return m
}

func readTSV(t *testing.T, path string, v *Vocabulary) map[[2]uint32]float64 {
	m := map[[2]uint32]float64{}
	for line := range strings.Lines(string(readFile(t, path))) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		row, _ := v.Lookup([]byte(f[0]))
		col, _ := v.Lookup([]byte(f[1]))
		x, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		m[[2]uint32{uint32(row), uint32(col)}] = x
	}
	return m
}

// exampleFile writes the worked example in the comment on the format: "b a b" with window 1.
func exampleFile(t testing.TB) string {
	t.Helper()
	corpus := corpusOf(t, "b a b")
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "example.cooc")
	opt := Options{Window: 1, Weighting: Count, Engine: engine.Sequential}
	writeMatrix(t, corpus, v, opt, path, CSR)
	return path
}

// The bytes of the worked example in the comment on the format.
func TestCSRBytesArePinned(t *testing.T) {
	f, err := sections.Open(exampleFile(t), csrMagic, csrVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	u64 := func(n ...uint64) string { return hex.EncodeToString(sections.Bytes(n)) }
	for name, want := range map[string]string{
		"entries":  "0100000000000000" + "0000000000000040" + "0000000000000000" + "0000000000000040",
		"rows":     u64(0, 16, 32),
		"rowsums":  "0000000000000040" + "0000000000000040",
		"colsums":  "0000000000000040" + "0000000000000040",
		"words":    hex.EncodeToString([]byte("ba")),
		"wordends": u64(1, 2),
		"counts":   u64(2, 1),
		"sorted":   "01000000" + "00000000",
		"meta":     u64(2, 2, 1, 0, 1),
		"corpus":   u64(3, 3, 1, 0),
		"analyzer": hex.EncodeToString([]byte("whitespace")),
	} {
		got, err := f.Section(name)
		if err != nil || hex.EncodeToString(got) != want {
			t.Errorf("section %s: %x, want %s (%v)", name, got, want, err)
		}
	}
}

// The bytes of an archive that SciPy was seen to read.
func TestNPZBytesArePinned(t *testing.T) {
	corpus := corpusOf(t, "b a b")
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "example.npz")
	writeMatrix(t, corpus, v, Options{Window: 1, Weighting: Count, Engine: engine.Sequential}, path, NPZ)
	if got, want := fmt.Sprintf("%x", sha256.Sum256(readFile(t, path))),
		"96f67ea171ab949c1d20c6897e9586da6475cb001580c682c849ff59a1e7e695"; got != want {
		t.Errorf("the archive's SHA-256 is %s, want %s", got, want)
	}
}

// useReader calls every method of a reader, none of which may panic.
func useReader(r *Reader) {
	r.Verify()
	r.Lookup("a")
	r.Options()
	for id := range min(r.Len(), 100) {
		r.Word(id)
		r.Neighbours(id, 10, LogLikelihood, 0)
	}
}

// parseCSR reads a file from memory, copied to an aligned address.
func parseCSR(data []byte) (*Reader, error) {
	aligned := make([]uint64, len(data)/8+1)
	b := sections.Bytes(aligned)[:len(data)]
	copy(b, data)
	f, err := sections.Parse(b, csrMagic, csrVersion)
	if err != nil {
		return nil, err
	}
	return newReader(f)
}

// FuzzReadCSR reads files of any bytes; no method may panic.
func FuzzReadCSR(f *testing.F) {
	data, err := os.ReadFile(exampleFile(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:100])
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := parseCSR(data); err == nil {
			useReader(r)
		}
	})
}

// Files whose sections do not fit each other, with right checksums, are found by opening or by
// Check, and no method panics.
func TestCSRWithWrongSections(t *testing.T) {
	good, err := sections.Open(exampleFile(t), csrMagic, csrVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	for _, s := range good.Sections() {
		for what, change := range map[string]func([]byte) []byte{
			"halved":   func(b []byte) []byte { return b[:len(b)/2] },
			"empty":    func(b []byte) []byte { return nil },
			"all 0xff": func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) },
			"all 1":    func(b []byte) []byte { return bytes.Repeat([]byte{1}, len(b)) },
			"repeated": func(b []byte) []byte { return append(bytes.Clone(b), b...) },
		} {
			var out bytes.Buffer
			w, err := sections.NewWriter(&out, csrMagic, csrVersion)
			if err != nil {
				t.Fatal(err)
			}
			for _, each := range good.Sections() {
				b, _ := good.Section(each.Name)
				if each.Name == s.Name {
					b = change(b)
				}
				if err := w.Section(each.Name, b); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := parseCSR(out.Bytes())
			if err == nil {
				useReader(r)
				err = r.Check(t.Context())
			}
			// Any name of an analyzer and any counts of words are valid, and data after the end of
			// a section is not read.
			valid := s.Name == "analyzer" || s.Name == "counts" && strings.HasPrefix(what, "all") ||
				what == "repeated"
			if err == nil && !valid {
				t.Errorf("section %s %s: no error", s.Name, what)
			}
		}
	}
}

// Formats are found by the ending of a file and by their names.
func TestFormatsByName(t *testing.T) {
	for path, want := range map[string]Format{"a/b.cooc": CSR, "x.bin": GloVe,
		"x.MTX": MatrixMarket, "y.npz": NPZ, "z.parquet": Parquet, "t.tsv": TSV} {
		if got, err := FormatOf(path); err != nil || got != want {
			t.Errorf("FormatOf(%s) = %v, %v; want %v", path, got, err, want)
		}
		if got, err := ParseFormat(want.String()); err != nil || got != want {
			t.Errorf("ParseFormat(%v) = %v, %v", want, got, err)
		}
	}
	if _, err := FormatOf("x.txt"); err == nil {
		t.Error("FormatOf(x.txt): no error")
	}
	if _, err := ParseFormat("nothing"); err == nil {
		t.Error("ParseFormat(nothing): no error")
	}
}

// Parquet files hold only UTF-8: a vocabulary with another word is refused, as matrix and as table.
func TestParquetRefusesOtherEncodings(t *testing.T) {
	v := vocabularyOf("a", "caf\xe9")
	_, err := Create(filepath.Join(t.TempDir(), "m.parquet"), Parquet, v, Options{})
	for what, err := range map[string]error{"matrix": err, "table of words": v.WriteParquet(new(bytes.Buffer))} {
		if err == nil || !strings.Contains(err.Error(), `"caf\xe9" is not UTF-8`) {
			t.Errorf("%s: error %v, want one that names the word", what, err)
		}
	}
}

// Abort leaves no files, in any format.
func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	for format := range Format(len(endings)) {
		f, err := Create(filepath.Join(dir, "x"), format, vocabularyOf("a"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Rows(&Rows{Ends: []int{1}, Cols: []uint32{0}, Values: []float64{1}}); err != nil {
			t.Fatal(err)
		}
		f.Abort()
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files %v are left after Abort, want none", left)
	}
}

// A full disk is an error in every format.
func TestAFullDiskIsAnError(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	for format := range Format(len(endings)) {
		f, err := Create("/dev/full", format, vocabularyOf("a"), Options{})
		if err == nil {
			err = errors.Join(f.Rows(&Rows{Ends: []int{1}, Cols: []uint32{0}, Values: []float64{1}}), f.Commit())
			f.Abort()
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v: error %v, want %v", format, err, syscall.ENOSPC)
		}
	}
}
