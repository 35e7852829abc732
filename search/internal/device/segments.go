package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/eval"
)

// OpenSegments puts the segments of one index on the devices that the options name, each as an index
// of its own. Their engines know how words count in all of them.
func OpenSegments(ctx context.Context, segments []*eval.Engine, o Options) (groups []*Group, err error) {
	defer func() {
		if err != nil {
			for _, g := range groups {
				err = errors.Join(err, g.Close())
			}
			groups = nil
		}
	}()
	dev, err := gpu.Open(o.Device.Ordinal)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	budget, err := dev.Budget(o.Device.Memory)
	if err = errors.Join(err, dev.Close()); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	all := int64(0)
	for _, e := range segments {
		all += e.Index.Postings()
	}
	for _, e := range segments {
		part := o // half of the memory in equal parts, half by size
		part.Device.Memory = budget/2/int64(len(segments)) +
			int64(float64(budget/2)*float64(e.Index.Postings())/float64(max(all, 1)))
		part.Also = nil
		for _, d := range o.Also {
			d.Memory = part.Device.Memory
			part.Also = append(part.Also, d)
		}
		g, err := OpenGroup(ctx, e, part)
		if err != nil {
			return groups, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}
