package device

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
)

// Group is one index on one device or several, each of which has a full copy. The requests of a
// batch are distributed over them. A request that names one of the thesis' algorithms is cut into
// partitions, of which each device gets an equal share. Any other request goes to one device, in
// round-robin order.
type Group struct {
	all         []*Index
	consecutive int // consecutive requests of a batch that go to the same device
	turn        atomic.Uint32
}

// OpenGroup loads the index of an engine onto the devices that the options name, unless its
// postings are already there; kept may be nil.
func OpenGroup(ctx context.Context, e *eval.Engine, kept *Kept, o Options) (*Group, error) {
	on := newDevices(&o)
	if !kept.serves(&o) {
		on.measure(e)
	}
	g, err := openGroup(ctx, e, kept, o, on, 0)
	if err2 := on.close(); err2 != nil && err == nil {
		return nil, errors.Join(err2, g.Close())
	}
	return g, err
}

// openGroup is OpenGroup on devices that may be open already. share, unless it is 0, is the memory
// of this index on each.
func openGroup(ctx context.Context, e *eval.Engine, kept *Kept, o Options, on *devices,
	share int64) (*Group, error) {
	g := &Group{consecutive: consecutive}
	if kept.serves(&o) {
		for i, there := range kept.parts {
			x, err := openOver(ctx, e, there.dev, there, on.lanes[i])
			if err != nil {
				return nil, errors.Join(err, g.Close())
			}
			g.all = append(g.all, x)
		}
		return g, nil
	}
	for i, d := range on.named {
		if o.Device, o.Also = d.Device, nil; share > 0 {
			o.Device.Memory = share
		}
		x, err := on.load(ctx, i, e, o)
		if err != nil {
			return nil, errors.Join(err, g.Close())
		}
		g.all = append(g.all, x)
	}
	return g, nil
}

// HandOver says who answers the requests of a batch that a device does not know, such as query
// trees and filters. Without it they are refused.
func (g *Group) HandOver(to func(context.Context, ask.Request) (*ask.Result, error)) {
	for _, x := range g.all {
		x.elsewhere = to
	}
}

// Opening returns the steps of opening on the first device, with their times. The device is opened
// while the dictionary is read, and the kernels are loaded while postings are.
func (g *Group) Opening() []Stage { return g.all[0].opening }

// groupOf returns a group of open indexes.
func groupOf(all ...*Index) *Group { return &Group{all: all, consecutive: consecutive} }

// Close closes all indexes.
func (g *Group) Close() error {
	var errs []error
	for _, x := range g.all {
		errs = append(errs, x.Close())
	}
	return errors.Join(errs...)
}

// Memory returns the free and the total memory of all devices together.
func (g *Group) Memory() (free, total int64, err error) {
	for _, x := range g.all {
		f, t, err := x.Memory()
		if err != nil {
			return 0, 0, err
		}
		free, total = free+f, total+t
	}
	return free, total, nil
}

// Profile profiles the first device.
func (g *Group) Profile(ctx context.Context, requests []ask.Request, runs int,
	guess bool) ([]Stage, error) {
	return g.all[0].Profile(ctx, requests, runs, guess)
}

// Answer answers a request.
func (g *Group) Answer(ctx context.Context, r ask.Request) (*ask.Result, error) {
	switch {
	case len(g.all) == 1:
		return g.all[0].Answer(ctx, r)
	case byTiles(r.Algorithm):
		return g.all[int(g.turn.Add(1))%len(g.all)].Answer(ctx, r)
	}
	found, errs := make([]*ask.Result, len(g.all)), make([]error, len(g.all))
	var wg sync.WaitGroup
	for i, x := range g.all {
		wg.Go(func() {
			var one []*ask.Result
			if one, errs[i] = x.paperBatch(ctx, []ask.Request{r}, ask.Asynchronous,
				share{i, len(g.all)}); errs[i] == nil {
				found[i] = one[0]
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	k := r.K
	if k == 0 {
		k = 10
	}
	return joined(found, k), nil
}

// joined merges results of different partitions. A document that was split may be in several of
// them: its best score is kept.
func joined(parts []*ask.Result, k int) *ask.Result {
	out := parts[0]
	for _, p := range parts[1:] {
		out.Hits = append(out.Hits, p.Hits...)
		out.Stats.Scored += p.Stats.Scored
		out.Stats.Entered += p.Stats.Entered
		if a, b := out.Stats.GPU, p.Stats.GPU; a != nil && b != nil {
			a.Items, a.Time = a.Items+b.Items, max(a.Time, b.Time)
		}
	}
	slices.SortFunc(out.Hits, func(a,
		b ask.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	seen := map[uint32]bool{}
	out.Hits = slices.DeleteFunc(out.Hits, func(h ask.Hit) bool {
		again := seen[h.Doc]
		seen[h.Doc] = true
		return again
	})
	out.Hits = out.Hits[:min(k, len(out.Hits))]
	return out
}

// BatchOver is Batch over all devices of a group.
func BatchOver[T any](ctx context.Context, g *Group, requests iter.Seq[ask.Request], b ask.Batch,
	reuse bool, do func(int, *ask.Result) (T, error), yield func(T, error) bool) {
	n, run := len(g.all), g.consecutive
	if n == 1 {
		Batch(ctx, g.all[0], requests, b, reuse, do, yield)
		return
	}
	type outcome struct {
		made T
		err  error
	}
	b.Threads = max(1, b.Threads/n)
	in, out := make([]*mailbox[ask.Request], n), make([]*mailbox[outcome], n)
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer func() {
		cancel()
		for d := range n {
			in[d].close()
			out[d].close()
		}
		wg.Wait()
	}()
	for d := range n {
		in[d], out[d] = newMailbox[ask.Request](), newMailbox[outcome]()
	}
	for d, x := range g.all {
		wg.Go(func() {
			defer out[d].close()
			whole := func(i int, found *ask.Result) (T, error) {
				return do((i/run*n+d)*run+i%run, found)
			}
			Batch(ctx, x, in[d].items(), b, reuse, whole, func(made T, err error) bool {
				return out[d].put(outcome{made, err}) && err == nil
			})
		})
	}
	wg.Go(func() {
		i := 0
		for r := range requests {
			if !in[i/run%n].put(r) {
				return
			}
			i++
		}
		for d := range n {
			in[d].close()
		}
	})
	take := make([]func() (outcome, bool), n)
	for d := range n {
		var stop func()
		take[d], stop = iter.Pull(out[d].items())
		defer stop()
	}
	for i := 0; ; i++ {
		x, ok := take[i/run%n]()
		if !ok || !yield(x.made, x.err) || x.err != nil {
			return
		}
	}
}

// mailbox is an unbounded queue between two goroutines. A reader gets everything in it at once, so
// that a sender that waits for answers is never blocked by a partial chunk.
type mailbox[T any] struct {
	mu     sync.Mutex
	some   sync.Cond
	full   []T
	closed bool
}

func newMailbox[T any]() *mailbox[T] {
	m := &mailbox[T]{}
	m.some.L = &m.mu
	return m
}

// put adds an item. It returns false if the mailbox is closed.
func (m *mailbox[T]) put(x T) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	if m.full = append(m.full, x); len(m.full) == 1 {
		m.some.Signal()
	}
	return true
}

// close lets the remaining items be taken, but none be added.
func (m *mailbox[T]) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.some.Broadcast()
}

// items yields all items until the mailbox is closed and empty.
func (m *mailbox[T]) items() iter.Seq[T] {
	return func(yield func(T) bool) {
		var have []T
		for {
			m.mu.Lock()
			for len(m.full) == 0 && !m.closed {
				m.some.Wait()
			}
			have, m.full = m.full, have[:0]
			m.mu.Unlock()
			if len(have) == 0 {
				return
			}
			for _, x := range have {
				if !yield(x) {
					return
				}
			}
			clear(have)
		}
	}
}
