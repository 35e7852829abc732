package dict

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// DrawText is ByFrequency, or Uniform, for very many words: on all cores, with
// ranks from the integral of the law instead of its sums, which differ by 2% for the
// most frequent word and by less for all others.
func DrawText(w *Words, n int, seed uint64, frequent bool) *Text {
	t := &Text{}
	if w.Len() == 0 || n <= 0 {
		return t
	}
	draw := func(rng *rand.Rand) int { return rng.IntN(w.Len()) }
	if frequent {
		ranks := byLength(w, seed)
		const shift = zipfShift + 0.5
		scale := math.Log((float64(w.Len()) + shift) / shift)
		draw = func(rng *rand.Rand) int {
			r := int(shift*math.Exp(rng.Float64()*scale) - shift)
			return int(ranks[min(r, len(ranks)-1)])
		}
	}
	const block = 1 << 16
	blocks := make([]Text, (n+block-1)/block)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				b := int(next.Add(1)) - 1
				if b >= len(blocks) {
					return
				}
				rng := rand.New(rand.NewPCG(seed, uint64(b)+1))
				blocks[b] = *drawText(w, min(block, n-b*block), func() int { return draw(rng) })
			}
		})
	}
	wg.Wait()
	chars := 0
	for i := range blocks {
		chars += len(blocks[i].data)
	}
	t.data, t.ends = make([]byte, 0, chars), make([]uint64, 0, n)
	for i := range blocks {
		base := uint64(len(t.data))
		t.data = append(t.data, blocks[i].data...)
		for _, end := range blocks[i].ends {
			t.ends = append(t.ends, base+end)
		}
		blocks[i] = Text{}
	}
	return t
}

// Refs are the words of the text as prim.StringRef gives them: offset<<24 | length.
func (t *Text) Refs() (data []byte, refs []uint64) {
	refs = make([]uint64, len(t.ends))
	start := uint64(0)
	for i, end := range t.ends {
		refs[i] = start<<24 | (end - start)
		start = end
	}
	return t.data, refs
}
