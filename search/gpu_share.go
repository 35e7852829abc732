package search

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// Cores and device share a batch: a request goes to a core if one is free and is expected to be done before the device would
// have it, that is before a chunk that is under way ends.

// gpuPace is how fast both have been lately.
type gpuPace struct {
	chunk   atomic.Uint64 // seconds of a chunk on the device, as bits; 0: not known yet
	posting atomic.Uint64 // seconds of a posting on a core
}

// note moves a mean a little towards a new value.
func note(mean *atomic.Uint64, value float64) {
	old := math.Float64frombits(mean.Load())
	if old != 0 {
		value = old + (value-old)/8
	}
	mean.Store(math.Float64bits(value))
}

// forCore says whether a core would be done with a request first.
func (p *gpuPace) forCore(s *Searcher, r *Request) bool {
	chunk, posting := math.Float64frombits(p.chunk.Load()), math.Float64frombits(p.posting.Load())
	if chunk == 0 {
		return false
	}
	postings := 0.0
	count := func(word []byte) bool {
		t, err := s.index.Lookup(word)
		postings += float64(t.DF)
		return err == nil
	}
	for _, w := range r.Words {
		if !count([]byte(w.Text)) {
			return false
		}
	}
	if len(r.Words) == 0 { // words are not known yet: a look at the text says enough
		return len(r.Text) < 64 && posting*1e4 < chunk
	}
	return postings*posting < chunk
}

// onCore answers one request on the core that asks.
func (p *gpuPace) onCore(ctx context.Context, s *Searcher, r Request) outcome {
	r.Parallel = nil
	if r.Algorithm == Tiles {
		r.Algorithm = Auto
	}
	start := time.Now()
	found, err := s.searchUnlessCancelled(ctx, r)
	if err == nil && found.Stats.Postings > 0 {
		note(&p.posting, time.Since(start).Seconds()/float64(found.Stats.Postings))
	}
	return outcome{found, err}
}
