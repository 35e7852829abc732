package device

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// listed returns a collection of words, given their frequencies in each document.
func listed(docs int, length func(d int) uint32, tf ...func(d int) uint32) *searchtest.Plain {
	p := &searchtest.Plain{}
	for d := range docs {
		p.Lengths = append(p.Lengths, length(d))
	}
	for w, f := range tf {
		p.Words, p.Docs, p.TFs = append(p.Words, fmt.Sprintf("w%d", w)), append(p.Docs, nil), append(p.TFs, nil)
		for d := range docs {
			if n := f(d); n > 0 {
				p.Docs[w], p.TFs[w] = append(p.Docs[w], uint32(d)), append(p.TFs[w], n)
			}
		}
	}
	return p
}

func ten(int) uint32 { return 10 }

// The device gives the results of one core for pairs of words that occur together very often or
// never, so that the guessed cut is far too low or too high, and for lists whose scores are equal.
func TestGPUPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds in the interpreter")
	}
	rng := rand.New(rand.NewPCG(4, 9))
	random := func(most int) func(int) uint32 { return func(int) uint32 { return uint32(1 + rng.IntN(most)) } }
	often := func(every int, f func(int) uint32) func(int) uint32 {
		return func(d int) uint32 {
			if d%every != 0 {
				return 0
			}
			return f(d)
		}
	}
	const docs = gpuTile + 1000
	same := make([]uint32, docs)
	for d := range same {
		if rng.IntN(9) == 0 {
			same[d] = uint32(1 + rng.IntN(40))
		}
	}
	root := searchtest.Scratch(t)
	for i, x := range []struct {
		name string
		p    *searchtest.Plain
	}{
		{"independent", listed(docs, random(300), often(3, random(9)), often(5, random(20)))},
		{"friends", listed(docs, random(300), func(d int) uint32 { return same[d] },
			func(d int) uint32 { return same[d] })},
		{"strangers", listed(docs, random(300), often(2, random(30)),
			func(d int) uint32 { return uint32(d%2) * uint32(1+d%31) })},
		{"ties", listed(docs, ten, often(7, func(int) uint32 { return 1 }), often(3, func(int) uint32 { return 1 }))},
		{"dense", listed(docs, random(50), random(3), random(200))},
		{"one scores nothing", listed(docs, random(300), func(int) uint32 { return 1 }, often(4, random(9)))},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := write(t, x.p, searchtest.IndexDir(root, i))
			use(t, s, Options{})
			for w, words := range [][]ask.Word{{{Text: "w0"}, {Text: "w1"}},
				{{Text: "w1"}, {Text: "w0", Weight: 3}}, {{Text: "w1"}}} {
				for _, k := range []int{1, 128} {
					for _, mode := range []ask.Mode{ask.Or, ask.And} {
						if (w > 0 || x.name == "dense") && (k == 1) != (mode == ask.And) {
							continue // the first words try all four
						}
						if w == 1 && x.name == "dense" && k == 1 {
							continue // takes long: every document is scored
						}
						g := sameOnGPU(t, s, ask.Request{Words: words, K: k, Mode: mode})
						if testing.Verbose() {
							t.Logf("%v k %d %v: %+v", words, k, mode, *g)
						}
					}
				}
			}
		})
	}
}

// If words are independent, about as many documents reach a guessed cut as expected.
func TestGuess(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	const docs = 1 << 20
	codes := [2][docs]int{}
	var above [2][]uint32
	for w := range codes {
		above[w] = make([]uint32, 256)
		for d := range docs {
			codes[w][d] = -1
			if rng.IntN(4+w) == 0 {
				c := min(255, int(rng.ExpFloat64()*40))
				codes[w][d] = c
				above[w][c]++
			}
		}
		for c := 254; c >= 0; c-- {
			above[w][c] += above[w][c+1]
		}
	}
	for _, alone := range []bool{true, false} {
		g := guesser{above[0], above[1], 1000, 1700, alone, docs}
		for _, s := range []uint64{100_000, 200_000, 300_000, 400_000} {
			found := uint64(0)
			for d := range docs {
				a, b := uint64(codes[0][d]+1)*1000, uint64(codes[1][d]+1)*1700
				if (alone || a > 0 && b > 0) && a+b >= s {
					found++
				}
			}
			// Documents with both words are also counted for one: the estimate is a little high.
			if !g.expects(s, found*7/10) || g.expects(s, found*14/10+20) {
				t.Errorf("alone %v, sum %d: %d documents, not within 0.7 to 1.4 times the expectation", alone,
					s, found)
			}
		}
	}
}
