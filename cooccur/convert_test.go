package cooccur

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/trials"
)

// A matrix converted from every format to every other and back to CSR has the same cells, words and
// frequencies. Where both formats keep everything, the file has the same bytes.
func TestConvertEveryWay(t *testing.T) {
	corpus := corpusOf(t, zipfText(trials.Of(2000), 150, 4))
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, opt := range []Options{{Window: 4}, {Window: 3, Side: Right, Weighting: Count}} {
		if i%trials.Every(2) > 0 {
			continue
		}
		dir := t.TempDir()
		first := filepath.Join(dir, "first.cooc")
		writeMatrix(t, corpus, v, opt, first, CSR)
		want := readFile(t, first)
		for a := range Format(len(endings)) {
			from := filepath.Join(dir, "a"+endings[a])
			if _, err := Convert(t.Context(), first, CSR, from, a, ConvertOptions{}); err != nil {
				t.Fatalf("to %v: %v", a, err)
			}
			for b := range Format(len(endings)) {
				o := ConvertOptions{Options: opt}
				if a == GloVe || a == MatrixMarket || a == TSV {
					o.Vocabulary = v
				}
				to := filepath.Join(dir, "b"+endings[b])
				if _, err := Convert(t.Context(), from, a, to, b, o); err != nil {
					t.Fatalf("%v to %v: %v", a, b, err)
				}
				back := filepath.Join(dir, "back.cooc")
				if b == GloVe || b == MatrixMarket || b == TSV {
					o.Vocabulary = v
				}
				if _, err := Convert(t.Context(), to, b, back, CSR, o); err != nil {
					t.Fatalf("%v to %v and back: %v", a, b, err)
				}
				if got, want := readCSR(t, back, v), readCSR(t, first, v); !maps.Equal(got, want) {
					t.Errorf("%v to %v: cells %v, want %v", a, b, got, want)
				}
				whole := []Format{CSR, NPZ, Parquet}
				if slices.Contains(whole, a) && slices.Contains(whole, b) && !bytes.Equal(readFile(t, back), want) {
					t.Errorf("%v to %v: the CSR file has %d bytes that differ from the first one's %d", a, b,
						len(readFile(t, back)), len(want))
				}
			}
		}
	}
}

// GloVe's shuffled records are sorted; damaged files and missing or wrong options are refused.
func TestConvertShuffled(t *testing.T) {
	corpus := corpusOf(t, zipfText(2000, 150, 5))
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path, shuffled, back := filepath.Join(dir, "m.bin"), filepath.Join(dir, "s.bin"), filepath.Join(dir, "b.bin")
	writeMatrix(t, corpus, v, Options{Window: 3}, path, GloVe)
	data := readFile(t, path)
	records := slices.Collect(slices.Chunk(slices.Clone(data), recordSize))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(records),
		func(i, j int) { records[i], records[j] = records[j], records[i] })
	if err := os.WriteFile(shuffled, slices.Concat(records...), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(t.Context(), shuffled, GloVe, back, GloVe, ConvertOptions{Vocabulary: v}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readFile(t, back), data) {
		t.Error("the shuffled records, sorted, are not the file of before")
	}
	for want, bad := range map[string][]byte{
		"is truncated": data[:len(data)-3],
		"two entries":  slices.Concat(data, data[:recordSize]),
		"NaN":          slices.Concat(data[:8], []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}),
	} {
		if err := os.WriteFile(shuffled, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Convert(t.Context(), shuffled, GloVe, back, GloVe, ConvertOptions{Vocabulary: v})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that has %q", err, want)
		}
	}
	if _, err := Convert(t.Context(), path, GloVe, back, GloVe, ConvertOptions{}); err == nil ||
		!strings.Contains(err.Error(), "ConvertOptions.Vocabulary") {
		t.Errorf("without a vocabulary: error %v, want one that names ConvertOptions.Vocabulary", err)
	}
	if _, err := Convert(t.Context(), path, GloVe, filepath.Join(dir, "x.cooc"), CSR,
		ConvertOptions{Vocabulary: v}); err == nil || !strings.Contains(err.Error(), "Options.Window") {
		t.Errorf("without a window: error %v, want one that names Options.Window", err)
	}
	if _, err := Convert(t.Context(), path, GloVe, back, GloVe,
		ConvertOptions{Vocabulary: vocabularyOf("a")}); err == nil {
		t.Error("a vocabulary that is too small: no error")
	}
}

// FuzzReadMatrixFiles converts files of any bytes and format, which may fail but not panic.
func FuzzReadMatrixFiles(f *testing.F) {
	f.Add([]byte("%%MatrixMarket matrix coordinate real symmetric\n% c\n2 2 1\n2 1 0.5\n"), byte(MatrixMarket))
	f.Add([]byte("a\tb\t1\n"), byte(TSV))
	var z bytes.Buffer
	w := npz.NewWriter(&z)
	w.Text("format", "csr")
	w.Int64s("shape", 1, 1)
	w.Int64s("indptr", 0, 1)
	w.Int64s("indices", 0)
	w.Int64s("data", 3)
	w.Close()
	f.Add(z.Bytes(), byte(NPZ))
	dir := f.TempDir()
	v := vocabularyOf("a", "b")
	f.Fuzz(func(t *testing.T, data []byte, format byte) {
		path := filepath.Join(dir, "in")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		Convert(context.Background(), path, Format(format%6), filepath.Join(dir, "out"), TSV,
			ConvertOptions{Vocabulary: v, Memory: 1 << 20})
	})
}
