package gpu

import (
	"embed"
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// Source is a PTX file that is embedded in the program. Make one per file:
//
//	//go:embed kernels/scan.ptx
//	var scanPTX string
//	var scanSource = gpu.NewSource("prim/scan", scanPTX)
//
// or, for many files:
//
//	//go:embed kernels/*.ptx
//	var kernels embed.FS
//	var scanSource = gpu.SourceIn(kernels, "prim/scan")
type Source struct {
	Name string

	text    func() (string, error)
	entries func() ([]driver.Entry, error)
}

// NewSource returns a source whose text is parsed when a kernel of it is first requested. Its name
// is that of folder and file: "prim/scan".
func NewSource(name, text string) *Source {
	return newSource(name, func() (string, error) { return text, nil })
}

// SourceIn returns the source of a file in a folder kernels. Reading an embedded file copies it,
// and all kernels together are megabytes, so the file is read when a kernel is first requested.
func SourceIn(files embed.FS, name string) *Source {
	return newSource(name, sync.OnceValues(func() (string, error) {
		b, err := files.ReadFile("kernels/" + path.Base(name) + ".ptx")
		return string(b), err
	}))
}

// kernels are the files of folders, by the first part of the names of sources.
var kernels = map[string]embed.FS{}

// RegisterKernels is called by packages that embed the PTX files of another, so that programs
// without a GPU need not have them.
func RegisterKernels(folder string, files embed.FS) { kernels[folder] = files }

// Registered returns the source of a file that RegisterKernels was called with, before or after.
func Registered(name string) *Source {
	return newSource(name, sync.OnceValues(func() (string, error) {
		files, ok := kernels[path.Dir(name)]
		if !ok {
			return "", errNotImported
		}
		b, err := files.ReadFile(path.Base(name) + ".ptx")
		return string(b), err
	}))
}

func newSource(name string, text func() (string, error)) *Source {
	s := &Source{Name: name, text: text, entries: sync.OnceValues(func() ([]driver.Entry, error) {
		t, err := text()
		if err != nil {
			return nil, err
		}
		if parse == nil {
			return nil, errNotImported
		}
		return parse(t)
	})}
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	sources = append(sources, s)
	return s
}

// parse lists the kernels of a PTX text.
var parse func(text string) ([]driver.Entry, error)

// RegisterParser is called by package real.
func RegisterParser(of func(text string) ([]driver.Entry, error)) { parse = of }

// Entries returns the kernels of the source.
func (s *Source) Entries() ([]driver.Entry, error) { return s.entries() }

type kernelKey struct {
	source *Source
	name   string
}

// Kernel is a function on a device. It lives as long as the device.
type Kernel struct {
	dev    *Device
	h      driver.Kernel
	name   string
	params []driver.Param
	bytes  int
	static int
	fills  atomic.Int64 // blocks<<32 | threads of the last call of Resident
}

// Kernel returns a kernel by its name. Its module is compiled on first use.
func (d *Device) Kernel(src *Source, name string) (*Kernel, error) {
	key := kernelKey{src, name}
	d.mu.Lock()
	k, ok := d.kernels[key]
	d.mu.Unlock()
	if ok {
		return k, nil
	}
	entries, err := src.Entries()
	if err != nil {
		return nil, fmt.Errorf("kernels %s: %w", src.Name, err)
	}
	at := slices.IndexFunc(entries, func(e driver.Entry) bool { return e.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("kernels %s: no kernel %s", src.Name, name)
	}
	entry := &entries[at]
	k = &Kernel{dev: d, name: name, params: entry.Params, bytes: entry.ParamBytes, static: entry.Static}
	if err := d.do(func() error { return d.resolve(k, src) }); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kernels[key] = k
	return k, nil
}

// resolve loads the module, unless it is loaded already, and finds the kernel in it.
func (d *Device) resolve(k *Kernel, src *Source) error {
	d.mu.Lock()
	m, ok := d.modules[src]
	d.mu.Unlock()
	if !ok {
		text, err := src.text()
		if err != nil {
			return err
		}
		if m, err = d.d.LoadModule(text); err != nil {
			return err
		}
		d.mu.Lock()
		if other, raced := d.modules[src]; raced {
			d.mu.Unlock()
			if err := d.d.FreeModule(m); err != nil {
				return err
			}
			m = other
		} else {
			d.modules[src] = m
			d.mu.Unlock()
		}
	}
	h, err := d.d.Kernel(m, k.name)
	k.h = h
	return err
}

// AllowShared lets launches request the given number of bytes of dynamic shared memory. It is
// required where static and dynamic shared memory exceed 48 KB together, and otherwise does
// nothing.
func (k *Kernel) AllowShared(bytes int) error {
	if bytes+k.static <= k.dev.info.SharedPerBlock {
		return nil
	}
	return k.dev.do(func() error { return k.dev.d.SetShared(k.h, bytes) })
}

// StaticShared returns the bytes of shared memory of a block, without dynamic shared memory.
func (k *Kernel) StaticShared() int { return k.static }

// Occupancy returns the number of blocks of that size that fit on a multiprocessor at a time.
func (k *Kernel) Occupancy(threads, shared int) (n int, err error) {
	err = k.dev.do(func() (err error) {
		n, err = k.dev.d.Occupancy(k.h, threads, shared)
		return err
	})
	return n, err
}

// Resident returns the number of blocks of that size that fit on the device at a time, without
// dynamic shared memory: the grid of a persistent kernel. The answer of the driver is kept.
func (k *Kernel) Resident(threads int) (int, error) {
	if f := k.fills.Load(); f&0xffffffff == int64(threads) {
		return int(f >> 32), nil
	}
	n, err := k.Occupancy(threads, 0)
	if err != nil {
		return 0, err
	}
	n = max(n, 1) * k.dev.Info().Multiprocessors
	k.fills.Store(int64(n)<<32 | int64(threads))
	return n, nil
}

// Arg is one argument of a launch. Its size must be the parameter's.
type Arg struct {
	bits uint64
	size int
}

func U8(v uint8) Arg    { return Arg{uint64(v), 1} }
func U32(v uint32) Arg  { return Arg{uint64(v), 4} }
func I32(v int32) Arg   { return Arg{uint64(uint32(v)), 4} }
func U64(v uint64) Arg  { return Arg{v, 8} }
func I64(v int64) Arg   { return Arg{uint64(v), 8} }
func F32(v float32) Arg { return Arg{uint64(math.Float32bits(v)), 4} }
func F64(v float64) Arg { return Arg{math.Float64bits(v), 8} }

// Null is a null pointer.
func Null() Arg { return Arg{0, 8} }

// pack lays the arguments out as the kernel's PTX declares them.
func (k *Kernel) pack(buf []byte, args []Arg) ([]byte, error) {
	if len(args) != len(k.params) {
		return nil, fmt.Errorf("kernel %s: %d arguments: want %d", k.name, len(args), len(k.params))
	}
	if k.bytes > len(buf) {
		return nil, fmt.Errorf("kernel %s: %d bytes of arguments: want at most %d", k.name, k.bytes,
			len(buf))
	}
	for i := range args {
		p := &k.params[i]
		if p.Size != args[i].size {
			return nil, fmt.Errorf("kernel %s: argument %d has %d bytes, its parameter %d (%s)",
				k.name, i, args[i].size, p.Size, p.Type)
		}
		switch p.Size {
		case 8:
			binary.LittleEndian.PutUint64(buf[p.Offset:], args[i].bits)
		case 4:
			binary.LittleEndian.PutUint32(buf[p.Offset:], uint32(args[i].bits))
		default:
			buf[p.Offset] = byte(args[i].bits)
		}
	}
	return buf[:k.bytes], nil
}

// Threads is the number of threads of most blocks: kThreads in the kernels.
const Threads = 256

// Dim is the shape of a launch.
type Dim = driver.Dim

// Grid is a launch of the given number of blocks of the given number of threads.
func Grid(blocks, threads int) Dim {
	return Dim{Blocks: [3]int{blocks, 1, 1}, Threads: [3]int{threads, 1, 1}}
}

// GridShared is Grid with dynamic shared memory.
func GridShared(blocks, threads, shared int) Dim {
	d := Grid(blocks, threads)
	d.Shared = shared
	return d
}
