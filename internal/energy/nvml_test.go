//go:build linux && !nogpu && (amd64 || arm64)

package energy

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// device is a GPU of a management library made of Go functions. Its handle is 7.
var device struct{ millijoules, milliwatts, found atomic.Uint64 }

// library replaces NVIDIA's until the end of the test.
func library(t *testing.T) {
	t.Helper()
	before, beforeLoad := manage, loadNVML
	t.Cleanup(func() { manage, loadNVML = before, beforeLoad })
	loadNVML = func() error { return nil }
	device.millijoules.Store(5_000_000)
	device.milliwatts.Store(0)
	device.found.Store(0)
	manage = nvml{
		HandleByPCI: purego.NewCallback(func(name *byte, to *uintptr) uintptr {
			if string(unsafe.Slice(name, 5)) != "01:00" {
				return 6 // not found
			}
			device.found.Add(1)
			*to = 7
			return 0
		}),
		TotalEnergy: purego.NewCallback(func(handle uintptr, to *uint64) uintptr {
			*to = device.millijoules.Load()
			return handle - 7
		}),
		PowerUsage: purego.NewCallback(func(handle uintptr, to *uint32) uintptr {
			*to = uint32(device.milliwatts.Load())
			return handle - 7
		}),
	}
}

// The driver counts a GPU's energy.
func TestGPU(t *testing.T) {
	library(t)
	m := Open(t.TempDir(), "01:00")
	u, err := m.Measure(func() error {
		device.millijoules.Add(1500)
		time.Sleep(Least)
		device.millijoules.Add(2500)
		return nil
	})
	if err != nil || math.Abs(u.GPU-4) > 1e-6 || !strings.Contains(u.GPUNote, "NVML") {
		t.Errorf("%+v, %v; want 4 J of the device", u, err)
	}
	if m := Open(t.TempDir(), "02:00"); m.gpus != nil || !strings.Contains(m.gpuNote, "error 6") {
		t.Errorf("another address: %d devices, %q", len(m.gpus), m.gpuNote)
	}
	loadNVML = func() error { return errors.New("not installed") }
	if m := Open(t.TempDir(), "01:00"); m.gpus != nil || m.gpuNote != "not measured: not installed" {
		t.Errorf("without the library: %d devices, %q", len(m.gpus), m.gpuNote)
	}
}

// A device whose energy is not counted is sampled: the power times the time.
func TestPower(t *testing.T) {
	library(t)
	manage.TotalEnergy = 0
	device.milliwatts.Store(100_000)
	u, err := Open(t.TempDir(), "01:00").Measure(func() error { time.Sleep(Least); return nil })
	if want := 100 * u.Seconds; err != nil || math.Abs(u.GPU-want) > 0.05*want || !strings.Contains(u.GPUNote, "sampled") {
		t.Errorf("%+v, %v; want about %v J by samples", u, err, want)
	}
	manage.PowerUsage = 0
	u, _ = Open(t.TempDir(), "01:00").Measure(func() error { time.Sleep(Least); return nil })
	if u.GPU != 0 || !strings.Contains(u.GPUNote, "the driver lacks") {
		t.Errorf("neither energy nor power: %+v", u)
	}
}
