package device

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/gpu"
)

// lanePool is the lanes of an index on a device. All segments of an index share one: a lane takes
// some milliseconds to make, while the driver delays all other work.
type lanePool struct {
	free    chan *lane
	batches atomic.Int32 // number of running batches
	closing atomic.Bool
	making  sync.WaitGroup // of all lanes but the first

	mu     sync.Mutex
	users  int
	tiles  int   // of the largest segment
	budget int64 // of all segments together
	all    []*lane
	begun  bool // the first lane was made
}

func newLanePool() *lanePool { return &lanePool{free: make(chan *lane, batchLanes)} }

// join adds an index that uses the lanes, before the first is made.
func (p *lanePool) join(tiles int, budget int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users++
	p.tiles, p.budget = max(p.tiles, tiles), p.budget+budget
}

// leave frees the lanes after the last user.
func (p *lanePool) leave() error {
	p.mu.Lock()
	p.users--
	last := p.users == 0
	p.mu.Unlock()
	if !last {
		return nil
	}
	p.closing.Store(true)
	p.making.Wait()
	var errs []error
	for _, l := range p.all {
		errs = append(errs, l.free())
	}
	p.all = nil
	return errors.Join(errs...)
}

// take returns a free lane, and waits for one if all are in use; all batches share them. The first
// call makes one lane and lets the others be made in the background. If the device's memory is too
// small for all of them, there are fewer.
func (p *lanePool) take(g *Index) (*lane, error) {
	p.mu.Lock()
	if !p.begun {
		if err := p.make(g.dev); err != nil {
			p.mu.Unlock()
			return nil, err
		}
		p.begun = true
		p.making.Go(func() {
			for !p.closing.Load() && len(p.all) < batchLanes && p.make(g.dev) == nil {
			}
		})
	}
	p.mu.Unlock()
	l := <-p.free
	l.g = g
	return l, nil
}

// make makes another lane. Calls must not overlap.
func (p *lanePool) make(dev *gpu.Device) error {
	l, err := newLane(dev, newLaneLimits(p.tiles, p.budget))
	if err != nil {
		return err
	}
	p.all = append(p.all, l)
	p.free <- l
	return nil
}

func (p *lanePool) give(l *lane) {
	l.g = nil
	p.free <- l
}
