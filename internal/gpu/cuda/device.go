//go:build linux && !nogpu && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// device is an opened device. It refers to the device's primary context, which other libraries in
// the process use as well, or has a context of its own.
type device struct {
	info driver.Info
	dev  int32
	ctx  uintptr
	own  bool // ctx is not the primary one
}

// Open opens a device by its number.
func Open(ordinal int) (driver.Device, error) { return open(ordinal, false) }

// OpenContext is Open with a context of its own, which has its own memory, modules and errors: to
// the program it is another device.
func OpenContext(ordinal int) (driver.Device, error) { return open(ordinal, true) }

func open(ordinal int, own bool) (driver.Device, error) {
	list, err := Devices()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= len(list) {
		return nil, fmt.Errorf("%w: device %d: want 0 to %d", errNone, ordinal, len(list)-1)
	}
	d := &device{own: own}
	if d.info, d.dev, err = describe(ordinal); err != nil {
		return nil, err
	}
	if d.info.Major < minMajor {
		return nil, fmt.Errorf("%w: %s has compute capability %d.%d; 7.0 or later is needed",
			errNone, d.info.Name, d.info.Major, d.info.Minor)
	}
	if err := d.retain(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errNone, d.info.Name, err)
	}
	return d, nil
}

// retain takes the primary context or makes a new one. A new context is current on the thread that
// made it; retain undoes that, since Bind makes it current when needed.
func (d *device) retain() error {
	if !d.own {
		return check("cuDevicePrimaryCtxRetain",
			call(cu.DevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&d.ctx)), uintptr(d.dev)))
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := check("cuCtxCreate", call(cu.CtxCreate_v2, uintptr(unsafe.Pointer(&d.ctx)), 0,
		uintptr(d.dev))); err != nil {
		return err
	}
	var popped uintptr
	return check("cuCtxPopCurrent", call(cu.CtxPopCurrent_v2, uintptr(unsafe.Pointer(&popped))))
}

func (d *device) Info() driver.Info { return d.info }

func (d *device) Close() error {
	if d.own {
		return check("cuCtxDestroy", call(cu.CtxDestroy_v2, d.ctx))
	}
	return check("cuDevicePrimaryCtxRelease", call(cu.DevicePrimaryCtxRelease_v2, uintptr(d.dev)))
}

func (d *device) Bind() error {
	runtime.LockOSThread()
	if rc := call(cu.CtxSetCurrent, d.ctx); rc != 0 {
		runtime.UnlockOSThread()
		return check("cuCtxSetCurrent", rc)
	}
	return nil
}

func (d *device) Unbind() { runtime.UnlockOSThread() }

func (d *device) MemInfo() (free, total int64, err error) {
	var f, t uint64
	rc := call(cu.MemGetInfo_v2, uintptr(unsafe.Pointer(&f)), uintptr(unsafe.Pointer(&t)))
	return int64(f), int64(t), check("cuMemGetInfo", rc)
}

func (d *device) Alloc(n int64) (driver.Ptr, error) {
	var p uint64
	rc := call(cu.MemAlloc_v2, uintptr(unsafe.Pointer(&p)), uintptr(n))
	return driver.Ptr(p), check("cuMemAlloc", rc)
}

func (d *device) Free(p driver.Ptr) error {
	return check("cuMemFree", call(cu.MemFree_v2, uintptr(p)))
}

// hostPortable makes host memory pinned for all contexts.
const hostPortable = 1

// HostPtr: with unified addressing, which every 64-bit system has, pinned memory has the same
// address on the device.
func (d *device) HostPtr(b []byte) (driver.Ptr, error) {
	return driver.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), nil
}

func (d *device) HostAlloc(n int) ([]byte, error) {
	var p *byte
	if rc := call(cu.MemHostAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n), hostPortable); rc != 0 {
		return nil, check("cuMemHostAlloc", rc)
	}
	return unsafe.Slice(p, n), nil
}

// address returns the address of a slice of memory outside the Go heap.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func (d *device) HostFree(b []byte) error {
	return check("cuMemFreeHost", call(cu.MemFreeHost, address(b)))
}

func (d *device) CopyIn(dst driver.Ptr, src []byte, s driver.Stream) error {
	return check("cuMemcpyHtoDAsync",
		call(cu.MemcpyHtoDAsync_v2, uintptr(dst), address(src), uintptr(len(src)), uintptr(s)))
}

func (d *device) CopyOut(dst []byte, src driver.Ptr, s driver.Stream) error {
	return check("cuMemcpyDtoHAsync",
		call(cu.MemcpyDtoHAsync_v2, address(dst), uintptr(src), uintptr(len(dst)), uintptr(s)))
}

func (d *device) Copy(dst, src driver.Ptr, n int64, s driver.Stream) error {
	return check("cuMemcpyDtoDAsync", call(cu.MemcpyDtoDAsync_v2, uintptr(dst), uintptr(src), uintptr(n), uintptr(s)))
}

func (d *device) Fill8(dst driver.Ptr, v uint8, n int64, s driver.Stream) error {
	return check("cuMemsetD8Async", call(cu.MemsetD8Async, uintptr(dst), uintptr(v), uintptr(n), uintptr(s)))
}

func (d *device) Fill32(dst driver.Ptr, v uint32, n int64, s driver.Stream) error {
	return check("cuMemsetD32Async", call(cu.MemsetD32Async, uintptr(dst), uintptr(v), uintptr(n), uintptr(s)))
}

// streamNonBlocking makes a stream independent of the legacy default stream.
const streamNonBlocking = 1

func (d *device) NewStream() (driver.Stream, error) {
	var h uintptr
	rc := call(cu.StreamCreate, uintptr(unsafe.Pointer(&h)), streamNonBlocking)
	return driver.Stream(h), check("cuStreamCreate", rc)
}

func (d *device) FreeStream(s driver.Stream) error {
	if err := d.SyncStream(s); err != nil {
		return err
	}
	return check("cuStreamDestroy", call(cu.StreamDestroy_v2, uintptr(s)))
}

func (d *device) SyncStream(s driver.Stream) error {
	return check("cuStreamSynchronize", call(cu.StreamSynchronize, uintptr(s)))
}

func (d *device) StreamDone(s driver.Stream) (bool, error) {
	rc := call(cu.StreamQuery, uintptr(s))
	if rc == driver.NotReady {
		return false, nil
	}
	return rc == 0, check("cuStreamQuery", rc)
}

func (d *device) WaitEvent(s driver.Stream, e driver.Event) error {
	return check("cuStreamWaitEvent", call(cu.StreamWaitEvent, uintptr(s), uintptr(e), 0))
}

func (d *device) SyncDevice() error { return check("cuCtxSynchronize", call(cu.CtxSynchronize)) }

const eventNoTiming = 2

func (d *device) NewEvent(timing bool) (driver.Event, error) {
	flags := uintptr(eventNoTiming)
	if timing {
		flags = 0
	}
	var h uintptr
	rc := call(cu.EventCreate, uintptr(unsafe.Pointer(&h)), flags)
	return driver.Event(h), check("cuEventCreate", rc)
}

func (d *device) FreeEvent(e driver.Event) error {
	return check("cuEventDestroy", call(cu.EventDestroy_v2, uintptr(e)))
}

func (d *device) RecordEvent(e driver.Event, s driver.Stream) error {
	return check("cuEventRecord", call(cu.EventRecord, uintptr(e), uintptr(s)))
}

func (d *device) SyncEvent(e driver.Event) error {
	return check("cuEventSynchronize", call(cu.EventSynchronize, uintptr(e)))
}

func (d *device) Elapsed(from, to driver.Event) (float32, error) {
	if err := d.SyncEvent(to); err != nil {
		return 0, err
	}
	var ms float32
	rc := call(cu.EventElapsedTime, uintptr(unsafe.Pointer(&ms)), uintptr(from), uintptr(to))
	return ms, check("cuEventElapsedTime", rc)
}

// CUjit_option
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

func (d *device) LoadModule(ptx string) (driver.Module, error) {
	text := append([]byte(ptx), 0)
	log := make([]byte, 8<<10)
	options := []uint32{jitErrorLog, jitErrorLogSize}
	// A pointer, so that the log is on the heap: stacks move.
	values := &struct {
		log  *byte
		size uintptr
	}{&log[0], uintptr(len(log))}
	var h uintptr
	rc := call(cu.ModuleLoadDataEx, uintptr(unsafe.Pointer(&h)), uintptr(unsafe.Pointer(&text[0])),
		uintptr(len(options)),
		uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(values)))
	if rc != 0 {
		err := check("cuModuleLoadDataEx", rc)
		err.(*driver.Error).Log = strings.TrimSpace(cText(log))
		return 0, err
	}
	return driver.Module(h), nil
}

func (d *device) FreeModule(m driver.Module) error {
	return check("cuModuleUnload", call(cu.ModuleUnload, uintptr(m)))
}

func (d *device) Kernel(m driver.Module, name string) (driver.Kernel, error) {
	cname := append([]byte(name), 0)
	var h uintptr
	rc := call(cu.ModuleGetFunction, uintptr(unsafe.Pointer(&h)), uintptr(m), uintptr(unsafe.Pointer(&cname[0])))
	return driver.Kernel(h), check("cuModuleGetFunction", rc)
}

// funcMaxDynamicShared is CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
const funcMaxDynamicShared = 8

func (d *device) SetShared(k driver.Kernel, n int) error {
	return check("cuFuncSetAttribute", call(cu.FuncSetAttribute, uintptr(k), funcMaxDynamicShared, uintptr(n)))
}

func (d *device) Occupancy(k driver.Kernel, threads, shared int) (int, error) {
	var n int32
	rc := call(cu.OccupancyMaxActiveBlocksPerMultiprocessor, uintptr(unsafe.Pointer(&n)),
		uintptr(k), uintptr(threads), uintptr(shared))
	return int(n), check("cuOccupancyMaxActiveBlocksPerMultiprocessor", rc)
}

// Launch passes the arguments as one packed buffer. The list that describes it follows the
// arguments in the same pinned memory: nothing here is on the Go heap.
func (d *device) Launch(k driver.Kernel, dim driver.Dim, args []byte, s driver.Stream) error {
	var extra uintptr
	if len(args) > 0 {
		whole := args[:cap(args)]
		list := whole[len(whole)-driver.LaunchSpare:]
		extra = address(list)
		for i, v := range [...]uintptr{1, address(args), 2, extra + 40, 0, uintptr(len(args))} {
			binary.NativeEndian.PutUint64(list[8*i:], uint64(v))
		}
	}
	rc := call(cu.LaunchKernel, uintptr(k),
		uintptr(dim.Blocks[0]), uintptr(dim.Blocks[1]), uintptr(dim.Blocks[2]),
		uintptr(dim.Threads[0]), uintptr(dim.Threads[1]), uintptr(dim.Threads[2]),
		uintptr(dim.Shared), uintptr(s), 0, extra)
	if rc == 0 {
		return nil
	}
	return check("cuLaunchKernel", rc)
}

// captureThreadLocal lets other threads continue with their own work during a capture.
const captureThreadLocal = 1

func (d *device) BeginCapture(s driver.Stream) error {
	return check("cuStreamBeginCapture", call(cu.StreamBeginCapture_v2, uintptr(s), captureThreadLocal))
}

func (d *device) EndCapture(s driver.Stream) (driver.Graph, error) {
	var g, exec uintptr
	if rc := call(cu.StreamEndCapture, uintptr(s), uintptr(unsafe.Pointer(&g))); rc != 0 {
		return 0, check("cuStreamEndCapture", rc)
	}
	rc := call(cu.GraphInstantiateWithFlags, uintptr(unsafe.Pointer(&exec)), g, 0)
	if rc2 := call(cu.GraphDestroy, g); rc == 0 {
		rc = rc2
	}
	return driver.Graph(exec), check("cuGraphInstantiate", rc)
}

func (d *device) FreeGraph(g driver.Graph) error {
	return check("cuGraphExecDestroy", call(cu.GraphExecDestroy, uintptr(g)))
}

func (d *device) LaunchGraph(g driver.Graph, s driver.Stream) error {
	return check("cuGraphLaunch", call(cu.GraphLaunch, uintptr(g), uintptr(s)))
}
