package gpu

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// EmulateEnv is the environment variable that, set to "emulator", makes Open return the interpreter
// instead of a real device. The interpreter is slow, but runs everywhere. It is meant for tests of
// the whole program.
const EmulateEnv = "COLLOCATE_GPU"

// interpreter makes an interpreter, if package interpret was imported.
var interpreter func() driver.Device

// RegisterInterpreter is called by package interpret.
func RegisterInterpreter(of func() driver.Device) { interpreter = of }

// Driver opens real devices.
type Driver struct {
	Devices     func() ([]Info, error)
	Open        func(ordinal int) (driver.Device, error)
	OpenContext func(ordinal int) (driver.Device, error)
}

var errNotImported = errors.New("this program has no code for GPUs: it must import " +
	"github.com/collocate/collocate/gpu")

// real is the driver, or one that refuses if package real was not imported.
var real = Driver{
	Devices:     func() ([]Info, error) { return nil, errNotImported },
	Open:        func(int) (driver.Device, error) { return nil, errNotImported },
	OpenContext: func(int) (driver.Device, error) { return nil, errNotImported },
}

// RegisterDriver is called by package real.
func RegisterDriver(d Driver) { real = d }

// emulated reports whether the environment selects the interpreter.
func emulated() (bool, error) {
	switch v := os.Getenv(EmulateEnv); v {
	case "":
		return false, nil
	case "emulator":
		if interpreter == nil {
			return false, fmt.Errorf("%w: %s=%s: this program has no interpreter", ErrUnavailable, EmulateEnv, v)
		}
		return true, nil
	default:
		return false, fmt.Errorf("%w: %s=%s: want emulator, or nothing",
			ErrUnavailable, EmulateEnv, v)
	}
}

// Devices lists all devices. If there are none, the error wraps ErrUnavailable and says why.
func Devices() ([]Info, error) {
	emulate, err := emulated()
	if err != nil {
		return nil, err
	}
	if emulate {
		return []Info{interpreter().Info()}, nil
	}
	list, err := real.Devices()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return list, nil
}

// Open opens a device by its number. Errors wrap ErrUnavailable.
func Open(ordinal int) (*Device, error) { return open(ordinal, real.Open) }

// OpenContext is Open with a driver context of its own; devices that Open returns share one. So one
// GPU can stand for several, each with its own memory, modules and errors.
func OpenContext(ordinal int) (*Device, error) { return open(ordinal, real.OpenContext) }

func open(ordinal int, of func(int) (driver.Device, error)) (*Device, error) {
	emulate, err := emulated()
	if err != nil {
		return nil, err
	}
	if emulate {
		if ordinal != 0 {
			return nil, fmt.Errorf("%w: device %d: want 0, the only interpreter",
				ErrUnavailable, ordinal)
		}
		return opened(New(interpreter())), nil
	}
	d, err := of(ordinal)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return opened(New(d)), nil
}

// addresses are the PCI addresses of the devices that were opened.
var addresses struct {
	sync.Mutex
	list []string
}

func opened(d *Device) *Device {
	addresses.Lock()
	defer addresses.Unlock()
	if pci := d.Info().PCI; !slices.Contains(addresses.list, pci) {
		addresses.list = append(addresses.list, pci)
	}
	return d
}

// Opened returns the PCI addresses of all devices that this process has opened so far, also of
// those that it has closed since: what took energy. That of the interpreter is empty.
func Opened() []string {
	addresses.Lock()
	defer addresses.Unlock()
	return slices.Clone(addresses.list)
}
