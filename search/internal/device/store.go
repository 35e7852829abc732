package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/model"
)

// As in scoring.cuh.
const (
	gpuTileBits = 14
	gpuTile     = 1 << gpuTileBits
	gpuSubBits  = 11
	gpuSubs     = 1 << (gpuTileBits - gpuSubBits)
	gpuSparse   = 1<<32 - 1
)

// resident is the postings of an index on a device. A posting takes 2 bytes for the document within
// its tile and one for the frequency. If all postings are there they do not change, and generations
// of an index with the same segment share them.
type resident struct {
	dev    *gpu.Device
	own    bool // the device is closed with the last user
	users  atomic.Int32
	tiles  int
	docs   int
	budget int64
	spare  atomic.Int64 // memory that is left for excerpts
	whole  bool         // all lists are permanently on the device
	roomy  bool         // and there is space for the terms of all words
	mapped bool         // and for maps of frequent lists
	lists  []gpuList

	postings, extra, rows space
	offsets               gpu.Buffer[uint16]
	tfs                   gpu.Buffer[uint8]
	// more has the documents of sparse lists, and frequencies that do not fit in a byte.
	more    gpu.Buffer[uint32]
	starts  gpu.Buffer[uint32] // rows: start of the list in each part of a tile
	lengths gpu.Buffer[uint32]
	maps    gpu.Buffer[uint64] // see maps.go
}

// bytes returns the size of the postings on the device, with the codes of one model and the working
// memory of queries.
func (x *resident) bytes() int64 {
	return x.offsets.Bytes() + x.tfs.Bytes() + x.more.Bytes() + x.starts.Bytes() +
		x.lengths.Bytes() + x.maps.Bytes() + x.postings.size + gpuWorkBytes(x.tiles, x.budget)
}

// release frees the memory after the last user.
func (x *resident) release() error {
	if x.users.Add(-1) > 0 {
		return nil
	}
	errs := []error{x.offsets.Free(), x.tfs.Free(), x.more.Free(), x.starts.Free(),
		x.lengths.Free(), x.maps.Free()}
	if x.own {
		errs = append(errs, x.dev.Close())
	}
	return errors.Join(errs...)
}

// gpuStore is the postings on the device with, for each model in use, a code per posting that
// bounds its score (see encode.cu). Codes depend on the mean length of all documents, so each
// generation of an index has its own.
type gpuStore struct {
	*resident
	g      *Index
	models []*gpuModel
	pair   *gpu.Kernel
	clock  atomic.Int64
	here   []int // lists that bring has loaded
	known  knownTerms
	stream *gpu.Stream
	terms  gpu.Buffer[gpuTerm] // space for withTerms while all lists are encoded
}

// gpuList is the location of a list.
type gpuList struct {
	df, bigs, big uint32 // big is the capacity for frequencies over a byte, bigs their number
	full          uint32 // the df before pruning, which determines the word's weight
	there         bool
	row           uint32
	table         uint32 // 1 + the number of its map; 0: it has none
	pos           uint64
	extra         uint64
	bound         index.Bound // on its postings, set once it is loaded
	used          atomic.Int64
}

// rowLen returns the length of a row.
func (x *resident) rowLen() int { return x.tiles*gpuSubs + 1 }

func (l *gpuList) sparse() bool { return l.row == gpuSparse }

// space allocates ranges of a buffer, first fit.
type space struct {
	size int64
	free []struct{ from, to int64 }
}

func (s *space) init(size int64) {
	s.size = size
	s.free = append(s.free[:0], struct{ from, to int64 }{0, size})
}

func (s *space) take(n int64) (at int64, ok bool) {
	if n == 0 {
		return 0, true
	}
	for i := range s.free {
		f := &s.free[i]
		if f.to-f.from >= n {
			at = f.from
			if f.from += n; f.from == f.to {
				s.free = append(s.free[:i], s.free[i+1:]...)
			}
			return at, true
		}
	}
	return 0, false
}

func (s *space) give(from, n int64) {
	if n == 0 {
		return
	}
	to := from + n
	i := 0
	for i < len(s.free) && s.free[i].from < from {
		i++
	}
	if i > 0 && s.free[i-1].to == from {
		s.free[i-1].to = to
		if i < len(s.free) && s.free[i].from == to {
			s.free[i-1].to = s.free[i].to
			s.free = append(s.free[:i], s.free[i+1:]...)
		}
		return
	}
	if i < len(s.free) && s.free[i].from == to {
		s.free[i].from = from
		return
	}
	s.free = append(s.free, struct{ from, to int64 }{})
	copy(s.free[i+1:], s.free[i:])
	s.free[i] = struct{ from, to int64 }{from, to}
}

// room returns the space of a list in the three buffers.
func (l *gpuList) room() (postings, extra, rows int64) {
	postings = (int64(l.df) + 7) &^ 7 // four are read at a time, aligned
	extra = 2 * int64(l.big)
	if l.sparse() {
		return postings, extra + int64(l.df), 0
	}
	return postings, extra, 1
}

// newGPUStore allocates the memory for the lists of an index.
func newGPUStore(g *Index, m *measured, o Options) (_ *gpuStore, err error) {
	r := g.s.Index
	st := &gpuStore{g: g, resident: &resident{dev: g.dev, tiles: m.tiles, docs: r.Docs(),
		lists: m.lists}}
	st.users.Add(1)
	postings, extra, rows := m.all.postings, m.all.extra, m.all.rows
	budget, err := g.dev.Budget(o.Device.Memory)
	if err != nil {
		return nil, err
	}
	st.budget = budget
	fixed := int64(r.Docs())*4 + gpuWorkBytes(st.tiles, budget)
	rowBytes := int64(st.rowLen())*4 + int64(st.tiles) + 256*4
	need := postings*4 + extra*4 + rows*rowBytes + 1<<16
	room := budget - fixed - need
	known := st.knownBytes()
	st.whole, st.roomy, st.mapped = room >= 0, room >= known, room >= known+st.mapBytes()
	if !st.whole {
		share := float64(budget-fixed) / float64(need)
		if share < 0.001 {
			return nil, fmt.Errorf(
				"%v of GPU memory are too little for %d documents: want at least %v",
				bytesize.Size(budget), r.Docs(), bytesize.Size(fixed+need/1000+1))
		}
		postings, extra, rows = int64(share*float64(postings))&^7, int64(share*float64(extra)),
			int64(share*float64(rows))
	}
	st.postings.init(postings)
	st.extra.init(extra)
	st.rows.init(rows)
	if st.whole {
		m.place()
		st.postings.take(postings)
		st.extra.take(extra)
		st.rows.take(rows)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, st.free())
		}
	}()
	if err = st.begin(); err != nil {
		return nil, err
	}
	if err = st.alloc(int(postings), int(extra), int(rows), r.Docs()); err != nil {
		return nil, err
	}
	if st.mapped {
		st.spare.Store(room - known - st.mapBytes())
	}
	lengths, err := copied(r.Lengths())
	if err != nil {
		return nil, err
	}
	return st, st.lengths.Upload(st.stream, lengths)
}

// alloc allocates the buffers for postings.
func (x *resident) alloc(postings, extra, rows, docs int) (err error) {
	if x.offsets, err = gpu.Alloc[uint16](x.dev, postings+16); err != nil {
		return err
	}
	if x.tfs, err = gpu.Alloc[uint8](x.dev, postings+16); err != nil {
		return err
	}
	if x.more, err = gpu.Alloc[uint32](x.dev, extra); err != nil {
		return err
	}
	if x.starts, err = gpu.Alloc[uint32](x.dev, rows*x.rowLen()); err != nil {
		return err
	}
	x.lengths, err = gpu.Alloc[uint32](x.dev, docs)
	return err
}

// sharedStore returns a store whose postings are already on the device.
func sharedStore(g *Index, x *resident) (_ *gpuStore, err error) {
	st := &gpuStore{g: g, resident: x}
	x.users.Add(1)
	if err = st.begin(); err != nil {
		return nil, errors.Join(err, st.free())
	}
	return st, nil
}

// begin creates what each store has of its own.
func (st *gpuStore) begin() (err error) {
	if st.pair, err = pairKernel(st.dev); err != nil {
		return err
	}
	st.stream, err = st.dev.NewStream()
	return err
}

// copied copies mapped memory. The driver must not read mapped files itself, since a fault in its
// code cannot be turned into an error.
func copied[T any](from []T) (to []T, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	to = make([]T, len(from))
	copy(to, from)
	return to, nil
}

func (st *gpuStore) free() error {
	errs := []error{st.known.terms.Free()}
	for _, m := range st.models {
		errs = append(errs, m.free())
	}
	if st.stream != nil {
		errs = append(errs, st.stream.Free())
	}
	return errors.Join(append(errs, st.release())...)
}

// load loads all lists onto the device, if they fit, and computes their codes as they come. ready
// waits for the kernels.
func (st *gpuStore) load(ctx context.Context, progress func(done, total int64),
	ready func() error) error {
	if !st.whole {
		return ready()
	}
	st.numberMaps()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	there := newCarried()
	var filling sync.WaitGroup
	filling.Go(func() {
		if err := st.fill(ctx, progress, there); err != nil {
			cancel(err)
		}
		there.end()
	})
	err := ready()
	if err == nil {
		err = st.weigh(ctx, there)
	}
	if err != nil {
		cancel(err)
	}
	filling.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if !st.mapped {
		return nil
	}
	defer st.g.takes("maps")()
	return st.drawMaps()
}

// carried says which lists are on the device while others are loaded.
type carried struct {
	mu    sync.Mutex
	more  sync.Cond
	parts map[int]int // ends of parts that are there before those between, by where they begin
	upTo  int         // all lists before this one are there
	ended bool
}

func newCarried() *carried {
	c := &carried{parts: map[int]int{}}
	c.more.L = &c.mu
	return c
}

// add notes that the lists [from, to) are there.
func (c *carried) add(from, to int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parts[from] = to
	for next, ok := c.parts[c.upTo]; ok; next, ok = c.parts[c.upTo] {
		delete(c.parts, c.upTo)
		c.upTo = next
	}
	c.more.Broadcast()
}

// end notes that no more lists come.
func (c *carried) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.more.Broadcast()
}

// wait waits until all lists before the n-th are there, or no more come.
func (c *carried) wait(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.upTo < n && !c.ended {
		c.more.Wait()
	}
}

// fill loads all lists onto the device.
func (st *gpuStore) fill(ctx context.Context, progress func(done, total int64),
	there *carried) error {
	defer st.g.takes("postings")()
	// Adjacent lists are uploaded together.
	type part struct{ from, to int }
	parts := make(chan part)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var done atomic.Int64
	workers := runtime.GOMAXPROCS(0)
	if st.g.s.Several() {
		workers = max(1, workers*2/openTogether)
	}
	for range workers {
		wg.Go(func() {
			s, err := st.g.dev.NewStream()
			if err != nil {
				cancel(err)
				for range parts {
				}
				return
			}
			defer s.Free()
			size := min(carryPostings, st.postings.size)
			c := gpuCarrier{offsets: make([]uint16, 0, size), tfs: make([]uint8, 0, size)}
			for p := range parts {
				if ctx.Err() != nil {
					continue
				}
				n, err := c.carry(st, s, p.from, p.to)
				if err = errors.Join(err, s.Sync(context.Background())); err != nil {
					cancel(err)
					continue
				}
				there.add(p.from, p.to)
				if progress != nil {
					progress(done.Add(n), st.g.s.Index.Postings())
				}
			}
		})
	}
	from, sum := 0, int64(0)
	for i := range st.lists {
		if sum += int64(st.lists[i].df); sum >= carryPostings || i == len(st.lists)-1 {
			parts <- part{from, i + 1}
			from, sum = i+1, 0
		}
	}
	close(parts)
	wg.Wait()
	return context.Cause(ctx)
}

// weigh computes the codes of all lists for the default model, and the terms of all words for
// batches.
func (st *gpuStore) weigh(ctx context.Context, there *carried) error {
	defer st.g.takes("codes")()
	m, err := st.model(model.BM25{})
	if err != nil {
		return err
	}
	var known *knownTerms
	if st.roomy && !st.g.s.Several() { // otherwise their weights are not those of the segment
		w, err := st.g.s.Weigher(model.BM25{})
		if err != nil {
			return err
		}
		if known, err = st.know(usualBM25(w)); err != nil {
			return err
		}
	}
	if err := m.encodeAll(ctx, known, there); err != nil {
		return err
	}
	if known != nil {
		known.there = true
	}
	return nil
}

// place allocates space for a list.
func (st *gpuStore) place(l *gpuList) bool {
	p, e, n := l.room()
	pos, ok1 := st.postings.take(p)
	extra, ok2 := st.extra.take(e)
	row, ok3 := st.rows.take(n)
	if !ok1 || !ok2 || !ok3 {
		if ok1 {
			st.postings.give(pos, p)
		}
		if ok2 {
			st.extra.give(extra, e)
		}
		return false
	}
	l.pos, l.extra = uint64(pos), uint64(extra)
	if n > 0 {
		l.row = uint32(row)
	}
	return true
}

// gpuCarrier decodes and uploads lists. Its buffers are reused.
type gpuCarrier struct {
	cursor  index.Cursor
	docs    [index.BlockSize]uint32
	freqs   [index.BlockSize]uint32
	offsets []uint16
	tfs     []uint8
	more    []uint32
	starts  []uint32
}

// carry uploads lists [from, to), which must be contiguous in all three buffers.
func (c *gpuCarrier) carry(st *gpuStore, s *gpu.Stream, from, to int) (postings int64, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	c.offsets, c.tfs, c.more, c.starts = c.offsets[:0], c.tfs[:0], c.more[:0], c.starts[:0]
	pos, extra, row := -1, -1, -1
	for t, err := range st.g.s.Index.TermsIn(from, to) {
		if err != nil {
			return 0, err
		}
		l := &st.lists[t.ID]
		if pos < 0 {
			pos = int(l.pos)
		}
		if _, e, _ := l.room(); e > 0 && extra < 0 {
			extra = int(l.extra)
		}
		if !l.sparse() && row < 0 {
			row = int(l.row)
		}
		if err := c.list(st, t, l); err != nil {
			return 0, fmt.Errorf("list %d: %w", t.ID, err)
		}
		postings += int64(l.df)
	}
	var errs []error
	if len(c.offsets) > 0 {
		errs = append(errs,
			st.offsets.Slice(pos, pos+len(c.offsets)).Upload(s, c.offsets),
			st.tfs.Slice(pos, pos+len(c.tfs)).Upload(s, c.tfs))
	}
	if extra >= 0 {
		errs = append(errs, st.more.Slice(extra, extra+len(c.more)).Upload(s, c.more))
	}
	if row >= 0 {
		from := row * st.rowLen()
		errs = append(errs, st.starts.Slice(from, from+len(c.starts)).Upload(s, c.starts))
	}
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	for id := from; id < to; id++ {
		st.lists[id].there = true
	}
	return postings, nil
}

// list decodes one list after the others.
func (c *gpuCarrier) list(st *gpuStore, t index.Term, l *gpuList) error {
	if err := st.g.s.Index.Open(t, &c.cursor); err != nil {
		return err
	}
	l.bound = c.cursor.Bound
	var bigs []uint32
	sparse, at, sub := l.sparse(), uint32(0), 0
	for b := range c.cursor.Blocks() {
		n := c.cursor.DecodeDocs(b, &c.docs)
		if c.cursor.DecodeTFs(b, &c.freqs) != n || n == 0 {
			break
		}
		docs, freqs := c.docs[:n], c.freqs[:n]
		if sparse {
			c.more = append(c.more, docs...)
		} else if int(docs[n-1]>>gpuSubBits) >= sub { // parts of tiles begin in this block
			for i, d := range docs {
				for ; sub <= int(d>>gpuSubBits); sub++ {
					c.starts = append(c.starts, at+uint32(i))
				}
			}
		}
		c.offsets, c.tfs = slices.Grow(c.offsets, n), slices.Grow(c.tfs, n)
		end := len(c.offsets)
		c.offsets, c.tfs = c.offsets[:end+n], c.tfs[:end+n]
		offsets, tfs := c.offsets[end:][:n], c.tfs[end:][:n]
		for i, d := range docs {
			offsets[i] = uint16(d & (gpuTile - 1))
		}
		for i, tf := range freqs {
			if tfs[i] = uint8(min(tf, 255)); tf >= 255 && len(bigs) < 2*int(l.big) {
				bigs = append(bigs, at+uint32(i), tf)
			}
		}
		at += uint32(n)
	}
	if err := c.cursor.Err(); err != nil {
		return err
	}
	if at != l.df {
		return fmt.Errorf("%d postings, not %d", at, l.df)
	}
	for ; !sparse && sub < st.rowLen(); sub++ {
		c.starts = append(c.starts, at)
	}
	l.bigs = uint32(len(bigs) / 2)
	for len(bigs) < 2*int(l.big) {
		bigs = append(bigs, 0)
	}
	c.more = append(c.more, bigs...)
	for len(c.offsets)%8 != 0 {
		c.offsets, c.tfs = append(c.offsets, 0), append(c.tfs, 0)
	}
	return nil
}

// bring loads lists, evicting the least recently used ones. The gate is held for writing. It says
// whether there was space.
func (st *gpuStore) bring(ids []int) (bool, error) {
	if st.g.x != nil {
		return st.gather(ids)
	}
	wanted, room := map[int]bool{}, listRoom{}
	for _, id := range ids {
		if !wanted[id] {
			wanted[id] = true
			room.add(st.lists[id].room())
		}
	}
	if room.postings > st.postings.size || room.extra > st.extra.size || room.rows > st.rows.size {
		return false, nil // whatever leaves
	}
	var c gpuCarrier
	for _, id := range ids {
		l := &st.lists[id]
		if l.there {
			continue
		}
		for !st.place(l) {
			if !st.evict(wanted) {
				return false, nil
			}
		}
		if _, err := c.carry(st, st.stream, id, id+1); err != nil {
			st.remove(l)
			return false, err
		}
		st.here = append(st.here, id)
		for _, m := range st.models {
			m.coded[id] = false
		}
	}
	return true, st.stream.Sync(context.Background())
}

// evict removes the least recently used lists, but for those to keep: one in evictShare of those
// that are there, since finding them takes longer than removing them. It returns false if there is
// none to remove.
func (st *gpuStore) evict(keep map[int]bool) bool {
	old := slices.DeleteFunc(slices.Clone(st.here), func(id int) bool { return keep[id] })
	slices.SortFunc(old, func(a, b int) int {
		return cmp.Compare(st.lists[a].used.Load(), st.lists[b].used.Load())
	})
	for _, id := range old[:(len(old)+evictShare-1)/evictShare] {
		st.remove(&st.lists[id])
	}
	st.here = slices.DeleteFunc(st.here, func(id int) bool { return !st.lists[id].there })
	return len(old) > 0
}

// remove frees the space of a list.
func (st *gpuStore) remove(l *gpuList) {
	p, e, n := l.room()
	st.postings.give(int64(l.pos), p)
	st.extra.give(int64(l.extra), e)
	st.rows.give(int64(l.row)*n, n)
	l.there = false
}
