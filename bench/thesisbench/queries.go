package thesisbench

import (
	"cmp"
	"errors"
	"fmt"
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
	for range max(1, b.Batches) {
		var queries []search.Request
		for range b.Batch {
			c := b.classes[weights[rng.IntN(len(weights))]]
			queries = append(queries, c.queries[rng.IntN(len(c.queries))])
		}
		b.queued = append(b.queued, queries)
	}
}

// thesisBatches is the number of the thesis' batches: 2,000 queries of its log in batches of 500.
const thesisBatches = 4

// mostWords is the largest number of words that the thesis' kernels accept.
const mostWords = 32

// topics divides the topics into four classes by the mean length of their lists, and selects evenly
// spaced ones of each. Batches are the topics in the order of the file.
func (b *bench) topics() error {
	type topic struct {
		request search.Request
		length  int
	}
	var all []topic
	var queries []search.Request
	for _, text := range b.Topics {
		r := search.Request{Text: text, K: 1}
		found, err := b.s.Search(b.ctx, r)
		if err != nil {
			return err
		}
		if n := found.Stats.Words; n > 0 && n <= mostWords {
			all = append(all, topic{r, int(found.Stats.Postings) / n})
			queries = append(queries, r)
		}
	}
	if left := len(b.Topics) - len(all); left > 0 {
		b.Say("left out %d of %d topics: no word of the index, or more than %d words", left, len(b.Topics), mostWords)
	}
	if len(all) < len(classNames) {
		return errors.New("thesis: want at least four topics with words of the index")
	}
	if b.queued = slices.Collect(slices.Chunk(queries, b.Batch)); b.Batches > len(b.queued) {
		return fmt.Errorf("thesis: %d batches of %d queries need more than the %d topics", b.Batches,
			b.Batch, len(queries))
	}
	b.queued = b.queued[:min(len(b.queued), cmp.Or(b.Batches, thesisBatches))]
	if last := len(b.queued) - 1; last > 0 && len(b.queued[last]) < b.Batch {
		b.queued = b.queued[:last] // all batches have the same number of queries
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
