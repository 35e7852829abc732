package generations

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/internal/given"
)

// Index is an index in a store. Several goroutines may use it at once.
type Index struct {
	store  Store
	clock  Clock
	random func([]byte)

	mu    sync.Mutex
	begun map[string]time.Duration // by segment, when Begin was called; see stillThere

	faults // of tests: what is left out of the protocol
}

// New returns the index in a store, which need not be there yet.
func New(store Store) *Index {
	return &Index{store: store, clock: systemClock{time.Now()}, random: func(b []byte) { rand.Read(b) }}
}

// Store returns the store of the index.
func (x *Index) Store() Store { return x.store }

func (x *Index) token() string {
	var b [8]byte
	x.random(b[:])
	return hex.EncodeToString(b[:])
}

// NewName returns a name for a segment, which is very unlikely to be another's.
func (x *Index) NewName() string {
	var b [8]byte
	x.random(b[:])
	return fmt.Sprintf("s%0*d", segmentDigits, binary.LittleEndian.Uint64(b[:])%1e15)
}

// Begin makes the first object of a segment, before its files are put. The error wraps fs.ErrExist
// if there is a segment of that name.
func (x *Index) Begin(ctx context.Context, name string) error {
	at := x.clock.Since()
	if err := x.store.Create(ctx, FileName(name, begunName), []byte(x.token())); err != nil {
		return fmt.Errorf("begin segment %s: %w", name, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.begun == nil {
		x.begun = map[string]time.Duration{}
	}
	x.begun[name] = at
	return nil
}

// isYoung reports whether Begin was called for a segment so short a time ago that no collector can
// take it for garbage yet.
func (x *Index) isYoung(name string, grace time.Duration) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	at, ok := x.begun[name]
	if ok && x.clock.Since()-at > grace/2 {
		delete(x.begun, name)
		ok = false
	}
	return ok
}

// FileName returns the name of the object of a segment's file.
func FileName(segment, file string) string { return segmentsFolder + segment + "/" + file }

// Make makes an index: its first generation, of which it takes Segments, Manifest and Grace; 0
// means DefaultGrace. Vacant should be called before segments are put. The error wraps ErrExists if
// there is one by now.
func (x *Index) Make(ctx context.Context, first Generation) (*Generation, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if first.Segments == nil {
		first.Segments = []Segment{}
	}
	g := &Generation{
		Number: 1, Index: x.token(), Commit: x.token(), Manifest: first.Manifest, Segments: first.Segments,
		Grace: cmp.Or(first.Grace, DefaultGrace.Seconds()),
	}
	at := x.clock.Since()
	switch winner, err := x.publish(ctx, g); {
	case err != nil:
		return nil, fmt.Errorf("make an index: %w", err)
	case winner != nil:
		return nil, fmt.Errorf("make an index: %w", ErrExists)
	}
	newest, err := x.Newest(ctx)
	if err != nil {
		return nil, err
	}
	if newest.Index != g.Index {
		// Another was made before, and its first generation has been removed since.
		return nil, fmt.Errorf("make an index: %w", ErrExists)
	}
	g.since = at
	return g, nil
}

// Vacant returns an error unless an index can be made: it wraps ErrExists if there is one,
// ErrForeign if there are other objects, and ErrNoConditions if the store cannot make an object
// only if there is none.
func (x *Index) Vacant(ctx context.Context) error {
	list, err := x.store.List(ctx, "", 2)
	if err != nil {
		return fmt.Errorf("make an index: %w", err)
	}
	for _, o := range list {
		if _, ok := numberOf(generationsFolder, o.Name); ok {
			return fmt.Errorf("make an index: %w", ErrExists)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(o.Name, segmentsFolder), "/")
		if o.Name != probeName && !isSegment(name) { // segments may be left of who died making it
			return fmt.Errorf("make an index: %w: %s", ErrForeign, o.Name)
		}
	}
	if err := x.Probe(ctx); err != nil {
		return fmt.Errorf("make an index: %w", err)
	}
	return nil
}

// Probe returns ErrNoConditions if the store makes an object although there is one.
func (x *Index) Probe(ctx context.Context) error {
	// The first may make the object, the second may be that of another process that removed it.
	for range 2 {
		switch err := x.store.Create(ctx, probeName, []byte("made once\n")); {
		case errors.Is(err, fs.ErrExist):
			return nil
		case err != nil:
			return err
		}
	}
	return ErrNoConditions
}

// mostTries bounds how often something is looked up again that was removed meanwhile.
const mostTries = 100

// Newest reads the newest generation. The error wraps NotFound if there is none.
func (x *Index) Newest(ctx context.Context) (*Generation, error) {
	for range mostTries {
		at := x.clock.Since()
		list, err := x.store.List(ctx, generationsFolder, 1)
		if err != nil {
			return nil, fmt.Errorf("find the newest generation: %w", err)
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("there is no index here: %w", NotFound)
		}
		n, ok := numberOf(generationsFolder, list[0].Name)
		if !ok {
			return nil, fmt.Errorf("find the newest generation: %w: %s", ErrForeign, list[0].Name)
		}
		g, err := x.read(ctx, n)
		if errors.Is(err, fs.ErrNotExist) {
			if err := x.clock.Sleep(ctx, 10*time.Millisecond); err != nil {
				return nil, err
			}
			continue // it has been removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		g.since = at
		return g, nil
	}
	return nil, errors.New("find the newest generation: the store lists one that is not there")
}

// At reads a generation by its number, as long as it is there.
func (x *Index) At(ctx context.Context, number uint64) (*Generation, error) {
	newest, err := x.Newest(ctx)
	if err != nil {
		return nil, err
	}
	if number == newest.Number {
		return newest, nil
	}
	if number > newest.Number {
		return nil, fmt.Errorf("there is no generation %d: the newest is %d: %w", number, newest.Number, NotFound)
	}
	g, err := x.read(ctx, number)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("generation %d is not there any more: generations are kept for %v "+
			"after the next: %w", number, newest.grace(), NotFound)
	}
	if err == nil && g.Index != newest.Index {
		return nil, fmt.Errorf("generation %d: %w", number, ErrOther)
	}
	return g, err
}

// Refresh returns the newest generation if it is newer than g, and otherwise nil.
func (x *Index) Refresh(ctx context.Context, g *Generation) (*Generation, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	at := x.clock.Since()
	next, err := x.read(ctx, g.Number+1)
	if !x.late(g) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			g.since = at
			return nil, nil
		case err != nil:
			return nil, err
		case next.Index != g.Index:
			return nil, fmt.Errorf("generation %d: %w", next.Number, ErrOther)
		}
		next.since = g.since
	} else {
		next = nil // it may be out of line
	}
	newest, err := x.Newest(ctx)
	switch {
	case err != nil:
		return nil, err
	case newest.Index != g.Index:
		return nil, fmt.Errorf("generation %d: %w", newest.Number, ErrOther)
	case next != nil && next.Number > newest.Number: // the store lists late
		return next, nil
	case newest.Number <= g.Number:
		return nil, nil
	}
	return newest, nil
}

// late reports whether so much time has passed since g was known to be the newest generation that
// the names of the next could be free again.
func (x *Index) late(g *Generation) bool {
	return !x.trustNames && x.clock.Since()-g.since > g.grace()/2
}

// longAgo is when a generation was the newest if that is not known.
const longAgo = time.Duration(math.MinInt64 / 2)

// read reads a generation by its number.
func (x *Index) read(ctx context.Context, number uint64) (*Generation, error) {
	name := numbered(generationsFolder, number)
	data, err := x.store.Read(ctx, name, mostBytes)
	if err != nil {
		return nil, fmt.Errorf("read generation %d: %w", number, err)
	}
	g, err := Parse(bytes.Clone(data))
	if err != nil {
		return nil, fmt.Errorf("read generation %d: %s: %w", number, name, err)
	}
	if g.Number != number {
		return nil, fmt.Errorf("%s: corrupted: it is generation %d", name, g.Number)
	}
	g.since = longAgo
	return g, nil
}
