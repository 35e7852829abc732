package cooccur

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

func init() { trials.Properties(60) }

// Every engine gives the matrix in the example of the package comment.
func TestExampleOfThePackage(t *testing.T) {
	corpus, v := corpusOf(t, "a b a"), vocabularyOf("a", "b")
	for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
		var got cells
		stats, err := Matrix(t.Context(), corpus, v, Options{Window: 2, Engine: kind}, &got)
		want := map[[2]uint32]float64{{0, 0}: 1, {0, 1}: 2, {1, 0}: 2}
		if err != nil || !maps.Equal(got.m, want) {
			t.Errorf("%v: %v, %v; want %v", kind, got.m, err, want)
		}
		if stats != (Stats{Engine: kind, Documents: 1, Words: 3, Kept: 3, Entries: 3}) {
			t.Errorf("%v: %+v, want 1 document, 3 words, all kept, and 3 entries", kind, stats)
		}
	}
}

// The engines give the matrix of the definition, to the bit, for random corpora and all options,
// also with tables and chunks so small that everything is spilled and merged.
func TestEnginesAgreeWithBruteForce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := strings.Fields("a b c d é longer-than-fifteen-bytes longer-than-fifteen-bytez")[:rapid.IntRange(0, 7).Draw(r, "words")]
		outside := append([]string{"x", "yy"}, words...)
		docs := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(outside), 0, 40).Draw(r, "doc"), " ")
		}), 1, 8).Draw(r, "docs")
		opt := Options{
			Window: rapid.OneOf(rapid.IntRange(1, 5),
				rapid.SampledFrom([]int{10, 15, 18, 19, 30, 1000})).Draw(r, "window"),
			Side:      rapid.SampledFrom([]Side{Both, Left, Right}).Draw(r, "side"),
			Weighting: rapid.SampledFrom([]Weighting{Distance, Count}).Draw(r, "weighting"),
		}
		want := bruteForce(docs, words, opt)
		corpus, v := corpusOf(t, docs...), vocabularyOf(words...)
		for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
			for _, small := range []bool{false, true} {
				o := opt
				o.Engine, o.Threads = kind, rapid.IntRange(1, 3).Draw(r, "threads")
				if small {
					o.tableLimit = 5
					o.chunkLimit = 20
					o.blockSize = 4*o.Window + maxPieceWords + 2 + rapid.IntRange(0, 9).Draw(r, "block")
				}
				var got cells
				_, err := Matrix(context.Background(), corpus, v, o, &got)
				if err != nil {
					r.Fatalf("%+v: %v", o, err)
				}
				if !maps.Equal(got.m, want) {
					r.Fatalf("%+v\n got %v\nwant %v", o, got.m, want)
				}
				if got.rows != v.Len() {
					r.Fatalf("%+v: %d rows, want one for each of %d words", o, got.rows, v.Len())
				}
			}
		}
	})
}

// zipfText returns lines of all lengths, of words with a Zipf distribution.
func zipfText(words, vocabulary int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	z := rand.NewZipf(r, 1.2, 3, uint64(vocabulary-1))
	var b strings.Builder
	for n := 0; n < words; {
		length := r.IntN(40)
		if r.IntN(50) == 0 {
			length = 3000 // longer than the blocks of tests that lower blockSize
		}
		for range length {
			fmt.Fprintf(&b, "w%d ", z.Uint64())
			n++
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// A larger corpus gives the same file with every engine, with 1 to 4 threads, in memory and
// spilled.
func TestSameBytesWhateverTheEngine(t *testing.T) {
	size := 25_000
	if testing.Short() {
		size = 10_000
	}
	corpus := corpusOf(t, zipfText(size, 2000, 7))
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{MinCount: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, base := range []Options{
		{Window: 2, Weighting: Count},
		{Window: 10},
		{Window: 25, Side: Left},
		{Window: 3, Side: Right, Subsample: 1e-2, Seed: 5},
	} {
		if i%trials.Every(3) > 0 {
			continue
		}
		var want []byte
		for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
			for _, threads := range []int{1, 2, 4} {
				for _, spilled := range []bool{false, true} {
					if kind == engine.Sequential && threads > 1 {
						continue
					}
					opt := base
					opt.Engine, opt.Threads = kind, threads
					if spilled {
						opt.chunkLimit, opt.blockSize, opt.tableLimit = 9_000, 2400, size/3
					}
					path := filepath.Join(t.TempDir(), "out.bin")
					stats := writeMatrix(t, corpus, v, opt, path, GloVe)
					if spilled != (stats.Runs > 1) {
						t.Errorf("%v, spilled=%t: %d runs, want several if and only if it is spilled", kind, spilled,
							stats.Runs)
					}
					got, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					if want == nil {
						want = got
					} else if string(got) != string(want) {
						t.Errorf("window %d, %v, %d threads, spilled=%t: other bytes than by the sequential engine",
							base.Window, kind, threads, spilled)
					}
				}
			}
		}
	}
}

func writeMatrix(t testing.TB, corpus *text.Corpus, v *Vocabulary, opt Options, path string, format Format) Stats {
	t.Helper()
	f, err := Create(path, format, v, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	stats, err := Matrix(t.Context(), corpus, v, opt, f)
	if err != nil {
		t.Fatal(err)
	}
	f.Describe(stats)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	return stats
}

// The smallest --memory that the command accepts is enough for a small vocabulary; the engine then
// uses only as many threads as fit.
func TestLittleMemory(t *testing.T) {
	corpus := corpusOf(t, zipfText(50_000, 3000, 11))
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{Memory: 16_000_000})
	if err != nil {
		t.Fatal(err)
	}
	var want, got cells
	if _, err := Matrix(t.Context(), corpus, v, Options{Window: 5}, &want); err != nil {
		t.Fatal(err)
	}
	if _, err := Matrix(t.Context(), corpus, v, Options{Window: 5, Memory: 16_000_000, Threads: 16}, &got); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got.m, want.m) {
		t.Errorf("%d cells in 16 MB, want the %d cells in full memory", len(got.m), len(want.m))
	}
}

// An empty corpus, an empty vocabulary and words that do not occur give an empty matrix.
func TestNothingToCount(t *testing.T) {
	for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
		for name, c := range map[string]struct {
			corpus *text.Corpus
			v      *Vocabulary
		}{
			"empty corpus":     {corpusOf(t), vocabularyOf("a", "b")},
			"empty vocabulary": {corpusOf(t, "a b"), vocabularyOf()},
			"zero vocabulary":  {corpusOf(t, "a b"), &Vocabulary{}},
			"other words":      {corpusOf(t, "c d e"), vocabularyOf("a", "b")},
		} {
			var got cells
			if _, err := Matrix(t.Context(), c.corpus, c.v, Options{Engine: kind}, &got); err != nil {
				t.Errorf("%s, %v: %v", name, kind, err)
			}
			if len(got.m) != 0 || got.rows != c.v.Len() {
				t.Errorf("%s, %v: cells %v in %d rows, want none in %d", name, kind, got.m, got.rows, c.v.Len())
			}
		}
	}
}

// Options outside their ranges are errors.
func TestWrongOptionsAreRefused(t *testing.T) {
	corpus, v := corpusOf(t, "a"), vocabularyOf("a")
	for _, opt := range []Options{
		{Window: -2}, {Window: MaxWindow + 1}, {Side: 3}, {Weighting: 2}, {Subsample: 1},
		{Subsample: -1}, {Engine: engine.GPU}, {Memory: 1000},
	} {
		if _, err := Matrix(t.Context(), corpus, v, opt, &cells{}); err == nil {
			t.Errorf("options %+v: no error", opt)
		}
	}
}

// failing is a Sink that returns an error after some rows.
type failing struct{ left int }

var errSink = errors.New("no more")

func (f *failing) Rows(r *Rows) error {
	if f.left -= len(r.Ends); f.left < 0 {
		return errSink
	}
	return nil
}

// A failing sink, a missing folder for temporary files and a cancelled context stop all workers,
// and their error is returned.
func TestErrorsStopTheEngines(t *testing.T) {
	corpus := corpusOf(t, zipfText(20_000/trials.Every(2), 5000, 3))
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{1, 3} {
		for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
			opt := Options{Engine: kind, Threads: threads, Window: 40}
			if _, err := Matrix(t.Context(), corpus, v, opt, &failing{100}); !errors.Is(err, errSink) {
				t.Errorf("%v, failing sink: error %v, want %v", kind, err, errSink)
			}
			opt.chunkLimit, opt.blockSize, opt.tableLimit = 9_000, 2400, 1000
			opt.TempDir = filepath.Join(t.TempDir(), "missing")
			if _, err := Matrix(t.Context(), corpus, v, opt, &cells{}); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%v, no folder for temporary files: error %v, want %v", kind, err, os.ErrNotExist)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := Matrix(ctx, corpus, v, opt, &cells{}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, cancelled: error %v, want %v", kind, err, context.Canceled)
			}
		}
	}
}

// A disk that is full while runs are spilled is an error that says so.
func TestFullDiskWhileSpilling(t *testing.T) {
	j, err := newJob(vocabularyOf("a"), Options{Window: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSpill(j)
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("this system has no /dev/full: %v", err)
	}
	s.file = &disk.File{File: full}
	defer s.close()
	b := &sumRows{ends: []int{1}, cols: []uint32{0}, lo: []uint64{1}}
	s.begin()
	s.encode(b)
	if err := s.write(0, b); err == nil || !strings.Contains(err.Error(), "no space left") ||
		!strings.Contains(err.Error(), "sorted runs") {
		t.Errorf("full disk: error %v, want no space left, and what it was for", err)
	}
}
