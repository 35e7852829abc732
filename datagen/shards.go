package datagen

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
)

// Output is generated in shards. Shard i depends only on the options and i, not on the number of
// threads or on other shards, and shards are written in order.

// stream returns an independent random source for every (seed, purpose, number).
func stream(seed uint64, purpose, number uint64) *rand.PCG {
	a := mix(seed + 0x9e3779b97f4a7c15)
	b := mix(a + purpose + 0x9e3779b97f4a7c15)
	return rand.NewPCG(b, mix(b+number+0x9e3779b97f4a7c15))
}

// mix is the finalizer of SplitMix64: it scatters neighbouring numbers.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Purposes of streams. The values determine the output, so they must not change.
const (
	forDocuments uint64 = iota + 1
	forQueries
	forPopularity
	forPoints
	forClusters
	forCliques
	forMembers // and the values after it, one for each member

	forTopics        uint64 = 1 << 40
	forVectors       uint64 = 1<<40 + 1
	forVectorQueries uint64 = 1<<40 + 2
)

// A shard is filled by a worker, which closes done, and written in its turn.
type shard struct {
	data []byte
	done chan struct{}
}

// writeShards writes shards 0, 1, 2, ... to w, up to count of them (count < 0 means no limit). fill
// appends shard i to buf. trim, called in order, returns the part to be written and whether more is
// wanted.
func writeShards(ctx context.Context, w io.Writer, threads int, count int64,
	fill func(buf []byte, i int64) []byte, trim func(data []byte) (part []byte, more bool)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()

	type job struct {
		i int64
		s *shard
	}
	// Each worker has two buffers: one is being filled, the other waits to be written.
	free := make(chan []byte, 2*threads)
	for range 2 * threads {
		free <- nil
	}
	jobs, order := make(chan job), make(chan *shard, 2*threads)
	wg.Go(func() {
		defer close(jobs)
		defer close(order)
		for i := int64(0); i != count; i++ {
			select {
			case <-ctx.Done():
				return
			case buf := <-free:
				s := &shard{buf, make(chan struct{})}
				order <- s // does not block: it has room for every buffer
				select {
				case <-ctx.Done():
					return
				case jobs <- job{i, s}:
				}
			}
		}
	})
	for range threads {
		wg.Go(func() {
			for j := range jobs {
				j.s.data = fill(j.s.data[:0], j.i)
				close(j.s.done)
			}
		})
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s, ok := <-order:
			if !ok {
				return ctx.Err()
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-s.done:
			}
			part, more := trim(s.data)
			if _, err := w.Write(part); err != nil {
				return err
			}
			if !more {
				return nil
			}
			free <- s.data
		}
	}
}
