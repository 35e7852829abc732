package cooccur

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
)

// Vocabularies are the same, to the byte, as those that others published as made with Stanford
// GloVe, and so are matrices, with sums within 1e-9.
func TestPublishedGloVeOutputs(t *testing.T) {
	for _, c := range []struct {
		corpus string
		min    uint64
		window int
	}{
		{"testdata/matta315/text8", 1, 3},
		{"testdata/beenote/my_corpus_bees_efrei.txt", 2, 15},
	} {
		dir := filepath.Dir(c.corpus)
		wantVocab, err := os.ReadFile(filepath.Join(dir, "vocab.txt"))
		if err != nil {
			t.Fatal(err)
		}
		wantBin, err := os.ReadFile(filepath.Join(dir, "cooccurrence.bin"))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
			v, _, err := CountWords(t.Context(), linesOf(c.corpus), VocabularyOptions{MinCount: c.min, Engine: kind})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if _, err := v.WriteTo(&got); err != nil || got.String() != string(wantVocab) {
				t.Errorf("%s, %v: vocabulary %.60q (%v), want %.60q", c.corpus, kind, got.String(), err, wantVocab)
			}
			out := filepath.Join(t.TempDir(), "out.bin")
			writeMatrix(t, linesOf(c.corpus), v, Options{Window: c.window, Engine: kind}, out, GloVe)
			compareGloVe(t, out, wantBin, 1e-9, true)
		}
	}
}

// Vocabularies and matrices of the works of Shakespeare are those of Stanford GloVe, in several
// settings.
func TestGloVeOnShakespeare(t *testing.T) {
	trials.Long(t, "all of Shakespeare")
	dir := sharedData(t, "glove", "generated-tinyshakespeare")
	corpus := linesOf(filepath.Join(dir, "corpus.txt"))
	for _, c := range []struct {
		name    string
		vocab   VocabularyOptions
		opt     Options
		relErr  float64
		doubled bool
	}{
		{"mc1_w10_sym1_dw1", VocabularyOptions{}, Options{Window: 10}, 1e-9, false},
		{"mc1_mv2000_w15_sym1_dw1", VocabularyOptions{MaxSize: 2000}, Options{Window: 15}, 1e-9, true},
		{"mc5_w15_sym1_dw1", VocabularyOptions{MinCount: 5}, Options{Window: 15}, 1e-9, false},
		{"mc5_w15_sym1_dw1_mem0.02", VocabularyOptions{MinCount: 5}, Options{Window: 15}, 1e-9, false},
		{"mc5_w5_sym0_dw1", VocabularyOptions{MinCount: 5}, Options{Window: 5, Side: Right}, 1e-9, false},
		{"mc5_w5_sym1_dw0", VocabularyOptions{MinCount: 5}, Options{Window: 5, Weighting: Count}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantVocab, err := os.ReadFile(filepath.Join(dir, c.name+".vocab.txt"))
			if err != nil {
				t.Fatal(err)
			}
			v, _, err := CountWords(t.Context(), corpus, c.vocab)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if _, err := v.WriteTo(&got); err != nil {
				t.Fatal(err)
			}
			if c.vocab.MaxSize > 0 {
				// GloVe does not define which words of the last count survive.
				sameAbove(t, got.String(), string(wantVocab))
			} else if got.String() != string(wantVocab) {
				t.Errorf("vocabulary %.60q, want %.60q", got.String(), wantVocab)
			}
			// With GloVe's own vocabulary the IDs are the same.
			if v, err = ReadVocabulary(bytes.NewReader(wantVocab), "vocab.txt"); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out.bin")
			writeMatrix(t, corpus, v, c.opt, out, GloVe)
			packed, err := os.ReadFile(filepath.Join(dir, c.name+".cooc.bin.zst"))
			if err != nil {
				t.Fatal(err)
			}
			z, err := zstd.NewReader(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			want, err := z.DecodeAll(packed, nil)
			if err != nil {
				t.Fatal(err)
			}
			compareGloVe(t, out, want, c.relErr, c.doubled)
		})
	}
}

// sameAbove compares the words of two vocabularies that are more frequent than the last ones.
func sameAbove(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Fatalf("%d words, want %d", len(g), len(w))
	}
	_, last, _ := strings.Cut(w[len(w)-2], " ")
	for i := range w {
		if strings.HasSuffix(w[i], " "+last) {
			return
		}
		if g[i] != w[i] {
			t.Fatalf("line %d: %q, want %q", i+1, g[i], w[i])
		}
	}
}

// compareGloVe compares a file with the records of Stanford GloVe. Its first record has twice the
// value if nothing overflowed its dense table (doubled).
func compareGloVe(t *testing.T, path string, want []byte, relErr float64, doubled bool) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d bytes of records, want %d", len(got), len(want))
	}
	var records []Record
	for r, err := range ReadGloVe(bytes.NewReader(want)) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	i := 0
	for g, err := range ReadGloVe(bytes.NewReader(got)) {
		if err != nil {
			t.Fatal(err)
		}
		w := records[i]
		if i == 0 && doubled {
			w.Value /= 2
		}
		if g.Row != w.Row || g.Col != w.Col || math.Abs(g.Value-w.Value) > relErr*w.Value {
			t.Fatalf("record %d: %+v, want %+v", i, g, w)
		}
		i++
	}
}

// The bytes of GloVe records, whatever the size of the writer's buffer.
func TestGloVeBytesArePinned(t *testing.T) {
	const record1, record2 = "01000000030000000000000000000440", "0300000001000000000000000000f03f"
	for _, size := range []int{16, 24, 40, 4096} {
		var buf bytes.Buffer
		e := &gloveEncoder{bufio.NewWriterSize(&buf, size)}
		if err := e.Rows(&Rows{First: 0, Ends: []int{1, 1, 3}, Cols: []uint32{2, 0, 0},
			Values: []float64{2.5, 1, 1}}); err != nil {
			t.Fatal(err)
		}
		if err := e.w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(buf.Bytes()); got != record1+record2+record2 {
			t.Errorf("buffer of %d bytes: %s, want %s", size, got, record1+record2+record2)
		}
	}
}

// ReadGloVe refuses a truncated record and the ID 0.
func TestReadGloVeRefusesDamage(t *testing.T) {
	good, _ := hex.DecodeString("01000000030000000000000000000440")
	zero, _ := hex.DecodeString("00000000030000000000000000000440")
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"cut":  {append(bytes.Clone(good), good[:7]...), "record 2 is truncated"},
		"zero": {append(bytes.Clone(good), zero...), "record 2: words 0 and 3: want IDs from 1"},
	} {
		var last error
		for _, err := range ReadGloVe(bytes.NewReader(c.data)) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, last, c.want)
		}
	}
}

// FuzzReadGloVe reads any bytes, which cannot give more records than fit.
func FuzzReadGloVe(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x40"))
	f.Add([]byte("\x00\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		for _, err := range ReadGloVe(bytes.NewReader(data)) {
			if err == nil {
				n++
			}
		}
		if n > len(data)/recordSize {
			t.Errorf("%d records in %d bytes, want at most %d", n, len(data), len(data)/recordSize)
		}
	})
}
