package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/feedback"
	"github.com/collocate/collocate/text"
)

// expanded returns the request with the words that its expansion adds.
func (s *Searcher) expanded(ctx context.Context, r Request) (Request, error) {
	e := r.Expand.WithDefaults()
	if err := e.Check(); err != nil {
		return r, err
	}
	if r.Proximity != nil {
		return r, ask.Refuse("expansion and proximity: give only one of them")
	}
	if r.Query != nil {
		return r, ask.Refuse("expansion needs plain words, not operators: " +
			"remove the operators, or search for the query as text")
	}
	words, err := wordsOf(&r, s.analyzer)
	if err != nil || len(words) == 0 {
		r.Expand = nil
		return r, err
	}
	first := r
	first.Expand, first.Facets, first.Sort, first.Count, first.Trace = nil, nil, nil, false, false
	first.K, first.From, first.After = e.Docs, 0, nil
	found, err := s.Search(ctx, first)
	if err != nil {
		return r, err
	}
	docs, err := s.bags(ctx, found.Hits)
	if err != nil {
		return r, err
	}
	return withWords(r, words, docs, collectionOf{s.index}, e)
}

// withWords returns the request with the words that the given feedback documents add.
func withWords(r Request, words []Word, docs []feedback.Doc, c feedback.Collection,
	e Expand) (Request, error) {
	add := feedback.RM3
	if e.Method == ask.Bo1 {
		add = feedback.Bo1
	}
	var err error
	r.Words, err = add(words, docs, c, e)
	r.Text, r.Expand, r.Mode = "", nil, Or
	return r, err
}

// Bags are the words of some documents, with the collection counts of these words: the input of an
// expansion. Bags of several shards can be combined for [ExpandFrom].
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

// Bags returns the bags of the given documents.
func (s *Searcher) Bags(ctx context.Context, docs []uint32) (all *Bags, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	hits := make([]Hit, len(docs))
	for i, doc := range docs {
		hits[i].Doc = doc
	}
	found, err := s.bags(ctx, hits)
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
			df, cf, err := collectionOf{s.index}.Count(word)
			if err != nil {
				return nil, err
			}
			all.Counts[word] = WordCounts{df, cf}
		}
	}
	return all, nil
}

// ExpandFrom returns a request with the words that its expansion adds, given the best documents,
// their bags, and the number of documents in the whole collection.
func ExpandFrom(r Request, a text.Analyzer, best []Hit, bags *Bags, docs uint64) (Request, error) {
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
	words, err := wordsOf(&r, a)
	if err != nil || len(words) == 0 {
		r.Expand = nil
		return r, err
	}
	list := make([]feedback.Doc, len(best))
	for i, h := range best {
		list[i] = feedback.Doc{TF: bags.Docs[i], Score: float64(h.Score)}
	}
	return withWords(r, words, list, knownCounts{bags.Counts, docs}, e)
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

// searchExpanded answers a request with an expansion. Documents need not contain the added words,
// so the expanded query always runs in mode Or.
func (s *Searcher) searchExpanded(ctx context.Context, r Request) (*Result, error) {
	r, err := s.expanded(ctx, r)
	if err != nil {
		return nil, ask.Fault(err)
	}
	found, err := s.Search(ctx, r)
	if err == nil {
		found.Expanded = r.Words
	}
	return found, err
}

// wordsOf returns the distinct words of a request with their weights.
func wordsOf(r *Request, a text.Analyzer) (list []Word, err error) {
	add := func(word string, weight float64) {
		at := slices.IndexFunc(list, func(w Word) bool { return w.Text == word })
		if at < 0 {
			at, list = len(list), append(list, Word{Text: word})
		}
		list[at].Weight += weight
	}
	if len(r.Words) > 0 {
		for _, w := range r.Words {
			add(w.Text, cmp.Or(w.Weight, 1))
		}
		return list, nil
	}
	var tokens text.Tokens
	if err := a.Analyze([]byte(r.Text), &tokens); err != nil {
		return nil, fmt.Errorf("analyze the query: %w", err)
	}
	for i := range tokens.Words {
		add(string(tokens.Word(i)), float64(tokens.Count(i)))
	}
	return list, nil
}

// bags returns the words of documents, from their stored texts or, if there are none, from the
// lists of all words.
func (s *Searcher) bags(ctx context.Context, hits []Hit) ([]feedback.Doc, error) {
	docs := make([]feedback.Doc, len(hits))
	for i, h := range hits {
		docs[i] = feedback.Doc{TF: map[string]int{}, Score: float64(h.Score)}
	}
	if !s.index.HasText() {
		return docs, s.bagsOfLists(ctx, hits, docs)
	}
	var tokens text.Tokens
	for i, h := range hits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		body, err := s.index.Text(int(h.Doc))
		if err != nil {
			return nil, err
		}
		if err := s.analyzer.Analyze(body, &tokens); err != nil {
			return nil, fmt.Errorf("document %d: %w", h.Doc, err)
		}
		for t := range tokens.Words {
			docs[i].TF[string(tokens.Word(t))] += int(tokens.Count(t))
		}
	}
	return docs, nil
}

// bagsOfLists looks up the documents in the lists of all words.
func (s *Searcher) bagsOfLists(ctx context.Context, hits []Hit, docs []feedback.Doc) error {
	order := make([]int, len(hits)) // cursors only move forwards
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hits[a].Doc, hits[b].Doc) })
	for _, segment := range s.index.Segments() {
		var own []int
		for _, i := range order {
			if doc := hits[i].Doc; doc >= segment.Base &&
				doc-segment.Base < uint32(segment.Docs()) {
				own = append(own, i)
			}
		}
		if err := bagsOf(ctx, segment, own, hits, docs); err != nil {
			return err
		}
	}
	return nil
}

// bagsOf is bagsOfLists for the documents of one segment.
func bagsOf(ctx context.Context, from segments.Segment, own []int, hits []Hit,
	docs []feedback.Doc) error {
	if len(own) == 0 {
		return nil
	}
	n := 0
	var c index.Cursor
	for word, err := range from.Words() {
		if err != nil {
			return err
		}
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := from.OpenBlocks(word.Term, &c); err != nil {
			return err
		}
		for _, i := range own {
			local := hits[i].Doc - from.Base
			found := c.Seek(local)
			if found == local {
				docs[i].TF[string(word.Text)] = int(c.TF())
			} else if found == index.End {
				break
			}
		}
		if err := c.Err(); err != nil {
			return err
		}
	}
	return nil
}

// collectionOf makes an index a feedback.Collection. Deleted documents count until they are merged
// away, as they do for scores.
type collectionOf struct{ *segments.Reader }

func (c collectionOf) Docs() (n uint64) {
	for _, segment := range c.Segments() {
		n += uint64(segment.Docs())
	}
	return n
}

func (c collectionOf) Count(word string) (df, cf uint64, err error) {
	for _, segment := range c.Segments() {
		t, err := segment.Lookup([]byte(word))
		if err != nil {
			return 0, 0, err
		}
		df, cf = df+uint64(t.FullDF()), cf+t.CF
	}
	return df, cf, nil
}
