package impactdevice

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/text"
)

// Register puts this package before the device of other indexes, which must be registered.
func Register() {
	others, err := eval.TheDevice()
	if err != nil {
		panic(err)
	}
	eval.RegisterDevice(opener{others})
}

// opener opens an index of weighted tokens here, and any other by the other device.
type opener struct{ eval.Device }

func ofWeights(e *eval.Engine) bool { return text.OfWeights(e.Index.Analyzer()) }

func (x opener) Open(ctx context.Context, e *eval.Engine, kept eval.Kept, o ask.GPUOptions) (eval.OnDevice, error) {
	if !ofWeights(e) {
		return x.Device.Open(ctx, e, kept, o)
	}
	there, _ := kept.(*Kept)
	g, err := openGroup(ctx, e, there, o)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// OpenSegments loads segments one after the other, each with a share of the memory that is left.
func (x opener) OpenSegments(ctx context.Context, segments []*eval.Engine, kept []eval.Kept,
	o ask.GPUOptions) (all []eval.OnDevice, err error) {
	if len(segments) == 0 || !ofWeights(segments[0]) {
		return x.Device.OpenSegments(ctx, segments, kept, o)
	}
	defer func() {
		if err != nil {
			for _, g := range all {
				err = errors.Join(err, g.Close())
			}
			all = nil
		}
	}()
	left := int64(0) // postings to load
	there := map[*index.Reader]*Kept{}
	for _, k := range kept {
		there[k.Of()] = k.(*Kept)
	}
	for _, e := range segments {
		if there[e.Index] == nil {
			left += e.Index.Postings()
		}
	}
	total, before, budget := left, int64(0), o.Device.Memory
	for i, e := range segments {
		part := o
		if there[e.Index] == nil {
			if part.Device.Memory, err = shareOf(o, budget, len(segments)-i, e.Index.Postings(), left); err != nil {
				return all, err
			}
			budget -= part.Device.Memory
			if o.Progress != nil {
				part.Progress = func(n, _ int64) { o.Progress(before+n, total) }
			}
		}
		g, err := openGroup(ctx, e, there[e.Index], part)
		if err != nil {
			return all, err
		}
		all = append(all, g)
		if there[e.Index] == nil {
			left, before = left-e.Index.Postings(), before+e.Index.Postings()
		}
	}
	return all, nil
}

// shareOf returns the memory for one of the segments that are to be loaded: half of what is left in
// equal parts, and half by size.
func shareOf(o ask.GPUOptions, budget int64, segments int, postings, left int64) (int64, error) {
	if o.Device.Memory <= 0 {
		dev, err := gpu.Several(o.Device, nil)[0].Open()
		if err != nil {
			return 0, fmt.Errorf("search: %w", err)
		}
		free, err := dev.Budget(0)
		if err = errors.Join(err, dev.Close()); err != nil {
			return 0, fmt.Errorf("search: %w", err)
		}
		budget = free
	}
	return max(1, budget/2/int64(segments)+int64(float64(budget/2)*float64(postings)/float64(max(left, 1)))), nil
}

// Group is one index on one device or several, each of which has a full copy.
type Group struct {
	all  []*Index
	turn atomic.Uint32
}

func openGroup(ctx context.Context, e *eval.Engine, kept *Kept, o ask.GPUOptions) (*Group, error) {
	g := &Group{}
	for i, d := range gpu.Several(o.Device, o.Also) {
		one := o
		one.Device = d.Device
		var there *store
		var dev *gpu.Device
		if kept.serves(&o) {
			there = kept.parts[i]
			dev = there.dev
		} else {
			var err error
			if dev, err = d.Open(); err != nil {
				return nil, errors.Join(fmt.Errorf("search: %w", err), g.Close())
			}
		}
		x, err := open(ctx, e, dev, there, one)
		if err != nil {
			return nil, errors.Join(err, g.Close())
		}
		g.all = append(g.all, x)
	}
	return g, nil
}

// Answer answers a request on one of the devices, in turn.
func (g *Group) Answer(ctx context.Context, r ask.Request) (*ask.Result, error) {
	return g.next().Answer(ctx, r)
}

func (g *Group) next() *Index { return g.all[int(g.turn.Add(1))%len(g.all)] }

// Batch answers requests on one of the devices, in turn.
func (g *Group) Batch(ctx context.Context, requests iter.Seq[ask.Request], b ask.Batch, _ bool,
	do func(int, *ask.Result) (any, error), yield func(any, error) bool) {
	g.next().answerBatch(ctx, requests, b, do, yield)
}

// Profile answers requests on the first device in one launch, several times, and returns the best
// time of each stage.
func (g *Group) Profile(ctx context.Context, requests []ask.Request, runs int, _ bool) ([]ask.GPUStage, error) {
	return g.all[0].profile(ctx, requests, runs)
}

// Memory returns the free and the total memory of all devices together.
func (g *Group) Memory() (free, total int64, err error) {
	for _, x := range g.all {
		f, t, err := x.st.dev.MemInfo()
		if err != nil {
			return 0, 0, fmt.Errorf("search: %w", err)
		}
		free, total = free+f, total+t
	}
	return free, total, nil
}

// HandOver says who answers the requests of a batch that are not plain words.
func (g *Group) HandOver(to func(context.Context, ask.Request) (*ask.Result, error)) {
	for _, x := range g.all {
		x.elsewhere = to
	}
}

// Opening returns the steps of opening on the first device, with their times.
func (g *Group) Opening() []ask.GPUStage { return g.all[0].opening }

// Close closes all indexes.
func (g *Group) Close() error {
	var errs []error
	for _, x := range g.all {
		errs = append(errs, x.Close())
	}
	return errors.Join(errs...)
}

// Kept returns a reference to the lists on the devices, or nil if one does not have all of them.
func (g *Group) Kept() eval.Kept {
	k := &Kept{index: g.all[0].e.Index}
	for _, x := range g.all {
		if !x.st.whole {
			return nil
		}
		k.parts = append(k.parts, x.st)
	}
	return k.Another()
}

// Kept is a reference to the lists of an index on devices, held for another generation with the
// same segment. Its owner must release it.
type Kept struct {
	index *index.Reader
	parts []*store // by device
}

// Of returns the index.
func (k *Kept) Of() *index.Reader { return k.index }

// Another adds a reference.
func (k *Kept) Another() eval.Kept {
	for _, st := range k.parts {
		st.users.Add(1)
	}
	return k
}

// Release drops a reference. The last one frees the memory.
func (k *Kept) Release() error {
	var errs []error
	for _, st := range k.parts {
		errs = append(errs, st.release())
	}
	return errors.Join(errs...)
}

// serves reports whether the lists are on the devices that options name.
func (k *Kept) serves(o *ask.GPUOptions) bool {
	if k == nil || len(k.parts) != 1+len(o.Also) ||
		k.parts[0].dev.Info().Ordinal != o.Device.Ordinal {
		return false
	}
	for i, d := range o.Also {
		if k.parts[1+i].dev.Info().Ordinal != d.Ordinal {
			return false
		}
	}
	return true
}
