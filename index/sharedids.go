package index

import (
	"cmp"
	"fmt"
	"iter"
	"sort"

	"github.com/collocate/collocate/internal/mmap"
)

// SharedIDs yields the documents of r whose external ID also occurs in other, in the order of IDs.
// Both indexes have their IDs sorted and are read once; of the longer list, only the blocks are
// read that can hold an ID of the shorter. The iteration ends with the first error.
func (r *Reader) SharedIDs(other *Reader) iter.Seq2[uint32, error] {
	return func(yield func(uint32, error) bool) {
		if r.closed || other.closed {
			yield(0, ErrClosed)
			return
		}
		err := sharedIDs(r.ids, other.ids, func(doc uint32) bool { return yield(doc, nil) })
		if err != nil {
			yield(0, err)
		}
	}
}

func sharedIDs(own, other *idStore, yield func(doc uint32) bool) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	a, b := &idSeeker{idWalker: idWalker{s: own}}, &idSeeker{idWalker: idWalker{s: other}}
	for more := a.step() && b.step(); more; {
		switch c := compareIDs(a.id, b.id); {
		case c < 0:
			more = a.seek(b.id)
		case c > 0:
			more = b.seek(a.id)
		default:
			rank := a.rank - 1
			if err := own.touch(own.byRank, rank); err != nil {
				return err
			}
			doc := own.byRankAt(rank)
			if doc >= own.docs {
				return fmt.Errorf("corrupted: no document has the ID %q", a.id)
			}
			if !yield(uint32(doc)) {
				return nil
			}
			more = a.step()
		}
	}
	return cmp.Or(a.failed, b.failed)
}

// idSeeker is an idWalker that can seek forward, and that tells the end from an error.
type idSeeker struct {
	idWalker
	failed error // why it stopped; nil at the end
}

// step is like next, but sets failed.
func (w *idSeeker) step() bool {
	if w.rank >= w.s.docs {
		return false
	}
	if !w.next() {
		w.failed = cmp.Or(w.err, fmt.Errorf("corrupted: the ID after %q cannot be decoded", w.id))
	}
	return w.failed == nil
}

// seek moves to the next ID that is not before id. It returns false if there is none.
func (w *idSeeker) seek(id []byte) bool {
	for {
		if w.rank == w.end {
			w.pass(id)
		}
		w.reach(id)
		if w.failed != nil || !w.step() {
			return false
		}
		if compareIDs(w.id, id) >= 0 {
			return true
		}
	}
}

// pass skips the following blocks whose IDs are all before id. It uses galloping search, so that
// few blocks are read whether the ID is near or far away.
func (w *idSeeker) pass(id []byte) {
	blocks := len(w.s.starts) - 1
	before := func(block int) bool { // the block's first ID is before id
		first := idSeeker{idWalker: w.s.walk(block)}
		first.step()
		w.failed = cmp.Or(w.failed, first.failed)
		return compareIDs(first.id, id) < 0
	}
	from, step := w.block, 1
	for from+step < blocks && before(from+step) {
		from += step
		step *= 2
	}
	n := max(min(step, blocks-from)-1, 0) // blocks after from that were not compared
	from += sort.Search(n, func(i int) bool { return !before(from + 1 + i) })
	id = w.id[:0]
	w.idWalker = w.s.walk(from)
	w.id = id
}
