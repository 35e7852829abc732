package device

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Every strategy of the plans answers some request, is named in the statistics, and gives the
// results of one core.
func TestEveryStrategyIsTaken(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	often := func(every int) func(int) uint32 {
		return func(d int) uint32 {
			if d%every != 0 {
				return 0
			}
			return uint32(1 + rng.IntN(9))
		}
	}
	// The even and the odd documents have no word in common, so a guess for both is too high.
	p := listed(gpuTile/4, func(int) uint32 { return uint32(1 + rng.IntN(300)) }, often(2),
		func(d int) uint32 { return uint32(d%2) * uint32(1+d%31) }, often(3), often(5), often(7), often(4000))
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	one := func(k int, mode ask.Mode, words ...int) ask.Request {
		r := ask.Request{K: k, Mode: mode}
		for _, w := range words {
			r.Words = append(r.Words, ask.Word{Text: p.Words[w]})
		}
		return r
	}
	seen := map[ask.Strategy]bool{}
	check := func(r ask.Request, found *ask.Result, want ask.Strategy) {
		t.Helper()
		exact, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		got := found.Stats
		if got.Algorithm != ask.Tiles || got.Strategy != want || got.GPU.Fallback != "" {
			t.Errorf("%v: %v, want %v; fallback %q", r, got, want, got.GPU.Fallback)
		}
		if !slices.Equal(found.Hits, exact.Hits) {
			t.Errorf("%v, %v: %v, want %v", r, got.Strategy, found.Hits, exact.Hits)
		}
		seen[got.Strategy] = true
	}
	for _, x := range []struct {
		r           ask.Request
		alone, many ask.Strategy // for a single request, and in a batch
	}{
		{one(5, ask.Or, 0), ask.GPUPair, ask.GPUShort},
		{one(5, ask.Or, 0, 2), ask.GPUPair, ask.GPULong},
		{one(5, ask.And, 0, 1), ask.GPUOne, ask.GPUShort}, // the guess was wrong
		{one(5, ask.Or, 0, 2, 3), ask.GPUOne, ask.GPULong},
		{one(5, ask.Or, 0, 1, 2, 3, 4), ask.GPUGeneral, ask.GPULong},
		{one(5, ask.Or, 0, 5), ask.GPUGeneral, ask.GPULong}, // a list without a table
		{one(3000, ask.Or, 0, 1), ask.GPUGeneral, ask.GPUGeneral},
		{one(5, ask.Or), ask.NoStrategy, ask.NoStrategy},
	} {
		if len(x.r.Words) == 0 {
			x.r.Text = "unknown"
		}
		onGPU := x.r
		onGPU.Parallel = &ask.Parallel{Engine: engine.GPU}
		found, err := s.Search(context.Background(), onGPU)
		if err != nil {
			t.Fatal(err)
		}
		check(x.r, found, x.alone)
		batch := slices.Values([]ask.Request{x.r})
		for _, found := range collect(t, s.SearchBatch(context.Background(), batch, ask.Batch{Engine: engine.GPU})) {
			check(x.r, found, x.many)
		}
	}
	for _, by := range slotStrategies {
		if !seen[by.name] || by.why == "" {
			t.Errorf("no request was answered by %v: %s", by.name, by.why)
		}
	}
	for _, by := range laneStrategies {
		if !seen[by.name] || by.why == "" {
			t.Errorf("no request of a batch was answered by %v: %s", by.name, by.why)
		}
	}
}
