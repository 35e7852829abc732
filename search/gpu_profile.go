package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collocate/collocate/internal/gpu"
)

// GPUStage is a step of a query on the device and how long it took there.
type GPUStage struct {
	Name string
	Time time.Duration
}

// profileFill is what keeps the device busy while a profile's steps are queued, so that the time between two of
// them is not that of starting them.
const profileFill = 1 << 30

// ProfileGPU answers a request on the device step by step and says how long each step took: the best of some runs.
func (s *Searcher) ProfileGPU(ctx context.Context, r Request, runs int) ([]GPUStage, error) {
	if s.gpu == nil {
		return nil, errors.New("search: the index is not on a GPU")
	}
	stages, err := s.gpu.profile(ctx, r, runs)
	if err != nil {
		return nil, fmt.Errorf("search: profile: %w", err)
	}
	return stages, nil
}

func (g *onGPU) profile(ctx context.Context, r Request, runs int) (stages []GPUStage, err error) {
	r.Parallel, r.Algorithm = nil, Auto
	q, err := g.s.prepare(ctx, &r)
	if err != nil {
		return nil, err
	}
	defer g.s.release(q)
	if len(q.terms) == 0 || len(q.terms) > maxGPUTerms || q.heap.k > maxGPUK {
		return nil, errors.New("this query is not for the device")
	}
	s, err := g.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { g.slots <- s }()
	m, unlock, err := g.enter(r.Model, []*query{q})
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New(tooLargeToHold)
	}
	defer unlock()
	s.p.reset()
	s.p.add(m, q, s.limits.cap)
	s.p.write(s.host.Values())
	size := profileFill
	if g.dev.Info().Emulated {
		size = 1 << 10
	}
	busy, err := gpu.Alloc[byte](g.dev, size)
	if err != nil {
		return nil, err
	}
	defer busy.Free()
	type step struct {
		name string
		do   func() error
	}
	steps := []step{
		{"copy in", func() error { return s.plan.CopyIn(s.stream, s.host.Slice(0, s.p.bytes)) }},
		{"plan", func() error {
			return s.planItems(m, 1)
		}},
		{"score", func() error { return s.score(m, 1) }},
		{"pick", func() error { return s.pick(1) }},
		{"copy out", func() error { return s.outs.CopyOut(s.stream, s.back.Slice(0, s.p.out)) }},
	}
	if s.alone() {
		s.readyAlone(m)
		steps = []step{{"score", func() error { return s.scoreAlone(m) }}}
	}
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
		stages = append(stages, GPUStage{})
	}
	stages = stages[:len(steps)]
	for run := range runs {
		if err := busy.Zero(s.stream); err != nil {
			return nil, err
		}
		if err := s.stream.Record(marks[0]); err != nil {
			return nil, err
		}
		for i, step := range steps {
			if err := step.do(); err != nil {
				return nil, err
			}
			if err := s.stream.Record(marks[i+1]); err != nil {
				return nil, err
			}
		}
		if err := s.stream.Sync(context.Background()); err != nil {
			return nil, err
		}
		if err := s.finish(); err != nil {
			return nil, err
		}
		for i, step := range steps {
			d, err := marks[i+1].Since(marks[i])
			if err != nil {
				return nil, err
			}
			if run == 0 || d < stages[i].Time {
				stages[i] = GPUStage{step.name, d}
			}
		}
	}
	return stages, nil
}
