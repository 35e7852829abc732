package weigh

import (
	"context"
	"iter"

	"github.com/collocate/collocate/bm25"
)

// weighInverting weighs while the inverted corpus is read.
func weighInverting(ctx context.Context, j *job) (*Weights, error) {
	v, err := invert(ctx, j.each, &InvertOptions{
		Analyzer: j.Analyzer, Threads: j.Threads, Memory: j.Memory, TempDir: j.TempDir,
	})
	if err != nil {
		return nil, err
	}
	s, err := v.docs.scorer(j.Params)
	if err != nil {
		v.Close()
		return nil, err
	}
	return &Weights{docs: v.docs, scorer: s, source: &inverted{v, s}}, nil
}

type inverted struct {
	v *Inversion
	s *bm25.Scorer
}

func (i *inverted) close() error { return i.v.Close() }

func (i *inverted) parts(ctx context.Context, n int) (parts []iter.Seq2[Weighted, error]) {
	for _, part := range i.v.Parts(ctx, n) {
		parts = append(parts, func(yield func(Weighted, error) bool) {
			var weights []float32
			for t, err := range part {
				if err != nil {
					yield(Weighted{}, err)
					return
				}
				weights = i.v.docs.score(i.s, t.DF, t.Docs, t.TFs, weights)
				if !yield(Weighted{t, weights}, nil) {
					return
				}
			}
		})
	}
	return parts
}
