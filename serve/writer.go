package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// writer changes an index. It is opened with the first change and held until the server stops, so
// that nobody else can change the index meanwhile.
//
// A change is first in memory. It becomes durable and visible with a commit, which publishes a
// generation of the index and makes the server answer from it. A commit comes at the latest
// Options.CommitEvery after a change, when commitBytes have been received, and when a client asks
// for it. One goroutine commits, so that changes that arrive together share a commit. Another one
// merges segments, at most one at a time.
//
// If a commit fails, because the disk is full for example, all changes since the last one are lost.
// Clients that wait are told so. The next change opens the index again.
type writer struct {
	v  *Server
	ix *served

	committing sync.Mutex // held by what must not meet a commit
	opening    sync.Mutex // held while w is opened, which for a copy takes requests

	mu      sync.Mutex
	w       *segments.Writer // nil if there was no change yet, or after an error
	closed  bool
	broken  int // how often w was lost
	next    *round
	timer   *time.Timer // nil unless a commit is due
	bytes   int64       // received since the last commit
	pending int         // changes since then
	changes uint64      // in all
	commits uint64
	merging bool

	kick chan struct{}
	loop sync.WaitGroup
	ctx  context.Context // of the loop and of merging
	stop context.CancelFunc
	// requests is the context of what a copy asks of its place. It outlives ctx, for the last
	// commit.
	requests context.Context
	cut      context.CancelFunc
}

// round is a commit that will come, or has come.
type round struct {
	done   chan struct{}
	broken int // of the writer when it was begun
	err    error

	generation uint64
}

const (
	commitBytes = 16 << 20
	writeMemory = 64 << 20 // bytes of a writer's documents that are not yet in a segment
	// With more segments than that, a commit waits for the merge.
	mostSegments = 40
	// lastCommit is how long a server that stops waits for the place of a copy.
	lastCommit = 4 * time.Second
)

// errHeld is wrapped by errors about an index that another process changes.
var (
	errHeld    = errors.New("another process changes the index")
	errLost    = errors.New("the change is lost, because writing the index failed: send it again")
	errNoDir   = errors.New("the index has no folder that the server could change")
	errDropped = errors.New("the index was deleted")
)

func newWriter(v *Server, ix *served) *writer {
	c := &writer{v: v, ix: ix, next: &round{done: make(chan struct{})}, kick: make(chan struct{}, 1)}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.requests, c.cut = context.WithCancel(context.Background())
	return c
}

// open returns the writer of the index, with the number of those that were lost before it.
func (c *writer) open(o segments.Options) (*segments.Writer, int, error) {
	c.opening.Lock()
	defer c.opening.Unlock()
	if w, broken, err := c.opened(); w != nil || err != nil {
		return w, broken, err
	}
	o.Memory = writeMemory
	if c.v.o.Encoder != nil {
		o.Finish = c.v.encodeDocuments
	}
	newWriter := func() (*segments.Writer, error) { return segments.NewWriter(c.ix.dir, o) }
	if c.ix.copy != nil {
		newWriter = func() (*segments.Writer, error) { return c.ix.copy.NewWriter(c.requests, o) }
	}
	w, err := newWriter()
	if errors.Is(err, segments.ErrLocked) {
		return nil, 0, fmt.Errorf("%w: %w", errHeld, err)
	}
	if err != nil {
		return nil, 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, 0, errors.Join(errDropped, w.Close())
	}
	c.w = w
	c.loop.Go(func() { c.run(w) })
	return w, c.broken, nil
}

// opened returns the writer if it is open, or why there can be none.
func (c *writer) opened() (*segments.Writer, int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, 0, errDropped
	case c.w != nil && c.w.Err() == nil:
		return c.w, c.broken, nil
	case c.w != nil:
		c.poke() // the loop closes it
		return nil, 0, c.w.Err()
	case c.ix.dir == "":
		return nil, 0, errNoDir
	}
	return nil, 0, nil
}

// encodeDocuments gives documents the vectors that they lack, if there is one field for them.
func (v *Server) encodeDocuments(ctx context.Context, schema *fields.Schema, docs []text.Document) error {
	if schema == nil || len(schema.Of(fields.Vector)) != 1 {
		return nil
	}
	if err := v.o.Encoder.Fill(ctx, schema, "", docs); err != nil {
		return fmt.Errorf("%w: %w", api.ErrEncoder, err)
	}
	return nil
}

// run commits when it is told to, until the writer is lost or closed.
func (c *writer) run(w *segments.Writer) {
	for {
		select {
		case <-c.kick:
		case <-c.ctx.Done():
		}
		last := c.ctx.Err() != nil // else changes may have come during the commit
		c.committing.Lock()
		err := c.commit(w)
		c.committing.Unlock()
		if err != nil || last {
			c.lose(w)
			return
		}
	}
}

// commit publishes what was changed before it was called. The caller holds committing. The error is
// that of the writer, after which it cannot be used.
func (c *writer) commit(w *segments.Writer) error {
	c.mu.Lock()
	r := c.next
	c.next = &round{done: make(chan struct{})}
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	n := c.pending
	c.bytes, c.pending, r.broken = 0, 0, c.broken
	c.mu.Unlock()
	defer close(r.done)
	if err := w.Commit(); err != nil {
		r.err = err
		c.v.log.Error("changes of an index are lost", "index", c.ix.name, "changes", n, "error", err)
		return err
	}
	g, err := c.serve()
	if err != nil {
		r.err = fmt.Errorf("the change is on disk, but cannot be served: %w", err)
		c.v.log.Error("a change is on disk, but cannot be served", "index", c.ix.name, "error", err)
		return nil
	}
	r.generation = g.generation
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commits++
	if !c.merging && c.ctx.Err() == nil {
		c.merging = true
		c.loop.Go(func() { c.merge(w) })
	} else if g.segments > mostSegments {
		c.mu.Unlock()
		c.waitForMerge()
		c.mu.Lock()
	}
	return nil
}

// published is what a commit has published.
type published struct {
	generation uint64
	segments   int
}

// serve answers from the newest generation of the index.
func (c *writer) serve() (p published, err error) {
	c.ix.looking.Lock()
	defer c.ix.looking.Unlock()
	if c.ix.copy != nil {
		if _, err := c.ix.copy.Refresh(c.requests); err != nil {
			return p, err
		}
	}
	if _, err := c.v.look(c.ctx, c.ix, false); err != nil && c.ctx.Err() == nil {
		return p, err
	}
	if g := c.ix.hold(); g != nil {
		p = published{g.s.Index().Generation(), len(g.s.Index().Segments())}
		c.v.letGo(g)
	}
	return p, nil
}

// merge merges segments where the policy of package segments says so.
func (c *writer) merge(w *segments.Writer) {
	n, err := w.Merge(c.v.resting(c.ctx))
	if err != nil && c.ctx.Err() == nil && w.Err() == nil {
		c.v.log.Error("merging segments failed; nothing is lost", "index", c.ix.name, "error", err)
	}
	c.mu.Lock()
	c.merging = false
	c.mu.Unlock()
	if n > 0 {
		c.poke()
	}
}

func (c *writer) waitForMerge() {
	for {
		c.mu.Lock()
		busy := c.merging
		c.mu.Unlock()
		if !busy || c.ctx.Err() != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// resting returns a context whose work pauses while short queries need the cores.
func (v *Server) resting(ctx context.Context) context.Context {
	now := v.gate.now()
	return &turn{timed: timed{Context: ctx}, gate: v.gate, in: longLane, began: now, awake: now}
}

// poke asks for a commit now.
func (c *writer) poke() {
	select {
	case c.kick <- struct{}{}:
	default: // one is about to begin
	}
}

// lose closes the writer. What was not committed is lost.
func (c *writer) lose(w *segments.Writer) {
	err := w.Close()
	if err != nil && c.ctx.Err() == nil {
		c.v.log.Error("closing the writer of an index", "index", c.ix.name, "error", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w = nil
	c.broken++
	if c.timer != nil { // changes came while the commit failed
		c.timer.Stop()
		c.next.err = errLost
		close(c.next.done)
		c.next, c.timer, c.pending, c.bytes = &round{done: make(chan struct{})}, nil, 0, 0
	}
}

// close commits what is left, and closes the writer. It returns an error if changes were lost.
func (c *writer) close() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	c.closed = true
	last := c.next
	if c.timer == nil {
		last = nil
	}
	c.mu.Unlock()
	defer time.AfterFunc(lastCommit, c.cut).Stop()
	c.stop()
	c.loop.Wait()
	c.cut()
	if last == nil {
		return nil
	}
	<-last.done
	return last.err
}

// writes are the counts of a writer.
type writes struct {
	changes, commits uint64
	pending          int
}

func (c *writer) counts() writes {
	if c == nil {
		return writes{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return writes{c.changes, c.commits, c.pending}
}

// active reports whether the index was changed, so that the server holds its lock.
func (c *writer) active() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w != nil
}

// refresh says when a change is answered.
type refresh string

const (
	refreshNot  refresh = "false" // once it is in memory
	refreshNow  refresh = "true"  // after a commit that it causes
	refreshWait refresh = "wait"  // after the next commit
)

// changed notes changes that were made with a writer, and waits for their commit if how says so.
func (c *writer) changed(ctx context.Context, n int, bytes int64, broken int, how refresh, a *writeAnswer) error {
	c.mu.Lock()
	if c.broken != broken {
		c.mu.Unlock()
		return errLost
	}
	r := c.next
	c.pending, c.bytes, c.changes = c.pending+n, c.bytes+bytes, c.changes+uint64(n)
	if c.timer == nil {
		c.timer = time.AfterFunc(c.v.o.CommitEvery, c.poke)
	}
	now := how == refreshNow || c.bytes >= commitBytes
	c.mu.Unlock()
	if now {
		c.poke()
	}
	if how == refreshNot {
		return nil
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return fmt.Errorf("the change is accepted, but not yet on disk: %w", ctx.Err())
	}
	switch {
	case r.err != nil:
		return r.err
	case r.broken != broken:
		return errLost
	}
	a.Durable, a.Generation = true, r.generation
	return nil
}

// deleteMatching deletes the documents that match a query, of all changes made before.
func (c *writer) deleteMatching(w *segments.Writer, find func(*search.Searcher) (*search.Within, error)) (n int, err error) {
	c.committing.Lock() // DeleteDocs needs the generation that was committed last
	defer c.committing.Unlock()
	if err := c.commit(w); err != nil {
		c.poke() // the loop closes the writer
		return 0, err
	}
	g := c.ix.hold()
	if g == nil {
		return 0, errDropped
	}
	defer c.v.letGo(g)
	s := g.s
	if c.ix.copy != nil { // others may have committed since
		if err := w.Refresh(); err != nil {
			return 0, err
		}
		if s, err = search.Open(w.Dir()); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	found, err := find(s)
	if err != nil || len(found.Sets) == 0 {
		return 0, err
	}
	return w.DeleteDocs(s.Index(), found.Sets)
}

// objects returns a reader of documents for the index.
func (g *generation) objects(most int64) *text.Objects {
	o := text.Options{Schema: g.schema.Documents(), Sparse: true, Encoding: text.UTF8, MaxDocument: most,
		Weights: text.OfWeights(g.analyzerName)}
	if text.OfBytes(g.analyzerName) {
		o.Encoding = text.Bytes
	}
	return text.NewObjects(o)
}
