package vectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/internal/spelling"
)

// Vectors holds words with their vectors, which all have the same dimension.
type Vectors struct {
	Words []string  // distinct; the number of a word is its index here
	Dim   int       // components of each vector, at least 1
	Data  []float32 // components of all vectors, word by word

	// Analyzer is the name of what divided the corpus into words, for vectors that ForTexts has
	// made; otherwise "". Only .vec files keep it.
	Analyzer string

	index map[string]int
	scale []float32 // 1/length of each vector, or 0 for a vector of zeros
	close func() error
}

// New returns the vectors of words, given their components. A repeated word, a dimension that does
// not fit, and a component that is NaN or infinite are errors.
func New(words []string, dim int, data []float32) (*Vectors, error) {
	if dim < 1 || len(data) != dim*len(words) {
		return nil, fmt.Errorf("%d numbers for %d words of %d dimensions: want %d, and 1 dimension or more",
			len(data), len(words), dim, dim*len(words))
	}
	v := &Vectors{Words: words, Dim: dim, Data: data, index: make(map[string]int, len(words))}
	for i, w := range words {
		if first, ok := v.index[w]; ok {
			return nil, fmt.Errorf("the word %q occurs twice, as numbers %d and %d", w, first+1, i+1)
		}
		v.index[w] = i
	}
	v.scale = make([]float32, len(words))
	for i := range words {
		sum := 0.0
		for _, x := range v.Of(i) {
			sum += float64(x) * float64(x)
		}
		if math.IsNaN(sum) || math.IsInf(sum, 0) {
			return nil, fmt.Errorf("the vector of %q contains NaN or an infinity", words[i])
		}
		if sum > 0 {
			v.scale[i] = float32(1 / math.Sqrt(sum))
		}
	}
	return v, nil
}

// Close unmaps vectors that Open has mapped.
func (v *Vectors) Close() error {
	if v.close == nil {
		return nil
	}
	return v.close()
}

// unit returns the vector of a word, scaled to length 1.
func (v *Vectors) unit(i int) []float32 {
	u := slices.Clone(v.Of(i))
	for k := range u {
		u[k] *= v.scale[i]
	}
	return u
}

// Of returns the vector of the word with the given number.
func (v *Vectors) Of(i int) []float32 { return v.Data[i*v.Dim : (i+1)*v.Dim] }

// Lookup returns the number of a word.
func (v *Vectors) Lookup(word string) (int, bool) {
	i, ok := v.index[word]
	return i, ok
}

// Near is a word with the cosine of its vector and that of the query.
type Near struct {
	Word   string  `json:"word"`   // as in Vectors.Words
	Cosine float64 `json:"cosine"` // -1 to 1; 1 is the same direction, 0 if a vector is all zeros
}

// ErrUnknown is returned for a word that has no vector.
var ErrUnknown = errors.New("the word has no vector")

// unknown returns the error for a word without a vector. It suggests words with a similar spelling.
// Frequent words usually come first in a file of vectors, so earlier words are preferred.
func (v *Vectors) unknown(word string) error {
	s := spelling.New(word)
	for i, w := range v.Words {
		s.Look([]byte(w), uint64(len(v.Words)-i))
	}
	return fmt.Errorf("%q: %w%s", word, ErrUnknown, spelling.DidYouMean(s.Best()))
}

// Number returns the number of a word. The error for an unknown word suggests words with a similar
// spelling.
func (v *Vectors) Number(word string) (int, error) {
	i, ok := v.index[word]
	if !ok {
		return 0, v.unknown(word)
	}
	return i, nil
}

// Similar returns the k words whose vectors have the largest cosine with that of a word, ties by
// their order.
func (v *Vectors) Similar(word string, k, threads int) ([]Near, error) {
	return one((&Searcher{v: v, threads: threads}).Similar(context.Background(), []string{word}, k))
}

// Analogy returns the k words that are to c what b is to a: those nearest to b - a + c, except for
// these three (3CosAdd).
func (v *Vectors) Analogy(a, b, c string, k, threads int) ([]Near, error) {
	s := &Searcher{v: v, threads: threads}
	return one(s.Analogy(context.Background(), []Question{{A: a, B: b, C: c}}, k))
}

func one(list [][]Near, err error) ([]Near, error) {
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// offset returns the query for b - a + c, where each vector is scaled to length 1.
func (v *Vectors) offset(a, b, c int) query {
	q, less, more := v.unit(b), v.unit(a), v.unit(c)
	sum := 0.0
	for k := range q {
		q[k] += more[k] - less[k]
		sum += float64(q[k]) * float64(q[k])
	}
	if sum > 0 {
		for k := range q {
			q[k] = float32(float64(q[k]) / math.Sqrt(sum))
		}
	}
	return query{q, []int{a, b, c}}
}

// Cosine returns the cosine of the vectors of two words, given by their numbers.
func (v *Vectors) Cosine(i, j int) float64 {
	return float64(dot(v.Of(i), v.Of(j)) * v.scale[i] * v.scale[j])
}

type scored struct {
	id     int
	cosine float32
}

func (a scored) compare(b scored) int {
	return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.id, b.id))
}

// query is a vector of length 1 that is compared with the vectors of all words except some.
type query struct {
	vector []float32
	except []int
}

// nearest returns the k words whose vectors have the largest cosine with a query.
func (v *Vectors) nearest(q query, k, threads int) []Near {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	best := make([][]scored, threads)
	par.For(threads, len(v.Words), 4096, func(w, lo, hi int) {
		list := best[w]
		for i := lo; i < hi; i++ {
			s := scored{i, dot(q.vector, v.Of(i)) * v.scale[i]}
			if len(list) == k && s.compare(list[k-1]) >= 0 || slices.Contains(q.except, i) {
				continue
			}
			at, _ := slices.BinarySearchFunc(list, s, scored.compare)
			list = slices.Insert(list, at, s)
			list = list[:min(len(list), k)]
		}
		best[w] = list
	})
	all := slices.Concat(best...)
	slices.SortFunc(all, scored.compare)
	near := []Near{}
	for _, s := range all[:min(len(all), k)] {
		near = append(near, Near{v.Words[s.id], float64(s.cosine)})
	}
	return near
}
