package impactdevice

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/par"
)

// store is the lists of an index on a device. Generations of an index with the same segment share
// it if it is whole.
type store struct {
	dev   *gpu.Device
	index *index.Reader
	users atomic.Int32
	tiles int
	whole bool // all lists are there, and stay
	lists []list

	stream *gpu.Stream
	arena  gpu.Buffer[byte]
	used   int64
	size   int64 // of all lists together
}

// list is where the list of a word is on the device, and how it is stored.
type list struct {
	at    int64  // in the arena; absent if it is not there
	size  int64  // in bytes
	n     uint32 // postings
	most  uint32 // the highest weight, once the list was there; the cores answer above mostWeight
	tiled bool
	shift uint8 // groups of a plain list are of 1 << shift tiles
}

const (
	absent = -1
	// groupPostings is the number of postings in a group of a plain list, on average: less than a
	// warp, which reads a group at once.
	groupPostings = 16
	mostWeight    = 1<<16 - 1
	// pieceBytes is about how much is copied to the device at a time.
	pieceBytes = 64 << 20
)

// newStore measures the lists of an index, and allocates memory for them: all or, if that exceeds
// the budget, as much as that allows.
func newStore(dev *gpu.Device, r *index.Reader, budget int64) (st *store, err error) {
	st = &store{dev: dev, index: r, tiles: index.Tiles(uint64(r.Docs())), lists: make([]list, r.Terms())}
	st.users.Store(1)
	const part = 1 << 10
	errs := make([]error, len(st.lists)/part+1)
	sizes := make([]int64, len(errs))
	par.For(runtime.GOMAXPROCS(0), len(st.lists), part, func(_, from, to int) {
		sizes[from/part], errs[from/part] = st.measure(from, to)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	longest := int64(0)
	for _, n := range sizes {
		st.size += n
	}
	for i := range st.lists {
		longest = max(longest, st.lists[i].size)
	}
	if st.whole = st.size <= budget; !st.whole && budget < longest {
		return nil, fmt.Errorf("%v of GPU memory are too little for the lists: want at least %v more",
			bytesize.Size(max(0, budget)), bytesize.Size(longest-max(0, budget)))
	}
	if st.arena, err = gpu.Alloc[byte](dev, int(min(st.size, budget))); err != nil {
		return nil, err
	}
	if st.stream, err = dev.NewStream(); err != nil {
		return nil, errors.Join(err, st.arena.Free())
	}
	return st, nil
}

// measure finds the form and the size of the lists [from, to).
func (st *store) measure(from, to int) (size int64, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	for t, err := range st.index.TermsIn(from, to) {
		if err != nil {
			return 0, err
		}
		l := &st.lists[t.ID]
		l.at, l.n = absent, t.DF
		copied, ok, err := st.index.Impacts(t)
		if err != nil {
			return 0, err
		}
		if l.tiled = ok; ok {
			l.size = 8*int64(st.tiles) + int64(len(copied.Parts))
		} else {
			for l.groups(st.tiles) > max(1, int(l.n)/groupPostings) {
				l.shift++
			}
			l.size = 4*int64(l.groups(st.tiles)+1) + 6*int64(l.n)
		}
		l.size = (l.size + 7) &^ 7
		size += l.size
	}
	return size, nil
}

func (l *list) groups(tiles int) int { return (tiles-1)>>l.shift + 1 }

// release frees the memory after the last user.
func (st *store) release() error {
	if st.users.Add(-1) > 0 {
		return nil
	}
	return errors.Join(st.stream.Free(), st.arena.Free(), st.dev.Close())
}

// bring makes sure that lists are on the device. It returns false if they do not fit together. No
// query may be running unless the store is whole.
func (st *store) bring(ctx context.Context, ids []int) (fits bool, err error) {
	missing, size := st.missing(ids)
	if st.used+size > int64(st.arena.Len()) {
		for i := range st.lists {
			st.lists[i].at = absent
		}
		st.used = 0
		if missing, size = st.missing(ids); size > int64(st.arena.Len()) {
			return false, nil
		}
	}
	return true, st.load(ctx, missing, func(int64) {})
}

func (st *store) missing(ids []int) (missing []int, size int64) {
	for _, id := range ids {
		if l := &st.lists[id]; l.at == absent {
			missing = append(missing, id)
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	for _, id := range missing {
		size += st.lists[id].size
	}
	return missing, size
}

// there reports whether lists are on the device.
func (st *store) there(ids []int) bool {
	if st.whole {
		return true
	}
	for _, id := range ids {
		if st.lists[id].at == absent {
			return false
		}
	}
	return true
}

// loadAll loads all lists, which must fit.
func (st *store) loadAll(ctx context.Context, progress func(done, total int64)) error {
	all := make([]int, len(st.lists))
	for i := range all {
		all[i] = i
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	return st.load(ctx, all, func(done int64) { progress(done, st.index.Postings()) })
}

// load copies lists to the end of what is used, and tells how many of their postings are there. If
// it fails, no list is.
func (st *store) load(ctx context.Context, ids []int, tell func(done int64)) (err error) {
	type piece struct {
		data []byte
		at   int64
		n    int64 // postings
		err  error
	}
	pieces, back := make(chan piece), make(chan []byte, 2)
	back <- nil
	back <- nil
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(pieces)
		for len(ids) > 0 {
			buf := <-back
			n, p := 0, piece{at: st.used}
			for n < len(ids) && (n == 0 || st.used-p.at+st.lists[ids[n]].size <= pieceBytes) {
				l := &st.lists[ids[n]]
				l.at = st.used
				st.used += l.size
				p.n += int64(l.n)
				n++
			}
			p.data = slices.Grow(buf[:0], int(st.used-p.at))[:st.used-p.at]
			p.err = st.fill(ids[:n], p.data, p.at)
			ids = ids[n:]
			select {
			case pieces <- p:
			case <-ctx.Done():
				return
			}
			if p.err != nil {
				return
			}
		}
	}()
	done := int64(0)
	for p := range pieces {
		if err == nil {
			if err = p.err; err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = st.arena.Slice(int(p.at), int(p.at)+len(p.data)).Upload(st.stream, p.data)
			}
			if err != nil {
				cancel()
			}
		}
		done += p.n
		tell(done)
		back <- p.data
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = st.stream.Sync(ctx)
	}
	if err != nil {
		for i := range st.lists {
			st.lists[i].at = absent
		}
		st.used = 0
	}
	return err
}

// fill writes lists as the device has them. data begins at the place base of the arena.
func (st *store) fill(ids []int, data []byte, base int64) error {
	errs := make([]error, len(ids))
	par.For(runtime.GOMAXPROCS(0), len(ids), 8, func(_, from, to int) {
		var c index.Cursor
		for i, id := range ids[from:to] {
			l := &st.lists[id]
			errs[from+i] = st.write(id, l, data[l.at-base:l.at-base+l.size], &c)
		}
	})
	return errors.Join(errs...)
}

func (st *store) write(id int, l *list, to []byte, c *index.Cursor) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	t, err := st.index.Term(id)
	if err != nil {
		return err
	}
	if l.tiled {
		return st.writeTiles(t, l, to)
	}
	return st.writePlain(t, l, to, c)
}

// writeTiles writes a list in tiles: a head for each, with where its part begins, the number of
// postings and the highest weight, then the parts.
func (st *store) writeTiles(t index.Term, l *list, to []byte) error {
	copied, _, err := st.index.Impacts(t)
	if err != nil {
		return err
	}
	at, most := uint64(0), uint8(0)
	for tile, n := range copied.Counts {
		best := copied.Best[tile]
		most = max(most, best)
		binary.LittleEndian.PutUint64(to[8*tile:], at|uint64(n)<<32|uint64(best)<<48)
		at += uint64(index.PartBytes(n))
	}
	if at != uint64(len(copied.Parts)) || at > 1<<32-1 {
		return fmt.Errorf("a list of %d bytes is too long for a GPU", at)
	}
	copy(to[8*len(copied.Counts):], copied.Parts)
	l.most = uint32(most)
	return nil
}

// writePlain writes a list without tiles: the first posting of each group of tiles and their
// number, the documents, the weights.
func (st *store) writePlain(t index.Term, l *list, to []byte, c *index.Cursor) error {
	if err := st.index.Open(t, c); err != nil {
		return err
	}
	groups, most := l.groups(st.tiles), uint32(0)
	docs := to[4*(groups+1):]
	weights := docs[4*l.n:]
	n, group := uint32(0), 0
	var docOf, weightOf [index.BlockSize]uint32
	for b := range c.Blocks() {
		size := c.DecodeDocs(b, &docOf)
		if size == 0 || c.DecodeTFs(b, &weightOf) != size {
			return errors.Join(c.Err(), fmt.Errorf("block %d of word %d cannot be read", b, t.ID))
		}
		for i, doc := range docOf[:size] {
			if n == l.n {
				return fmt.Errorf("corrupted: word %d has more than %d postings", t.ID, n)
			}
			for ; group <= int(doc/index.TileDocs)>>l.shift; group++ {
				binary.LittleEndian.PutUint32(to[4*group:], n)
			}
			binary.LittleEndian.PutUint32(docs[4*n:], doc)
			binary.LittleEndian.PutUint16(weights[2*n:], uint16(min(weightOf[i], mostWeight)))
			most = max(most, weightOf[i])
			n++
		}
	}
	if n != l.n {
		return fmt.Errorf("corrupted: word %d has %d postings, want %d", t.ID, n, l.n)
	}
	for ; group <= groups; group++ {
		binary.LittleEndian.PutUint32(to[4*group:], n)
	}
	l.most = most
	return nil
}
