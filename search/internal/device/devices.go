package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/eval"
)

// devices are those that options name. All segments of an index share them, with their kernels,
// since loading these takes longer than copying a segment.
type devices struct {
	named    []gpu.Named
	mu       sync.Mutex
	open     []*gpu.Device   // nil until it is needed
	took     []time.Duration // to open it
	lanes    []*lanePool
	measured sync.Map // chan measuring, by *eval.Engine
}

func newDevices(o *Options) *devices {
	named := gpu.Several(o.Device, o.Also)
	d := &devices{named: named, open: make([]*gpu.Device, len(named)),
		took: make([]time.Duration, len(named))}
	for range named {
		d.lanes = append(d.lanes, newLanePool())
	}
	return d
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
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[i] == nil {
		start := time.Now()
		dev, err := d.named[i].Open()
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		d.open[i], d.took[i] = dev, time.Since(start)
	}
	return d.open[i], nil
}

// measure begins to read the dictionary of an index, which load then need not do. It takes as long
// as opening a device.
func (d *devices) measure(e *eval.Engine) {
	start := time.Now()
	read := make(chan measuring, 1)
	d.measured.Store(e, read)
	go func() {
		m, err := measure(e.Index)
		read <- measuring{m, err, time.Since(start)}
	}()
}

// measuring is the lists of an index, and the time to measure them.
type measuring struct {
	m    *measured
	err  error
	took time.Duration
}

// load loads the index of an engine onto a device, which is opened meanwhile. The device stays open
// until the index is closed.
func (d *devices) load(ctx context.Context, i int, e *eval.Engine, o Options) (*Index, error) {
	before, ok := d.measured.LoadAndDelete(e)
	if !ok { // another device has changed what was measured
		d.measure(e)
		before, _ = d.measured.LoadAndDelete(e)
	}
	dev, err := d.get(i)
	read := <-before.(chan measuring)
	if err != nil {
		return nil, err
	}
	if read.err != nil {
		return nil, fmt.Errorf("search: %w", read.err)
	}
	g := newIndex(e, dev.Share(), d.lanes[i])
	g.opening = []Stage{{Name: "device", Time: d.took[i]}, {Name: "dictionary", Time: read.took}}
	if g, err = g.opened(g.open(ctx, read.m, o)); err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	g.pack.own = true
	return g, nil
}

// close drops the devices. Those that an index uses stay open.
func (d *devices) close() error {
	var errs []error
	d.measured.Range(func(_, read any) bool { // after an error: the index may be closed soon
		<-read.(chan measuring)
		return true
	})
	for i, dev := range d.open {
		if dev != nil {
			errs = append(errs, dev.Close())
			d.open[i] = nil
		}
	}
	return errors.Join(errs...)
}
