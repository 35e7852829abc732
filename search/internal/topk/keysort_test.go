package topk

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

func TestKeysAreSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	var s keySorter
	for range trials.Of(400) {
		keys := make([]uint64, rng.IntN(1+rng.IntN(2*manyKeys)))
		scores := 1 + rng.Uint32N(1<<uint(rng.IntN(24)))
		for i := range keys {
			keys[i] = KeyOf(rng.Uint32(), float32(rng.Uint32N(scores))*0.01)
		}
		want := slices.Sorted(slices.Values(keys))
		s.sort(keys)
		if !slices.Equal(keys, want) {
			t.Fatalf("%d keys of %d scores are not sorted", len(keys), scores)
		}
	}
}

func BenchmarkKeySort(b *testing.B) {
	rng := rand.New(rand.NewPCG(63, 64))
	var s keySorter
	from := make([]uint64, 1000)
	for i := range from {
		from[i] = KeyOf(rng.Uint32N(420000), float32(5+rng.ExpFloat64()))
	}
	keys := make([]uint64, len(from))
	b.Run("buckets", func(b *testing.B) {
		for b.Loop() {
			copy(keys, from)
			s.sort(keys)
		}
	})
	b.Run("comparisons", func(b *testing.B) {
		for b.Loop() {
			copy(keys, from)
			slices.Sort(keys)
		}
	})
}
