package feedback

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/search/internal/ask"
)

// plainCollection holds documents as lists of words.
type plainCollection [][]string

func (c plainCollection) Docs() uint64 { return uint64(len(c)) }

func (c plainCollection) Count(word string) (df, cf uint64, err error) {
	for _, d := range c {
		n := uint64(0)
		for _, w := range d {
			if w == word {
				n++
			}
		}
		if cf += n; n > 0 {
			df++
		}
	}
	return df, cf, nil
}

func bag(words []string) map[string]int {
	tf := map[string]int{}
	for _, w := range words {
		tf[w]++
	}
	return tf
}

// top returns the n words with the highest values: those for which fewer than n are better.
func top(words []string, n int, of func(string) float64) (list []string) {
	value := map[string]float64{}
	for _, w := range words {
		value[w] = of(w)
	}
	for _, w := range words {
		better := 0
		for _, o := range words {
			if value[o] > value[w] || value[o] == value[w] && o < w {
				better++
			}
		}
		if better < n {
			list = append(list, w)
		}
	}
	return list
}

// weightsBy evaluates the definitions in the package comment word by word.
func weightsBy(method ask.Expansion, e ask.Expand, query []ask.Word, docs []Doc, c plainCollection,
	vocabulary []string) map[string]float64 {
	weights, total, most := map[string]float64{}, 0.0, 0.0
	for _, q := range query {
		total, most = total+q.Weight, max(most, q.Weight)
	}
	asked := func(w string) float64 {
		for _, q := range query {
			if q.Text == w {
				return q.Weight
			}
		}
		return 0
	}
	if method == ask.RM3 {
		sums := map[string]float64{}
		for _, d := range docs {
			var may []string
			for _, v := range vocabulary {
				df, _, _ := c.Count(v)
				if d.TF[v] > 0 && len(v) >= 2 && v != "é1" && float64(df) <= 0.1*float64(len(c)) {
					may = append(may, v)
				}
			}
			kept, length := top(may, e.Terms, func(v string) float64 { return float64(d.TF[v]) }), 0.0
			for _, v := range kept {
				length += float64(d.TF[v])
			}
			for _, v := range kept {
				sums[v] += float64(d.TF[v]) / length * d.Score
			}
		}
		model := func(w string) float64 { return sums[w] }
		sum := 0.0
		best := top(vocabulary, e.Terms, model)
		for _, w := range best {
			sum += model(w)
		}
		for _, w := range vocabulary {
			weights[w] = e.Weight * asked(w) / total
			if slices.Contains(best, w) && sum > 0 {
				weights[w] += (1 - e.Weight) * model(w) / sum
			}
		}
		return weights
	}
	n := float64(len(c))
	tf := func(w string) (sum float64) {
		for _, d := range docs {
			sum += float64(d.TF[w])
		}
		return sum
	}
	score := func(w string) float64 {
		in := 0
		for _, d := range docs {
			in += min(1, d.TF[w])
		}
		if in == 0 || in == 1 && len(docs) > 1 && asked(w) == 0 {
			return 0
		}
		_, cf, _ := c.Count(w)
		f := float64(cf) / n
		return tf(w)*math.Log2((1+f)/f) + math.Log2(1+f)
	}
	first := tf(top(vocabulary, 1, score)[0])
	highest := first*math.Log2((1+first/n)/(first/n)) + math.Log2(1+first/n)
	best := top(vocabulary, max(e.Terms, len(query)), score)
	for _, w := range vocabulary {
		weights[w] = asked(w) / most
		if slices.Contains(best, w) {
			weights[w] += score(w) / highest
		}
	}
	return weights
}

// RM3 and Bo1 give the weights of their definitions.
func TestWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	vocabulary := []string{"x", "é1"}
	for i := range 40 {
		vocabulary = append(vocabulary, fmt.Sprint("w", i))
	}
	for range 40 {
		c := make(plainCollection, 30)
		for i := range c {
			for range 1 + r.IntN(30) {
				c[i] = append(c[i], vocabulary[int(math.Pow(r.Float64(), 2)*float64(len(vocabulary)))])
			}
		}
		var docs []Doc
		for i := range 1 + r.IntN(5) {
			docs = append(docs, Doc{bag(c[i]), 1 + r.Float64()})
		}
		// A word of the query is in the first document, as in a real search.
		query := []ask.Word{{Text: c[0][0], Weight: 1 + float64(r.IntN(2))}}
		if w := vocabulary[r.IntN(len(vocabulary))]; w != query[0].Text {
			query = append(query, ask.Word{Text: w, Weight: 1})
		}
		for _, method := range []ask.Expansion{ask.RM3, ask.Bo1} {
			e := ask.Expand{Method: method, Terms: 1 + r.IntN(8)}.WithDefaults()
			if method == ask.RM3 && r.IntN(3) == 0 {
				e.Weight = r.Float64()
			}
			add := map[ask.Expansion]func([]ask.Word, []Doc, Collection, ask.Expand) ([]ask.Word, error){
				ask.RM3: RM3, ask.Bo1: Bo1}[method]
			got, err := add(query, docs, c, e)
			if err != nil {
				t.Fatal(err)
			}
			want := weightsBy(method, e, query, docs, c, vocabulary)
			for _, w := range got {
				if math.Abs(want[w.Text]-w.Weight) > 1e-12 {
					t.Fatalf("%v: %s has weight %v, want %v", e, w.Text, w.Weight, want[w.Text])
				}
				delete(want, w.Text)
			}
			for w, weight := range want {
				if weight > 0 {
					t.Fatalf("%v: %s is missing, want weight %v", e, w, weight)
				}
			}
			for i := len(query) + 1; i < len(got); i++ {
				if got[i].Weight > got[i-1].Weight {
					t.Fatalf("%v: the words are not in order: %v", e, got)
				}
			}
		}
	}
}
