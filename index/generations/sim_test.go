package generations

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The simulator runs processes against a store, one at a time, in virtual time. What happens when
// is drawn from a seed, so that a schedule that fails can be run again.
//
// The store delays requests and answers, does some without an answer, does some long after the
// process gave up, fails, and lists late. A process may sleep for long or die at any request.
//
// truth sees every request when the store does it, and checks the invariants at once.

// grace is the grace period of a simulated index.
const grace = time.Minute

// world is a simulation.
type world struct {
	*rand.Rand
	now    time.Duration
	events events
	number int
	steps  int
	fair   bool // no more faults
	store  map[string]*stored
	truth  *truth
	fault  faults
	failed error
}

type event struct {
	at     time.Duration
	number int // breaks ties
	do     func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].number < e[j].number
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// stored is an object. It is kept after it is removed, as lists may have it for a while.
type stored struct {
	data             []byte
	made, removed    time.Duration // removed is 0 if it is there
	listed, unlisted time.Duration // from when to when lists have it
}

// after calls do at a later time.
func (w *world) after(d time.Duration, do func()) {
	w.number++
	heap.Push(&w.events, event{w.now + d, w.number, do})
}

// mostSteps is more than any schedule needs.
const mostSteps = 200_000

// run runs until nothing is left to do.
func (w *world) run() {
	for len(w.events) > 0 && w.failed == nil {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
		if w.steps++; w.steps > mostSteps {
			w.fail("no progress: %d steps", w.steps)
		}
	}
}

func (w *world) fail(format string, args ...any) {
	if w.failed == nil {
		w.failed = fmt.Errorf("at %v: "+format, append([]any{w.now}, args...)...)
	}
}

// chance is true once in n times.
func (w *world) chance(n int) bool { return !w.fair && w.IntN(n) == 0 }

// between is a random time.
func (w *world) between(a, b time.Duration) time.Duration {
	return a + time.Duration(w.Int64N(int64(b-a)))
}

// delay is how long a message takes.
func (w *world) delay() time.Duration {
	if w.chance(40) {
		return w.between(time.Second, 3*grace)
	}
	return w.between(time.Millisecond, 50*time.Millisecond)
}

// process is a coroutine.
type process struct {
	*world
	start time.Duration // of its clock
	yield func(struct{}) bool
	next  func() (struct{}, bool)
	stop  func()
	dead  bool
}

type died struct{}

// spawn starts a process after some time.
func (w *world) spawn(in time.Duration, run func(p *process)) {
	p := &process{world: w, start: w.between(-time.Hour, time.Hour)}
	p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil && r != any(died{}) {
				panic(r)
			}
		}()
		p.yield = yield
		run(p)
		p.dead = true
	})
	w.after(in, p.resume)
}

func (p *process) resume() {
	if !p.dead {
		p.next()
	}
}

// wait suspends the process until someone resumes it.
func (p *process) wait() {
	if !p.yield(struct{}{}) || p.dead {
		p.dead = true
		panic(died{})
	}
}

// die ends the process at this step.
func (p *process) die() {
	p.dead = true
	panic(died{})
}

// Since and Sleep are the clock of a process, which began at some other time than others.
func (p *process) Since() time.Duration { return p.now - p.start }

func (p *process) Sleep(_ context.Context, d time.Duration) error {
	p.after(d, p.resume)
	p.wait()
	return nil
}

var errLost = errors.New("no answer")
var errBusy = errors.New("503")

// request sends a request to the store. do is done there, perhaps without an answer. A store that
// fails or does not answer is asked again, like that of package s3.
func request[T any](p *process, do func() (T, error)) (answer T, err error) {
	err = errLost
	for try := 0; try < 3 && (errors.Is(err, errLost) || errors.Is(err, errBusy)); try++ {
		if p.chance(60) {
			p.Sleep(background, p.between(0, 3*grace)) // stopped, and continued
		}
		if p.chance(100) {
			p.die()
		}
		answer, err = send(p, do)
		if p.chance(200) {
			p.die()
		}
	}
	return answer, err
}

func send[T any](p *process, do func() (T, error)) (none T, _ error) {
	if p.chance(15) {
		p.Sleep(background, p.delay())
		return none, errBusy
	}
	var answer T
	var err error
	there, back := p.delay(), p.delay()
	const timeout = 5 * time.Second
	lost := there+back > timeout || p.chance(20)
	if p.chance(50) { // it never arrives
		lost = true
	} else {
		p.after(there, func() { answer, err = do() })
	}
	if lost {
		p.Sleep(background, timeout)
		return none, errLost
	}
	p.Sleep(background, there+back)
	return answer, err
}

// simulated is the store as a process sees it.
type simulated struct{ *process }

var epoch = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

func (s simulated) get(name string) *stored {
	if o := s.store[name]; o != nil && o.removed == 0 {
		return o
	}
	return nil
}

// change sends a request that only does something.
func (s simulated) change(do func() error) error {
	_, err := request(s.process, func() (none struct{}, _ error) { return none, do() })
	return err
}

func (s simulated) Read(_ context.Context, name string, _ int64) ([]byte, error) {
	return request(s.process, func() ([]byte, error) {
		o := s.get(name)
		if o == nil {
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		return o.data, nil
	})
}

func (s simulated) Open(ctx context.Context, name string, from, size int64) (io.ReadCloser, error) {
	data, err := s.Read(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	if data = data[from:]; size > 0 {
		data = data[:min(size, int64(len(data)))]
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (s simulated) Create(_ context.Context, name string, data []byte) error {
	return s.change(func() error {
		if s.get(name) != nil {
			return fs.ErrExist
		}
		s.make(name, data)
		return nil
	})
}

func (s simulated) Put(_ context.Context, name string, r io.ReadSeeker, _ int64) error {
	data, _ := io.ReadAll(r)
	return s.change(func() error {
		if old := s.get(name); old != nil && !bytes.Equal(old.data, data) {
			s.fail("%s was overwritten", name)
		}
		s.make(name, data)
		return nil
	})
}

func (s simulated) make(name string, data []byte) {
	o := &stored{data: data, made: s.now, listed: s.now}
	if s.chance(4) {
		o.listed += s.between(0, grace/5)
	}
	s.store[name] = o
	s.truth.made(name, data)
}

func (s simulated) Delete(_ context.Context, name string) error {
	return s.change(func() error {
		if o := s.get(name); o != nil {
			o.removed, o.unlisted = s.now, s.now
			if s.chance(4) {
				o.unlisted += s.between(0, grace/5)
			}
			s.truth.deleted(name)
		}
		return nil
	})
}

func (s simulated) List(_ context.Context, prefix string, limit int) ([]Object, error) {
	return request(s.process, func() (list []Object, err error) {
		for name, o := range s.store {
			if strings.HasPrefix(name, prefix) && o.listed <= s.now && (o.removed == 0 || s.now < o.unlisted) {
				list = append(list, Object{name, int64(len(o.data)), epoch.Add(o.made)})
			}
		}
		slices.SortFunc(list, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
		if limit > 0 && len(list) > limit {
			list = list[:limit]
		}
		return list, nil
	})
}

func (s simulated) Now(context.Context) (time.Time, error) {
	return request(s.process, func() (time.Time, error) { return epoch.Add(s.now), nil })
}

// index returns the index of the simulation as a process sees it.
func (p *process) index() *Index {
	return &Index{store: simulated{p}, clock: p, faults: p.fault, random: func(b []byte) {
		for i := range b {
			b[i] = byte(p.Uint32())
		}
	}}
}
