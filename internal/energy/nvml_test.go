//go:build linux && !nogpu && (amd64 || arm64)

package energy

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebitengine/purego"
)

// device is a GPU of a management library made of Go functions. Its handle is 8, as it is the
// second of two; the first, with the handle 7, takes a joule whenever one looks.
var device struct{ millijoules, milliwatts, other atomic.Uint64 }

// library replaces NVIDIA's until the end of the test.
func library(t *testing.T) {
	t.Helper()
	before, beforeLoad := manage, loadNVML
	t.Cleanup(func() { manage, loadNVML = before, beforeLoad })
	loadNVML = func() error { return nil }
	device.millijoules.Store(5_000_000)
	device.milliwatts.Store(0)
	manage = nvml{
		Count: purego.NewCallback(func(to *uint32) uintptr { *to = 3; return 0 }),
		HandleByIndex: purego.NewCallback(func(i uintptr, to *uintptr) uintptr {
			if i == 2 {
				return 4 // no permission
			}
			*to = 7 + i
			return 0
		}),
		PCIInfo: purego.NewCallback(func(handle uintptr, to *pciInfo) uintptr {
			to.domain, to.bus, to.device = 0, 0x17+uint32(handle), 0
			return 0
		}),
		TotalEnergy: purego.NewCallback(func(handle uintptr, to *uint64) uintptr {
			if handle == 7 {
				*to = device.other.Add(1000)
				return 0
			}
			*to = device.millijoules.Load()
			return handle - 8
		}),
		PowerUsage: purego.NewCallback(func(handle uintptr, to *uint32) uintptr {
			*to = uint32(device.milliwatts.Load())
			return 0
		}),
	}
}

// address is that of the second device: 0x17 + 8.
const address = "0000:1F:00.0"

// The driver counts the energy of GPUs. Those that did the work are known in the end, and each
// counts once, also if several contexts were on it.
func TestGPU(t *testing.T) {
	library(t)
	m := Open(t.TempDir())
	work := func() error {
		device.millijoules.Add(1500)
		time.Sleep(Least)
		device.millijoules.Add(2500)
		return nil
	}
	u, err := m.Measure(work, address, address)
	if err != nil || math.Abs(u.GPU-4) > 1e-6 || !strings.Contains(u.GPUNote, "NVML") {
		t.Errorf("%+v, %v; want 4 J of the device", u, err)
	}
	if u, _ := m.Measure(work, "0000:1e:00.0", address); u.GPU < 5 {
		t.Errorf("%+v: want the 4 J of one device, and those of the other", u)
	}
	for pci, want := range map[string]string{"": "interpreter", "0000:02:00.0": "lists no GPU at 0000:02:00.0"} {
		if u, _ := m.Measure(work, pci); u.GPU != 0 || !strings.Contains(u.GPUNote, want) {
			t.Errorf("address %q: %+v; want %q", pci, u, want)
		}
	}
	if u, _ := m.Measure(work); u.GPU != 0 || u.GPUNote != "no GPU" {
		t.Errorf("no device did the work: %+v", u)
	}
	loadNVML = func() error { return errors.New("not installed") }
	if u, _ := Open(t.TempDir()).Measure(work, address); u.GPU != 0 || u.GPUNote != "not measured: not installed" {
		t.Errorf("without the library: %+v", u)
	}
}

// A device whose energy is not counted is sampled: the power times the time.
func TestPower(t *testing.T) {
	library(t)
	manage.TotalEnergy = 0
	device.milliwatts.Store(100_000)
	u, err := Open(t.TempDir()).Measure(func() error { time.Sleep(Least); return nil }, address)
	if want := 100 * u.Seconds; err != nil || math.Abs(u.GPU-want) > 0.05*want || !strings.Contains(u.GPUNote, "sampled") {
		t.Errorf("%+v, %v; want about %v J by samples", u, err, want)
	}
	manage.PowerUsage = 0
	u, _ = Open(t.TempDir()).Measure(func() error { time.Sleep(Least); return nil }, address)
	if u.GPU != 0 || !strings.Contains(u.GPUNote, "the driver lacks") {
		t.Errorf("neither energy nor power: %+v", u)
	}
}
