package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// The lists of these tests are short, so the limits are lowered: guesses are made where possible.
func init() {
	guessPostings, guessPlain = 10, 0
	sampleWords, sampleAnswers, samplePostings, sampleShare = 3, 50, 5, 0
	sampleDocs, wholeDocs, wholeWords = 1200, 1300, 3
}

// independent returns an index whose words are independent of each other, and more frequent in
// longer documents.
func independent(t *testing.T, docs int) (*searchtest.Plain, *Searcher) {
	rng := rand.New(rand.NewPCG(95, 96))
	p := &searchtest.Plain{}
	for range docs {
		p.Lengths = append(p.Lengths, 5+uint32(rng.ExpFloat64()*20))
	}
	for w, rate := range []float64{0.01, 0.004, 0.002, 0.001, 0.0003} {
		var list, tfs []uint32
		for d, length := range p.Lengths {
			tf := uint32(0)
			for range length {
				if rng.Float64() < rate {
					tf++
				}
			}
			if tf > 0 {
				list, tfs = append(list, uint32(d)), append(tfs, tf)
			}
		}
		p.Words = append(p.Words, fmt.Sprintf("w%03d", w))
		p.Docs, p.TFs = append(p.Docs, list), append(p.TFs, tfs)
	}
	return p, write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
}

// guess returns the guessed floor of a request, and the number of documents that beat it.
func guess(t *testing.T, p *searchtest.Plain, s *Searcher, words []ask.Word, k int) (floor float32, beat int, ok bool) {
	t.Helper()
	q, err := s.e.Prepare(context.Background(), &ask.Request{Words: words, K: k})
	if err != nil {
		t.Fatal(err)
	}
	defer s.e.Release(q)
	q.Begin(ask.BMM)
	if floor, ok = q.guessFloor(guessMargin); !ok {
		return 0, 0, false
	}
	if floor < q.floor {
		t.Errorf("%v, k %d: the guess %v is below the known floor %v", words, k, floor, q.floor)
	}
	for _, h := range p.Search(t, s.e.Index, words, len(p.Lengths), ask.Or, model.BM25{}) {
		if h.Score > floor {
			beat++
		}
	}
	return floor, beat, true
}

// If words are independent, rather more than k documents beat the guess, but not many more.
func TestGuessOfIndependentWords(t *testing.T) {
	p, s := independent(t, 60_000)
	rng := rand.New(rand.NewPCG(97, 98))
	right := 0
	for range 60 / trials.Every(4) {
		var words []ask.Word
		for _, w := range rng.Perm(len(p.Words))[:2+rng.IntN(3)] {
			words = append(words, ask.Word{Text: p.Words[w], Weight: 1})
		}
		k := []int{10, 100}[rng.IntN(2)]
		_, beat, ok := guess(t, p, s, words, k)
		if !ok {
			continue // the floor of one word is higher
		}
		if beat > 8*k {
			t.Errorf("%v, k %d: %d documents beat the guess, want at most %d", words, k, beat, 8*k)
		}
		if beat >= k {
			right++
		}
	}
	if right < 20/trials.Every(4) {
		t.Errorf("%d guesses were right, want %d or more", right, 20/trials.Every(4))
	}
}

// If words avoid each other, the guess is wrong, but the answers are right.
func TestWrongGuess(t *testing.T) {
	p := &searchtest.Plain{}
	rng := rand.New(rand.NewPCG(99, 100))
	for range 60_000 {
		p.Lengths = append(p.Lengths, 5+uint32(rng.ExpFloat64()*20))
	}
	for w := range 3 {
		var list, tfs []uint32
		for d := w; d < len(p.Lengths); d += 3 + rng.IntN(10)*3 {
			list, tfs = append(list, uint32(d)), append(tfs, 1+rng.Uint32N(2))
		}
		p.Words = append(p.Words, fmt.Sprintf("w%03d", w))
		p.Docs, p.TFs = append(p.Docs, list), append(p.TFs, tfs)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	words := []ask.Word{{Text: p.Words[0], Weight: 1}, {Text: p.Words[1], Weight: 1}, {Text: p.Words[2], Weight: 1}}
	for _, k := range []int{1, 10, 100} {
		if _, beat, ok := guess(t, p, s, words, k); !ok || beat >= k {
			t.Errorf("k %d: %d documents beat the guess (found %v), want a guess that fewer than k beat", k,
				beat, ok)
		}
		want := p.Search(t, s.e.Index, words, k, ask.Or, model.BM25{})
		for _, parallel := range []*ask.Parallel{nil, {Engine: engine.Multicore, Threads: 2}} {
			got, err := s.Search(context.Background(), ask.Request{Words: words, K: k, Trace: true, Parallel: parallel})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("k %d, %v: got %v, want %v", k, parallel, searchtest.Head(got.Hits), searchtest.Head(want))
			}
			if st := got.Stats; parallel == nil &&
				(st.Skipped < 0 || st.Decoded > st.Postings || len(st.Thresholds) == 0) {
				t.Errorf("k %d: statistics of a failed guess are left, or thresholds are missing: %+v", k, st)
			}
		}
	}
}
