package shards

import (
	"context"
	"errors"
	"fmt"
	"github.com/collocate/collocate/internal/given"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/internal/feedback"
	"github.com/collocate/collocate/text"
)

// Bags are the words of some documents, with the collection counts of these words: the input of an
// expansion. Bags of several shards can be combined for [Expand].
type Bags struct {
	// Docs has the term frequencies of each document, in the order in which the documents were
	// given.
	Docs []map[string]int `json:"docs"`
	// Counts has the collection counts of each word in Docs.
	Counts map[string]WordCounts `json:"counts"`
}

// WordCounts are the document frequency and the collection frequency of a word.
type WordCounts struct {
	DF uint64 `json:"df"` // documents that contain the word; deleted ones count until a merge
	CF uint64 `json:"cf"` // occurrences of the word in these documents
}

// BagsOf returns the bags of documents of an index, which must not be closed meanwhile.
func BagsOf(ctx context.Context, s *search.Searcher, docs []uint32) (all *Bags, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	hits := make([]search.Hit, len(docs))
	for i, doc := range docs {
		hits[i].Doc = doc
	}
	of := feedback.Of{Reader: s.Index()}
	found, err := feedback.Bags(ctx, of.Reader, s.Analyzer(), hits)
	if err != nil {
		return nil, err
	}
	all = &Bags{Counts: map[string]WordCounts{}}
	for _, doc := range found {
		all.Docs = append(all.Docs, doc.TF)
		for word := range doc.TF {
			if _, known := all.Counts[word]; known {
				continue
			}
			df, cf, err := of.Count(word)
			if err != nil {
				return nil, err
			}
			all.Counts[word] = WordCounts{df, cf}
		}
	}
	return all, nil
}

// Expand returns a request with the words that its expansion adds, given the best documents,
// their bags, and the number of documents in the whole collection.
func Expand(r search.Request, a text.Analyzer, best []search.Hit, bags *Bags, docs uint64) (search.Request, error) {
	if r.Expand == nil {
		return r, nil
	}
	if a == nil || len(best) > 0 && (bags == nil || len(bags.Docs) != len(best)) {
		return r, errors.New("expansion: want an analyzer, and the bags of all best documents")
	}
	e := r.Expand.WithDefaults()
	if err := e.Check(); err != nil {
		return r, err
	}
	words, err := feedback.WordsOf(&r, a)
	if err != nil || len(words) == 0 {
		r.Expand = nil
		return r, err
	}
	list := make([]feedback.Doc, len(best))
	for i, h := range best {
		list[i] = feedback.Doc{TF: bags.Docs[i], Score: float64(h.Score)}
	}
	return feedback.WithWords(r, words, list, knownCounts{bags.Counts, docs}, e)
}

// knownCounts is a feedback.Collection that only has the counts of the words in some documents.
type knownCounts struct {
	counts map[string]WordCounts
	docs   uint64
}

func (c knownCounts) Docs() uint64 { return c.docs }

func (c knownCounts) Count(word string) (df, cf uint64, err error) {
	n, ok := c.counts[word]
	if !ok {
		return 0, 0, fmt.Errorf("no statistics of the word %q", word)
	}
	return n.DF, n.CF, nil
}
