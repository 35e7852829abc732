package cooccur

import (
	"context"
	"sync"
	"sync/atomic"
)

// ordered calls produce for the units 0 to n-1 on several threads, and passes their results to
// consume one at a time, in the order of units. A worker takes a buffer before it takes a unit. So
// the unit that consume waits for always has a buffer, and there are never more than len(buffers)
// results in memory.
func ordered[B any](ctx context.Context, n, threads int, buffers []*B,
	produce func(worker, unit int, b *B) error, consume func(unit int, b *B) error) error {
	if threads <= 1 || n <= 1 {
		for unit := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := produce(0, unit, buffers[0]); err != nil {
				return err
			}
			if err := consume(unit, buffers[0]); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type result struct {
		unit int
		b    *B
	}
	free := make(chan *B, len(buffers))
	for _, b := range buffers {
		free <- b
	}
	results := make(chan result, len(buffers))
	var next atomic.Int64
	var wg sync.WaitGroup
	for worker := range threads {
		wg.Go(func() {
			for ctx.Err() == nil {
				var b *B
				select {
				case b = <-free:
				case <-ctx.Done():
					return
				}
				unit := int(next.Add(1)) - 1
				if unit >= n {
					return
				}
				if err := produce(worker, unit, b); err != nil {
					cancel(err)
					return
				}
				results <- result{unit, b}
			}
		})
	}
	pending := make(map[int]*B, len(buffers))
	for unit := 0; unit < n && ctx.Err() == nil; {
		b := pending[unit]
		if b == nil {
			select {
			case r := <-results:
				pending[r.unit] = r.b
			case <-ctx.Done():
			}
			continue
		}
		delete(pending, unit)
		if err := consume(unit, b); err != nil {
			cancel(err)
			break
		}
		free <- b
		unit++
	}
	err := context.Cause(ctx)
	cancel(nil)
	wg.Wait()
	return err
}
