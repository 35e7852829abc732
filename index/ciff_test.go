package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/collocate/collocate/internal/trials"
)

// rose is the index of the package comment: "a rose is a rose", "a daisy".
func rose() *plainIndex {
	return &plainIndex{
		lengths: []uint32{5, 2},
		ids:     []string{"d1", "d2"},
		words:   []string{"a", "daisy", "is", "rose"},
		docs:    [][]uint32{{0, 1}, {1}, {0}, {0}},
		tfs:     [][]uint32{{2, 1}, {1}, {1}, {2}},
	}
}

// The bytes of an export are those that protobuf's encoder gave for the same messages.
func TestExportedBytes(t *testing.T) {
	var got bytes.Buffer
	if err := rose().write(t).Export(context.Background(), &got); err != nil {
		t.Fatal(err)
	}
	want := "36" + "0801" + "1004" + "1802" + "2004" + "2802" + "3007" + "390000000000000c40" +
		"421f" + hex.EncodeToString([]byte("Collocate index; analyzer ascii")) +
		"11" + "0a0161" + "1002" + "1803" + "22021002" + "220408011001" +
		"11" + "0a056461697379" + "1001" + "1801" + "220408011001" +
		"0c" + "0a026973" + "1001" + "1801" + "22021001" +
		"0e" + "0a04726f7365" + "1001" + "1802" + "22021002" +
		"06" + "12026431" + "1805" +
		"08" + "0801" + "12026432" + "1802"
	if h := hex.EncodeToString(got.Bytes()); h != want {
		t.Errorf("got  %s\nwant %s", h, want)
	}
}

// An export that is imported again, plain or compressed, gives the same files.
func TestExportThenImport(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range trials.Of(10) {
		p := randomIndex(rng, 2000, 60)
		for i, w := range p.words {
			p.words[i] = strings.ToValidUTF8(strings.ReplaceAll(w, "\xff", "ÿ"), "")
		}
		dir := t.TempDir()
		p.writeTo(t, filepath.Join(dir, "one"))
		var file bytes.Buffer
		if err := open(t, filepath.Join(dir, "one")).Export(context.Background(), &file); err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(file.Bytes())
		z.Close()
		for name, data := range map[string][]byte{"plain.ciff": file.Bytes(), "packed.ciff.gz": packed.Bytes()} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := Import(context.Background(), path, filepath.Join(dir, "two"), ImportOptions{}); err != nil {
				t.Fatal(err)
			}
			sameFiles(t, name, readDir(t, filepath.Join(dir, "two")), readDir(t, filepath.Join(dir, "one")))
		}
	}
}

// Words in another order are sorted; files that are damaged or inconsistent are refused.
func TestImportOfForeignFiles(t *testing.T) {
	header := "080110021801" // version 1, two lists, one document
	apple := "0b" + "0a0161" + "1001" + "1803" + "22021003"
	bee := "0b" + "0a0162" + "1001" + "1801" + "22021001"
	doc := "06" + "12026431" + "1804"
	cases := map[string]struct{ file, wrong string }{
		"other order":    {"06" + header + bee + apple + doc, ""},
		"empty":          {"", "not a CIFF file: it does not begin with a header"},
		"no version":     {"04" + "10021801" + bee + apple + doc, "not a CIFF file"},
		"same word":      {"06" + header + bee + bee + doc, "two postings lists"},
		"cut":            {"06" + header + bee + apple + doc[:6], "document record 1 of 1"},
		"no document":    {"06" + header + bee + apple, "document record 1 of 1"},
		"too much":       {"06" + header + bee + apple + doc + "00", "after the last"},
		"cf wrong":       {"06" + header + bee + "0b" + "0a0161" + "1001" + "1804" + "22021003" + doc, "occurrences"},
		"no such doc":    {"06" + header + bee + "0d" + "0a0161" + "1001" + "1803" + "220408071003" + doc, "want ascending numbers"},
		"zero frequency": {"06" + header + bee + "0b" + "0a0161" + "1001" + "1800" + "22021000" + doc, "frequency 0"},
		"zero gap": {"06" + header + bee + "0f" + "0a0161" + "1002" + "1802" + "22021001" +
			"22021001" + doc, "gap of 0"},
		"no word": {"06" + header + bee + "08" + "1001" + "1801" + "22021001" + doc, "no word"},
	}
	for name, c := range cases {
		data, err := hex.DecodeString(c.file)
		if err != nil {
			t.Fatal(name, err)
		}
		dir := filepath.Join(t.TempDir(), "ix")
		err = importCIFF(context.Background(), data, dir, ImportOptions{})
		if c.wrong == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			r := open(t, dir)
			if term, err := r.Lookup([]byte("a")); err != nil || term.CF != 3 || term.ID != 0 ||
				r.Analyzer() != "whitespace" {
				t.Errorf("%s: %+v, analyzer %s, %v; want number 0, CF 3, whitespace", name, term, r.Analyzer(), err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: error %v, want one about %q", name, err, c.wrong)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a folder was left after the error", name)
		}
	}
}

// An import keeps the mean length of the header, and so do reordering and exporting the index.
func TestImportKeepsTheMeanLength(t *testing.T) {
	p := rose()
	var file bytes.Buffer
	if err := p.write(t).Export(context.Background(), &file); err != nil {
		t.Fatal(err)
	}
	mean := func(m float64) []byte { return binary.LittleEndian.AppendUint64([]byte{7<<3 | 1}, math.Float64bits(m)) }
	for m, want := range map[float64]string{3.5: "",
		4:          "the mean document length is 4, from the header; the records have 3.5",
		math.NaN(): "error", -1: "error"} {
		data := bytes.Replace(file.Bytes(), mean(3.5), mean(m), 1)
		dir := filepath.Join(t.TempDir(), "ix")
		got := ""
		err := importCIFF(context.Background(), data, dir, ImportOptions{Note: func(line string) { got += line }})
		if want == "error" {
			if err == nil {
				t.Errorf("a mean of %v: no error", m)
			}
			continue
		}
		if err != nil || got != want {
			t.Fatalf("mean %v: note %q, %v; want %q", m, got, err, want)
		}
		r := open(t, dir)
		if r.Tokens() != int64(2*m) || r.Stats().MeanLength != m {
			t.Errorf("%d words, mean %v; want %d, %v", r.Tokens(), r.Stats().MeanLength, int64(2*m), m)
		}
		other := filepath.Join(t.TempDir(), "other")
		if err := Reorder(context.Background(), r, other, ReorderOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*Reader{r, open(t, other)} {
			if err := r.Check(context.Background(), CheckOptions{}); err != nil {
				t.Error(err)
			}
			var again bytes.Buffer
			if err := r.Export(context.Background(), &again); err != nil || !bytes.Contains(again.Bytes(), mean(m)) {
				t.Errorf("mean %v is not in the export, %v", m, err)
			}
		}
	}
}

func FuzzImport(f *testing.F) {
	var file bytes.Buffer
	if err := rose().write(f).Export(context.Background(), &file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := filepath.Join(t.TempDir(), "ix")
		if importCIFF(context.Background(), data, dir, ImportOptions{}) != nil {
			return
		}
		r := open(t, dir)
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}
