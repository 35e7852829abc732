package device

import (
	"context"
	"iter"
	"unsafe"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/simd"
)

// Batch answers requests on the device, and those that it cannot on the cores. do maps each result,
// and its values are yielded in order; reuse says whether a result may be overwritten after do.
func Batch[T any](ctx context.Context, g *Index, requests iter.Seq[ask.Request], b ask.Batch,
	reuse bool, do func(int, *ask.Result) (T, error), yield func(T, error) bool) {
	if b.Engine == engine.GPU && b.Schedule != ask.Mixed {
		i := 0
		g.paperBatches(ctx, requests, b, func(found *ask.Result, err error) bool {
			var made T
			if err == nil {
				made, err = do(i, found)
			}
			i++
			return yield(made, err) && err == nil
		})
		return
	}
	part := func(first, n int) batchPart { return &madeBy[T]{first, do, make([]T, n), reuse} }
	g.answerBatch(ctx, requests, b, reuse, part, func(p batchPart, n int, err error) bool {
		if p != nil && !p.(*madeBy[T]).yield(n, yield) {
			return false
		}
		if err != nil {
			yield(*new(T), err)
		}
		return err == nil
	})
}

// madeBy holds the mapped results of a chunk.
type madeBy[T any] struct {
	first int
	do    func(int, *ask.Result) (T, error)
	made  []T
	reuse bool
}

func (m *madeBy[T]) kept() []*ask.Result {
	if m.reuse {
		return nil
	}
	results, _ := any(m.made).([]*ask.Result)
	return results
}

func (m *madeBy[T]) make(i int, found *ask.Result) (err error) {
	m.made[i], err = m.do(m.first+i, found)
	return err
}

// yield yields the first n. Results come from other cores, so the next ones are prefetched while
// the caller processes one.
func (m *madeBy[T]) yield(n int, yield func(T, error) bool) bool {
	results := m.kept()
	for i, made := range m.made[:n] {
		if i+yieldAhead < len(results) {
			simd.Prefetch(unsafe.Pointer(results[i+yieldAhead]))
		}
		if !yield(made, nil) {
			return false
		}
	}
	return true
}
