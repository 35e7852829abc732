//go:build linux && !nogpu && (amd64 || arm64)

package energy

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// nvml is NVIDIA's management library: the addresses of the functions that we call.
type nvml struct {
	Init, HandleByPCI, TotalEnergy, PowerUsage uintptr
}

// manage is the library, after loadNVML has succeeded.
var manage nvml

var loadNVML = sync.OnceValue(func() error {
	var handle uintptr
	var err error
	for _, name := range []string{"libnvidia-ml.so.1", "libnvidia-ml.so"} {
		if handle, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			break
		}
	}
	if err != nil {
		return errors.New("NVIDIA's management library is not installed (libnvidia-ml.so.1)")
	}
	for name, at := range map[string]*uintptr{"nvmlInit_v2": &manage.Init,
		"nvmlDeviceGetHandleByPciBusId_v2":    &manage.HandleByPCI,
		"nvmlDeviceGetTotalEnergyConsumption": &manage.TotalEnergy,
		"nvmlDeviceGetPowerUsage":             &manage.PowerUsage} {
		if *at, err = purego.Dlsym(handle, name); err != nil {
			*at = 0 // an older library; calls of it fail
		}
	}
	return called("nvmlInit", manage.Init)
})

// called calls a function of the library. Arguments may be pointers to Go memory, converted to
// uintptr in the call.
//
//go:uintptrescapes
func called(name string, fn uintptr, args ...uintptr) error {
	if fn == 0 {
		return fmt.Errorf("the driver lacks %s", name)
	}
	if rc, _, _ := purego.SyscallN(fn, args...); int32(rc) != 0 {
		return fmt.Errorf("%s: error %d of NVIDIA's management library", name, int32(rc))
	}
	return nil
}

// nvGPU is a device of the library.
type nvGPU struct{ handle uintptr }

// openGPUs finds GPUs by their PCI addresses.
func openGPUs(pci []string) (out []gpuMeter, note string) {
	if err := loadNVML(); err != nil {
		return nil, fmt.Sprintf("not measured: %v", err)
	}
	for _, address := range pci {
		name := append([]byte(address), 0)
		g := new(nvGPU)
		err := called("nvmlDeviceGetHandleByPciBusId", manage.HandleByPCI,
			uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&g.handle)))
		runtime.KeepAlive(name)
		if err != nil {
			return nil, fmt.Sprintf("not measured: %v", err)
		}
		out = append(out, g)
	}
	return out, "counter of the whole device (NVML)"
}

func (g *nvGPU) energy() (float64, error) {
	var millijoules uint64
	err := called("nvmlDeviceGetTotalEnergyConsumption", manage.TotalEnergy, g.handle,
		uintptr(unsafe.Pointer(&millijoules)))
	return float64(millijoules) * 1e-3, err
}

func (g *nvGPU) power() (float64, error) {
	var milliwatts uint32
	err := called("nvmlDeviceGetPowerUsage", manage.PowerUsage, g.handle,
		uintptr(unsafe.Pointer(&milliwatts)))
	return float64(milliwatts) * 1e-3, err
}
