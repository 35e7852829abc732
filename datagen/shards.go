package datagen

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
)

// Output is made in shards: shard i depends on the options and i alone, never on
// threads or on other shards, and shards are written in order.

// stream is a random source of its own for every (seed, purpose, number).
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

// What streams are for. The numbers are part of the output's definition.
const (
	forDocuments uint64 = iota + 1
	forQueries
	forPopularity
	forPoints
	forClusters
	forCliques
	forMembers // and the numbers after it, one a member
)

// A shard is filled by a worker, who closes done, and written in its turn.
type shard struct {
	data []byte
	done chan struct{}
}

// writeShards writes shards 0, 1, 2, ... of at most count to w (count < 0: no
// limit). fill appends shard i to buf; trim, called in order, gives the part to
// be written and whether more is wanted.
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
	// Two shards a worker are in flight: one being filled, one waiting its turn.
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
				order <- s // has room for every free buffer
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
