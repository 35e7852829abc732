package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
)

// Stage is a step of a batch on the device, with its time there.
type Stage = ask.GPUStage

// Profile answers requests as one launch, step by step, and returns the best time of each step over
// several runs.
func (g *Index) Profile(ctx context.Context, requests []ask.Request, runs int,
	guess bool) ([]Stage, error) {
	stages, err := g.profileBatch(ctx, requests, runs, guess)
	if err != nil {
		return nil, fmt.Errorf("search: profile: %w", err)
	}
	return stages, nil
}

func (g *Index) profileBatch(ctx context.Context, requests []ask.Request, runs int,
	guess bool) (stages []Stage, err error) {
	if len(requests) == 0 {
		return nil, errors.New("no requests")
	}
	for i := range requests {
		if why := g.unknown(requests[i].Model); why != "" {
			return nil, ask.Refuse("%s", why)
		}
	}
	resolved, at := make([]resolvedRequest, len(requests)), []int32(nil)
	var a resolver
	for i := range requests {
		if resolved[i] = a.resolve(g, &requests[i]); resolved[i].fits() {
			at = append(at, int32(i))
		}
	}
	w, err := g.s.Weigher(requests[0].Model)
	if err != nil {
		return nil, err
	}
	l, err := g.lanes.take(g)
	if err != nil {
		return nil, err
	}
	defer g.lanes.give(l)
	m, unlock, err := g.enterLists(requests[0].Model, resolved, at)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New(tooLargeToHold)
	}
	defer unlock()
	l.p.begin(len(at), m, w, !guess, l.host.Values(), l.hostOwn.Values(), &l.limits)
	if !l.p.place(resolved, at, &l.limits) {
		return nil, errors.New("more requests than a launch can have")
	}
	l.p.writeHead()
	return g.timeSteps(l.stream, l.steps(m), runs)
}

// timeSteps returns the shortest time of each step over several runs. Before each run the caches
// are filled with other data.
func (g *Index) timeSteps(stream *gpu.Stream, steps []gpuStep,
	runs int) (stages []Stage, err error) {
	var marks []*gpu.Event
	defer func() {
		for _, e := range marks {
			err = errors.Join(err, e.Free())
		}
	}()
	for range len(steps) + 1 {
		e, err := g.dev.NewEvent()
		if err != nil {
			return nil, err
		}
		marks = append(marks, e)
	}
	stages = make([]Stage, len(steps))
	size, read := profileFill, profileRead
	if g.dev.Info().Emulated {
		size, read = 1<<10, 1<<10
	}
	busy, err := gpu.Alloc[byte](g.dev, size)
	if err != nil {
		return nil, err
	}
	defer busy.Free()
	// Counting codes serves to read memory.
	list, err := gpu.Alloc[gpuTerm](g.dev, 1)
	if err != nil {
		return nil, err
	}
	defer list.Free()
	if err := list.Upload(stream, []gpuTerm{{DF: uint32(read)}}); err != nil {
		return nil, err
	}
	counts, err := gpu.Alloc[uint32](g.dev, 256)
	if err != nil {
		return nil, err
	}
	defer counts.Free()
	for run := range runs {
		if err := busy.Zero(stream); err != nil {
			return nil, err
		}
		const parts = 2048
		if err := stream.Launch(g.k.count, gpu.Grid(min(parts, read), 256), list.Arg(),
			gpu.U32(uint32(min(parts, read))), busy.Arg(), counts.Arg()); err != nil {
			return nil, err
		}
		if err := stream.Record(marks[0]); err != nil {
			return nil, err
		}
		for i, step := range steps {
			if err := step.do(); err != nil {
				return nil, err
			}
			if err := stream.Record(marks[i+1]); err != nil {
				return nil, err
			}
		}
		if err := stream.Sync(context.Background()); err != nil {
			return nil, err
		}
		for i, step := range steps {
			d, err := marks[i+1].Since(marks[i])
			if err != nil {
				return nil, err
			}
			if run == 0 || d < stages[i].Time {
				stages[i] = Stage{Name: step.name, Time: d}
			}
		}
	}
	return stages, nil
}
