package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/eval"
)

// OpenSegments loads the segments of one index onto the devices that the options name, each as an
// index of its own. Their engines use the statistics of all segments. Segments whose postings are
// already there, as kept says, are not loaded again.
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
	done, progress := int64(0), o.Progress
	for i, e := range segments {
		part := o
		if there[e.Index] == nil { // half of the memory in equal parts, half by size
			part.Device.Memory = left/2/int64(count) +
				int64(float64(left/2)*float64(e.Index.Postings())/float64(max(all, 1)))
			for i := range on.named {
				on.named[i].Memory = part.Device.Memory
			}
			if progress != nil {
				before := done
				part.Progress = func(n, _ int64) { progress(before+n, all) }
			}
			done += e.Index.Postings()
		}
		if groups[i], err = openGroup(ctx, e, there[e.Index], part, on); err != nil {
			return groups, err
		}
	}
	return groups, nil
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
