package emu

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// grid is one launch.
type grid struct {
	p     *program
	dim   driver.Dim
	args  []byte
	table []*allocation
	sms   int

	blocks int
	next   atomic.Int64
	stop   atomic.Bool
	limit  time.Duration
	lanes  atomic.Int64

	mu  sync.Mutex
	err error
}

func (d *Device) Launch(h driver.Kernel, dim driver.Dim, args []byte, s driver.Stream) error {
	d.mu.Lock()
	k, ok := d.kernels[h]
	d.mu.Unlock()
	if !ok {
		return fail("launch", driver.InvalidValue, "no such kernel")
	}
	blocks, threads := 1, 1
	for i := range 3 {
		blocks *= dim.Blocks[i]
		threads *= dim.Threads[i]
	}
	switch {
	case blocks <= 0 || threads <= 0 || threads > 1024 || dim.Blocks[0] > 1<<31-1 ||
		dim.Blocks[1] > 65535 || dim.Blocks[2] > 65535:
		return fail("launch", driver.InvalidValue,
			fmt.Sprintf("%s: %v blocks of %v threads", k.p.name, dim.Blocks, dim.Threads))
	case k.p.maxThreads > 0 && threads > k.p.maxThreads:
		return fail("launch", driver.InvalidValue,
			fmt.Sprintf("%s: %d threads, its bound is %d", k.p.name, threads, k.p.maxThreads))
	case dim.Shared > k.dynShared:
		return fail("launch", driver.InvalidValue,
			fmt.Sprintf("%s: %d bytes of dynamic shared memory, allowed are %d", k.p.name,
				dim.Shared, k.dynShared))
	case len(args) != k.p.k.ParamBytes:
		return fail("launch", driver.InvalidValue,
			fmt.Sprintf("%s: %d bytes of arguments, want %d", k.p.name, len(args),
				k.p.k.ParamBytes))
	}
	args = slices.Clone(args)
	return d.enqueue(s, func() error {
		g := &grid{p: k.p, dim: dim, args: args, table: *d.table.Load(), sms: d.info.Multiprocessors,
			blocks: blocks, limit: d.timeout}
		err := g.run(d.workers)
		d.lanes.Add(g.lanes.Load())
		return err
	})
}

// run distributes the blocks to the workers.
func (g *grid) run(workers int) error {
	workers = min(workers, g.blocks)
	if workers == 1 {
		g.work()
		return g.err
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(g.work)
	}
	wg.Wait()
	return g.err
}

// resident is the most blocks that a worker runs in turns.
const resident = 64

// spins is the number of turns after which an unfinished block is assumed to wait for another.
const spins = 4

// work takes blocks in increasing order and runs them. While all its blocks seem to wait for
// another block, it takes one more, so that a grid whose blocks wait for each other makes progress.
func (g *grid) work() {
	var running, spare []*block
	turns, ran := 0, ownTime{last: time.Now()}
	for !g.stop.Load() {
		if len(running) == 0 || turns >= spins && len(running) < resident {
			n := int(g.next.Add(1)) - 1
			if n >= g.blocks && len(running) == 0 {
				break
			}
			if n < g.blocks {
				var b *block
				if len(spare) > 0 {
					b, spare = spare[len(spare)-1], spare[:len(spare)-1]
				} else {
					b = takeBlock(g)
				}
				b.start(n)
				running = append(running, b)
				turns = 0
			}
		}
		turns++
		for i := 0; i < len(running); i++ {
			b := running[i]
			finished, err := b.turn()
			ran.tick(time.Now())
			if err != nil {
				g.fail(err)
				return
			}
			if finished {
				spare = append(spare, b)
				running = slices.Delete(running, i, i+1)
				i--
			}
		}
		if turns >= spins {
			runtime.Gosched() // it may wait for a block of another worker
			if len(running) > 0 && ran.sum > g.limit {
				g.fail(fail("launch", driver.LaunchTimeout,
					fmt.Sprintf("kernel %s ran for %v; block %v and possibly others are not done", g.p.name,
						g.limit, running[0].at)))
				return
			}
		}
	}
	for _, b := range slices.Concat(running, spare) {
		for _, w := range b.warps {
			g.lanes.Add(w.lanes)
			w.lanes = 0
		}
		idle.give(b)
	}
}

// ownTime estimates how long a worker has run. It does not count time during which the process was
// stopped or got no core.
type ownTime struct {
	last time.Time
	sum  time.Duration
}

// longestTurn is an upper bound of the time of a turn of a full block on an idle core.
const longestTurn = 200 * time.Millisecond

// tick ends a turn.
func (t *ownTime) tick(now time.Time) {
	t.sum += min(now.Sub(t.last), longestTurn)
	t.last = now
}

// fail keeps the first error and stops all workers.
func (g *grid) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
	g.stop.Store(true)
}
