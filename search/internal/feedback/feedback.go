package feedback

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/collocate/collocate/search/internal/ask"
)

// Doc is a feedback document: its term frequencies and its score for the query.
type Doc struct {
	TF    map[string]int
	Score float64
}

// Collection has the statistics of all documents.
type Collection interface {
	// Docs returns the number of documents.
	Docs() uint64
	// Count returns the document frequency and the collection frequency of a word.
	Count(word string) (df, cf uint64, err error)
}

// weighted are words with weights.
type weighted map[string]float64

// heaviest returns the n words with the highest weights, ties in byte order.
func (w weighted) heaviest(n int) []string {
	list := slices.SortedFunc(maps.Keys(w), func(a, b string) int {
		return cmp.Or(cmp.Compare(w[b], w[a]), cmp.Compare(a, b))
	})
	return list[:min(n, len(list))]
}

// with scales the weights of the query's words and adds the weights of more, which may have further
// words.
func with(query []ask.Word, scale float64, more weighted) (list []ask.Word) {
	known := map[string]bool{}
	for _, w := range query {
		known[w.Text] = true
		w.Weight = scale*w.Weight + more[w.Text]
		list = append(list, w)
	}
	for _, text := range more.heaviest(len(more)) {
		if !known[text] {
			list = append(list, ask.Word{Text: text, Weight: more[text]})
		}
	}
	return slices.DeleteFunc(list, func(w ask.Word) bool { return !(w.Weight > 0) })
}

// commonShare is the fraction of documents above which a word is too common for RM3.
const commonShare = 0.1

// RM3 expands a query. The weight of each query word is its number of occurrences.
func RM3(query []ask.Word, docs []Doc, c Collection, e ask.Expand) ([]ask.Word, error) {
	model := weighted{}
	for _, d := range docs {
		kept, err := keep(d.TF, c, e.Terms)
		if err != nil {
			return nil, err
		}
		sum := 0
		for _, word := range kept {
			sum += d.TF[word]
		}
		for _, word := range kept {
			model[word] += float64(d.TF[word]) / float64(sum) * d.Score
		}
	}
	words, sum := model.heaviest(e.Terms), 0.0
	for _, word := range words {
		sum += model[word]
	}
	best := weighted{}
	for _, word := range words {
		if sum > 0 {
			best[word] = (1 - e.Weight) * model[word] / sum
		}
	}
	total := 0.0
	for _, w := range query {
		total += w.Weight
	}
	return with(query, e.Weight/total, best), nil
}

// keep returns the n most frequent words of a document that may be added to a query.
func keep(tf map[string]int, c Collection, n int) (kept []string, err error) {
	all := weighted{}
	for word, n := range tf {
		if plain(word) {
			all[word] = float64(n)
		}
	}
	for _, word := range all.heaviest(len(all)) {
		df, _, err := c.Count(word)
		if err != nil {
			return nil, err
		}
		if float64(df) > commonShare*float64(c.Docs()) {
			continue
		}
		if kept = append(kept, word); len(kept) == n {
			break
		}
	}
	return kept, nil
}

// plain reports whether a word consists of 2 to 20 letters a to z and digits.
func plain(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(word) >= 2 && len(word) <= 20
}

// minDocs is the number of feedback documents that must contain a word for Bo1 to add it.
const minDocs = 2

// Bo1 expands a query. The weight of each query word is its number of occurrences.
func Bo1(query []ask.Word, docs []Doc, c Collection, e ask.Expand) ([]ask.Word, error) {
	tf, df := map[string]int{}, map[string]int{}
	for _, d := range docs {
		for word, n := range d.TF {
			tf[word] += n
			df[word]++
		}
	}
	said, most := map[string]bool{}, 0.0
	for _, w := range query {
		said[w.Text] = true
		most = max(most, w.Weight)
	}
	weights, n := weighted{}, float64(c.Docs())
	for word := range tf {
		if len(docs) >= minDocs && df[word] < minDocs && !said[word] {
			continue
		}
		_, cf, err := c.Count(word)
		if err != nil {
			return nil, err
		}
		weights[word] = boseEinstein(float64(tf[word]), float64(cf)/n)
	}
	best, chosen := weighted{}, weights.heaviest(max(e.Terms, len(query)))
	for _, word := range chosen {
		first := float64(tf[chosen[0]])
		best[word] = weights[word] / boseEinstein(first, first/n)
	}
	return with(query, 1/most, best), nil
}

// boseEinstein is the information content of tf occurrences where f are expected.
func boseEinstein(tf, f float64) float64 {
	return tf*math.Log2((1+f)/f) + math.Log2(1+f)
}
