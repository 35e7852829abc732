package device

import (
	"context"
	"iter"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
)

// Register lets package search answer on GPUs.
func Register() { eval.RegisterDevice(opener{}) }

// opener is this package as package search sees it.
type opener struct{}

func (opener) Open(ctx context.Context, e *eval.Engine, kept eval.Kept, o Options) (eval.OnDevice, error) {
	there, _ := kept.(*Kept)
	g, err := OpenGroup(ctx, e, there, o)
	if err != nil {
		return nil, err
	}
	return g, nil
}

func (opener) OpenSegments(ctx context.Context, segments []*eval.Engine, kept []eval.Kept,
	o Options) ([]eval.OnDevice, error) {
	var there []*Kept
	for _, k := range kept {
		there = append(there, k.(*Kept))
	}
	groups, err := OpenSegments(ctx, segments, there, o)
	if err != nil {
		return nil, err
	}
	var all []eval.OnDevice
	for _, g := range groups {
		all = append(all, g)
	}
	return all, nil
}

func (opener) Real(ordinal int) bool {
	devices, err := gpu.Devices()
	return err == nil && ordinal < len(devices) && !devices[ordinal].Emulated
}

// Batch is BatchOver for results of any type.
func (g *Group) Batch(ctx context.Context, requests iter.Seq[ask.Request], b ask.Batch, reuse bool,
	do func(int, *ask.Result) (any, error), yield func(any, error) bool) {
	BatchOver(ctx, g, requests, b, reuse, do, yield)
}

// Kept is Keep.
func (g *Group) Kept() eval.Kept {
	if k := g.Keep(); k != nil {
		return k
	}
	return nil
}

// Of returns the index.
func (k *Kept) Of() *index.Reader { return k.Index }

// Another is Again.
func (k *Kept) Another() eval.Kept { return k.Again() }
