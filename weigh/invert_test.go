package weigh

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// row is a posting with its word and df.
type row struct {
	word    string
	df      int
	doc, tf uint32
}

// invertPlainly is the oracle of Invert: it counts with maps.
func invertPlainly(t testing.TB, docs []text.Document, a text.Analyzer) (rows []row, lengths []uint32) {
	t.Helper()
	words := map[string]map[uint32]uint32{}
	var tok text.Tokens
	for d, doc := range docs {
		if err := a.Analyze(doc.Text, &tok); err != nil {
			t.Fatal(err)
		}
		lengths = append(lengths, uint32(len(tok.Words)))
		for i := range tok.Words {
			w := string(tok.Word(i))
			if words[w] == nil {
				words[w] = map[uint32]uint32{}
			}
			words[w][uint32(d)]++
		}
	}
	for w, docs := range words {
		for d, tf := range docs {
			rows = append(rows, row{w, len(docs), d, tf})
		}
	}
	sort.Slice(rows, func(i, j int) bool {
		if rows[i].word != rows[j].word {
			return rows[i].word < rows[j].word
		}
		return rows[i].doc < rows[j].doc
	})
	return rows, lengths
}

func collect(t testing.TB, v *Inversion, parts int) (rows []row) {
	t.Helper()
	for _, part := range v.Parts(t.Context(), parts) {
		for term, err := range part {
			if err != nil {
				t.Fatal(err)
			}
			if len(term.Docs) == 0 || len(term.Docs) != len(term.TFs) {
				t.Fatalf("%q: %d documents, %d counts", term.Word, len(term.Docs), len(term.TFs))
			}
			for i, d := range term.Docs {
				rows = append(rows, row{string(term.Word), term.DF, d, term.TFs[i]})
			}
		}
	}
	return rows
}

// shuffled passes documents to concurrent workers, in batches of up to size documents in random
// order.
func shuffled(docs []text.Document, threads, size int, seed uint64) batches {
	return func(ctx context.Context, fn func(int, *text.Batch) error) error {
		rng := rand.New(rand.NewPCG(seed, 1))
		var all []*text.Batch
		for i := 0; i < len(docs); {
			n := min(rng.IntN(size+1), len(docs)-i) // sometimes an empty batch
			all = append(all, &text.Batch{Seq: len(all), Docs: docs[i : i+n]})
			i += n
		}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var wg sync.WaitGroup
		errs := make([]error, threads)
		for w := range threads {
			wg.Go(func() {
				for i := w; i < len(all) && errs[w] == nil; i += threads {
					errs[w] = fn(w, all[i])
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}
}

// randomDocs returns documents of 0 to length words. Words have 1 to 40 bytes, some of them 0x00
// and 0xff, and many words are rare.
func randomDocs(seed uint64, n, vocabulary, length int) []text.Document {
	rng := rand.New(rand.NewPCG(seed, 2))
	words := make([]string, vocabulary)
	for i := range words {
		w := []byte("commonprefixandmore")[:rng.IntN(20)]
		for range 1 + rng.IntN(21) {
			w = append(w, "abc\x00\xff"[min(rng.IntN(12), 4)%5])
		}
		words[i] = string(w)
	}
	docs := make([]text.Document, n)
	for i := range docs {
		var b strings.Builder
		for range rng.IntN(length + 1) {
			f := rng.Float64()
			b.WriteString(words[int(f*f*f*float64(vocabulary))])
			b.WriteByte(' ')
		}
		docs[i] = text.Document{ID: fmt.Sprint("doc", i), Text: []byte(b.String())}
	}
	return docs
}

func analyzer(t testing.TB, name string) text.Analyzer {
	t.Helper()
	a, err := text.ParseAnalyzer(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestInvertIsTheSameForAnyThreadsMemoryAndOrder(t *testing.T) {
	a := analyzer(t, "whitespace")
	for seed := uint64(0); seed < 4; seed += uint64(trials.Every(3)) {
		docs := randomDocs(seed, 300/trials.Every(2), 40<<(3*seed), 120)
		want, lengths := invertPlainly(t, docs, a)
		for _, threads := range []int{1, 2, 5} {
			for _, memory := range []int64{1, 700e3 * int64(threads), 1e9} {
				o := InvertOptions{Analyzer: a, Threads: threads, Memory: memory}
				v, err := invert(t.Context(), shuffled(docs, threads, 9, seed), &o)
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("seed %d, %d threads, %d bytes, %d runs", seed, threads, memory, len(v.runs))
				if memory == 1 && len(v.runs) < 100 || memory > 1e8 && len(v.runs) > threads {
					t.Errorf("%s: want 100 or more runs in 1 byte, and one per thread in 1 GB", name)
				}
				if !slices.Equal(v.Lengths(), lengths) {
					t.Errorf("%s: lengths differ", name)
				}
				for i := range docs {
					if v.ID(i) != docs[i].ID {
						t.Fatalf("%s: document %d has ID %q, want %q", name, i, v.ID(i), docs[i].ID)
					}
				}
				for _, parts := range []int{1, 7} {
					if got := collect(t, v, parts); !slices.Equal(got, want) {
						t.Fatalf("%s, %d parts: %d postings differ from the expected %d", name, parts,
							len(got), len(want))
					}
				}
				if err := v.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Counts that do not fit a byte are kept in a separate list, in memory and in spilled runs.
func TestLargeCounts(t *testing.T) {
	docs := randomDocs(4, 60, 50, 30)
	for i, n := range []int{253, 254, 255, 256, 257, 510, 511, 512, 70_000, 1 << 17} {
		d := &docs[5*i]
		d.Text = append(d.Text, strings.Repeat("ab ", n)...)
		d.Text = append(d.Text, strings.Repeat("somewordofmorethansixteenbytes ", n/3)...)
	}
	a := analyzer(t, "whitespace")
	want, _ := invertPlainly(t, docs, a)
	for _, memory := range []int64{1, 1e9} {
		v, err := invert(t.Context(), shuffled(docs, 3, 4, 1), &InvertOptions{Analyzer: a, Threads: 3, Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if got := collect(t, v, 2); !slices.Equal(got, want) {
			t.Errorf("%d bytes: postings differ", memory)
		}
	}
}

// A run holds at most maxWords words; further ones go to the next run. A document that has more
// by itself is refused.
func TestRunsHoldMaxWords(t *testing.T) {
	old := maxWords
	maxWords = 60
	defer func() { maxWords = old }()
	a := analyzer(t, "whitespace")
	docs := randomDocs(5, 100, 300, 40)
	want, _ := invertPlainly(t, docs, a)
	o := InvertOptions{Analyzer: a, Threads: 2, Memory: 1e9}
	v, err := invert(t.Context(), shuffled(docs, 2, 9, 1), &o)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if got := collect(t, v, 1); len(v.runs) < 10 || !slices.Equal(got, want) {
		t.Errorf("%d runs, want 10 or more; %d postings, want %d", len(v.runs), len(got), len(want))
	}
	long := text.Document{ID: "long"}
	for i := range 61 {
		long.Text = fmt.Appendf(long.Text, "w%d ", i)
	}
	_, err = invert(t.Context(), shuffled(append(docs, long), 1, 9, 1), &o)
	if err == nil || err.Error() != "document long: more than 60 different words" {
		t.Errorf("a document of 61 words: error %v, want that it has more than 60", err)
	}
}

// A word in very many documents comes in several pieces, all with the same df.
func TestLongListsComeInPieces(t *testing.T) {
	trials.Long(t, "lists of millions")
	docs := make([]text.Document, 3*pieceLen+5)
	for i := range docs {
		docs[i] = text.Document{Text: []byte("the")}
		if i%3 == 0 {
			docs[i].Text = []byte("of the")
		}
	}
	a := analyzer(t, "whitespace")
	want, _ := invertPlainly(t, docs, a)
	for _, memory := range []int64{1e6, 1e9} {
		o := InvertOptions{Analyzer: a, Threads: 3, Memory: memory}
		v, err := invert(t.Context(), shuffled(docs, 3, 100, 1), &o)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if got := collect(t, v, 1); !slices.Equal(got, want) {
			t.Fatal("postings differ")
		}
		if spilled := len(v.files) > 0; spilled != (memory < 1e9) {
			t.Errorf("%d bytes: spilled %v, want %v", memory, spilled, !spilled)
		}
		terms := 0
		for _, err := range v.Terms(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			terms++
		}
		if terms < 5 {
			t.Errorf("%d terms, want 5 or more: lists are not cut into pieces", terms)
		}
	}
}

func TestInvertLeavesNoTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	empty := func(when string) {
		t.Helper()
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			t.Errorf("%s: the folder has %v (%v), want no files", when, list, err)
		}
	}
	docs := randomDocs(1, 200, 1000, 50)
	o := InvertOptions{Analyzer: analyzer(t, "whitespace"), Threads: 2, Memory: 1, TempDir: dir}
	v, err := invert(t.Context(), shuffled(docs, 2, 9, 1), &o)
	if err != nil {
		t.Fatal(err)
	}
	empty("while reading")
	v.Close()
	empty("after Close")

	boom := errors.New("boom")
	seen := 0
	o.Threads = 1
	o.Visit = func(int, *text.Batch) error {
		if seen++; seen == 10 {
			return boom
		}
		return nil
	}
	if _, err = invert(t.Context(), shuffled(docs, 1, 9, 1), &o); !errors.Is(err, boom) {
		t.Errorf("error %v, want that of Visit", err)
	}
	empty("after an error")

	o.TempDir = dir + "/missing"
	o.Visit = nil
	if _, err = invert(t.Context(), shuffled(docs, 1, 9, 1), &o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing folder: error %v, want %v", err, os.ErrNotExist)
	}
}

func TestTermsStopWithTheContext(t *testing.T) {
	o := InvertOptions{Analyzer: analyzer(t, "whitespace"), Threads: 1, Memory: 1e9}
	v, err := invert(t.Context(), shuffled(randomDocs(1, 50, 1000, 50), 1, 9, 1), &o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range v.Terms(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	}
}

func TestInvertEmptyCorpus(t *testing.T) {
	v, err := Invert(t.Context(), &text.Corpus{}, InvertOptions{Analyzer: analyzer(t, "ascii")})
	if err != nil {
		t.Fatal(err)
	}
	if rows := collect(t, v, 4); v.Docs() != 0 || len(rows) != 0 {
		t.Errorf("%d documents and %d postings, want none", v.Docs(), len(rows))
	}
}

// Without an analyzer, the words are those of the analyzer unicode, here and in Weigh.
func TestDefaultAnalyzer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte("Ein Wort, ein WORT: café\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	corpus := &text.Corpus{Paths: []string{path}}
	an := analyzer(t, "unicode")
	got, err := Invert(t.Context(), corpus, InvertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Invert(t.Context(), corpus, InvertOptions{Analyzer: an})
	if err != nil {
		t.Fatal(err)
	}
	a, b := collect(t, got, 4), collect(t, want, 4)
	if !reflect.DeepEqual(a, b) || len(a) != 3 {
		t.Errorf("without an analyzer %v, want the words of unicode, %v", a, b)
	}
	w, err := Weigh(t.Context(), corpus, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := Weigh(t.Context(), corpus, Options{Analyzer: an, Threads: 1, Memory: defaultMemory,
		Params: bm25.Params{K1: 1.2, B: 0.75}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := weightsOf(t, w, 1), weightsOf(t, x, 1); !reflect.DeepEqual(a, b) || len(a) != 3 {
		t.Errorf("the zero value gives %v, want the command's defaults, %v", a, b)
	}
}

// Documents of few words fill the log before anything else. The memory kept for the next run must
// not make each of the documents that follow a run.
func TestDocumentsOfFewWordsAreFewRuns(t *testing.T) {
	a := analyzer(t, "whitespace")
	docs := make([]text.Document, 100_000)
	for _, words := range []string{"", "a", "a b", "a b a"} {
		for i := range docs {
			docs[i].Text = []byte(words)
		}
		want, _ := invertPlainly(t, docs, a)
		for _, positions := range []bool{false, true} {
			v, err := invert(t.Context(), shuffled(docs, 1, 9, 1),
				&InvertOptions{Analyzer: a, Threads: 1, Memory: 1 << 20, Positions: positions})
			if err != nil {
				t.Fatal(err)
			}
			if got := collect(t, v, 1); len(v.runs) > 30 || !slices.Equal(got, want) {
				t.Errorf("%d documents %q, positions %v: %d runs, want at most 30; %d postings, want %d",
					len(docs), words, positions, len(v.runs), len(got), len(want))
			}
			v.Close()
		}
	}
}
