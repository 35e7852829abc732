package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/fielded"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/tree"
)

// Explanation says where a document's score comes from. For [BM25] it has every number that the
// formula in package bm25 needs. For [BM25F] it lacks the weighted lengths, and the parts of a Tree
// have no IDF.
type Explanation struct {
	Model  string `json:"model"`  // the scoring model with its parameters
	Length uint32 `json:"length"` // of the document, in words
	// Documents is N, the number of documents in all segments or shards of the index, whether or
	// not a filter allows them. It is 0 for Boolean.
	Documents uint64 `json:"documents,omitempty"`
	// MeanLength is the mean length of these documents in words. It is 0 for Boolean, and for
	// BM25F, which uses weighted lengths of fields.
	MeanLength float64     `json:"mean_length,omitempty"`
	Score      float32     `json:"score"` // sum of the scores of Words, or of the leaves of Tree
	Words      []WordScore `json:"words"` // in query order; empty if there is a Tree
	// Tree has the scores of the query tree's parts instead, if the request has a tree.
	Tree *Part `json:"tree,omitempty"`
	// Boosts are those of the request, in order. Score is then that after the last of them.
	Boosts []BoostScore `json:"boosts,omitempty"`
	// Vector is the part of the request's vector. Score is then that of both, and Words or Tree
	// have the scores before they are weighted.
	Vector *VectorScore `json:"vector,omitempty"`
}

// WordScore is the contribution of one query word to a document's score.
type WordScore struct {
	Text   string  `json:"word"`   // the word as the analyzer of the index made it
	Weight float64 `json:"weight"` // factor of its score: how often the query has it, or as given
	DF     uint32  `json:"df"`     // number of documents that contain it; 0 if none does
	TF     uint32  `json:"tf"`     // number of occurrences in this document
	// IDF is the inverse document frequency, for the models BM25 and BM25F.
	IDF float64 `json:"idf,omitempty"`
	// Fields are the term frequencies in the fields of BM25F, in the schema's order.
	Fields []uint32 `json:"fields,omitempty"`
	Score  float32  `json:"score"` // its part of the sum; 0 if the document does not contain it
}

// Explain breaks down the score of a document by query word, in query order. Adding the words'
// scores in this order in float32 gives the score.
func (s *Searcher) Explain(ctx context.Context, r Request, doc uint32) (*Explanation, error) {
	found, err := s.Explanations(ctx, r, []uint32{doc})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Explanations is Explain for several documents of one query; it opens the lists only once.
func (s *Searcher) Explanations(ctx context.Context, r Request,
	docs []uint32) (list []*Explanation, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	r.After = nil // the documents are known
	if r.Nearest != nil {
		return s.explainNearest(ctx, r, docs)
	}
	s.takeBoosts(&r)
	if len(r.Boosts) > 0 {
		plain := r
		plain.Boosts = nil
		if list, err = s.Explanations(ctx, plain, docs); err == nil {
			err = s.explainBoosts(ctx, &r, docs, list)
		}
		return list, err
	}
	for _, doc := range docs {
		if int(doc) >= s.index.Numbers() {
			return nil, ask.Refuse("explain: document %d: the index has %d", doc, s.index.Numbers())
		}
	}
	if len(docs) == 0 {
		return nil, nil
	}
	if err := s.rewrite(&r); err != nil {
		return nil, err
	}
	if r.Expand != nil {
		if r, err = s.expanded(ctx, r); err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
	}
	r.Filter = nil // it adds nothing to scores
	if r.Query != nil || r.Proximity != nil {
		return s.explainTree(ctx, r, docs)
	}
	r.From, r.Count, r.Facets, r.Sort = 0, false, nil, nil
	r.Mode = Or // a word that is not in the index must not hide the others
	if model.IsFielded(r.Model) {
		return s.explainFields(ctx, &r, docs)
	}
	if s.many == nil {
		q, err := s.e.Prepare(ctx, &r)
		if err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		defer s.e.Release(q)
		if list, err = explain(ctx, s.e, q, r, docs); err != nil {
			return nil, err
		}
		return list, s.addStatistics(list, r.Model)
	}
	var words lookup.Across
	if err := s.many.LookUp(&words, &r); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	for _, doc := range docs {
		segment, local := s.many.Find(doc)
		from := s.many.Parts[segment]
		q, err := from.Prepare(ctx, &r)
		if err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		some, err := explain(ctx, from, q, r, []uint32{local})
		from.Release(q)
		if err != nil {
			return nil, err
		}
		some[0].Words = withAll(some[0].Words, words.Terms)
		list = append(list, some...)
	}
	return list, s.addStatistics(list, r.Model)
}

// addStatistics fills in the statistics of the collection, and the IDF of the words.
func (s *Searcher) addStatistics(list []*Explanation, m Model) error {
	if _, ok := m.(Boolean); ok {
		return nil
	}
	from := s.e
	if from == nil {
		from = s.many.Parts[0]
	}
	all := from.Collection.All
	var scorer *bm25.Scorer
	if m == nil {
		m = BM25{}
	}
	if m, ok := m.(BM25); ok {
		var err error
		if scorer, err = model.ParamsOf(m).Scorer(all.Docs, all.Tokens); err != nil {
			return fmt.Errorf("explain: %w", err)
		}
	}
	for _, e := range list {
		e.Documents = all.Docs
		if !model.IsFielded(m) && all.Docs > 0 {
			e.MeanLength = float64(all.Tokens) / float64(all.Docs)
		}
		if scorer == nil {
			continue
		}
		for i := range e.Words {
			e.Words[i].IDF = scorer.IDF(uint64(e.Words[i].DF))
		}
	}
	return nil
}

// withAll adds the words that only other segments contain, so that all words appear in query order.
func withAll(own []WordScore, terms []model.Term) []WordScore {
	var all []WordScore
	for i := range terms {
		t := &terms[i]
		w := WordScore{Text: t.Text, Weight: t.Weight, DF: uint32(t.AllDF())}
		if len(own) > 0 && own[0].Text == t.Text {
			w, own = own[0], own[1:]
		}
		all = append(all, w)
	}
	return all
}

// explain explains the scores of some documents of one segment.
func explain(ctx context.Context, from *eval.Engine, q *eval.Query, r Request,
	docs []uint32) ([]*Explanation, error) {
	m := r.Model
	if m == nil {
		m = BM25{}
	}
	order := make([]int, len(docs)) // cursors only move forwards
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(docs[a], docs[b]) })
	out := make([]*Explanation, len(docs))
	for _, i := range order {
		doc := docs[i]
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		e := &Explanation{Model: m.String(), Length: from.Collection.Lengths[doc]}
		for i, l := range q.Lists {
			t := &q.Terms[i]
			w := WordScore{Text: t.Text, Weight: t.Weight, DF: uint32(t.AllDF())}
			if l.Seek(doc) == doc {
				w.TF = l.TF()
				w.Score = l.Score(w.TF, e.Length)
			}
			if err := l.Err(); err != nil {
				return nil, fmt.Errorf("explain: word %q: %w", t.Text, err)
			}
			e.Score += w.Score
			e.Words = append(e.Words, w)
		}
		out[i] = e
	}
	return out, nil
}

// explainTree is Explanations for a request with a tree.
func (s *Searcher) explainTree(ctx context.Context, r Request,
	docs []uint32) ([]*Explanation, error) {
	parts, err := tree.Explain(ctx, s.tree, &r, docs)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	m := r.Model
	if m == nil {
		m = BM25{}
	}
	list := make([]*Explanation, len(docs))
	for i, doc := range docs {
		length, err := s.index.Length(int(doc))
		if err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		list[i] = &Explanation{Model: m.String(), Length: length, Words: []WordScore{},
			Tree: parts[i]}
		list[i].Score = sumOf(parts[i], 0)
	}
	return list, s.addStatistics(list, m)
}

// sumOf adds the scores of the leaves, in order, to sum.
func sumOf(p *Part, sum float32) float32 {
	if len(p.Parts) == 0 {
		return sum + p.Score
	}
	for i := range p.Parts {
		sum = sumOf(&p.Parts[i], sum)
	}
	return sum
}

// explainFields is Explanations for BM25F. The length is that of the whole text.
func (s *Searcher) explainFields(ctx context.Context, r *Request,
	docs []uint32) (list []*Explanation, err error) {
	for _, doc := range docs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		length, err := s.index.Length(int(doc))
		if err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		var words []fielded.Explanation
		if s.many != nil {
			words, err = s.many.ExplainFields(r, doc)
		} else {
			words, err = s.e.ExplainFields(r, doc)
		}
		if err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		e := &Explanation{Model: r.Model.String(), Length: length}
		for _, w := range words {
			score := WordScore{Text: w.Text, Weight: w.Weight, DF: w.DF, IDF: w.IDF, Fields: w.TF,
				Score: w.Score}
			for _, tf := range w.TF {
				score.TF += tf
			}
			e.Score += w.Score
			e.Words = append(e.Words, score)
		}
		list = append(list, e)
	}
	return list, s.addStatistics(list, r.Model)
}
