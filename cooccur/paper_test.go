package cooccur

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/collocate/collocate/engine"
)

// The paper's engine on cores and the multicore engine give the vocabulary, matrix and statistics
// of the sequential engine, for random corpora and options.
func TestPaperCoresAgree(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := strings.Fields("a b c d é longer-than-fifteen-bytes longer-than-fifteen-bytez")
		docs := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(r, "doc"), " ")
		}), 1, 8).Draw(r, "docs")
		opt := Options{
			Window:    rapid.SampledFrom([]int{1, 2, 10, 30, WholeDocument}).Draw(r, "window"),
			Side:      rapid.SampledFrom([]Side{Both, Left, Right}).Draw(r, "side"),
			Weighting: rapid.SampledFrom([]Weighting{Distance, Count}).Draw(r, "weighting"),
			Threads:   rapid.IntRange(1, 3).Draw(r, "threads"),
		}
		corpus := corpusOf(t, docs...)
		vopt := VocabularyOptions{MinCount: uint64(rapid.IntRange(1, 2).Draw(r, "minimum"))}
		type result struct {
			words string
			cells cells
			vs    VocabularyStats
			stats Stats
		}
		run := func(kind engine.Kind, method Method) (out result) {
			o := opt
			o.Engine, o.Method = kind, method
			var err error
			out.vs, out.stats, err = Make(t.Context(), corpus, vopt, o, func(v *Vocabulary) (Sink, error) {
				var b bytes.Buffer
				_, err := v.WriteTo(&b)
				out.words = b.String()
				return &out.cells, err
			})
			if err != nil {
				r.Fatal(err)
			}
			out.vs.Engine, out.stats.Engine = 0, 0
			return out
		}
		want, got := run(engine.Sequential, Ours), run(engine.Multicore, Paper)
		if got.words != want.words || !maps.Equal(got.cells.m, want.cells.m) || got.vs != want.vs ||
			got.stats != want.stats {
			r.Fatalf("%+v\npaper %+v\nwant  %+v", opt, got, want)
		}
		if ours := run(engine.Multicore, Ours); !maps.Equal(ours.cells.m, want.cells.m) {
			r.Fatalf("%+v\nmulticore %+v\nwant      %+v", opt, ours, want)
		}
	})
}

// Tables of the paper's engine that do not fit in memory are an error that says what to do.
func TestPaperCoresAreBounded(t *testing.T) {
	corpus := corpusOf(t, zipfText(60_000, 20_000, 3))
	_, _, err := Make(t.Context(), corpus, VocabularyOptions{},
		Options{Engine: engine.Multicore, Method: Paper, Window: 10, Threads: 1, Memory: 16 << 20},
		func(*Vocabulary) (Sink, error) { return new(cells), nil })
	if err == nil || !strings.Contains(err.Error(), "Options.Memory") || !strings.Contains(err.Error(), "Options.Method=auto") {
		t.Errorf("16 MB: error %v, want one that names Options.Memory and Options.Method=auto", err)
	}
}

// Windows may be as long as a document; a document longer than the largest window is an error.
func TestWindowsOfWholeDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("large documents")
	}
	const n = 400 // words that differ, so that every pair is a cell of its own
	var b strings.Builder
	var words []string
	for i := range n {
		words = append(words, fmt.Sprintf("w%d", i))
		b.WriteString(words[i] + " ")
	}
	corpus, v := corpusOf(t, b.String()), vocabularyOf(words...)
	for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
		for _, window := range []int{n - 1, MaxWindow, WholeDocument} {
			var got cells
			if _, err := Matrix(t.Context(), corpus, v,
				Options{Window: window, Side: Right, Engine: kind}, &got); err != nil {
				t.Fatal(err)
			}
			if len(got.m) != n*(n-1)/2 || got.m[[2]uint32{0, 1}] != 1 ||
				math.Abs(got.m[[2]uint32{0, n - 1}]*(n-1)-1) > 1e-12 {
				t.Errorf("%v, window %d: %d cells, first %v, last %v; want %d, 1, 1/%d", kind, window, len(got.m),
					got.m[[2]uint32{0, 1}], got.m[[2]uint32{0, n - 1}], n*(n-1)/2, n-1)
			}
		}
		long := corpusOf(t, strings.Repeat("a ", MaxWindow+2))
		_, err := Matrix(t.Context(), long, vocabularyOf("b", "a"),
			Options{Window: WholeDocument, Weighting: Count, Side: Right, Engine: kind}, new(cells))
		if err == nil || !strings.Contains(err.Error(), "split the document") {
			t.Errorf("%v, a document of %d words: error %v, want \"split the document\"", kind, MaxWindow+2, err)
		}
	}
	for _, opt := range []Options{{Window: -2}, {Window: MaxWindow + 1}, {Window: WholeDocument, Engine: engine.GPU}} {
		if _, err := newJob(v, opt); err == nil {
			t.Errorf("a window of %d words, engine %v: no error", opt.Window, opt.Engine)
		}
	}
}

// The cells of matrices of PMI and NPMI are computed from the sums by definition; one of PPMI has
// those of PMI that are positive.
func TestMatricesOfMeasures(t *testing.T) {
	corpus := corpusOf(t, zipfText(3000, 60, 5))
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Window: 2, Weighting: Count, Engine: engine.Multicore}
	var sums cells
	if _, err := Matrix(t.Context(), corpus, v, opt, &sums); err != nil {
		t.Fatal(err)
	}
	rows, cols, total := map[uint32]float64{}, map[uint32]float64{}, 0.0
	for at, value := range sums.m {
		rows[at[0]] += value
		cols[at[1]] += value
		total += value
	}
	dir := t.TempDir()
	for _, by := range []Measure{PMI, PPMI, NPMI} {
		opt.Values = by
		path := filepath.Join(dir, "m.bin")
		f, err := Create(path, GloVe, v, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Abort()
		if _, err := Matrix(t.Context(), corpus, v, opt, f); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		n := int64(0)
		for rec, err := range ReadGloVe(in) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			m := sums.m[[2]uint32{rec.Row, rec.Col}]
			want := math.Log2(m * total / (rows[rec.Row] * cols[rec.Col]))
			if by == NPMI {
				want /= -math.Log2(m / total)
			}
			if math.Abs(rec.Value-want) > 1e-9 || by == PPMI && rec.Value <= 0 {
				t.Fatalf("%v: cell %d, %d is %v, want %v", by, rec.Row, rec.Col, rec.Value, want)
			}
		}
		if n != f.Scored() || by == PPMI && n >= int64(len(sums.m)) || n < int64(len(sums.m))/4 {
			t.Errorf("%v: %d cells in the file of %d sums, Scored %d", by, n, len(sums.m), f.Scored())
		}
	}
	if _, err := Create(filepath.Join(dir, "m.cooc"), CSR, v, opt); err == nil ||
		!strings.Contains(err.Error(), "Reader.Pair") {
		t.Errorf("a .cooc file of a measure: error %v, want one that names Reader.Pair", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".collocate*")); len(left) > 0 {
		t.Errorf("temporary files %v are left, want none", left)
	}
}
