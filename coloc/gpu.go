package coloc

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

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

// GPU is an open device, or several that share each job. It keeps its memory from one job to the
// next. Without one in the options, a job opens the device and closes it again, which takes longer
// than most jobs. It runs one job at a time; others wait.
type GPU struct {
	on      gpu.Named
	session *gpu.Session
	dev     *gpu.Device // of the session
	budget  int64
	arenas  [3]gpu.Kept
	others  []*GPU // that share the jobs
}

// The arenas.
const (
	pointMemory   = iota // points and places
	profileMemory        // lists of neighbours and profiles
	patternMemory        // columns and patterns
)

// OpenGPU opens a device for co-location, and further ones that share its jobs. Its error wraps
// engine.ErrNoGPU if there is none.
func OpenGPU(which engine.Device, also ...engine.Device) (*GPU, error) {
	all, err := gpu.OpenEach(which, also, func(d gpu.Named) (*GPU, error) {
		s, err := d.OpenSession(1)
		if err != nil {
			return nil, err
		}
		g, err := newGPU(s, d.Memory)
		if err == nil {
			g.on = d
		}
		return g, err
	})
	if err != nil {
		return nil, err
	}
	all[0].others = all[1:]
	return all[0], nil
}

// newGPU is OpenGPU in a session, which it closes on errors. memory bounds the device memory of
// jobs; 0 means most of what is free.
func newGPU(s *gpu.Session, memory int64) (*GPU, error) {
	budget, err := s.Dev.Budget(memory)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	g := &GPU{session: s, dev: s.Dev, budget: budget}
	for i := range g.arenas {
		g.session.Keep(&g.arenas[i])
	}
	return g, nil
}

// Name returns the name of the device.
func (g *GPU) Name() string { return g.dev.Info().Name }

// Close frees the devices and their memory.
func (g *GPU) Close() error {
	err := g.session.Close()
	for _, o := range g.others {
		err = errors.Join(err, o.Close())
	}
	return err
}

// gpuRun is one job on a device.
type gpuRun struct {
	*GPU
	*gpu.Job
	job *job
}

// onGPU runs a job on the options' device, or on one opened for it: the first of several.
func onGPU(ctx context.Context, j *job, do func(*gpuRun) error) error {
	return onGPUs(ctx, j, func(all gpuRuns) error { return do(all[0]) })
}

// onGPUs runs a job on the options' devices, or on those opened for it.
func onGPUs(ctx context.Context, j *job, do func(gpuRuns) error) (err error) {
	d := j.GPU
	if d == nil {
		if d, err = OpenGPU(j.Device, j.Also...); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
	}
	if err := j.choice().Accepts(d.dev); err != nil {
		return err
	}
	var all gpuRuns
	hold := func() error {
		err := do(all)
		for _, r := range all {
			if e := r.End(); err == nil {
				err = e
			}
		}
		return err
	}
	// Devices are held in order, so that no two jobs wait for each other.
	for _, g := range slices.Backward(append([]*GPU{d}, d.others...)) {
		inner := hold
		hold = func() error {
			return g.session.Hold(ctx, func() error {
				all = append(all, &gpuRun{GPU: g, Job: g.session.Begin(ctx, g.session.Streams[0], nil, j.Trace), job: j})
				return inner()
			})
		}
	}
	return hold()
}

// gpuRuns is one job on several devices.
type gpuRuns []*gpuRun

// each runs a step on all devices at the same time. The first error ends the job on all of them.
func (all gpuRuns) each(ctx context.Context, step func(i int, r *gpuRun) error) error {
	return gpu.Together(ctx, len(all), func(ctx context.Context, i int) error {
		r := all[i]
		defer func(before context.Context) { r.Ctx = before }(r.Ctx)
		r.Ctx = ctx
		r.Fail(step(i, r))
		if err := r.Err(); err != nil && len(all) > 1 {
			return fmt.Errorf("GPU %d: %w", r.on.Ordinal, err)
		}
		return r.Err()
	})
}

// use makes an arena the one from which a job takes memory, with at least the given number of
// bytes. what names the step that needs them, for errors.
func (r *gpuRun) use(arena int, bytes int64, what string) {
	if r.Err() != nil {
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
		r.Fail(fmt.Errorf("%s needs %v of device memory, and %v of %v are free: "+
			"raise engine.Device.Memory or use coloc.Options.Engine=multicore", what, bytesize.Size(bytes),
			bytesize.Size(r.budget-others), bytesize.Size(r.budget)))
		return
	}
	kept := &r.arenas[arena]
	if kept.Arena == nil || kept.Bytes() < bytes {
		r.drop(arena)
		r.Do(func() error {
			if err := kept.Reserve(r.dev, bytes, 0); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			return nil
		})
	}
	r.Arena = kept.Arena
}

// drop frees an arena.
func (r *gpuRun) drop(arena int) {
	if k := &r.arenas[arena]; k.Arena != nil {
		r.Sync()
		r.Fail(k.Free())
	}
}
