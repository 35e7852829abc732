//go:build linux && !nogpu && (amd64 || arm64)

package cuda

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// lib is the loaded library: the address of every function that we call. Where there is a _v2 name,
// the plain name has an older ABI.
type lib struct {
	Init, DriverGetVersion                                              uintptr
	DeviceGetCount, DeviceGet, DeviceGetName, DeviceGetAttribute        uintptr
	DeviceTotalMem_v2, DeviceGetUuid, DeviceGetPCIBusId                 uintptr
	DevicePrimaryCtxRetain, DevicePrimaryCtxRelease_v2, CtxSetCurrent   uintptr
	CtxCreate_v2, CtxDestroy_v2, CtxPopCurrent_v2                       uintptr
	CtxSynchronize, MemGetInfo_v2, MemAlloc_v2, MemFree_v2              uintptr
	MemHostAlloc, MemFreeHost                                           uintptr
	MemcpyHtoDAsync_v2, MemcpyDtoHAsync_v2, MemcpyDtoDAsync_v2          uintptr
	MemsetD8Async, MemsetD32Async                                       uintptr
	StreamCreate, StreamDestroy_v2, StreamSynchronize, StreamQuery      uintptr
	StreamWaitEvent, StreamBeginCapture_v2, StreamEndCapture            uintptr
	EventCreate, EventDestroy_v2, EventRecord, EventSynchronize         uintptr
	EventElapsedTime, ModuleLoadDataEx, ModuleUnload, ModuleGetFunction uintptr
	FuncSetAttribute, OccupancyMaxActiveBlocksPerMultiprocessor         uintptr
	LaunchKernel, GraphInstantiateWithFlags, GraphLaunch                uintptr
	GraphExecDestroy, GraphDestroy                                      uintptr
	GetErrorName, GetErrorString                                        uintptr
}

// symbols returns the fields of l by the names of their functions.
func (l *lib) symbols() map[string]*uintptr {
	return map[string]*uintptr{
		"cuInit": &l.Init, "cuDriverGetVersion": &l.DriverGetVersion,
		"cuDeviceGetCount": &l.DeviceGetCount, "cuDeviceGet": &l.DeviceGet, "cuDeviceGetName": &l.DeviceGetName,
		"cuDeviceGetAttribute": &l.DeviceGetAttribute, "cuDeviceTotalMem_v2": &l.DeviceTotalMem_v2,
		"cuDeviceGetUuid": &l.DeviceGetUuid, "cuDeviceGetPCIBusId": &l.DeviceGetPCIBusId,
		"cuDevicePrimaryCtxRetain":     &l.DevicePrimaryCtxRetain,
		"cuDevicePrimaryCtxRelease_v2": &l.DevicePrimaryCtxRelease_v2,
		"cuCtxCreate_v2":               &l.CtxCreate_v2, "cuCtxDestroy_v2": &l.CtxDestroy_v2,
		"cuCtxPopCurrent_v2": &l.CtxPopCurrent_v2,
		"cuCtxSetCurrent":    &l.CtxSetCurrent, "cuCtxSynchronize": &l.CtxSynchronize,
		"cuMemGetInfo_v2": &l.MemGetInfo_v2, "cuMemAlloc_v2": &l.MemAlloc_v2, "cuMemFree_v2": &l.MemFree_v2,
		"cuMemHostAlloc": &l.MemHostAlloc, "cuMemFreeHost": &l.MemFreeHost,
		"cuMemcpyHtoDAsync_v2": &l.MemcpyHtoDAsync_v2, "cuMemcpyDtoHAsync_v2": &l.MemcpyDtoHAsync_v2,
		"cuMemcpyDtoDAsync_v2": &l.MemcpyDtoDAsync_v2, "cuMemsetD8Async": &l.MemsetD8Async,
		"cuMemsetD32Async": &l.MemsetD32Async,
		"cuStreamCreate":   &l.StreamCreate, "cuStreamDestroy_v2": &l.StreamDestroy_v2,
		"cuStreamSynchronize": &l.StreamSynchronize, "cuStreamQuery": &l.StreamQuery,
		"cuStreamWaitEvent":       &l.StreamWaitEvent,
		"cuStreamBeginCapture_v2": &l.StreamBeginCapture_v2, "cuStreamEndCapture": &l.StreamEndCapture,
		"cuEventCreate": &l.EventCreate, "cuEventDestroy_v2": &l.EventDestroy_v2, "cuEventRecord": &l.EventRecord,
		"cuEventSynchronize": &l.EventSynchronize, "cuEventElapsedTime": &l.EventElapsedTime,
		"cuModuleLoadDataEx": &l.ModuleLoadDataEx, "cuModuleUnload": &l.ModuleUnload,
		"cuModuleGetFunction":                         &l.ModuleGetFunction,
		"cuFuncSetAttribute":                          &l.FuncSetAttribute,
		"cuOccupancyMaxActiveBlocksPerMultiprocessor": &l.OccupancyMaxActiveBlocksPerMultiprocessor,
		"cuLaunchKernel":                              &l.LaunchKernel,
		"cuGraphInstantiateWithFlags":                 &l.GraphInstantiateWithFlags,
		"cuGraphLaunch":                               &l.GraphLaunch, "cuGraphExecDestroy": &l.GraphExecDestroy, "cuGraphDestroy": &l.GraphDestroy,
		"cuGetErrorName": &l.GetErrorName, "cuGetErrorString": &l.GetErrorString,
	}
}

// cu is the library, after load has succeeded.
var cu lib

// load loads and initialises the library, once.
var load = sync.OnceValue(func() error {
	var handle uintptr
	var err error
	for _, name := range []string{"libcuda.so.1", "libcuda.so"} {
		if handle, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%w: NVIDIA's driver library is not installed (%v)", errNone, err)
	}
	var missing []string
	for name, at := range cu.symbols() {
		if *at, err = purego.Dlsym(handle, name); err != nil {
			missing = append(missing, name)
		}
	}
	return start(missing)
})

// start initialises the library, and returns an error if it cannot be used.
func start(missing []string) error {
	if cu.Init == 0 || cu.DriverGetVersion == 0 {
		return fmt.Errorf("%w: libcuda has no cuInit", errNone)
	}
	if rc := call(cu.Init, 0); rc != 0 {
		if err := check("cuInit", rc); err.(*driver.Error).Code == driver.NoDevice {
			return fmt.Errorf("%w: the driver is installed but finds none: check CUDA_VISIBLE_DEVICES and the options of the container", errNone)
		} else {
			return fmt.Errorf("%w: %w", errNone, err)
		}
	}
	if v := version(); v < minCUDA {
		return fmt.Errorf("%w: the driver supports CUDA %d.%d; 11.8 (driver 520) or later is needed", errNone, v/1000, v%1000/10)
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("%w: the driver lacks %s", errNone, strings.Join(missing, ", "))
	}
	return nil
}

// call calls a function of the library. Arguments may be pointers to Go memory, converted to
// uintptr in the call.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(fn, args...)
	return int32(r) // CUresult has 32 bits; the rest of the register is undefined
}

// check converts a result code to an error.
func check(op string, rc int32) error {
	if rc == 0 {
		return nil
	}
	e := &driver.Error{Op: op, Code: int(rc), Name: "unknown", Text: "unknown error"}
	if cu.GetErrorName != 0 && cu.GetErrorString != 0 {
		var name, text *byte
		if call(cu.GetErrorName, uintptr(rc), uintptr(unsafe.Pointer(&name))) == 0 {
			e.Name = goString(name)
		}
		if call(cu.GetErrorString, uintptr(rc), uintptr(unsafe.Pointer(&text))) == 0 {
			e.Text = goString(text)
		}
	}
	return e
}

// goString copies a C string.
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

func version() int {
	var v int32
	if call(cu.DriverGetVersion, uintptr(unsafe.Pointer(&v))) != 0 {
		return 0
	}
	return int(v)
}

// driverName returns the version of the display driver, if the kernel reveals it, and the CUDA
// version that it supports.
func driverName() string {
	v := version()
	name := fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
	text, err := os.ReadFile("/sys/module/nvidia/version")
	if err != nil {
		return name
	}
	return strings.TrimSpace(string(text)) + ", " + name
}
