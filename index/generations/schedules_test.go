package generations

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/collocate/collocate/internal/trials"
)

var background = context.Background()

var (
	schedules = flag.Int("schedules", 0, "simulate so many schedules, instead of those of the test")
	firstSeed = flag.Uint64("seed", 1, "the seed of the first schedule")
)

// upload makes a segment of documents.
func (p *process) upload(x *Index, docs []document) (s Segment, err error) {
	s.Name = x.NewName()
	if err := x.Begin(background, s.Name); err != nil {
		return s, err
	}
	data := encodeDocs(docs)
	s.Docs, s.Files = len(docs), []File{{Name: docsFile, Size: int64(len(data))}}
	return s, x.store.Put(background, FileName(s.Name, docsFile), bytes.NewReader(data), int64(len(data)))
}

func (p *process) documents(x *Index, segment string) ([]document, error) {
	data, err := x.store.Read(background, FileName(segment, docsFile), mostBytes)
	return decodeDocs(data), err
}

// next returns the generation that a change makes, without segments of which all is deleted.
func next(segments []Segment, c contents) *Generation {
	segments = slices.DeleteFunc(slices.Clone(segments), func(s Segment) bool {
		return bits.OnesCount64(c.gone[s.Name]) == s.Docs
	})
	return &Generation{Segments: segments, Manifest: c.encode(segments)}
}

// write adds, replaces and deletes some documents.
func (p *process) write(x *Index) {
	will, docs := intent{}, []document(nil)
	for range 1 + p.IntN(3) {
		id := p.IntN(12)
		if _, ok := will[id]; ok {
			continue
		}
		if will[id] = 0; p.IntN(3) > 0 {
			p.number++
			will[id] = p.number
			docs = append(docs, document{id, p.number})
		}
	}
	p.commit(x, will, func() (Change, error) {
		var added []Segment
		if len(docs) > 0 {
			s, err := p.upload(x, docs)
			if err != nil {
				return nil, err
			}
			added = []Segment{s}
		}
		if p.chance(10) {
			p.Sleep(background, p.between(0, 3*grace))
		}
		return func(_ context.Context, newest *Generation) (*Generation, error) {
			p.truth.seen(newest)
			c := contentsOf(newest)
			for _, s := range newest.Segments {
				old, err := p.documents(x, s.Name)
				if err != nil {
					return nil, err
				}
				for i, d := range old {
					if _, ok := will[d.id]; ok {
						c.gone[s.Name] |= 1 << i
					}
				}
			}
			c.change = len(p.truth.intents)
			return next(append(slices.Clone(newest.Segments), added...), c), nil
		}, nil
	})
}

// merge merges two neighbouring segments.
func (p *process) merge(x *Index) {
	g, err := x.Newest(background)
	if err != nil || len(g.Segments) < 2 {
		return
	}
	p.truth.seen(g)
	c := contentsOf(g)
	at := p.IntN(len(g.Segments) - 1)
	run := g.Segments[at : at+2]
	var kept []document
	from := map[string][]int{} // the new place of each document, or -1
	for _, s := range run {
		docs, err := p.documents(x, s.Name)
		if err != nil {
			return
		}
		for i, d := range docs {
			place := -1
			if c.gone[s.Name]>>i&1 == 0 {
				place, kept = len(kept), append(kept, d)
			}
			from[s.Name] = append(from[s.Name], place)
		}
	}
	if len(kept) > 60 {
		return
	}
	p.commit(x, nil, func() (Change, error) {
		s, err := p.upload(x, kept)
		if err != nil {
			return nil, err
		}
		return func(_ context.Context, newest *Generation) (*Generation, error) {
			p.truth.seen(newest)
			at := slices.IndexFunc(newest.Segments, func(s Segment) bool { return s.Name == run[0].Name })
			if at < 0 || at+2 > len(newest.Segments) || newest.Segments[at+1].Name != run[1].Name {
				return nil, nil // merged by another, or dropped
			}
			c := contentsOf(newest)
			for name, places := range from {
				for i, place := range places {
					if place >= 0 && c.gone[name]>>i&1 != 0 {
						c.gone[s.Name] |= 1 << place
					}
				}
			}
			c.change = len(p.truth.intents)
			return next(slices.Replace(slices.Clone(newest.Segments), at, at+2, s), c), nil
		}, nil
	})
}

// commit commits a change, and checks what it is told. prepare uploads segments.
func (p *process) commit(x *Index, will intent, prepare func() (Change, error)) {
	for range 5 {
		change, err := prepare()
		if err != nil {
			return
		}
		number, tried := -1, false
		_, err = x.Commit(background, nil, func(ctx context.Context, newest *Generation) (*Generation, error) {
			if !tried {
				number, tried = p.truth.change(will), true
			}
			g, err := change(ctx, newest)
			if g != nil {
				c := contentsOf(g)
				c.change = number
				g.Manifest = c.encode(g.Segments)
			}
			if g == nil && err == nil {
				number = -1
			}
			return g, err
		})
		times := 0
		if number >= 0 {
			times = p.truth.committed[number]
		}
		switch {
		case errors.Is(err, ErrUncertain):
		case err == nil && number >= 0 && times != 1:
			p.fail("change %d was committed %d times, and the writer told that it was", number, times)
		case err != nil && times > 0:
			p.fail("change %d was committed, and the writer told that it was not: %v", number, err)
		}
		if !errors.Is(err, ErrCollected) {
			return
		}
	}
}

// collect collects garbage if nobody else does.
func (p *process) collect(x *Index) {
	l, err := x.Lease(background, "collector", grace/4)
	if err != nil {
		return
	}
	x.Collect(background)
	l.End(background)
}

// follow reads the index, and goes on with its newest generation.
func (p *process) follow(x *Index) {
	var g *Generation
	for range 1 + p.IntN(4) {
		var newer *Generation
		var err error
		if g == nil {
			newer, err = x.Newest(background)
		} else {
			newer, err = x.Refresh(background, g)
		}
		if err == nil && newer != nil {
			if g != nil && newer.Number <= g.Number {
				p.fail("a reader of generation %d was given %d as a newer one", g.Number, newer.Number)
			}
			g = newer
			p.truth.seen(g)
			at := p.now
			for _, s := range g.Segments {
				_, err := p.documents(x, s.Name)
				if errors.Is(err, fs.ErrNotExist) && p.truth.held(int(g.Number)) && p.now-at < grace/2 {
					p.fail("segment %s of generation %d is not there", s.Name, g.Number)
				}
			}
		}
		p.Sleep(background, p.between(0, grace))
	}
}

// schedule runs one schedule.
func schedule(seed uint64, fault faults) (w *world) {
	w = &world{Rand: rand.New(rand.NewPCG(seed, 0)), store: map[string]*stored{}, fault: fault}
	w.truth = &truth{w: w, live: map[int]int{}, committed: map[int]int{}, intents: []intent{{}}}
	w.fair = true
	w.spawn(0, func(p *process) {
		empty := contents{}
		if _, err := p.index().Make(background, Generation{Manifest: empty.encode(nil), Grace: grace.Seconds()}); err != nil {
			p.fail("make: %v", err)
		}
	})
	w.run()
	w.fair = false
	work := []func(*process, *Index){(*process).write, (*process).write, (*process).merge, (*process).collect, (*process).follow}
	for range 3 + w.IntN(5) {
		do := work[w.IntN(len(work))]
		n := 1 + w.IntN(4)
		w.spawn(w.between(0, grace), func(p *process) {
			x := p.index()
			for range n {
				do(p, x)
			}
		})
	}
	w.run()
	w.end()
	return w
}

// end checks that, without faults, everybody sees the newest generation, and that all garbage goes.
func (w *world) end() {
	w.fair = true
	alone := func(do func(p *process, x *Index)) {
		w.after(3*grace, func() {})
		w.run()
		w.spawn(0, func(p *process) { do(p, p.index()) })
		w.run()
	}
	alone(func(p *process, x *Index) {
		g, err := x.Newest(background)
		if err != nil || int(g.Number) != len(p.truth.line) {
			p.fail("a reader finds %v, %v, and the newest generation is %d", g, err, len(p.truth.line))
			return
		}
		p.truth.seen(g)
		for _, s := range g.Segments {
			if _, err := p.documents(x, s.Name); err != nil {
				p.fail("segment %s: %v", s.Name, err)
			}
		}
	})
	for range 3 {
		alone(func(p *process, x *Index) {
			if _, err := x.Collect(background); err != nil {
				p.fail("collect: %v", err)
			}
		})
	}
	if w.failed != nil {
		return
	}
	newest := w.truth.line[len(w.truth.line)-1]
	for name, o := range w.store {
		segment, generation := "", uint64(0)
		if n, ok := numberOf(generationsFolder, name); ok {
			generation = n
		} else if _, err := fmt.Sscanf(name, segmentsFolder+"%16s", &segment); err != nil {
			continue
		}
		if o.removed == 0 && generation != newest.Number && !newest.Has(segment) {
			w.fail("%s is still there after all garbage was collected", name)
		}
	}
}

func TestSchedules(t *testing.T) {
	n := *schedules
	if n == 0 {
		n = trials.Cases(2000) // 4 s on a busy core
	}
	var generations, steps int
	start := time.Now()
	for i := range n {
		w := schedule(*firstSeed+uint64(i), faults{})
		if w.failed != nil {
			t.Fatalf("seed %d: %v", *firstSeed+uint64(i), w.failed)
		}
		generations += len(w.truth.line)
		steps += w.steps
	}
	t.Logf("%d schedules, %d commits, %d steps in %v", n, generations-n, steps, time.Since(start).Round(time.Millisecond))
}

// A protocol with a part left out is found to be wrong.
func TestFaultsAreFound(t *testing.T) {
	for name, fault := range map[string]faults{
		"a commit overwrites another":             {overwrite: true},
		"a lost answer is a failure":              {lostIsFailure: true},
		"names of generations are always trusted": {trustNames: true},
		"the loser does not apply its change":     {noRebase: true},
		"garbage is removed without a grace":      {noGrace: true},
		"segments are removed without a commit":   {noDrop: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(200_000) {
				if w := schedule(seed, fault); w.failed != nil {
					t.Logf("seed %d: %v", seed, w.failed)
					return
				}
			}
			t.Error("not found")
		})
	}
}
