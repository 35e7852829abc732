package weigh

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// known yields the words that are in the dictionary.
func (w *Weights) known(part iter.Seq2[Weighted, error]) iter.Seq2[Weighted, error] {
	return w.choose(part, true)
}

func (w *Weights) choose(part iter.Seq2[Weighted, error], want bool) iter.Seq2[Weighted, error] {
	return func(yield func(Weighted, error) bool) {
		for t, err := range part {
			if err == nil {
				if _, known := w.dict.ID(t.Word); known != want {
					continue
				}
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// mergedWord stands for all unknown words together. It is the empty word, which no analyzer makes.
type mergedWord struct{ Weighted }

// mergeUnknown adds up the unknown words of each document.
func (w *Weights) mergeUnknown(ctx context.Context, threads int) (*mergedWord, error) {
	parts := w.source.parts(ctx, threads)
	counts := make([][]uint32, len(parts))
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() {
			counts[i] = make([]uint32, w.Docs())
			for t, err := range w.choose(part, false) {
				if err != nil {
					errs[i] = err
					return
				}
				for k, d := range t.Docs {
					counts[i][d] += t.TFs[k]
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m := &mergedWord{}
	for d := range w.Docs() {
		tf := uint32(0)
		for _, c := range counts {
			tf += c[d]
		}
		if tf > 0 {
			m.Docs = append(m.Docs, uint32(d))
			m.TFs = append(m.TFs, tf)
		}
	}
	m.DF = len(m.Docs)
	m.Weights = w.docs.score(w.scorer, m.DF, m.Docs, m.TFs, nil)
	return m, nil
}

func (m *mergedWord) yield(yield func(Weighted, error) bool) bool {
	return m.DF == 0 || yield(m.Weighted, nil)
}
