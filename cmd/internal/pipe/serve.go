package pipe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/internal/option"
)

// ErrBusy says that a call did not end although it was cancelled.
var ErrBusy = errors.New("a cancelled call does not end")

// Reply is the result of a call.
type Reply struct {
	Result any
	Arrays []Array
}

// Handler answers calls. It is called concurrently for different connections.
type Handler func(ctx context.Context, c *Call) (Reply, error)

// Call is a call in progress.
type Call struct {
	*Message
	next func() (*Message, error)

	mu       sync.Mutex
	notes    []string
	progress chan [3]any
	told     time.Time
	ended    bool
	start    func() chan [3]any // starts to send progress, on first use
}

// Decode decodes the call's parameters. Unknown names are errors.
func (c *Call) Decode(into any) error {
	if len(c.With) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(c.With))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		value, _ := strings.CutPrefix(wrong.Value, "number ")
		return Valuef("%s: %s: want %s, not %s", c.Do, name, wanted(wrong.Type), value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return Valuef("%s: there is no option %s", c.Do, name)
	}
	return ValueError{fmt.Errorf("%s: %w", c.Do, err)}
}

// wanted describes the values of a parameter's type.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint64:
		return "a whole number of at least 0"
	case reflect.Slice:
		return "a list"
	}
	return t.String()
}

// Next returns the next message that belongs to the call, or io.EOF after the last.
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

// Note adds a line to the reply about something guessed or left out. Duplicates are dropped.
func (c *Call) Note(line string) {
	line = option.Keywords(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.notes {
		if n == line {
			return
		}
	}
	c.notes = append(c.notes, line)
}

// progressEvery is the least time between two messages of progress.
const progressEvery = 100 * time.Millisecond

// Progress reports how far a stage is; total is 0 if unknown. It never waits: if the caller is slow
// to read, messages are dropped.
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

// Stage returns Progress for one stage, as options of jobs expect it.
func (c *Call) Stage(name string) func(done, total int64) {
	return func(done, total int64) { c.Progress(name, done, total) }
}

// ValueError marks an error as the caller's: a wrong value.
type ValueError struct{ Err error }

// Unwrap returns the marked error.
func (e ValueError) Unwrap() error { return e.Err }

func (e ValueError) Error() string { return e.Err.Error() }

// Valuef returns a ValueError with a formatted message.
func Valuef(format string, args ...any) error { return ValueError{fmt.Errorf(format, args...)} }

// answer is the header of a successful answer.
type answer struct {
	Result any      `json:"result"`
	Notes  []string `json:"notes,omitempty"`
	Arrays []Array  `json:"arrays,omitempty"`
}

// failure is the header of an answer with an error.
type failure struct {
	Error string   `json:"error"`
	Kind  string   `json:"kind"`
	Notes []string `json:"notes,omitempty"`
}

// Answer answers the calls of one connection until it ends. If the other end closes it, the call in
// progress is cancelled. Messages for a call that has ended already are dropped.
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
			continue // for a call that failed before it had read them
		}
		if err := answerOne(ctx, conn, m, next, handle, kind); err != nil {
			return err
		}
	}
	return broken
}

func answerOne(ctx context.Context, w io.Writer, m *Message, next func() (*Message, error),
	handle Handler, kind func(error) string) error {
	// A goroutine writes progress, so that work does not wait for the caller. It starts when there
	// is progress to report.
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
	c.ended = true // no more progress is sent
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
		return Write(w, failure{option.Keywords(err.Error()), kind(err), notes}, nil)
	}
	err = Write(w, answer{reply.Result, notes, reply.Arrays}, reply.Arrays)
	if _, ok := errors.AsType[unsent](err); ok {
		return Write(w, failure{option.Keywords(err.Error()), kind(err), notes}, nil)
	}
	return err
}
