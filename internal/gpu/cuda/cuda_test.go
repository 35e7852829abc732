//go:build linux && !nogpu && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// TestSymbols: every function is resolved by its own name.
func TestSymbols(t *testing.T) {
	var l lib
	symbols := l.symbols()
	v := reflect.ValueOf(&l).Elem()
	for i := range v.NumField() {
		name := "cu" + v.Type().Field(i).Name
		if at := symbols[name]; at == nil || unsafe.Pointer(at) != v.Field(i).Addr().UnsafePointer() {
			t.Errorf("%s is not resolved, or stored in another field", name)
		}
	}
	if len(symbols) != v.NumField() {
		t.Errorf("%d names for %d functions, want equal numbers", len(symbols), v.NumField())
	}
}

// TestWithoutDriver: on a machine without NVIDIA's driver the error says so.
func TestWithoutDriver(t *testing.T) {
	_, err := Devices()
	if err == nil {
		t.Skip("the machine has a driver")
	}
	if !errors.Is(err, errNone) {
		t.Errorf("Devices: %v, want errNone", err)
	}
	d, opened := Open(0)
	if d != nil || opened == nil || opened.Error() != err.Error() {
		t.Errorf("Open returned %v, Devices %v; want the same error", opened, err)
	}
	if cu.Init == 0 && !strings.Contains(err.Error(), "NVIDIA's driver library is not installed (libcuda.so") {
		t.Errorf("Devices: %v, want that the library is not installed", err)
	}
}

// fake replaces the library by Go functions until the test's end: one device that can be described
// and opened. Tests put further functions into cu.
func fake(t *testing.T) {
	t.Helper()
	before, beforeLoad := cu, load
	t.Cleanup(func() { cu, load = before, beforeLoad })
	load = func() error { return start(nil) }
	cu = lib{
		Init:             purego.NewCallback(func(flags uintptr) uintptr { return 0 }),
		DriverGetVersion: setting(12040),
		DeviceGetCount:   setting(1),
		GetErrorName: purego.NewCallback(func(code uintptr,
			to **byte) uintptr {
			return describeError(int(code), 0, to)
		}),
		GetErrorString: purego.NewCallback(func(code uintptr,
			to **byte) uintptr {
			return describeError(int(code), 1, to)
		}),
		DeviceGet: purego.NewCallback(func(to *int32, ordinal uintptr) uintptr {
			*to = int32(ordinal) + 50
			return 0
		}),
		DeviceGetName: purego.NewCallback(func(to *byte, n, dev uintptr) uintptr {
			copy(unsafe.Slice(to, n), "Paper GPU\x00")
			return 0
		}),
		DeviceGetPCIBusId: purego.NewCallback(func(to *byte, n, dev uintptr) uintptr {
			copy(unsafe.Slice(to, n), "0000:01:00.0\x00")
			return 0
		}),
		DeviceGetUuid: purego.NewCallback(func(to *byte, dev uintptr) uintptr {
			for i := range unsafe.Slice(to, 16) {
				unsafe.Slice(to, 16)[i] = byte(i)
			}
			return 0
		}),
		DeviceTotalMem_v2: purego.NewCallback(func(to *uint64, dev uintptr) uintptr {
			*to = 5 << 32
			return 0
		}),
		DeviceGetAttribute: purego.NewCallback(func(to *int32, attr, dev uintptr) uintptr {
			*to = int32(attr)
			return 0
		}),
		DevicePrimaryCtxRetain: purego.NewCallback(func(to *uintptr, dev uintptr) uintptr {
			*to = dev + 1000
			return 0
		}),
		DevicePrimaryCtxRelease_v2: purego.NewCallback(func(dev uintptr) uintptr { return 0 }),
	}
}

// setting returns a C function that stores v where its argument points.
func setting(v int32) uintptr {
	return purego.NewCallback(func(to *int32) uintptr {
		*to = v
		return 0
	})
}

// failing returns a C function of up to two arguments that fails.
func failing(code int) uintptr {
	return purego.NewCallback(func(a, b uintptr) uintptr { return uintptr(code) })
}

var errorTexts = map[int][2][]byte{
	driver.OutOfMemory: {[]byte("CUDA_ERROR_OUT_OF_MEMORY\x00"), []byte("out of memory\x00")},
	driver.IllegalAddress: {[]byte("CUDA_ERROR_ILLEGAL_ADDRESS\x00"),
		[]byte("an illegal memory access was encountered\x00")},
}

func describeError(code, which int, to **byte) uintptr {
	texts, ok := errorTexts[code]
	if !ok {
		return driver.InvalidValue
	}
	*to = &texts[which][0]
	return 0
}

// TestErrorNames: errors have the library's name and description, or only the number if it has
// none.
func TestErrorNames(t *testing.T) {
	if err := check("cuInit", 0); err != nil {
		t.Errorf("success returned %v, want nil", err)
	}
	fake(t)
	for code, want := range map[int32]string{
		driver.OutOfMemory:    "cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)",
		driver.IllegalAddress: "cuMemAlloc: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)",
		12345:                 "cuMemAlloc: unknown error (unknown, 12345)",
	} {
		if err := check("cuMemAlloc", code); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	cu.GetErrorName = 0
	if err := check("cuInit", 2); err == nil || err.Error() != "cuInit: unknown error (unknown, 2)" {
		t.Errorf("a code without a name: %v, want unknown error", err)
	}
}

// TestInfo: Info holds what the library says of a device.
func TestInfo(t *testing.T) {
	fake(t)
	list, err := Devices()
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	got := list[0]
	if _, version, ok := strings.Cut(", "+got.Driver, ", CUDA "); !ok || version != "12.4" {
		t.Errorf("driver %q, want CUDA 12.4", got.Driver)
	}
	got.Driver = ""
	want := driver.Info{
		Name: "Paper GPU", PCI: "0000:01:00.0", UUID: "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", Memory: 5 << 32,
		Major: 75, Minor: 76, SharedPerBlock: 8, ClockKHz: 13, Multiprocessors: 16, MemoryClockKHz: 36,
		MemoryBusBits: 37, L2: 38, ThreadsPerSM: 39, AsyncEngines: 40, SharedOptIn: 97,
	}
	if got != want {
		t.Errorf("%+v,\nwant %+v", got, want)
	}
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	if x := d.(*device); x.dev != 50 || x.ctx != 1050 {
		t.Errorf("device %d, context %d; want 50 and 1050", x.dev, x.ctx)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnusable: the error names the reason why there is no device.
func TestUnusable(t *testing.T) {
	for _, c := range []struct {
		why     string
		ordinal int
		breaks  func()
	}{
		{"libcuda has no cuInit", 0, func() { cu.Init = 0 }},
		{"the driver is installed but finds none", 0, func() { cu.Init = failing(driver.NoDevice) }},
		{"cuInit: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)", 0, func() { cu.Init = failing(driver.OutOfMemory) }},
		{"the driver supports CUDA 11.4; 11.8 (driver 520) or later is needed", 0,
			func() { cu.DriverGetVersion = setting(11040) }},
		{"the driver supports CUDA 0.0;", 0, func() { cu.DriverGetVersion = failing(1) }},
		{"the driver lacks cuA, cuB", 0, func() { load = func() error { return start([]string{"cuB", "cuA"}) } }},
		{"the driver finds none", 0, func() { cu.DeviceGetCount = setting(0) }},
		{"cuDeviceGetCount: ", 0, func() { cu.DeviceGetCount = failing(999) }},
		{"device 1: want 0 to 0", 1, func() {}},
		{"device -1: want 0 to 0", -1, func() {}},
		{"Paper GPU: cuDevicePrimaryCtxRetain: out of memory", 0,
			func() { cu.DevicePrimaryCtxRetain = failing(driver.OutOfMemory) }},
		{"Paper GPU has compute capability 6.6; 7.0 or later is needed", 0, func() {
			cu.DeviceGetAttribute = purego.NewCallback(func(to *int32, attr, dev uintptr) uintptr {
				*to = 6
				return 0
			})
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			fake(t)
			c.breaks()
			if d, err := Open(c.ordinal); d != nil || !errors.Is(err, errNone) ||
				!strings.Contains(err.Error(), c.why) {
				t.Errorf("%v, want %s", err, c.why)
			}
		})
	}
}

// pinned stands for pinned memory. It is on the heap, where Go does not move it.
var pinned []byte

// TestLaunch: the library gets the shape of the grid, and a list that points to the packed
// arguments and their length.
func TestLaunch(t *testing.T) {
	fake(t)
	var args [11]uintptr
	var list []uint64
	var packed []byte
	var size uint64
	cu.LaunchKernel = purego.NewCallback(func(k, bx, by, bz, tx, ty, tz, shared, stream,
		params uintptr, extra *[5]uint64) uintptr {
		args = [11]uintptr{k, bx, by, bz, tx, ty, tz, shared, stream, params}
		list, packed = nil, nil
		if extra != nil {
			list = extra[:]
			first := (*byte)(unsafe.Add(unsafe.Pointer(extra),
				int(int64(extra[1])-int64(uintptr(unsafe.Pointer(extra))))))
			size = *(*uint64)(unsafe.Add(unsafe.Pointer(extra), 40))
			packed = append(packed, unsafe.Slice(first, size)...)
		}
		if shared == 1<<20 {
			return driver.OutOfMemory
		}
		return 0
	})
	dim := driver.Dim{Blocks: [3]int{1, 2, 3}, Threads: [3]int{4, 5, 6}, Shared: 7}
	d := &device{}
	pinned = make([]byte, 128+driver.LaunchSpare)
	memory := pinned
	binary.LittleEndian.PutUint64(memory, 0x1122334455667788)
	binary.LittleEndian.PutUint32(memory[8:], 99)
	if err := d.Launch(77, dim, memory[:12], 88); err != nil {
		t.Fatal(err)
	}
	if want := [11]uintptr{77, 1, 2, 3, 4, 5, 6, 7, 88, 0}; args != want {
		t.Errorf("called with %v, want %v", args, want)
	}
	// CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
	if len(list) != 5 || list[0] != 1 || list[2] != 2 || list[4] != 0 || list[3] != list[1]+128+40 {
		t.Errorf("the list is %v, want pointer, address, size, address of the size, end", list)
	}
	if size != 12 || string(packed) != string(memory[:12]) {
		t.Errorf("%d bytes: %x, want 12: %x", size, packed, memory[:12])
	}
	if err := d.Launch(77, dim, nil, 88); err != nil || list != nil {
		t.Errorf("without arguments: list %v, %v; want no list", list, err)
	}
	dim.Shared = 1 << 20
	if err := d.Launch(77, dim, nil, 88); err == nil ||
		!strings.HasPrefix(err.Error(), "cuLaunchKernel: out of memory") {
		t.Errorf("a failed launch returned %v, want out of memory", err)
	}
}

// TestModuleLog: the error of a module that does not compile has the compiler's log.
func TestModuleLog(t *testing.T) {
	fake(t)
	cu.ModuleLoadDataEx = purego.NewCallback(func(to *uintptr, text *byte, n uintptr,
		options *[2]uint32, values *[2]uintptr) uintptr {
		if n != 2 || *options != [2]uint32{5, 6} || goString(text) != "no PTX" {
			return driver.InvalidValue
		}
		log := *(**byte)(unsafe.Pointer(&values[0]))
		copy(unsafe.Slice(log, values[1]), "ptxas fatal: line 1\n\x00")
		return driver.InvalidPTX
	})
	_, err := (&device{}).LoadModule("no PTX")
	var e *driver.Error
	if !errors.As(err, &e) || e.Code != driver.InvalidPTX || e.Log != "ptxas fatal: line 1" {
		t.Errorf("LoadModule returned %v, want InvalidPTX with the log", err)
	}
}

// TestStreamDone: a busy stream is not an error.
func TestStreamDone(t *testing.T) {
	fake(t)
	for _, c := range []struct {
		code int
		done bool
		bad  bool
	}{{0, true, false}, {driver.NotReady, false, false}, {driver.LaunchFailed, false, true}} {
		cu.StreamQuery = failing(c.code)
		if done, err := (&device{}).StreamDone(1); done != c.done || (err != nil) != c.bad {
			t.Errorf("code %d: done %v, %v; want %v and an error: %v", c.code, done, err, c.done, c.bad)
		}
	}
}
