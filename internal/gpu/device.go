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
	shared  int            // number of owners beyond the first
	live    map[string]int // number of objects not freed yet, by kind
	modules map[*Source]driver.Module
	kernels map[kernelKey]*Kernel
}

// concurrent is the maximum number of operations in progress on one device; more would only queue
// up inside the driver, where they cannot be cancelled.
const concurrent = 64

// New returns a device for that of a driver.
func New(d driver.Device) *Device {
	return &Device{
		d: d, info: d.Info(), sem: make(chan struct{}, concurrent),
		live: map[string]int{}, modules: map[*Source]driver.Module{},
		kernels: map[kernelKey]*Kernel{},
	}
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Which returns the options by which jobs open this device again: they get the same context of the
// driver and share its memory.
func (d *Device) Which(memory int64) engine.Device {
	return engine.Device{Ordinal: d.info.Ordinal, Memory: memory}
}

// Acquire waits until another operation may run on the device; call release at its end. An
// operation is a whole query or job step, not a call.
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

// Budget returns the memory that a job may use: the limit if one is given and available, else most
// of what is free. The rest is left for the driver, other programs and fragmentation.
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

// always is do for calls that free resources: they are tried on a dead device, too.
func (d *Device) always(f func() error) error {
	if err := d.d.Bind(); err != nil {
		return d.note(err)
	}
	defer d.d.Unbind()
	return d.note(f())
}

// count adds to the number of live objects of a kind.
func (d *Device) count(kind string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live[kind] += n
}

// Leaks lists the objects that were not freed, or is empty.
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

// Share returns the device for another owner, who must close it as well.
func (d *Device) Share() *Device {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shared++
	return d
}

// Close unloads the kernels and closes the device, if this is its last owner. It returns an error
// if an object made on it was not freed.
func (d *Device) Close() error {
	d.mu.Lock()
	if d.closed || d.shared > 0 {
		d.shared = max(d.shared-1, 0)
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
	if err := d.d.Close(); !dead { // errors of a dead context are already known
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
