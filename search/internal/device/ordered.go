package device

import (
	"context"
	"runtime"
	"sync"
)

// aheadOfUse is the number of parts per core that inOrder holds in memory at most.
const aheadOfUse = 2

// inOrder calls prepare for parts of [0, n) of the given size on all cores, and use with each
// result, in order, on this goroutine. The first error ends it.
func inOrder[T any](ctx context.Context, n, size int, prepare func(from, to int) (T, error),
	use func(T) error) error {
	type prepared struct {
		value T
		err   error
	}
	parts := (n + size - 1) / size
	results := make([]chan prepared, parts)
	for i := range results {
		results[i] = make(chan prepared, 1)
	}
	cores := min(runtime.GOMAXPROCS(0), parts)
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	// A part is begun when one of the parts before it was used, so that memory is bounded.
	begin := make(chan int, max(parts, 1))
	begun := min(parts, cores*aheadOfUse)
	for i := range begun {
		begin <- i
	}
	for range cores {
		wg.Go(func() {
			for {
				select {
				case i := <-begin:
					var p prepared
					p.value, p.err = prepare(i*size, min(n, i*size+size))
					results[i] <- p
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for i := range results {
		select {
		case p := <-results[i]:
			if p.err != nil {
				return p.err
			}
			if err := use(p.value); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if begun < parts {
			begin <- begun
			begun++
		}
	}
	return nil
}
