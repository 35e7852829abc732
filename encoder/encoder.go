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

	"github.com/collocate/collocate/fields"
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
	Cache    int           // bytes of queries and their vectors that are kept; 0 means 64 MB, -1 none
}

// MaxText is the most bytes of a text that are sent. Models read the beginning of long texts alone.
const MaxText = 32 << 10

// Encoder makes vectors of texts. Several goroutines may use it at once.
type Encoder struct {
	o    Options
	from source
	name string // of the server or command, for errors

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

// source answers requests.
type source interface {
	// ask returns the answer to a request, of at most a number of bytes.
	ask(ctx context.Context, request []byte, most int) ([]byte, error)
	close() error
}

// Open returns an Encoder for a target: the address of a server, http://... or https://..., or else
// a command with its arguments, separated by blanks. Neither is asked yet.
func Open(target string, o Options) (*Encoder, error) {
	o.Batch = cmp.Or(o.Batch, 32)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.Cache = cmp.Or(o.Cache, 64<<20)
	if o.Batch < 1 || o.Timeout < 0 {
		return nil, fmt.Errorf("encoder: requests of %d texts, at most %v: want more than 0", o.Batch, o.Timeout)
	}
	e := &Encoder{o: o, cache: map[string]*list.Element{}, order: list.New()}
	var err error
	switch words := strings.Fields(target); {
	case len(words) == 0:
		return nil, errors.New("encoder: want the address of a server, or a command")
	case strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://"):
		e.from, e.name, err = newServer(target, o)
	default:
		e.from, e.name, err = newCommand(words)
	}
	if err != nil {
		return nil, fmt.Errorf("encoder: %w", err)
	}
	return e, nil
}

// Close ends a command that was started.
func (e *Encoder) Close() error {
	if e == nil {
		return nil
	}
	return e.from.close()
}

// Queries returns the vectors of queries. Those of recent ones are not asked for again.
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
	found, err := e.encode(ctx, e.o.Query, rest)
	if err != nil {
		return nil, err
	}
	for i, v := range found {
		vectors[places[i]] = v
		e.keep(rest[i], v)
	}
	return vectors, nil
}

// Documents returns the vectors of texts of documents.
func (e *Encoder) Documents(ctx context.Context, texts []string) ([][]float32, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	return e.encode(ctx, e.o.Document, texts)
}

func (e *Encoder) encode(ctx context.Context, prefix string, texts []string) ([][]float32, error) {
	var all [][]float32
	for from := 0; from < len(texts); from += e.o.Batch {
		some := make([]string, 0, e.o.Batch)
		for _, text := range texts[from:min(from+e.o.Batch, len(texts))] {
			some = append(some, prefix+cut(text))
		}
		vectors, err := e.request(ctx, some)
		if err == nil && len(all) > 0 && len(vectors[0]) != len(all[0]) {
			err = fmt.Errorf("vectors of %d numbers, and of %d before", len(vectors[0]), len(all[0]))
		}
		if err != nil {
			return nil, fmt.Errorf("encoder %s: %w", e.name, err)
		}
		all = append(all, vectors...)
	}
	return all, nil
}

func (e *Encoder) request(ctx context.Context, texts []string) ([][]float32, error) {
	request, err := requestOf(e.o.Model, texts)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, e.o.Timeout)
	defer cancel()
	answer, err := e.from.ask(limited, request, mostBytes(len(texts)))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("there was no answer within %v", e.o.Timeout)
	case err != nil:
		return nil, err
	}
	return parseAnswer(answer, len(texts))
}

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

// mostBytes is the most bytes of an answer with n vectors.
func mostBytes(n int) int { return 1<<16 + n*(fields.MaxDim*32+256) }
