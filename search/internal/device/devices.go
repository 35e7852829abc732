package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/eval"
)

// devices are those that options name. All segments of an index share them, with their kernels,
// since loading these takes longer than copying a segment.
type devices struct {
	named []gpu.Named
	open  []*gpu.Device // nil until it is needed
}

func newDevices(o *Options) *devices {
	named := gpu.Several(o.Device, o.Also)
	return &devices{named: named, open: make([]*gpu.Device, len(named))}
}

// use takes the devices that have postings already.
func (d *devices) use(k *Kept) {
	for i, there := range k.parts {
		if d.open[i] == nil {
			d.open[i] = there.dev.Share()
		}
	}
}

// get returns a device, which it opens first if it must. It stays open until close is called.
func (d *devices) get(i int) (*gpu.Device, error) {
	if d.open[i] == nil {
		dev, err := d.named[i].Open()
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		d.open[i] = dev
	}
	return d.open[i], nil
}

// load loads the index of an engine onto a device, which is opened meanwhile. The device stays open
// until the index is closed.
func (d *devices) load(ctx context.Context, i int, e *eval.Engine, o Options) (*Index, error) {
	type result struct {
		m    *measured
		err  error
		took time.Duration
	}
	measuring := make(chan result, 1)
	start := time.Now()
	go func() {
		m, err := measure(e.Index)
		measuring <- result{m, err, time.Since(start)}
	}()
	dev, err := d.get(i)
	opening := time.Since(start)
	read := <-measuring
	if err != nil {
		return nil, err
	}
	if read.err != nil {
		return nil, fmt.Errorf("search: %w", read.err)
	}
	g := newIndex(e, dev.Share())
	g.opening = []Stage{{Name: "device", Time: opening}, {Name: "dictionary", Time: read.took}}
	if g, err = g.opened(g.open(ctx, read.m, o)); err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	g.pack.own = true
	return g, nil
}

// close drops the devices. Those that an index uses stay open.
func (d *devices) close() error {
	var errs []error
	for i, dev := range d.open {
		if dev != nil {
			errs = append(errs, dev.Close())
			d.open[i] = nil
		}
	}
	return errors.Join(errs...)
}
