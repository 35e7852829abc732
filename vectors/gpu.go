package vectors

import (
	"context"
	"embed"
	"errors"
	"fmt"

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

// begin begins a job with the given number of bytes of memory, or says how much is missing.
func (g *card) begin(ctx context.Context, bytes int64, what string) *gpu.Job {
	j := g.session.Begin(ctx, g.stream, nil, nil)
	j.Do(g.arena.Clear)
	j.Do(func() error {
		budget, err := g.session.Dev.Budget(g.memory)
		if err != nil {
			return err
		}
		if most := budget + g.arena.Bytes(); bytes > most {
			return fmt.Errorf("%s needs %v of the GPU's memory, and only %v are available", what,
				bytesize.Size(bytes), bytesize.Size(most))
		}
		return g.arena.Reserve(g.session.Dev, bytes, 2*bytes+1<<20)
	})
	j.Arena = g.arena.Arena
	return j
}

// roomFor returns the space that n values take in the arena.
func roomFor(n, size int) int64 { return int64(n)*int64(size) + 256 }

// withGPU opens the device, unless the choice does not accept it, runs a job there and closes it.
func withGPU(c gpu.Choice, d engine.Device, job func(*card) error) (err error) {
	g, err := openGPU(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if err := c.Accepts(g.session.Dev); err != nil {
		return err
	}
	return job(g)
}
