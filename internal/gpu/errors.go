package gpu

import (
	"errors"
	"fmt"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu/driver"
)

// ErrUnavailable is wrapped by Open's errors: there is no usable GPU, and the rest of the message
// says why.
var ErrUnavailable = engine.ErrNoGPU

// ErrEmulated keeps engine auto from using the interpreter, which is for tests.
var ErrEmulated = errors.New("the device is an interpreter")

// ErrDead is wrapped by every error after one that destroyed the device's context.
var ErrDead = errors.New("the GPU stopped working")

// OutOfMemory is an allocation that did not fit.
type OutOfMemory struct {
	Need, Available, Total int64
}

func (e *OutOfMemory) Error() string {
	return fmt.Sprintf("device memory: %v wanted, %v of %v are free",
		bytesize.Size(e.Need), bytesize.Size(e.Available), bytesize.Size(e.Total))
}

// note records an error that destroyed the context.
func (d *Device) note(err error) error {
	if err == nil {
		return nil
	}
	var e *driver.Error
	if errors.As(err, &e) && e.Sticky() {
		d.mu.Lock()
		if d.dead == nil {
			d.dead = fmt.Errorf("%w: %w", ErrDead, err)
		}
		err = d.dead
		d.mu.Unlock()
	}
	return err
}

// alive returns the error that destroyed the context, if any.
func (d *Device) alive() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errors.New("the device is closed")
	}
	return d.dead
}
