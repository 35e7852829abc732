package index

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Find returns the position that a binary search returns, or the last one if all numbers are lower.
func TestFindIsABinarySearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for range 200 {
		var docs [BlockSize]uint32
		at := uint32(rng.IntN(100))
		n := rng.IntN(BlockSize) + 1
		for i := range docs {
			docs[i] = at
			at += uint32(rng.IntN(10) + 1)
			if i >= n {
				docs[i] = End
			}
		}
		for target := range at + 5 {
			want, _ := slices.BinarySearch(docs[:], target)
			want = min(want, BlockSize-1)
			if got := Find(&docs, target); got != want {
				t.Fatalf("Find(%v, %d) = %d, want %d", docs, target, got, want)
			}
		}
		if got := Find(&docs, End); docs[got] != End && got != BlockSize-1 {
			t.Fatalf("Find(End) = %d with document %d, want the first End or the last position", got, docs[got])
		}
	}
}

func BenchmarkFind(b *testing.B) {
	var docs [BlockSize]uint32
	for i := range docs {
		docs[i] = uint32(i * 10)
	}
	var targets [4096]uint32
	for i := range targets {
		targets[i] = rand.Uint32N(1280)
	}
	i, sum := 0, 0
	for b.Loop() {
		sum += Find(&docs, targets[i&4095])
		i++
	}
}
