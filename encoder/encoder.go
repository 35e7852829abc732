package encoder

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/collocate/collocate/internal/given"
)

// Options are those of an Encoder. Zero values mean the defaults.
type Options struct {
	Model    string        // name for the server or command; "" names none
	Key      string        // sent as a bearer token
	Query    string        // stands before each query, such as "query: "
	Document string        // stands before each document, such as "passage: "
	Batch    int           // most texts of a request; 0 means 32
	Timeout  time.Duration // of a request; 0 means a minute
	AtOnce   int           // most requests at the same time; 0 means 8; a command answers one
	Waiting  int           // most requests of queries that wait for their turn; 0 means 256
	Cache    int           // bytes of queries and their vectors that are kept; 0 means 64 MB, -1 none
}

// MaxText is the most bytes of a text that are sent. Models read the beginning of long texts alone.
const MaxText = 32 << 10

// Encoder makes vectors of texts. Several goroutines may use it at once.
type Encoder struct {
	o     Options
	from  source
	name  string // of the server, command or function, for errors
	turns turns

	mu    sync.Mutex
	cache map[string]*list.Element
	order *list.List // of *kept, the last used first
	bytes int
}

// kept is a query whose vector is known.
type kept struct {
	text   string
	vector []float32
}

// source makes vectors of texts.
type source interface {
	// vectors returns one for each text, or nil where it can make none.
	vectors(ctx context.Context, texts []string) ([][]float32, error)
	close() error
}

// ErrBusy is wrapped by the error of Queries that find too many others waiting. Documents wait.
var ErrBusy = errors.New("too many queries are waiting for it")

// Open returns an Encoder for a target: the address of a server, http://... or https://..., or else
// a command with its arguments, separated by blanks. Neither is asked yet.
func Open(target string, o Options) (*Encoder, error) {
	from, name, err := openTarget(target, &o)
	if err != nil {
		return nil, fmt.Errorf("encoder: %w", err)
	}
	return newEncoder(name, &remote{from, o.Model}, o)
}

// openTarget returns the server or the command of a target, and its name.
func openTarget(target string, o *Options) (asker, string, error) {
	switch words := strings.Fields(target); {
	case len(words) == 0:
		return nil, "", errors.New("want the address of a server, or a command")
	case strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://"):
		return newServer(target, o.Key)
	default:
		o.AtOnce = 1
		return newCommand(words)
	}
}

// New returns an Encoder whose vectors a function of this program makes, such as a model in Go. The
// function gets up to Options.Batch texts and returns a vector for each, all of one length; nil
// stands for a text of which it can make none. Several goroutines call it. The name is for errors.
func New(name string, vectors func(ctx context.Context, texts []string) ([][]float32, error),
	o Options) (*Encoder, error) {
	return newEncoder(name, function(vectors), o)
}

func newEncoder(name string, from source, o Options) (*Encoder, error) {
	if err := o.fill(); err != nil {
		from.close()
		return nil, fmt.Errorf("encoder: %w", err)
	}
	return &Encoder{o: o, from: from, name: name, cache: map[string]*list.Element{}, order: list.New(),
		turns: newTurns(&o)}, nil
}

// fill sets options that are 0.
func (o *Options) fill() error {
	o.Batch = cmp.Or(o.Batch, 32)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.AtOnce = cmp.Or(o.AtOnce, 8)
	o.Waiting = cmp.Or(o.Waiting, 256)
	o.Cache = cmp.Or(o.Cache, 64<<20)
	if o.Batch < 1 || o.Timeout < 0 || o.AtOnce < 1 || o.Waiting < 0 {
		return fmt.Errorf("requests of %d texts, at most %v, %d at once, %d waiting: "+
			"want more than 0", o.Batch, o.Timeout, o.AtOnce, o.Waiting)
	}
	return nil
}

// turns bounds how many requests are answered and wait.
type turns struct {
	all  chan struct{} // holds one value for each request of queries that is answered or waits
	busy chan struct{} // holds one value for each request that is answered
}

func newTurns(o *Options) turns {
	return turns{make(chan struct{}, o.AtOnce+o.Waiting), make(chan struct{}, o.AtOnce)}
}

// enter reports whether a request may wait, which then leaves.
func (t *turns) enter() bool {
	select {
	case t.all <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t *turns) leave() { <-t.all }

// within runs a request when it has its turn, for at most some time.
func within[T any](ctx context.Context, t *turns, most time.Duration, do func(context.Context) (T, error)) (made T, err error) {
	select {
	case t.busy <- struct{}{}:
		defer func() { <-t.busy }()
	case <-ctx.Done():
		return made, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	made, err = do(limited)
	switch {
	case ctx.Err() != nil:
		return made, ctx.Err()
	case limited.Err() != nil:
		return made, fmt.Errorf("there was no answer within %v", most)
	}
	return made, err
}

// Close ends a command that was started.
func (e *Encoder) Close() error {
	if e == nil {
		return nil
	}
	return e.from.close()
}

// Queries returns the vectors of queries, nil where there is none for a text. Those of recent ones
// are not asked for again.
func (e *Encoder) Queries(ctx context.Context, texts []string) ([][]float32, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	var rest []string
	var places []int
	for i, text := range texts {
		if vectors[i] = e.known(text); vectors[i] == nil {
			rest, places = append(rest, text), append(places, i)
		}
	}
	if len(rest) > 0 {
		if !e.turns.enter() {
			return nil, fmt.Errorf("encoder %s: %w", e.name, ErrBusy)
		}
		defer e.turns.leave()
	}
	found, err := e.encode(ctx, e.o.Query, rest)
	if err != nil {
		return nil, err
	}
	for i, v := range found {
		if vectors[places[i]] = v; v != nil {
			e.keep(rest[i], v)
		}
	}
	return vectors, nil
}

// Documents returns the vectors of texts of documents, nil where there is none for a text.
func (e *Encoder) Documents(ctx context.Context, texts []string) ([][]float32, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	return e.encode(ctx, e.o.Document, texts)
}

func (e *Encoder) encode(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	var all [][]float32
	dim := 0
	for from := 0; from < len(texts); from += e.o.Batch {
		some := make([]string, 0, e.o.Batch)
		for _, text := range texts[from:min(from+e.o.Batch, len(texts))] {
			some = append(some, prefix+cut(text))
		}
		vectors, err := within(ctx, &e.turns, e.o.Timeout, func(ctx context.Context) ([][]float32, error) {
			return e.from.vectors(ctx, some)
		})
		if err == nil {
			dim, err = oneLength(vectors, len(some), dim)
		}
		if err != nil {
			return nil, fmt.Errorf("encoder %s: %w", e.name, err)
		}
		all = append(all, vectors...)
	}
	return all, nil
}

// oneLength returns the length of the vectors of n texts, which must be that of those before, if
// that is not 0.
func oneLength(vectors [][]float32, n, before int) (int, error) {
	if len(vectors) != n {
		return 0, fmt.Errorf("%d vectors for %d texts", len(vectors), n)
	}
	for _, v := range vectors {
		switch {
		case v == nil:
		case before == 0:
			before = len(v)
		case len(v) != before:
			return 0, fmt.Errorf("vectors of %d numbers, and of %d before", len(v), before)
		}
	}
	return before, nil
}

// function is a source that this program is.
type function func(ctx context.Context, texts []string) ([][]float32, error)

func (f function) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	return f(ctx, texts)
}

func (f function) close() error { return nil }

// cut returns the first MaxText bytes of a text, without a part of a letter.
func cut(text string) string {
	if len(text) <= MaxText {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	end := MaxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "\uFFFD")
}

// known returns the vector of a query that was asked for before, or nil.
func (e *Encoder) known(text string) []float32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, ok := e.cache[text]
	if !ok {
		return nil
	}
	e.order.MoveToFront(at)
	return at.Value.(*kept).vector
}

// keep adds the vector of a query to the cache, which drops those that were not used for longest.
func (e *Encoder) keep(text string, vector []float32) {
	const beside = 200 // bytes of maps and lists
	size := func(k *kept) int { return len(k.text) + 4*len(k.vector) + beside }
	e.mu.Lock()
	defer e.mu.Unlock()
	k := &kept{text, vector}
	if _, ok := e.cache[text]; ok || size(k) > e.o.Cache {
		return
	}
	e.cache[text] = e.order.PushFront(k)
	for e.bytes += size(k); e.bytes > e.o.Cache; {
		last := e.order.Remove(e.order.Back()).(*kept)
		delete(e.cache, last.text)
		e.bytes -= size(last)
	}
}
