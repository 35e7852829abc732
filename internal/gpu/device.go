package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/driver"
)

// Info describes a device.
type Info = driver.Info

// Device is one opened GPU.
type Device struct {
	d    driver.Device
	info Info
	sem  chan struct{}
	ring stagingRing

	mu      sync.Mutex
	dead    error
	closed  bool
	live    map[string]int // what was made and not freed, by kind
	modules map[*Source]driver.Module
	kernels map[kernelKey]*Kernel
}

// concurrent is how many operations may be under way on one device at a time;
// more only queue up inside the driver, where nobody can cancel them.
const concurrent = 64

// New makes a device of a driver's.
func New(d driver.Device) *Device {
	return &Device{
		d: d, info: d.Info(), sem: make(chan struct{}, concurrent),
		live: map[string]int{}, modules: map[*Source]driver.Module{}, kernels: map[kernelKey]*Kernel{},
	}
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Which names the device to jobs, which open it once more: there it is the same context
// of the driver, whose memory all share.
func (d *Device) Which(memory int64) engine.Device {
	return engine.Device{Ordinal: d.info.Ordinal, Memory: memory}
}

// Acquire waits for a place among the operations on the device; call release at
// the operation's end. An operation is a whole query or job step, not a call.
func (d *Device) Acquire(ctx context.Context) (release func(), err error) {
	select {
	case d.sem <- struct{}{}:
		return func() { <-d.sem }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// MemInfo returns the free and total bytes of device memory.
func (d *Device) MemInfo() (free, total int64, err error) {
	err = d.do(func() (err error) {
		free, total, err = d.d.MemInfo()
		return err
	})
	return free, total, err
}

// Budget is how much memory a job may take: the limit if one is given and there is
// so much, else most of what is free. What it leaves is for the driver, for other
// programs and for what does not pack tightly.
func (d *Device) Budget(limit int64) (int64, error) {
	free, _, err := d.MemInfo()
	if err != nil {
		return 0, err
	}
	most := free / 10 * 9
	if limit > 0 {
		return min(limit, most), nil
	}
	return most, nil
}

// Sync waits for all work on the device.
func (d *Device) Sync() error { return d.do(d.d.SyncDevice) }

// do runs driver calls with the device current on this thread.
func (d *Device) do(f func() error) error {
	if err := d.alive(); err != nil {
		return err
	}
	return d.always(f)
}

// always is do for calls that free things: they are tried on a dead device, too.
func (d *Device) always(f func() error) error {
	if err := d.d.Bind(); err != nil {
		return d.note(err)
	}
	defer d.d.Unbind()
	return d.note(f())
}

// count keeps the books of what lives.
func (d *Device) count(kind string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live[kind] += n
}

// Leaks lists what was made on the device and not freed, or is empty.
func (d *Device) Leaks() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for kind, n := range d.live {
		if n != 0 {
			list = append(list, fmt.Sprintf("%d %s", n, kind))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// Close unloads the kernels and lets go of the device. It is an error if
// anything made on it was not freed.
func (d *Device) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.mu.Unlock()
	d.ring.free(d)
	leaks := d.Leaks()
	d.mu.Lock()
	d.closed = true
	modules := d.modules
	d.modules = nil
	dead := d.dead != nil
	d.mu.Unlock()
	errs := []error{}
	if !dead {
		errs = append(errs, d.always(func() error {
			for _, m := range modules {
				if err := d.d.FreeModule(m); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if leaks != "" {
		errs = append(errs, fmt.Errorf("not freed on the device: %s", leaks))
	}
	if err := d.d.Close(); !dead { // a dead context's complaints are known
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
