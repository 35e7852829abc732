//go:build linux && !nogpu && (amd64 || arm64)

package energy

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// nvml is NVIDIA's management library: the addresses of the functions that we call.
type nvml struct {
	Init, Count, HandleByIndex, PCIInfo, TotalEnergy, PowerUsage uintptr
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
		"nvmlDeviceGetCount_v2":               &manage.Count,
		"nvmlDeviceGetHandleByIndex_v2":       &manage.HandleByIndex,
		"nvmlDeviceGetPciInfo_v3":             &manage.PCIInfo,
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
type nvGPU struct {
	handle uintptr
	pci    pciInfo
}

// pciInfo is the library's nvmlPciInfo_t.
type pciInfo struct {
	_                   [16]byte
	domain, bus, device uint32
	_, _                uint32 // numbers of the product
	_                   [32]byte
}

// openGPUs finds the GPUs that this process may see. Those that cannot be described are left out.
func openGPUs() (out []gpuMeter, note string) {
	if err := loadNVML(); err != nil {
		return nil, notMeasured(err)
	}
	var n uint32
	if err := called("nvmlDeviceGetCount", manage.Count, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, notMeasured(err)
	}
	note = "not measured: NVIDIA's management library lists no GPU"
	for i := range n {
		g := new(nvGPU)
		err := called("nvmlDeviceGetHandleByIndex", manage.HandleByIndex, uintptr(i),
			uintptr(unsafe.Pointer(&g.handle)))
		if err == nil {
			err = called("nvmlDeviceGetPciInfo", manage.PCIInfo, g.handle, uintptr(unsafe.Pointer(&g.pci)))
		}
		if err != nil {
			note = notMeasured(err)
			continue
		}
		out = append(out, g)
	}
	if len(out) > 0 {
		note = "counter of the whole device (NVML)"
	}
	return out, note
}

// at compares numbers, as the driver and the library write addresses with domains of different
// widths.
func (g *nvGPU) at(pci string) bool {
	var domain, bus, device uint32
	n, err := fmt.Sscanf(pci, "%x:%x:%x", &domain, &bus, &device)
	return err == nil && n == 3 && domain == g.pci.domain && bus == g.pci.bus && device == g.pci.device
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
