package dict

import (
	"context"
	"errors"
	"runtime"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/par"
)

// None is the number that IDs returns for words that are not in the dictionary.
const None = ^uint32(0)

// LookUpOptions are the options of File.IDs. The zero value uses all cores.
type LookUpOptions struct {
	// Engine is the engine. engine.GPU uses the device that the field Device names, which IDs
	// opens and closes; all others use CPU cores, engine.Sequential a single one.
	Engine  engine.Kind
	Threads int // 0 means GOMAXPROCS
	// Device is the GPU of engine.GPU; the zero value is the first one. Other engines ignore it.
	Device engine.Device
}

// IDs returns the number of each word of a text, and None for words that are not in the dictionary.
func (d *File) IDs(ctx context.Context, t *Text, o LookUpOptions) (ids []uint32, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if o.Engine == engine.GPU {
		g, err := d.OpenGPU(o.Device)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		return g.IDs(ctx, t)
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Engine == engine.Sequential {
		o.Threads = 1
	}
	const grain = 1 << 12 // about a millisecond
	ids = make([]uint32, t.Len())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	par.For(o.Threads, t.Len(), grain, func(_, lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		if err := Guarded(func() error {
			for i := lo; i < hi; i++ {
				ids[i] = d.number(t.Word(i))
			}
			return nil
		}); err != nil {
			cancel(err)
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return ids, nil
}

// number returns the ID of a word, or None if it is not in the dictionary.
func (d *File) number(word []byte) uint32 {
	if id, ok := d.ID(word); ok {
		return id
	}
	return None
}
