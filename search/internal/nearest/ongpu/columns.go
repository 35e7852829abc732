package ongpu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/nearest"
)

// Register lets package search find nearest vectors on GPUs.
func Register() { nearest.RegisterDevice(opener{}) }

type opener struct{}

func (opener) Open(o ask.GPUOptions) (nearest.OnDevice, error) {
	s, err := gpu.OpenSession(o.Device.Ordinal, 1)
	if err != nil {
		return nil, err
	}
	return Use(s, o.Device.Memory), nil
}

// Use holds vectors in a session, which the last reference closes. At most the given memory of the
// device is used, with what other parts of the program use there; 0 means most of what is free.
func Use(s *gpu.Session, memory int64) nearest.OnDevice {
	g := &group{session: s, stream: s.Streams[0], memory: memory, rooms: usual,
		columns: map[*dense.Column]*column{}, handles: 1}
	s.Keep(&g.scratch)
	return &handle{g, map[*dense.Column]bool{}}
}

// handle is one reference to the vectors on a device.
type handle struct {
	g    *group
	uses map[*dense.Column]bool
}

// group is what all references share. One search at a time uses it.
type group struct {
	mu      sync.Mutex
	session *gpu.Session
	stream  *gpu.Stream
	scratch gpu.Kept
	memory  int64
	rooms   rooms
	trace   func(stage string, took time.Duration) // for measurements; nil otherwise
	handles int
	columns map[*dense.Column]*column
}

// column is a column on the device.
type column struct {
	users                int // handles
	codes                gpu.Buffer[int8]
	scales, rests, norms gpu.Buffer[float32]
	rows                 gpu.Buffer[byte] // the codes, if they are the numbers
	summed               bool             // rows are there
	deepest              int              // the most vectors that a document has
}

func (c *column) free() error {
	err := errors.Join(c.codes.Free(), c.scales.Free(), c.rests.Free(), c.norms.Free())
	if c.summed && c.rows.Len() > 0 {
		err = errors.Join(err, c.rows.Free())
	}
	return err
}

func (h *handle) Another(columns []*dense.Column) nearest.OnDevice {
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	g.handles++
	other := &handle{g, map[*dense.Column]bool{}}
	for _, c := range columns {
		if on := g.columns[c]; on != nil && !other.uses[c] {
			on.users++
			other.uses[c] = true
		}
	}
	return other
}

func (h *handle) Close() (err error) {
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range h.uses {
		on := g.columns[c]
		if on.users--; on.users == 0 {
			err = errors.Join(err, on.free())
			delete(g.columns, c)
		}
	}
	h.uses = nil
	if g.handles--; g.handles == 0 {
		err = errors.Join(err, g.session.Close())
	}
	return err
}

// left returns the memory that may still be taken.
func (g *group) left() (int64, error) {
	free, total, err := g.session.Dev.MemInfo()
	if err != nil {
		return 0, err
	}
	most := free / 10 * 9
	if g.memory > 0 {
		most = min(most, g.memory-(total-free))
	}
	return max(0, most), nil
}

// bytesOf returns the bytes of a column on the device: what a pass needs, and the rows.
func bytesOf(c *dense.Column) (pass, rows int64) {
	_, count := c.Rows(0, c.Docs())
	pass = int64(count) * int64(dense.Stride(c.Field().Dim)+3*4)
	if _, width, _ := c.RowBytes(0, 0); c.Field().Precision != fields.Int8 {
		rows = int64(count) * int64(width)
	}
	return pass, rows
}

// bring brings columns to the device that are not there yet. It returns the reason if they do not
// fit.
func (h *handle) bring(ctx context.Context, parts []nearest.Part, scratch int64) (on []*column, why string, err error) {
	g := h.g
	need, rows := int64(0), int64(0)
	for _, p := range parts {
		if g.columns[p.Column] == nil {
			a, b := bytesOf(p.Column)
			need, rows = need+a, rows+b
		}
	}
	if need > 0 {
		left, err := g.left()
		if err != nil {
			return nil, "", err
		}
		left += g.scratch.Bytes()
		if need+scratch > left {
			return nil, fmt.Sprintf("the vectors need %v of the GPU's memory, and only %v are available",
				bytesize.Size(need+scratch), bytesize.Size(left)), nil
		}
		withRows := need+rows+scratch <= left
		for _, p := range parts {
			if g.columns[p.Column] != nil {
				continue
			}
			c, err := g.load(ctx, p.Column, withRows)
			if err != nil {
				return nil, "", err
			}
			c.users, h.uses[p.Column], g.columns[p.Column] = 1, true, c
		}
	}
	for _, p := range parts {
		c := g.columns[p.Column]
		if !h.uses[p.Column] {
			h.uses[p.Column] = true
			c.users++
		}
		on = append(on, c)
	}
	return on, "", nil
}

// chunkBytes is how many bytes are brought to the device between two looks at the context.
const chunkBytes = 64 << 20

// load brings a column to the device.
func (g *group) load(ctx context.Context, c *dense.Column, withRows bool) (_ *column, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	on := &column{}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.stream.Sync(context.WithoutCancel(ctx)), on.free())
		}
	}()
	dev := g.session.Dev
	_, count := c.Rows(0, c.Docs())
	_, width, err := c.RowBytes(0, 0)
	if err != nil {
		return nil, err
	}
	stride := dense.Stride(c.Field().Dim)
	if on.codes, err = gpu.Alloc[int8](dev, count*stride); err != nil {
		return nil, err
	}
	for _, to := range []*gpu.Buffer[float32]{&on.scales, &on.rests, &on.norms} {
		if *to, err = gpu.Alloc[float32](dev, count); err != nil {
			return nil, err
		}
	}
	own := withRows && c.Field().Precision != fields.Int8
	if own {
		if on.rows, err = gpu.Alloc[byte](dev, count*width); err != nil {
			return nil, err
		}
		on.summed = true
	}
	step := max(1, chunkBytes/(stride+width))
	for from := 0; from < count; from += step {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(count, from+step)
		v, err := c.Parts(from, to)
		if err == nil {
			err = errors.Join(on.codes.Slice(from*stride, to*stride).Upload(g.stream, v.Codes),
				on.scales.Slice(from, to).Upload(g.stream, v.Scales),
				on.rests.Slice(from, to).Upload(g.stream, v.Rests),
				on.norms.Slice(from, to).Upload(g.stream, v.Norms))
		}
		if err == nil && own {
			rows, _, failed := c.RowBytes(from, to)
			if err = failed; err == nil {
				err = on.rows.Slice(from*width, to*width).Upload(g.stream, rows)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	on.deepest = 1
	for d := range c.Docs() {
		first, end := c.Rows(d, d+1)
		on.deepest = max(on.deepest, end-first)
	}
	return on, g.stream.Sync(ctx)
}
