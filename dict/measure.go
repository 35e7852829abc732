package dict

import (
	"context"
	"math/rand/v2"
	"sort"
	"time"
)

// Text is a text made of the words of a dictionary, to measure look-ups with.
type Text struct {
	data []byte
	ends []uint64
}

// Uniform draws n words, all equally often: the papers' T_unif.
func Uniform(w *Words, n int, seed uint64) *Text {
	rng := rand.New(rand.NewPCG(seed, 0))
	return drawText(w, n, func() int { return rng.IntN(w.Len()) })
}

// ByFrequency draws n words by Zipf's law, the shorter the more frequent: the
// papers' T_freq. The word of rank r (from 1) has weight 1/(r+2.7).
func ByFrequency(w *Words, n int, seed uint64) *Text {
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

// byLength lists all words, short ones first, otherwise in random order.
func byLength(w *Words, seed uint64) []uint32 {
	list := make([]uint32, w.Len())
	first := make([]int, w.longest()+2) // of each length in the result
	for i := range list {
		list[i] = uint32(i)
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

func drawText(w *Words, n int, draw func() int) *Text {
	t := &Text{}
	if w.Len() == 0 {
		return t
	}
	for range n {
		t.data = append(t.data, w.At(draw())...)
		t.ends = append(t.ends, uint64(len(t.data)))
	}
	return t
}

// Len is the number of words, Chars that of their characters.
func (t *Text) Len() int   { return len(t.ends) }
func (t *Text) Chars() int { return len(t.data) }

// LookUp finds every word of the text and returns how many were found.
func (t *Text) LookUp(d Dict) int { return t.lookUp(d, 0, t.Len()) }

func (t *Text) lookUp(d Dict, from, to int) (found int) {
	start := uint64(0)
	if from > 0 {
		start = t.ends[from-1]
	}
	for _, end := range t.ends[from:to] {
		if _, ok := d.ID(t.data[start:end]); ok {
			found++
		}
		start = end
	}
	return found
}

// Timing measures look-ups in several rounds. It keeps the best time of each
// stretch of the text, so that what else the machine does counts little.
type Timing struct{ best []time.Duration }

// stretch is a millisecond or so: less than the system lets others interrupt for.
const stretch = 1 << 10

// Round looks all words of the text up, the same text every time.
func (m *Timing) Round(t *Text, d Dict) {
	for from, i := 0, 0; from < t.Len(); from, i = from+stretch, i+1 {
		start := time.Now()
		t.lookUp(d, from, min(from+stretch, t.Len()))
		took := time.Since(start)
		if i == len(m.best) {
			m.best = append(m.best, took)
		}
		m.best[i] = min(m.best[i], took)
	}
}

// Total is the time for the whole text.
func (m *Timing) Total() (sum time.Duration) {
	for _, d := range m.best {
		sum += d
	}
	return sum
}

// TableBytes is what the table of an STT of the words takes, without building it.
func TableBytes(ctx context.Context, w *Words) (int64, error) {
	nodes := 1
	before := []byte(nil)
	for i := range w.Len() {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		word := w.At(i)
		nodes += len(word) - common(before, word)
		before = word
	}
	return sttBytes(nodes, len(w.alphabet().chars)), nil
}
