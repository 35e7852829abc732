package weighbench

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/given"
)

// Uniform draws a text of n words with equal probability: the papers' T_unif.
func Uniform(w *dict.Words, n int, seed uint64) *dict.Text {
	rng := rand.New(rand.NewPCG(seed, 0))
	return drawText(w, n, func() int { return rng.IntN(w.Len()) })
}

// ByFrequency draws n words by a Zipf-Mandelbrot law, in which shorter words are more frequent: the
// papers' T_freq. The word of rank r (from 1) has weight 1/(r+2.7).
func ByFrequency(w *dict.Words, n int, seed uint64) *dict.Text {
	ranks := byLength(w, seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	sums := make([]float64, w.Len())
	total := 0.0
	for r := range sums {
		total += 1 / (float64(r+1) + zipfShift)
		sums[r] = total
	}
	return drawText(w, n, func() int {
		r := sort.SearchFloat64s(sums, rng.Float64()*total)
		return int(ranks[min(r, len(ranks)-1)])
	})
}

const zipfShift = 2.7

// byLength returns all words in ascending order of length, those of equal length in random order.
func byLength(w *dict.Words, seed uint64) []uint32 {
	list := make([]uint32, w.Len())
	longest := 0
	for i := range list {
		list[i] = uint32(i)
		longest = max(longest, len(w.At(i)))
	}
	first := make([]int, longest+2) // position in the result of the first word of each length
	for i := range list {
		first[len(w.At(i))+1]++
	}
	for n := 1; n < len(first); n++ {
		first[n] += first[n-1]
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	out := make([]uint32, len(list))
	for _, i := range list {
		n := len(w.At(int(i)))
		out[first[n]] = i
		first[n]++
	}
	return out
}

func drawText(w *dict.Words, n int, draw func() int) *dict.Text {
	t := &dict.Text{}
	if w.Len() == 0 {
		return t
	}
	for range n {
		t.Add(w.At(draw()))
	}
	return t
}

// DrawText is ByFrequency, or Uniform, for very many words. It uses all cores, and draws ranks from
// the integral of the law instead of its sums: the probability of the most frequent word differs by
// 2%, that of others by less.
func DrawText(w *dict.Words, n int, seed uint64, frequent bool) *dict.Text {
	if w.Len() == 0 || n <= 0 {
		return &dict.Text{}
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
	return inBlocks(n, seed, func(rng *rand.Rand) []byte { return w.At(draw(rng)) })
}

// inBlocks draws a text of n words on all cores, in blocks with separate random numbers.
func inBlocks(n int, seed uint64, draw func(*rand.Rand) []byte) *dict.Text {
	const block = 1 << 16
	blocks := make([]*dict.Text, (n+block-1)/block)
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
				blocks[b] = &dict.Text{}
				for range min(block, n-b*block) {
					blocks[b].Add(draw(rng))
				}
			}
		})
	}
	wg.Wait()
	t, chars := &dict.Text{}, 0
	for _, b := range blocks {
		chars += b.Chars()
	}
	t.Grow(n, chars)
	for i, b := range blocks {
		t.Append(b)
		blocks[i] = nil
	}
	return t
}

// Timing measures look-ups in several rounds. It keeps the best time of each stretch of the text,
// which reduces the noise of a busy machine.
type Timing struct{ best []time.Duration }

// stretch is the number of words of a stretch. It takes about a millisecond, less than the system's
// time slice.
const stretch = 1 << 10

// Round looks up all words of the text, which must be the same in every round, and returns the
// number of words that were found.
func (m *Timing) Round(ctx context.Context, t *dict.Text, d dict.Dict) (found int, err error) {
	if err := given.Context(ctx); err != nil {
		return 0, err
	}
	for from, i := 0, 0; from < t.Len(); from, i = from+stretch, i+1 {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		start := time.Now()
		found += lookUp(t, d, from, min(from+stretch, t.Len()))
		took := time.Since(start)
		if i == len(m.best) {
			m.best = append(m.best, took)
		}
		m.best[i] = min(m.best[i], took)
	}
	return found, nil
}

func lookUp(t *dict.Text, d dict.Dict, from, to int) (found int) {
	for i := from; i < to; i++ {
		if _, ok := d.ID(t.Word(i)); ok {
			found++
		}
	}
	return found
}

// Total returns the time for the whole text.
func (m *Timing) Total() (sum time.Duration) {
	for _, d := range m.best {
		sum += d
	}
	return sum
}
