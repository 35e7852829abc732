package cooccur

import (
	"fmt"
	"sync"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/text"
)

// benchWords is the number of words in the benchmarks' corpus, of which at most 200,000 are
// distinct, with a Zipf distribution.
const benchWords = 2_000_000

var benchText = sync.OnceValue(func() string { return zipfText(benchWords, 200_000, 1) })

func benchCorpus(b *testing.B) (*text.Corpus, *Vocabulary) {
	corpus := corpusOf(b, benchText())
	v, _, err := CountWords(b.Context(), corpus, VocabularyOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return corpus, v
}

func reportWords(b *testing.B, words int64) {
	b.ReportMetric(float64(words)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mwords/s")
}

// BenchmarkVocabulary makes a vocabulary, by engine and threads.
func BenchmarkVocabulary(b *testing.B) {
	corpus, _ := benchCorpus(b)
	for _, e := range []struct {
		kind    engine.Kind
		threads int
	}{{engine.Sequential, 1}, {engine.Multicore, 1}, {engine.Multicore, 2}} {
		b.Run(fmt.Sprintf("%v/threads=%d", e.kind, e.threads), func(b *testing.B) {
			var stats VocabularyStats
			for b.Loop() {
				var err error
				if _, stats, err = CountWords(b.Context(), corpus,
					VocabularyOptions{Engine: e.kind, Threads: e.threads}); err != nil {
					b.Fatal(err)
				}
			}
			reportWords(b, stats.Words)
		})
	}
}

// BenchmarkMatrix makes a matrix without writing it, by window, engine and threads.
func BenchmarkMatrix(b *testing.B) {
	corpus, v := benchCorpus(b)
	for _, window := range []int{2, 10, 50} {
		for _, e := range []struct {
			kind    engine.Kind
			threads int
		}{{engine.Sequential, 1}, {engine.Multicore, 1}, {engine.Multicore, 2}} {
			b.Run(fmt.Sprintf("window=%d/%v/threads=%d", window, e.kind, e.threads), func(b *testing.B) {
				var stats Stats
				for b.Loop() {
					var err error
					if stats, err = Matrix(b.Context(), corpus, v,
						Options{Window: window, Engine: e.kind, Threads: e.threads},
						discard{}); err != nil {
						b.Fatal(err)
					}
				}
				reportWords(b, stats.Words)
			})
		}
	}
}

type discard struct{}

func (discard) Rows(*Rows) error { return nil }

// BenchmarkNeighbours finds the neighbours of words in a mapped file.
func BenchmarkNeighbours(b *testing.B) {
	corpus, v := benchCorpus(b)
	path := b.TempDir() + "/m.cooc"
	writeMatrix(b, corpus, v, Options{Window: 5}, path, CSR)
	r, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	id := 0
	for b.Loop() {
		if _, err := r.Neighbours(id%1000, 10, PMI, 0); err != nil {
			b.Fatal(err)
		}
		id++
	}
}
