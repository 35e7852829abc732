package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search/internal/ask"
)

// Rerank is a second phase of ranking: it gives hits, usually the best K of Search, new scores and
// sorts them by these, the highest first. Hits with equal scores keep their order.
//
// The function score gets each hit with the features of the query's words in its document: term
// frequency, document frequency, inverse document frequency, length and mean length, as
// [Searcher.Explain] returns them. It may look at more, such as stored fields. It runs on the cores
// and is called once for each hit, in their order; its first error is returned. A score that is not
// a number is an error.
func (s *Searcher) Rerank(ctx context.Context, r Request, hits []Hit,
	score func(hit Hit, features *Explanation) (float32, error)) ([]Hit, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	docs := make([]uint32, len(hits))
	for i, h := range hits {
		docs[i] = h.Doc
	}
	features, err := s.Explanations(ctx, r, docs)
	if err != nil {
		return nil, err
	}
	if score == nil {
		return nil, ask.Refuse("rerank: no function for the scores")
	}
	scores := make([]float32, len(hits))
	for i, h := range hits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if scores[i], err = score(h, features[i]); err != nil {
			return nil, err
		}
		if math.IsNaN(float64(scores[i])) {
			return nil, ask.Refuse("rerank: the score of document %d is not a number", h.Doc)
		}
	}
	return Resorted(hits, scores), nil
}

// Resorted returns hits with other scores, one for each, sorted by these, the highest first. Hits
// with equal scores keep their order.
func Resorted(hits []Hit, scores []float32) []Hit {
	out := slices.Clone(hits)
	for i := range out {
		out[i].Score = scores[i]
	}
	slices.SortStableFunc(out, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out
}
