package prim

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

func TestTopK(t *testing.T) {
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 16<<20)
	rng := rand.New(rand.NewPCG(15, 16))
	sizes := []int{1, 5, 1000, 4096, 4097, 40_000}
	if testing.Short() {
		sizes = []int{1, 5, 4097}
	}
	for _, n := range sizes {
		for _, distinct := range []int{1, 3, 500, 1 << 30} { // many ties, or none
			scores := make([]float32, n)
			for i := range scores {
				scores[i] = float32(rng.IntN(distinct)-distinct/3) / 7
			}
			scores[rng.IntN(n)] = float32(math.Inf(1))
			scores[rng.IntN(n)] = float32(math.Copysign(0, -1))
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(i)
			}
			// Scores are ordered by their bits: -0 is below +0.
			order := func(f float32) int32 {
				b := int32(math.Float32bits(f))
				return b ^ (b >> 31 & math.MaxInt32)
			}
			slices.SortStableFunc(want,
				func(a, b uint32) int { return cmp.Compare(order(scores[b]), order(scores[a])) })
			in := gputest.Upload(t, s, scores)
			for _, k := range []int{0, 1, 10, n / 2, n} {
				if k = min(k, n); n == 40_000 && (k == 0 || k == n) {
					continue // special values of k are tested with fewer scores
				}
				out, places := gputest.Alloc[float32](t, s, k), gputest.Alloc[uint32](t, s, k)
				if err := TopK(s, tmp, in, k, out, places); err != nil {
					t.Fatal(err)
				}
				gotScores, got := gputest.Download(t, s, out), gputest.Download(t, s, places)
				if !slices.Equal(got, want[:k]) {
					t.Fatalf("the best %d of %d scores, %d distinct: wrong places", k, n, distinct)
				}
				for i, p := range got {
					if math.Float32bits(gotScores[i]) != math.Float32bits(scores[p]) {
						t.Fatalf("the best %d of %d scores: score %d is %v, want %v", k, n, i, gotScores[i], scores[p])
					}
				}
			}
		}
	}
}

// TestTopKBySample: of many scores, a sample decides which to gather. A sample helps with spread
// scores and with a few above many zeroes. It misleads where all are equal, and where the best lie
// between the sampled ones or are exactly those.
func TestTopKBySample(t *testing.T) {
	trials.Long(t, "a sample is taken of many scores only")
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 4<<20)
	const n = topkWorthwhile + 4099
	step := n / topkSample
	rng := rand.New(rand.NewPCG(19, 20))
	for name, score := range map[string]func(i int) float32{
		"spread":            func(int) float32 { return rng.Float32() },
		"few above zero":    func(int) float32 { return max(0, rng.Float32()-0.99) },
		"equal":             func(int) float32 { return -3 },
		"best between":      func(i int) float32 { return float32(min(i%step, 1)) * rng.Float32() },
		"best sampled only": func(i int) float32 { return float32(1-min(i%step, 1)) * rng.Float32() },
	} {
		scores := make([]float32, n)
		order := make([]uint32, n)
		for i := range scores {
			scores[i], order[i] = score(i), uint32(i)
		}
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(scores[b], scores[a]) })
		in := gputest.Upload(t, s, scores)
		for _, k := range []int{1, 300} {
			if rank, _ := sampleRank(n, k); rank == 0 {
				t.Fatalf("no sample is taken for the best %d of %d", k, n)
			}
			out, places := gputest.Alloc[float32](t, s, k), gputest.Alloc[uint32](t, s, k)
			if err := TopK(s, tmp, in, k, out, places); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(gputest.Download(t, s, places), order[:k]) {
				t.Errorf("%s: the best %d of %d are wrong", name, k, n)
			}
		}
	}
}

func TestHeapTop(t *testing.T) {
	_, s := gputest.Device(t)
	rng := rand.New(rand.NewPCG(17, 18))
	for _, n := range []int{1, 31, 300, 5000} {
		for _, k := range []int{1, 2, 7, 128, 1024} {
			for _, shares := range []int{1, 3} {
				keys := random[uint64](rng, n, uint64(n))
				if k == 7 {
					slices.Sort(keys) // every key enters the heap
				}
				out, sizes := gputest.Alloc[uint64](t, s, shares*k), gputest.Alloc[uint32](t, s, shares)
				if err := HeapTop(s, gputest.Upload(t, s, keys), shares, k, out, sizes); err != nil {
					t.Fatal(err)
				}
				heaps, counts := gputest.Download(t, s, out), gputest.Download(t, s, sizes)
				share := (n + shares - 1) / shares
				for i := range shares {
					mine := slices.Clone(keys[min(i*share, n):min((i+1)*share, n)])
					slices.SortFunc(mine, func(a, b uint64) int { return cmp.Compare(b, a) })
					want := mine[:min(k, len(mine))]
					heap := heaps[i*k : i*k+int(counts[i])]
					for j := 1; j < len(heap); j++ {
						if heap[(j-1)/2] > heap[j] {
							t.Fatalf("n=%d k=%d: not a heap", n, k)
						}
					}
					got := slices.Clone(heap)
					slices.SortFunc(got, func(a, b uint64) int { return cmp.Compare(b, a) })
					if !slices.Equal(got, want) {
						t.Fatalf("n=%d k=%d share %d of %d: %v, want %v", n, k, i, shares, got, want)
					}
				}
			}
		}
	}
}
