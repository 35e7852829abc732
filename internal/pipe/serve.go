package pipe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// ErrBusy says that a call has not ended although it was cancelled.
var ErrBusy = errors.New("a cancelled call does not end")

// Reply is what a call gives back.
type Reply struct {
	Result any
	Arrays []Array
}

// Handler answers calls, from several connections at once.
type Handler func(ctx context.Context, c *Call) (Reply, error)

// Call is a call under way.
type Call struct {
	*Message
	next func() (*Message, error)

	mu       sync.Mutex
	notes    []string
	progress chan [3]any
	told     time.Time
	ended    bool
	start    func() chan [3]any // what progress is told to, when there is some
}

// Decode reads what the call is with. Names that nobody knows are errors.
func (c *Call) Decode(into any) error {
	if len(c.With) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(c.With))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return ValueError{fmt.Errorf("%s: %w", c.Do, err)}
	}
	return nil
}

// Next is the next message of a call that goes on, or io.EOF at its end.
func (c *Call) Next() (*Message, error) {
	m, err := c.next()
	switch {
	case err != nil:
		return nil, err
	case m.Do == "more":
		return m, nil
	case m.Do == "end":
		return nil, io.EOF
	}
	return nil, fmt.Errorf("call %q while %q waits for input", m.Do, c.Do)
}

// Note tells the caller what was guessed or left out, in a line; the same only once.
func (c *Call) Note(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.notes {
		if n == line {
			return
		}
	}
	c.notes = append(c.notes, line)
}

// progressEvery is how often a caller is told of progress.
const progressEvery = 100 * time.Millisecond

// Progress tells the caller how far a stage is; total is 0 where it is not known. It never waits:
// a caller that does not listen misses it.
func (c *Call) Progress(stage string, done, total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); !c.ended && now.Sub(c.told) >= progressEvery {
		if c.progress == nil {
			c.progress = c.start()
		}
		select {
		case c.progress <- [3]any{stage, done, total}:
			c.told = now
		default:
		}
	}
}

// Stage is Progress of one stage, as jobs want it.
func (c *Call) Stage(name string) func(done, total int64) {
	return func(done, total int64) { c.Progress(name, done, total) }
}

// ValueError marks an error as the caller's: a value that cannot be.
type ValueError struct{ Err error }

// Unwrap is the error that was marked.
func (e ValueError) Unwrap() error { return e.Err }

func (e ValueError) Error() string { return e.Err.Error() }

// Valuef makes a ValueError.
func Valuef(format string, args ...any) error { return ValueError{fmt.Errorf(format, args...)} }

// answer is the header of an answer.
type answer struct {
	Result any      `json:"result"`
	Notes  []string `json:"notes,omitempty"`
	Arrays []Array  `json:"arrays,omitempty"`
}

// failure is the header of an answer that is an error.
type failure struct {
	Error string   `json:"error"`
	Kind  string   `json:"kind"`
	Notes []string `json:"notes,omitempty"`
}

// Answer answers the calls of one connection until it ends. Whoever closes it cancels the call
// that is under way. What comes for a call that has ended already is dropped.
func Answer(ctx context.Context, conn io.ReadWriter, handle Handler, kind func(error) string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	messages := make(chan *Message)
	var broken error
	go func() {
		defer close(messages)
		defer cancel()
		r := bufio.NewReaderSize(conn, 1<<16)
		for {
			m, err := Read(r)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					broken = err
				}
				return
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	next := func() (*Message, error) {
		select {
		case m, ok := <-messages:
			if !ok {
				return nil, context.Canceled
			}
			return m, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for m := range messages {
		if m.Do == "more" || m.Do == "end" {
			continue // of a call that failed before it had read all
		}
		if err := answerOne(ctx, conn, m, next, handle, kind); err != nil {
			return err
		}
	}
	return broken
}

func answerOne(ctx context.Context, w io.Writer, m *Message, next func() (*Message, error),
	handle Handler, kind func(error) string) error {
	// Progress is written by a goroutine of its own, so that work does not wait for the caller.
	// Short calls have none.
	var writer sync.WaitGroup
	c := &Call{Message: m, next: next, told: time.Now(), start: func() chan [3]any {
		progress := make(chan [3]any, 1)
		writer.Go(func() {
			for p := range progress {
				if Write(w, map[string]any{"progress": p}, nil) != nil {
					return // the connection is closed, and the call cancelled
				}
			}
		})
		return progress
	}}
	reply, err := handle(ctx, c)
	c.mu.Lock()
	c.ended = true // nobody tells of progress any more
	if c.progress != nil {
		close(c.progress)
	}
	notes := c.notes
	c.mu.Unlock()
	writer.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return Write(w, failure{err.Error(), kind(err), notes}, nil)
	}
	return Write(w, answer{reply.Result, notes, reply.Arrays}, reply.Arrays)
}
