package emu

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/internal/gpu/driver"
	"github.com/collocate/collocate/internal/gpu/ptx"
)

// Options configures an emulated device.
type Options struct {
	Memory  int64         // bytes; 0: 1 GB
	Workers int           // goroutines that run blocks; 0: GOMAXPROCS, or 1 with -race
	Timeout time.Duration // time after which a launch is stopped; 0: a minute
}

// Device is an emulated GPU.
type Device struct {
	info    driver.Info
	workers int
	timeout time.Duration

	// All work runs with this lock held: streams do not overlap.
	run   sync.Mutex
	mu    sync.Mutex
	table atomic.Pointer[[]*allocation]
	used  int64
	dead  error // the first sticky error

	pinned  map[*byte]pinned
	streams map[driver.Stream]*stream
	events  map[driver.Event]*event
	modules map[driver.Module]*module
	kernels map[driver.Kernel]*kernel
	graphs  map[driver.Graph][]op
	handles uintptr
	lanes   atomic.Int64
}

// New makes a device.
func New(o Options) *Device {
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	if o.Workers == 0 {
		o.Workers = defaultWorkers
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	d := &Device{
		info: driver.Info{
			Name: "PTX interpreter", Driver: "emulated", Major: 7, Minor: 0, Memory: o.Memory,
			Multiprocessors: 4, L2: 1 << 20, SharedPerBlock: 48 << 10, SharedOptIn: 96 << 10,
			ThreadsPerSM: 2048, Emulated: true,
		},
		workers: o.Workers,
		timeout: o.Timeout,
		pinned:  map[*byte]pinned{},
		streams: map[driver.Stream]*stream{},
		events:  map[driver.Event]*event{},
		modules: map[driver.Module]*module{},
		kernels: map[driver.Kernel]*kernel{},
		graphs:  map[driver.Graph][]op{},
	}
	d.table.Store(&[]*allocation{nil}) // address 0 is invalid
	return d
}

func fail(op string, code int, log string) error {
	text := map[int]string{
		driver.InvalidValue: "invalid value", driver.OutOfMemory: "out of memory", driver.InvalidPTX: "invalid PTX",
		driver.NotFound: "not found", driver.LaunchFailed: "launch failed", driver.IllegalAddress: "illegal address",
		driver.Misaligned: "misaligned address", driver.LaunchTimeout: "launch timed out",
		driver.LaunchOutOfShared: "launch out of resources", driver.IllegalInstr: "illegal instruction",
	}[code]
	return &driver.Error{Op: op, Code: code, Name: "EMULATED_" +
		strings.ToUpper(strings.ReplaceAll(text, " ", "_")), Text: text, Log: log}
}

func (d *Device) Info() driver.Info { return d.info }
func (d *Device) Close() error      { return nil }
func (d *Device) Bind() error       { return nil }
func (d *Device) Unbind()           {}

// LaneInstructions returns the number of instructions run so far, summed over lanes.
func (d *Device) LaneInstructions() int64 { return d.lanes.Load() }

// Live returns the number of objects that have not been freed, for leak checks.
func (d *Device) Live() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.pinned) + len(d.streams) + len(d.events) + len(d.graphs)
	for _, a := range *d.table.Load() {
		if a != nil {
			n++
		}
	}
	for _, m := range d.modules {
		n -= len(m.globals) // freed with their module
	}
	return n
}

// handle returns a new handle for a stream, event or other object. d.mu is held.
func (d *Device) handle() uintptr {
	d.handles++
	return d.handles
}

// module is a loaded PTX text.
type module struct {
	m       *ptx.Module
	text    string
	globals map[string]driver.Ptr
}

// kernel is an entry point, decoded on first use.
type kernel struct {
	p         *program
	dynShared int // bytes allowed by SetShared
}

func (d *Device) LoadModule(text string) (driver.Module, error) {
	m, err := ptx.Shared(text)
	if err != nil {
		return 0, fail("load module", driver.InvalidPTX, err.Error())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	mod := &module{m: m, text: text, globals: map[string]driver.Ptr{}}
	for _, v := range m.Vars {
		if v.Space == "global" || v.Space == "const" {
			data := newBytes(int64(v.Size))
			copy(data, v.Init)
			mod.globals[v.Name] = d.adopt(data)
		}
	}
	h := driver.Module(d.handle())
	d.modules[h] = mod
	return h, nil
}

func (d *Device) FreeModule(h driver.Module) error {
	d.mu.Lock()
	m, ok := d.modules[h]
	delete(d.modules, h)
	d.mu.Unlock()
	if !ok {
		return fail("unload module", driver.InvalidValue, "no such module")
	}
	for _, p := range m.globals {
		if err := d.Free(p); err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) Kernel(h driver.Module, name string) (driver.Kernel, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, ok := d.modules[h]
	if !ok {
		return 0, fail("find kernel", driver.InvalidValue, "no such module")
	}
	k := m.m.Kernel(name)
	if k == nil {
		return 0, fail("find kernel", driver.NotFound, name)
	}
	p, err := decodeOnce(k, m)
	if err != nil {
		return 0, fail("load kernel "+name, driver.InvalidPTX, err.Error())
	}
	out := driver.Kernel(d.handle())
	d.kernels[out] = &kernel{p: p, dynShared: d.info.SharedPerBlock - p.static}
	return out, nil
}

func (d *Device) SetShared(h driver.Kernel, n int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.kernels[h]
	if !ok || n < 0 || n+k.p.static > d.info.SharedOptIn {
		return fail("set shared memory", driver.InvalidValue, "")
	}
	k.dynShared = n
	return nil
}

func (d *Device) Occupancy(h driver.Kernel, threads, shared int) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.kernels[h]
	if !ok || threads <= 0 {
		return 0, fail("occupancy", driver.InvalidValue, "")
	}
	n := min(d.info.ThreadsPerSM/threads, 32)
	if s := k.p.static + shared; s > 0 {
		n = min(n, d.info.SharedOptIn/s)
	}
	return n, nil
}

var _ driver.Device = (*Device)(nil)
