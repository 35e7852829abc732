package device

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/eval"
)

// OpenSegments loads the segments of one index onto the devices that the options name, each as an
// index of its own, several at a time. Their engines use the statistics of all segments, and they
// share devices, kernels and lanes. Segments whose postings are already there, as kept says, are
// not loaded again.
func OpenSegments(ctx context.Context, segments []*eval.Engine, kept []*Kept,
	o Options) (groups []*Group, err error) {
	defer func() {
		if err != nil {
			for _, g := range groups {
				if g != nil {
					err = errors.Join(err, g.Close())
				}
			}
			groups = nil
		}
	}()
	on := newDevices(&o)
	defer func() { err = errors.Join(err, on.close()) }()
	held := map[*index.Reader]bool{}
	for _, k := range kept {
		held[k.Index] = k.serves(&o)
	}
	for _, e := range segments {
		if !held[e.Index] {
			on.measure(e)
		}
	}
	there, left, err := shareMemory(kept, &o, on)
	if err != nil {
		return nil, err
	}
	count, all := 0, int64(0) // of the segments to load
	for _, e := range segments {
		if there[e.Index] == nil {
			count, all = count+1, all+e.Index.Postings()
		}
	}
	groups = make([]*Group, len(segments))
	loading := loading{total: all, tell: o.Progress, done: make([]int64, len(segments))}
	together := make(chan struct{}, openTogether)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i, e := range segments {
		part, share := o, int64(0)
		part.Progress = nil
		if there[e.Index] == nil { // half of the memory in equal parts, half by size
			share = left/2/int64(count) +
				int64(float64(left/2)*float64(e.Index.Postings())/float64(max(all, 1)))
			if o.Progress != nil {
				part.Progress = func(n, _ int64) { loading.add(i, n) }
			}
		}
		wg.Go(func() {
			together <- struct{}{}
			defer func() { <-together }()
			g, err := openGroup(ctx, e, there[e.Index], part, on, share)
			if err != nil {
				cancel(err)
				return
			}
			groups[i] = g
		})
	}
	wg.Wait()
	return groups, context.Cause(ctx)
}

// loading adds up the progress of segments that are loaded at the same time.
type loading struct {
	total int64
	tell  func(done, total int64)
	mu    sync.Mutex
	done  []int64 // by segment
	sum   int64
}

// add notes that n postings of a segment are there.
func (l *loading) add(segment int, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > l.done[segment] {
		l.sum += n - l.done[segment]
		l.done[segment] = n
		l.tell(l.sum, l.total)
	}
}

// shareMemory returns the kept postings that are reused, and the memory left for others. If they
// would leave less than an eighth, none are reused, and each segment gets a new share.
func shareMemory(kept []*Kept, o *Options, on *devices) (there map[*index.Reader]*Kept, left int64, err error) {
	there = map[*index.Reader]*Kept{}
	held, codes := int64(0), int64(0)
	for _, k := range kept {
		if k.serves(o) {
			there[k.Index] = k
			on.use(k)
			held += k.parts[0].bytes()
			codes += k.parts[0].postings.size
		}
	}
	dev, err := on.get(0)
	if err != nil {
		return nil, 0, err
	}
	all, err := dev.Budget(o.Device.Memory)
	free, _, err2 := dev.MemInfo()
	if err = errors.Join(err, err2); err != nil {
		return nil, 0, fmt.Errorf("search: %w", err)
	}
	left = min(all, free/10*9-codes)
	if limit := o.Device.Memory; limit > 0 {
		left = min(left, limit-held)
	}
	if left < all/8 {
		clear(there)
		left = all
	}
	return there, left, nil
}
