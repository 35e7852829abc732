package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
)

// The lists of tests are short: guesses are made wherever they can be.
func init() { guessPostings, guessPlain = 10, 0 }

// independent is an index whose words know nothing of each other: longer documents have more of them.
func independent(t *testing.T, docs int) (*plain, *Searcher) {
	rng := rand.New(rand.NewPCG(95, 96))
	p := &plain{}
	for range docs {
		p.lengths = append(p.lengths, 5+uint32(rng.ExpFloat64()*20))
	}
	for w, rate := range []float64{0.01, 0.004, 0.002, 0.001, 0.0003} {
		var list, tfs []uint32
		for d, length := range p.lengths {
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
		p.words = append(p.words, fmt.Sprintf("w%03d", w))
		p.docs, p.tfs = append(p.docs, list), append(p.tfs, tfs)
	}
	return p, p.write(t, indexDir(scratch(t), 0))
}

// guess is what is guessed for a request, and how many documents beat it.
func guess(t *testing.T, p *plain, s *Searcher, words []Word, k int) (floor float32, beat int, ok bool) {
	t.Helper()
	q, err := s.prepare(context.Background(), &Request{Words: words, K: k})
	if err != nil {
		t.Fatal(err)
	}
	defer s.release(q)
	q.begin(BMM)
	if floor, ok = q.guessFloor(guessMargin); !ok {
		return 0, 0, false
	}
	if floor < q.floor {
		t.Errorf("%v, k %d: a guess of %v below what is known, %v", words, k, floor, q.floor)
	}
	for _, h := range p.search(t, s, words, len(p.lengths), Or, BM25{}) {
		if h.Score > floor {
			beat++
		}
	}
	return floor, beat, true
}

// If words are independent then rather more than k documents beat the guess, but not many more.
func TestGuessOfIndependentWords(t *testing.T) {
	p, s := independent(t, 60_000)
	rng := rand.New(rand.NewPCG(97, 98))
	right := 0
	for range 60 {
		var words []Word
		for _, w := range rng.Perm(len(p.words))[:2+rng.IntN(3)] {
			words = append(words, Word{p.words[w], 1})
		}
		k := []int{10, 100}[rng.IntN(2)]
		_, beat, ok := guess(t, p, s, words, k)
		if !ok {
			continue // what one word reaches is better
		}
		if beat > 8*k {
			t.Errorf("%v, k %d: %d documents beat the guess", words, k, beat)
		}
		if beat >= k {
			right++
		}
	}
	if right < 20 {
		t.Errorf("%d guesses were right", right)
	}
}

// Words that avoid each other make the guess wrong; the answers are right.
func TestWrongGuessIsMended(t *testing.T) {
	p := &plain{}
	rng := rand.New(rand.NewPCG(99, 100))
	for range 60_000 {
		p.lengths = append(p.lengths, 5+uint32(rng.ExpFloat64()*20))
	}
	for w := range 3 {
		var list, tfs []uint32
		for d := w; d < len(p.lengths); d += 3 + rng.IntN(10)*3 {
			list, tfs = append(list, uint32(d)), append(tfs, 1+rng.Uint32N(2))
		}
		p.words = append(p.words, fmt.Sprintf("w%03d", w))
		p.docs, p.tfs = append(p.docs, list), append(p.tfs, tfs)
	}
	s := p.write(t, indexDir(scratch(t), 0))
	words := []Word{{p.words[0], 1}, {p.words[1], 1}, {p.words[2], 1}}
	for _, k := range []int{1, 10, 100} {
		if _, beat, ok := guess(t, p, s, words, k); !ok || beat >= k {
			t.Errorf("k %d: %d documents beat the guess", k, beat)
		}
		want := p.search(t, s, words, k, Or, BM25{})
		for _, parallel := range []*Parallel{nil, {Engine: engine.Multicore, Threads: 2}} {
			got, err := s.Search(context.Background(), Request{Words: words, K: k, Trace: true, Parallel: parallel})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("k %d, %v: got %v, want %v", k, parallel, head(got.Hits), head(want))
			}
			if st := got.Stats; parallel == nil && (st.Skipped < 0 || st.Decoded > st.Postings || len(st.Thresholds) == 0) {
				t.Errorf("k %d: %+v", k, st)
			}
		}
	}
}
