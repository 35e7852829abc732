// Package driver defines what a device must be able to do, as plain calls on plain handles. It has
// two implementations: cuda (NVIDIA's libcuda, loaded at run time) and emu (an interpreter of the
// same PTX, in Go). Package gpu builds types with lifetimes on it; nothing else should call a
// driver.
package driver

import "fmt"

// Ptr is an address in device memory. The zero Ptr is null.
type Ptr uint64

// Handles to objects of a driver. They are only passed back to the driver that made them.
type (
	Stream uintptr
	Event  uintptr
	Module uintptr
	Kernel uintptr
	Graph  uintptr
)

// Dim is the shape of a launch: blocks of threads, and bytes of dynamic shared
// memory for each block.
type Dim struct {
	Blocks  [3]int
	Threads [3]int
	Shared  int
}

// Entry is a kernel of a PTX text.
type Entry struct {
	Name       string
	Params     []Param
	ParamBytes int // of all parameters
	Static     int // bytes of static shared memory of a block
	MaxThreads int // .maxntid, or 0
}

// Param is one parameter of a kernel.
type Param struct {
	Name   string
	Type   string // u32, f64, b8 (an array of bytes: a struct by value)
	Offset int
	Size   int
	Align  int
}

// Info describes a device.
type Info struct {
	Ordinal         int    `json:"ordinal"`
	Name            string `json:"name"`
	UUID            string `json:"uuid,omitempty"`
	PCI             string `json:"pci,omitempty"`
	Driver          string `json:"driver"`
	Major           int    `json:"major"` // compute capability
	Minor           int    `json:"minor"`
	Memory          int64  `json:"memory"` // bytes
	Multiprocessors int    `json:"multiprocessors"`
	L2              int    `json:"l2"` // bytes
	SharedPerBlock  int    `json:"shared_per_block"`
	SharedOptIn     int    `json:"shared_opt_in"` // the most that SetShared can allow
	ThreadsPerSM    int    `json:"threads_per_sm"`
	MemoryClockKHz  int    `json:"memory_clock_khz"`
	MemoryBusBits   int    `json:"memory_bus_bits"`
	ClockKHz        int    `json:"clock_khz"`
	AsyncEngines    int    `json:"async_engines"`
	Emulated        bool   `json:"emulated,omitempty"`
}

// Device is one opened device. Every method except Bind, Unbind, Info and
// Close must be called between Bind and Unbind, on the same goroutine: a CUDA
// context is current per operating-system thread.
//
// Work queued on a stream runs in order and asynchronously. Its errors may be returned by any later
// call.
type Device interface {
	Info() Info
	Close() error

	// Bind locks the goroutine to its thread and makes the device current.
	Bind() error
	Unbind()

	MemInfo() (free, total int64, err error)
	Alloc(bytes int64) (Ptr, error)
	Free(Ptr) error
	HostAlloc(bytes int) ([]byte, error) // pinned
	HostFree([]byte) error
	// HostPtr returns the address by which kernels access memory from HostAlloc.
	HostPtr([]byte) (Ptr, error)

	// Copies: host memory must be pinned and must not change until the copy is done.
	CopyIn(dst Ptr, src []byte, s Stream) error
	CopyOut(dst []byte, src Ptr, s Stream) error
	Copy(dst, src Ptr, bytes int64, s Stream) error
	Fill8(dst Ptr, v uint8, n int64, s Stream) error
	Fill32(dst Ptr, v uint32, n int64, s Stream) error

	NewStream() (Stream, error)
	FreeStream(Stream) error
	SyncStream(Stream) error
	StreamDone(Stream) (bool, error) // false: still busy
	WaitEvent(Stream, Event) error
	SyncDevice() error

	NewEvent(timing bool) (Event, error)
	FreeEvent(Event) error
	RecordEvent(Event, Stream) error
	SyncEvent(Event) error
	Elapsed(from, to Event) (milliseconds float32, err error)

	// LoadModule compiles PTX; its error includes the compiler's log.
	LoadModule(ptx string) (Module, error)
	FreeModule(Module) error
	Kernel(m Module, name string) (Kernel, error)
	// SetShared lets a kernel use the given number of bytes of dynamic shared memory.
	SetShared(k Kernel, bytes int) error
	// Occupancy returns the number of blocks of that size that fit on a multiprocessor.
	Occupancy(k Kernel, threads, shared int) (int, error)
	// Launch runs a kernel. args has its parameters as laid out in PTX, in memory from HostAlloc
	// with at least LaunchSpare bytes of further capacity.
	Launch(k Kernel, d Dim, args []byte, s Stream) error

	// BeginCapture makes the stream record work instead of running it; EndCapture returns the
	// recorded work as a graph.
	BeginCapture(Stream) error
	EndCapture(Stream) (Graph, error)
	FreeGraph(Graph) error
	LaunchGraph(Graph, Stream) error
}

// LaunchSpare is the number of bytes after a launch's arguments that the driver may use.
const LaunchSpare = 64

// Error is a failed driver call.
type Error struct {
	Op   string // what was being done: "cuMemAlloc"
	Code int    // CUresult
	Name string // CUDA_ERROR_OUT_OF_MEMORY
	Text string // out of memory
	Log  string // the PTX compiler's or the interpreter's message, if any
}

func (e *Error) Error() string {
	msg := fmt.Sprintf("%s: %s (%s, %d)", e.Op, e.Text, e.Name, e.Code)
	if e.Log != "" {
		msg += ": " + e.Log
	}
	return msg
}

// The codes that callers distinguish. The numbers are CUDA's.
const (
	InvalidValue      = 1
	OutOfMemory       = 2
	NoDevice          = 100
	InvalidDevice     = 101
	InvalidPTX        = 218
	UnsupportedPTX    = 222
	NotFound          = 500
	NotReady          = 600
	IllegalAddress    = 700
	LaunchOutOfShared = 701
	LaunchTimeout     = 702
	Assert            = 710
	HardwareStack     = 714
	IllegalInstr      = 715
	Misaligned        = 716
	InvalidSpace      = 717
	InvalidPC         = 718
	LaunchFailed      = 719
)

// Sticky reports whether the error destroyed the device's context: every later call would fail.
func (e *Error) Sticky() bool {
	switch e.Code {
	case IllegalAddress, LaunchTimeout, Assert, HardwareStack, IllegalInstr, Misaligned,
		InvalidSpace, InvalidPC, LaunchFailed:
		return true
	}
	return e.Code == 214 || e.Code == 220 // uncorrectable ECC, NVLink
}
