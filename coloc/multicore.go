package coloc

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/par"
)

// cores are the cores that a job may use. With one worker everything runs on the calling goroutine,
// in order: the sequential engine.
type cores struct {
	workers int
	// progress is called with the progress of a named step; nil if not wanted.
	progress func(stage string, done, total int64)
	stage    string
}

// at sets the name of the next step for progress.
func (c cores) at(stage string) cores {
	c.stage = stage
	return c
}

func (c cores) tell(done, total int64) {
	if c.progress != nil && c.stage != "" {
		c.progress(c.stage, done, total)
	}
}

// each calls do(worker, item) for every item; idle workers take the next one. It stops at the first
// error or when ctx ends.
func (c cores) each(ctx context.Context, items int, do func(worker, item int) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	var once sync.Once
	var first error
	par.Do(min(c.workers, max(1, items)), func(worker int) {
		for !failed.Load() {
			item := int(next.Add(1) - 1)
			if item >= items {
				return
			}
			err := ctx.Err()
			if err == nil {
				c.tell(int64(item), int64(items))
				err = do(worker, item)
			}
			if err != nil {
				once.Do(func() { first = err })
				failed.Store(true)
			}
		}
	})
	return first
}

// share is the number of points or places that a core takes at a time in passes that do little with
// each.
const share = 1 << 13

// sweep covers [0, n) with calls do(worker, lo, hi). Parts start at multiples
// of share whatever the number of cores.
func (c cores) sweep(n int, do func(worker, lo, hi int)) {
	par.For(c.workers, n, share, do)
}

// do runs the steps; idle workers take the next one.
func (c cores) do(steps ...func()) {
	par.For(c.workers, len(steps), 1, func(_, i, _ int) { steps[i]() })
}

// shares is the number of parts of a sweep.
func shares(n int) int { return (n + share - 1) / share }

// tasks is a stack of jobs that may push further jobs. The last one pushed is run first, so that
// the data that a job shares with its children is soon released.
type tasks struct {
	mu      sync.Mutex
	wake    sync.Cond
	stack   []func(worker int) error
	running int
	err     error
}

func newTasks() *tasks {
	t := &tasks{}
	t.wake.L = &t.mu
	return t
}

// push adds a job. Jobs may call it while they run.
func (t *tasks) push(job func(worker int) error) {
	t.mu.Lock()
	t.stack = append(t.stack, job)
	t.mu.Unlock()
	t.wake.Signal()
}

// run works until no job is left, or one failed.
func (t *tasks) run(ctx context.Context, c cores) error {
	par.Do(c.workers, func(worker int) { t.work(ctx, worker) })
	return t.err
}

func (t *tasks) work(ctx context.Context, worker int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		for len(t.stack) == 0 && t.running > 0 && t.err == nil {
			t.wake.Wait()
		}
		if len(t.stack) == 0 || t.err != nil {
			return
		}
		job := t.stack[len(t.stack)-1]
		t.stack[len(t.stack)-1] = nil
		t.stack = t.stack[:len(t.stack)-1]
		t.running++
		t.mu.Unlock()
		err := ctx.Err()
		if err == nil {
			err = job(worker)
		}
		t.mu.Lock()
		t.running--
		if err != nil && t.err == nil {
			t.err = err
		}
		if t.err != nil || t.running == 0 {
			t.wake.Broadcast()
		}
	}
}
