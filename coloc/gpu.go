package coloc

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
)

//go:embed kernels/join.ptx
var joinPTX string

//go:embed kernels/profile.ptx
var profilePTX string

//go:embed kernels/lattice.ptx
var latticePTX string

var (
	joinKernels    = gpu.NewSource("coloc/join", joinPTX)
	profileKernels = gpu.NewSource("coloc/profile", profilePTX)
	latticeKernels = gpu.NewSource("coloc/lattice", latticePTX)
)

// GPU is an open device that keeps its memory from one job to the next. Without one in the options,
// a job opens the device and closes it again, which takes longer than most jobs. It runs one job at
// a time; others wait.
type GPU struct {
	session *gpu.Session
	dev     *gpu.Device // of the session
	s       *gpu.Stream
	budget  int64

	mu     sync.Mutex
	arenas [3]gpu.Kept
}

// The arenas.
const (
	pointMemory   = iota // points and places
	profileMemory        // lists of neighbours and profiles
	patternMemory        // columns and patterns
)

// OpenGPU opens a device for co-location. Its error wraps engine.ErrNoGPU if there is none.
func OpenGPU(which engine.Device) (*GPU, error) {
	s, err := gpu.OpenSession(which.Ordinal, 1)
	if err != nil {
		return nil, err
	}
	return newGPU(s, which.Memory)
}

// newGPU is OpenGPU in a session, which it closes on errors. memory bounds the device memory of
// jobs; 0 means most of what is free.
func newGPU(s *gpu.Session, memory int64) (*GPU, error) {
	budget, err := s.Dev.Budget(memory)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	g := &GPU{session: s, dev: s.Dev, s: s.Streams[0], budget: budget}
	for i := range g.arenas {
		g.session.Keep(&g.arenas[i])
	}
	return g, nil
}

// Name returns the name of the device.
func (g *GPU) Name() string { return g.dev.Info().Name }

// Close frees the device and its memory.
func (g *GPU) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.session.Close()
}

// gpuRun is one job on a device. It keeps the first error, after which calls do nothing.
type gpuRun struct {
	*GPU
	ctx   context.Context
	job   *job
	arena *gpu.Arena // from which take allocates
	last  time.Time
	err   error
}

// onGPU runs a job on the options' device, or on one opened for it.
func onGPU(ctx context.Context, j *job, do func(*gpuRun) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := j.GPU
	if d == nil {
		if d, err = OpenGPU(j.Device); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
	}
	if j.instead != engine.Auto && d.dev.Info().Emulated {
		return gpu.ErrEmulated
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	release, err := d.dev.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	r := &gpuRun{GPU: d, ctx: ctx, job: j, last: time.Now()}
	defer func() {
		// Kernels may still use memory that the next job will reuse.
		err = errors.Join(err, d.s.Sync(context.Background()))
		for i := range d.arenas {
			err = errors.Join(err, d.arenas[i].Clear())
		}
	}()
	return do(r)
}

// use makes an arena the one from which take allocates, with at least the given number of bytes.
// what names the step that needs them, for errors.
func (r *gpuRun) use(arena int, bytes int64, what string) {
	if r.err != nil {
		return
	}
	others := int64(0)
	for i := range r.arenas {
		if i != arena {
			others += r.arenas[i].Bytes()
		}
	}
	if others+bytes > r.budget {
		// Later arenas may be left over from a job that needed more than this one.
		for i := arena + 1; i < len(r.arenas); i++ {
			r.drop(i)
		}
		others = 0
		for i := range arena {
			others += r.arenas[i].Bytes()
		}
	}
	if others+bytes > r.budget {
		r.fail(fmt.Errorf("%s needs %v of device memory, and %v of %v are free: raise --gpu-memory or use --engine multicore", what, bytesize.Size(bytes), bytesize.Size(r.budget-others), bytesize.Size(r.budget)))
		return
	}
	kept := &r.arenas[arena]
	if kept.Arena == nil || kept.Bytes() < bytes {
		r.drop(arena)
		if r.err != nil {
			return
		}
		if err := kept.Reserve(r.dev, bytes, 0); err != nil {
			r.fail(fmt.Errorf("%s: %w", what, err))
			return
		}
	}
	r.arena = kept.Arena
}

// drop frees an arena.
func (r *gpuRun) drop(arena int) {
	if k := &r.arenas[arena]; k.Arena != nil {
		r.fail(r.s.Sync(r.ctx))
		r.fail(k.Free())
	}
}

// fail keeps the first error.
func (r *gpuRun) fail(err error) {
	if r.err == nil && err != nil {
		r.err = err
	}
}

// take allocates n values, which are undefined.
func take[T any](r *gpuRun, n int) (b gpu.Buffer[T]) {
	if r.err != nil {
		return b
	}
	b, err := gpu.Take[T](r.arena, n)
	r.fail(err)
	return b
}

// zeros allocates n values, all zero.
func zeros[T any](r *gpuRun, n int) gpu.Buffer[T] {
	b := take[T](r, n)
	if r.err == nil {
		r.fail(b.Zero(r.s))
	}
	return b
}

// put copies values to the device.
func put[T any](r *gpuRun, values []T) gpu.Buffer[T] {
	b := take[T](r, len(values))
	if r.err == nil {
		r.fail(b.Upload(r.s, values))
	}
	return b
}

// get waits and copies the first n values to the host.
func get[T any](r *gpuRun, b gpu.Buffer[T], n int) []T {
	values := make([]T, n)
	if r.err == nil && n > 0 {
		r.fail(b.Download(r.ctx, r.s, values))
	}
	return values
}

// argOf returns a buffer as an argument of a kernel, null if it is empty.
func argOf[T any](b gpu.Buffer[T]) gpu.Arg {
	if b.Len() == 0 {
		return gpu.Null()
	}
	return b.Arg()
}

// gpuThreads is the number of threads of most blocks: kThreads in the kernels.
const gpuThreads = 256

// launch starts a kernel with at least the given number of threads, in blocks of gpuThreads.
func (r *gpuRun) launch(src *gpu.Source, name string, threads int, args ...gpu.Arg) {
	r.launchBlocks(src, name, (threads+gpuThreads-1)/gpuThreads, gpuThreads, args...)
}

func (r *gpuRun) launchBlocks(src *gpu.Source, name string, blocks, threads int, args ...gpu.Arg) {
	if r.err != nil || blocks == 0 {
		return
	}
	k, err := r.dev.Kernel(src, name)
	if err == nil {
		err = r.s.Launch(k, gpu.Grid(blocks, threads), args...)
	}
	r.fail(err)
}

// stage reports to Trace how long the job took since the previous stage. It has to wait for the
// device, which slows the job down.
func (r *gpuRun) stage(name string) {
	if r.job.Trace == nil || r.err != nil {
		return
	}
	r.fail(r.s.Sync(r.ctx))
	now := time.Now()
	r.job.Trace(name, now.Sub(r.last))
	r.last = now
}
