package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/encoder"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
)

// ErrReranker is wrapped by errors of a reranker that gives no scores.
var ErrReranker = errors.New("the reranker gives no scores")

// rerank sets the number of documents of a request whose best are ranked again.
func (q *Search) rerank(about *About, r *search.Request, d *Details) error {
	switch {
	case q.Rerank == 0:
		return nil
	case !about.HasText:
		return wrongf("rerank", "the index stores no text, which the reranker needs")
	case q.Sort != "":
		return wrongf("rerank", "hits are sorted by a field: leave out one of the two")
	case q.After != "":
		return wrongf("after", "of documents that are ranked again further ones are found by from")
	case q.K == 0:
		return wrongf("rerank", "no documents are asked for: leave it out, or give k")
	case q.Rerank < q.From+q.K:
		return wrongf("rerank", "%d documents: want at least as many as are asked for, %d", q.Rerank, q.From+q.K)
	case q.Rerank > about.most():
		return wrongf("rerank", "%d documents: want at most %d", q.Rerank, about.most())
	}
	r.K, d.Rerank = q.Rerank, q.Rerank
	d.Asked = q.Query
	if q.words != "" {
		d.Asked = q.words
	}
	return nil
}

// CheckRerank returns an error if a question that wants documents ranked again cannot have that of
// a reranker, which may be nil.
func (q *Search) CheckRerank(e *encoder.Reranker) error {
	if q.Rerank != 0 && e == nil {
		return wrongf("rerank", "there is no reranker: the program is to be started with one")
	}
	return nil
}

// Reranked has a reranker score the best documents of a result again, by their stored texts, and
// returns these, the best first. Equal ones keep their order. Before has the scores by which they
// were found.
func (d *Details) Reranked(ctx context.Context, s *search.Searcher, asked string, hits []search.Hit) (
	again []search.Hit, before map[uint32]float32, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, nil, err
	}
	hits = hits[:min(d.Rerank, len(hits))]
	texts := make([]string, len(hits))
	before = make(map[uint32]float32, len(hits))
	for i, h := range hits {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		text, err := s.Index().Text(int(h.Doc))
		if err != nil {
			return nil, nil, err
		}
		texts[i], before[h.Doc] = string(text), h.Score
	}
	scores, err := d.Reranker.Scores(ctx, asked, texts)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrReranker, err)
	}
	return search.Resorted(hits, scores), before, nil
}
