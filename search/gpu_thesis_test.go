package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
)

// Parallel WAND and MaxScore: exact where they should be, else what the definition says.
func TestGPUThesis(t *testing.T) {
	rng := rand.New(rand.NewPCG(99, 7))
	root := scratch(t)
	cut := 0
	for i := range 8 {
		p := randomPlain(rng, 2500, 6)
		s := p.write(t, indexDir(root, i))
		use(t, s, GPUOptions{})
		for range 10 {
			r := Request{
				Words: randomWords(rng, p), K: []int{1, 10, 100, 1000}[rng.IntN(4)], Mode: Mode(rng.IntN(2)), Model: testModels[rng.IntN(len(testModels))],
			}
			want, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			r.Algorithm = []Algorithm{WAND, MaxScore}[rng.IntN(2)]
			r.Parallel = &Parallel{Engine: engine.GPU, Partition: Partition(rng.IntN(4)), Policy: Policy(rng.IntN(4)), Size: []int{0, 32, 64, 128}[rng.IntN(4)], Row: []int{0, 1, 1, 5, 10}[rng.IntN(5)]}
			got, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if r.Parallel.Exact() && !slices.Equal(got.Hits, want.Hits) {
				t.Fatalf("%v, %+v, %v, k %d, %v: %v, want %v", r.Algorithm, *r.Parallel, r.Mode, r.K, r.Model, got.Hits, want.Hits)
			}
			// A block keeps no document twice if it has one partition: then the result is that of the definition.
			if r.Parallel.Partition.cutsDocuments() && r.Parallel.Row == 1 && r.Parallel.Size > 0 && r.Parallel.Policy != SharedHalf && r.K*len(r.Words) <= thesisK {
				asked := r
				asked.Parallel = &Parallel{Partition: r.Parallel.Partition, Size: r.Parallel.Size}
				if want := p.searchPositions(t, s, asked); !slices.Equal(got.Hits, want) && len(got.Hits)+len(want) > 0 {
					t.Fatalf("%v, %+v, %v, k %d, %v: %v, want %v", r.Algorithm, *r.Parallel, r.Mode, r.K, r.Model, got.Hits, want)
				}
				cut++
			}
			if len(want.Hits) > 0 && testing.Verbose() {
				t.Logf("%v %v %v: recall %.2f", r.Algorithm, r.Parallel.Partition, r.Parallel.Policy, Recall(got.Hits, want.Hits))
			}
		}
	}
	if cut < 5 {
		t.Errorf("only %d searches cut documents", cut)
	}
}
