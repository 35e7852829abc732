package weighbench

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/dict"
)

// Ranked is a vocabulary by descending frequency. The papers use its k most frequent words.
type Ranked struct {
	words  []string
	weight func(rank int) float64 // relative frequency of a word
}

// Generated returns the n most frequent words of package datagen, with the frequencies of
// datagen.Web, which is fitted to the papers' texts, and lengths fitted to their Table 3.
func Generated(n int) *Ranked {
	r := &Ranked{words: make([]string, n), weight: webWeight}
	for i := range r.words {
		r.words[i] = datagen.LongWord(int64(i))
	}
	return r
}

// webWeight is the law datagen.Web.
func webWeight(rank int) float64 {
	l := datagen.Web
	x := float64(rank + 1)
	return math.Pow(min(x, l.Knee)+l.Shift, -l.Head) * math.Pow(max(1, (x+l.Shift)/(l.Knee+l.Shift)), -l.Tail)
}

// Counted returns words with given frequencies, as of a vocabulary.
func Counted(list []datagen.WordCount) *Ranked {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b datagen.WordCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Word, b.Word))
	})
	r := &Ranked{weight: func(rank int) float64 { return float64(list[rank].Count) }}
	for _, w := range list {
		r.words = append(r.words, w.Word)
	}
	return r
}

// shortFirst ranks words of unknown frequency: shorter words are more frequent.
func shortFirst(w *dict.Words) *Ranked {
	r := &Ranked{weight: func(rank int) float64 { return 1 / (float64(rank+1) + zipfShift) }}
	for _, i := range byLength(w, 1) {
		r.words = append(r.words, string(w.At(int(i))))
	}
	return r
}

// Len returns the number of words.
func (r *Ranked) Len() int { return len(r.words) }

// Top returns the k most frequent words, for building a dictionary.
func (r *Ranked) Top(k int) (*dict.Words, error) {
	if k < 0 || k > r.Len() {
		return nil, fmt.Errorf("the %d most frequent words: want 0 to %d", k, r.Len())
	}
	var all bytes.Buffer
	for _, w := range r.words[:k] {
		all.WriteString(w)
		all.WriteByte('\n')
	}
	return dict.ReadWords(&all)
}

// Draw returns a random text of n of the k most frequent words: drawn by frequency, the papers'
// T_freq, or uniformly, T_unif. It is the same for any number of cores.
func (r *Ranked) Draw(k, n int, seed uint64, frequent bool) *dict.Text {
	if k <= 0 || n <= 0 {
		return &dict.Text{}
	}
	draw := func(rng *rand.Rand) int { return rng.IntN(k) }
	if frequent {
		sums, total := make([]float64, k), 0.0
		for i := range sums {
			total += r.weight(i)
			sums[i] = total
		}
		draw = func(rng *rand.Rand) int { return min(sort.SearchFloat64s(sums, rng.Float64()*total), k-1) }
	}
	return inBlocks(n, seed, func(rng *rand.Rand) []byte { return []byte(r.words[draw(rng)]) })
}

// wordLengths returns the mean and the variance of the lengths of a text's words, as in the papers'
// Table 3.
func wordLengths(t *dict.Text) (mean, variance float64) {
	n := float64(max(1, t.Len()))
	mean = float64(t.Chars()) / n
	for i := range t.Len() {
		d := float64(len(t.Word(i))) - mean
		variance += d * d / n
	}
	return mean, variance
}

// byWordLength sorts the words of a text by length, so that the threads of a warp have the same
// amount of work. The paper leaves this to future work.
func byWordLength(t *dict.Text) *dict.Text {
	longest := 0
	for i := range t.Len() {
		longest = max(longest, len(t.Word(i)))
	}
	first := make([]int, longest+2)
	for i := range t.Len() {
		first[len(t.Word(i))+1]++
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	order := make([]uint32, t.Len())
	for i := range t.Len() {
		n := len(t.Word(i))
		order[first[n]] = uint32(i)
		first[n]++
	}
	out := &dict.Text{}
	out.Grow(t.Len(), t.Chars())
	for _, i := range order {
		out.Add(t.Word(int(i)))
	}
	return out
}
