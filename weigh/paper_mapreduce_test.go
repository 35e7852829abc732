package weigh

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/text"
)

// A reduce task gets the words of its own partition only: each word of each mapper is in one
// partition, the same in all mappers, and partitions are of similar size.
func TestShuffleDividesWordsAmongTheReduceTasks(t *testing.T) {
	const words, partitions = 20_000, 16
	mappers := make([]mapper, 3)
	partition := map[string]int{}
	for i := range mappers {
		m := &mappers[i]
		m.words = newTable()
		for k := i; k < words+i; k++ {
			w := fmt.Append(nil, "word", k)
			m.words.number(w, text.Span{End: uint32(len(w))})
		}
		m.shuffle(partitions)
		seen := 0
		for p, ids := range m.shuffled {
			seen += len(ids)
			if mean := words / partitions; len(ids) > 2*mean || len(ids) < mean/2 {
				t.Errorf("mapper %d: partition %d has %d words, want about %d", i, p, len(ids), mean)
			}
			for _, id := range ids {
				w := string(m.words.word(id))
				if was, ok := partition[w]; ok && was != p {
					t.Fatalf("%s is in partition %d of mapper %d, and in %d of another", w, p, i, was)
				}
				partition[w] = p
			}
		}
		if seen != words {
			t.Errorf("mapper %d: %d words in all partitions, want %d", i, seen, words)
		}
	}
}

// Map workers, reduce tasks and the merge run on several threads, and give the same bits.
func TestMapReduceOnSeveralThreads(t *testing.T) {
	docs := randomDocs(9, 60, 300, 40)
	want := weightsOf(t, weighAll(t, docs, Options{Method: Sequential}, 1), 1)
	for _, threads := range []int{2, 5} {
		w := weighAll(t, docs, Options{Method: MapReduce, Threads: threads, Profile: true}, 1)
		same(t, weightsOf(t, w, 2), want)
		if len(w.Steps()) != 3 {
			t.Errorf("steps %v, want map, reduce and merge", w.Steps())
		}
	}
}

// Short lists, long lists and lists that are in order already are sorted alike.
func TestPlacesAreSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 100, 10_000} {
		places := make([]uint64, n)
		for i := range places {
			places[i] = uint64(rng.IntN(50))<<32 | uint64(rng.IntN(300))
		}
		want := slices.Clone(places)
		slices.Sort(want)
		for range 2 { // the second time in order
			if sortPlaces(places); !slices.Equal(places, want) {
				t.Errorf("%d places are not sorted", n)
			}
		}
	}
}
