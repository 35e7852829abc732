package vectors

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
)

//go:embed kernels/*.ptx
var gpuModules embed.FS

func gpuModule(name string) *gpu.Source { return gpu.SourceIn(gpuModules, "vectors/"+name) }

// card is an open GPU, used for one job at a time.
type card struct {
	session *gpu.Session
	stream  *gpu.Stream
	memory  int64 // bound on the memory used; 0 means most of what is free
	arena   gpu.Kept
}

// openGPU opens a device. Its error wraps engine.ErrNoGPU if there is none.
func openGPU(d engine.Device) (*card, error) {
	s, err := gpu.OpenSession(d.Ordinal, 1)
	if err != nil {
		return nil, err
	}
	return useGPU(s, d.Memory), nil
}

func useGPU(s *gpu.Session, memory int64) *card {
	g := &card{session: s, stream: s.Streams[0], memory: memory}
	s.Keep(&g.arena)
	return g
}

// Close releases the device.
func (g *card) Close() error { return g.session.Close() }

// reserve reserves memory for a job, or returns how much is missing.
func (g *card) reserve(bytes int64, what string) error {
	if err := g.arena.Clear(); err != nil {
		return err
	}
	budget, err := g.session.Dev.Budget(g.memory)
	if err != nil {
		return err
	}
	if bytes > budget+g.arena.Bytes() {
		return fmt.Errorf("%s needs %v of the GPU's memory, and only %v are available", what,
			bytesize.Size(bytes), bytesize.Size(budget+g.arena.Bytes()))
	}
	return g.arena.Reserve(g.session.Dev, bytes, 2*bytes+1<<20)
}

// launch starts a kernel.
func (g *card) launch(src *gpu.Source, name string, dim gpu.Dim, args ...gpu.Arg) error {
	k, err := g.session.Dev.Kernel(src, name)
	if err != nil {
		return err
	}
	return g.stream.Launch(k, dim, args...)
}

// taken copies values to device memory from the arena.
func taken[T any](g *card, values []T) (gpu.Buffer[T], error) {
	b, err := gpu.Take[T](g.arena.Arena, len(values))
	if err == nil {
		err = b.Upload(g.stream, values)
	}
	return b, err
}

// roomFor returns the space that n values take in the arena.
func roomFor(n, size int) int64 { return int64(n)*int64(size) + 256 }

// chosen says on which engine a job runs.
type chosen struct {
	kind     engine.Kind
	device   engine.Device
	pays     bool         // whether auto tries a GPU
	emulated bool         // auto accepts the interpreter, for tests
	log      *slog.Logger // may be nil
}

// run runs a job on its engine. If auto chooses a GPU and that fails, the cores repeat the job,
// unless it is a training that does not converge, which is so on any engine.
func (c chosen) run(ctx context.Context, onGPU func(*card) error, onCores func() error) error {
	if c.kind != engine.GPU && (c.kind != engine.Auto || !c.pays) {
		return onCores()
	}
	err := func() (err error) {
		g, err := openGPU(c.device)
		if err != nil && c.kind == engine.GPU {
			return fmt.Errorf("%w; use auto, multicore or sequential", err)
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		if c.kind == engine.Auto && !c.emulated && g.session.Dev.Info().Emulated {
			return gpu.ErrEmulated
		}
		return onGPU(g)
	}()
	if c.kind == engine.GPU || err == nil || ctx.Err() != nil || errors.Is(err, errDiverges) {
		return err
	}
	if c.log != nil {
		c.log.Info("not on a GPU", "error", err)
	}
	return onCores()
}
