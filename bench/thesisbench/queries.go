package thesisbench

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/collocate/collocate/search"
)

// class is a set of queries whose lists are about equally long.
type class struct {
	name    string
	length  int // mean number of postings in a list
	queries []search.Request
}

// classNames are the names of the thesis' classes.
var classNames = []string{"short", "medium", "long", "extra"}

// generated makes the queries for a generated collection, of two words each. A batch has queries of
// all classes, more of short lists, as in a query log.
func (b *bench) generated(shape *Shape) {
	for i := range shape.Classes {
		from := &shape.Classes[i]
		c := class{name: from.Name, length: from.Length}
		for q := range b.Queries {
			c.queries = append(c.queries,
				search.Request{Words: []search.Word{{Text: from.Word(2 * q)},
					{Text: from.Word(2*q + 1)}}})
		}
		b.classes = append(b.classes, c)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	weights := []int{0, 0, 0, 1, 1, 2, 2, 3}
	for range b.Batch {
		c := b.classes[weights[rng.IntN(len(weights))]]
		b.batch = append(b.batch, c.queries[rng.IntN(len(c.queries))])
	}
}

// mostWords is the largest number of words that the thesis' kernels accept.
const mostWords = 32

// topics divides the topics into four classes by the mean length of their lists, and selects evenly
// spaced ones of each. A batch is the topics in the order of the file.
func (b *bench) topics() error {
	type topic struct {
		request search.Request
		length  int
	}
	var all []topic
	for _, text := range b.Topics {
		r := search.Request{Text: text, K: 1}
		found, err := b.s.Search(b.ctx, r)
		if err != nil {
			return err
		}
		if n := found.Stats.Words; n > 0 && n <= mostWords {
			all = append(all, topic{r, int(found.Stats.Postings) / n})
			if len(b.batch) < b.Batch {
				b.batch = append(b.batch, r)
			}
		}
	}
	if left := len(b.Topics) - len(all); left > 0 {
		b.Say("left out %d of %d topics: no word of the index, or more than %d words", left, len(b.Topics), mostWords)
	}
	if len(all) < len(classNames) {
		return errors.New("thesis: want at least four topics with words of the index")
	}
	slices.SortStableFunc(all, func(x, y topic) int { return x.length - y.length })
	for i, name := range classNames {
		from, to := i*len(all)/len(classNames), (i+1)*len(all)/len(classNames)
		c, n := class{name: name}, min(b.Queries, to-from)
		for j := range n {
			t := all[from+j*(to-from)/n]
			c.queries = append(c.queries, t.request)
			c.length += t.length / n
		}
		b.classes = append(b.classes, c)
	}
	return nil
}
