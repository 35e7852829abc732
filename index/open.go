package index

import (
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
)

// Open resets the cursor to the first posting of a term.
func (r *Reader) Open(t Term, c *Cursor) error {
	if err := r.OpenBlocks(t, c); err != nil || c.block >= 0 || t.DF == 0 {
		return err
	}
	c.Load(0)
	return c.err
}

// OpenBlocks is like Open, for callers that go block by block or only use Seek. It decodes no block
// of a list of several blocks, and Doc and TF are undefined until the cursor is moved.
func (r *Reader) OpenBlocks(t Term, c *Cursor) error { return r.openBlocks(t, c, false) }

// OpenDocs is like OpenBlocks, for callers that do not need bounds. Of a list of one block it
// decodes only the documents, and the list's bound is a trivial one. A better bound would need the
// length of each document, which takes longer to compute than intersecting the list with another.
func (r *Reader) OpenDocs(t Term, c *Cursor) error { return r.openBlocks(t, c, true) }

func (r *Reader) openBlocks(t Term, c *Cursor, docsOnly bool) error {
	if r.closed {
		return ErrClosed
	}
	c.Term, c.err, c.limit, c.shown = t, nil, uint32(r.meta.docs), BlockSize
	c.Last, c.offsets, c.Bounds, c.Super, c.data, c.Bound, c.LowX, c.SuperX = nil, nil, nil, nil, nil, 0, nil, nil
	c.Levels, c.LevelX = nil, nil
	if !r.lengthsGood.Load() {
		if err := r.touchLengths(); err != nil {
			return r.fail(c, err)
		}
	}
	switch {
	case t.DF == 0:
		c.finish()
		return nil
	case uint64(t.DF) > r.meta.docs:
		return r.badTerm(c)
	case t.made != nil:
		c.data = t.made.postings
	case t.DF > 1:
		// The slice includes tailPad bytes after the list: decoders load whole words past the end.
		size := uint64(len(r.postings) - tailPad)
		if t.postings > size || t.postingsLen > size-t.postings {
			return r.badTerm(c)
		}
		c.data = r.postings[t.postings : t.postings+t.postingsLen+tailPad]
		if err := r.postingsFile.Touch(c.data[:t.postingsLen]); err != nil {
			return r.fail(c, err)
		}
	}
	if t.DF > BlockSize {
		return r.openLong(c)
	}
	return r.openShort(c, docsOnly)
}

// openLong opens a list of several blocks, which has skip data.
func (r *Reader) openLong(c *Cursor) error {
	s, err := r.skipsOf(c)
	if err != nil {
		return err
	}
	blocks := (int(c.Term.DF) + BlockSize - 1) / BlockSize
	if c.Last, err = sections.View[uint32](s[:4*blocks]); err != nil {
		return err
	}
	if c.offsets, err = sections.View[uint32](s[4*blocks : 8*blocks]); err != nil {
		return err
	}
	if c.Bounds, err = sections.View[Bound](s[8*blocks : 16*blocks]); err != nil {
		return err
	}
	supers := (blocks + SuperBlocks - 1) / SuperBlocks
	s = s[16*blocks:]
	bounds, err := sections.View[Bound](s[:8*supers+8])
	if err != nil {
		return err
	}
	c.Super, c.Bound = bounds[:supers], bounds[supers]
	xs, err := sections.View[float32](s[8*supers+8:])
	if err != nil {
		return err
	}
	c.LowX, c.SuperX = xs[:blocks], xs[blocks:blocks+supers]
	c.BestX, c.Ranked = xs[blocks+supers], [numRanks]float32(xs[blocks+supers+1:])
	if err := r.levels.of(c, r.meta.docs); err != nil {
		return r.fail(c, err)
	}
	c.block, c.doc, c.pos, c.tfsOf = -1, 0, 0, -1
	return nil
}

// skipsOf returns the skip data of a list.
func (r *Reader) skipsOf(c *Cursor) ([]byte, error) {
	if c.Term.made != nil {
		return c.Term.made.skips, nil
	}
	at, need := c.Term.skips, skipBytes(c.Term.DF)
	if at%8 != 0 || at > uint64(len(r.skips)) || need > uint64(len(r.skips))-at {
		return nil, r.badTerm(c)
	}
	s := r.skips[at : at+need]
	if err := r.skipsFile.Touch(s); err != nil {
		return nil, r.fail(c, err)
	}
	return s, nil
}

// openShort opens a list of one block. It computes what longer lists have in their skip data:
// decoding 128 postings takes less time than fetching skip data would.
func (r *Reader) openShort(c *Cursor, docsOnly bool) error {
	n := int(c.Term.DF)
	c.oneAt[0], c.tfsOf = 0, -1
	if !docsOnly || n == 1 {
		c.tfsOf = 0
	}
	if n == 1 {
		if c.Term.inlineTF > maxTF {
			return r.badTerm(c)
		}
		c.docs[0], c.tfs[0] = c.Term.inlineDoc, c.Term.inlineTF
	} else if !unpackDocs(c.data, n, ^uint32(0), c.block128()) || !docsOnly && !unpackTFs(c.data, n, &c.tfs) {
		return r.badTerm(c)
	}
	if c.docs[n-1] >= c.limit {
		return r.badTerm(c)
	}
	for i := n; i <= BlockSize; i++ {
		c.docs[i] = End
	}
	if c.Bound = anyPosting; !docsOnly {
		c.Bound = shortBound(c.docs[:n], c.tfs[:n], r.classes)
	}
	c.oneLast[0], c.oneBound[0] = c.docs[n-1], c.Bound
	c.Last, c.offsets, c.Bounds, c.Super = c.oneLast[:], c.oneAt[:], c.oneBound[:], c.oneBound[:]
	c.block, c.pos, c.doc = 0, 0, c.docs[0]
	return nil
}

// anyPosting is a Bound that holds for any posting: the highest frequency in the shortest document.
const anyPosting = Bound(0x00ff00ff00ff00ff)

// shortBound makes a Bound with one pair for each of the frequencies 1, 2, 3 and higher ones: the
// largest frequency and the shortest length of each group.
func shortBound(docs, tfs []uint32, classes []uint8) Bound {
	const none = 256
	one, two, three, more := uint(none), uint(none), uint(none), uint(none)
	top := uint32(0)
	for i, d := range docs {
		class := uint(classes[d])
		switch tf := tfs[i]; tf {
		case 1:
			one = min(one, class)
		case 2:
			two = min(two, class)
		case 3:
			three = min(three, class)
		default:
			more, top = min(more, class), max(top, tf)
		}
	}
	var b Bound
	shift := 0
	for _, p := range [BoundPairs]struct {
		class uint
		tf    uint32
	}{{more, top}, {three, 3}, {two, 2}, {one, 1}} {
		if p.class != none {
			b |= (Bound(codeOfTF(p.tf)) | Bound(p.class)<<8) << shift
			shift += 16
		}
	}
	for last := b >> (shift - 16); shift < 64; shift += 16 { // repeat the last
		b |= last << shift
	}
	return b
}

func (r *Reader) badTerm(c *Cursor) error {
	return r.fail(c, fmt.Errorf("corrupted: the list of term %d does not fit the index", c.Term.ID))
}

// fail ends a list with an error.
func (r *Reader) fail(c *Cursor, err error) error {
	c.finish()
	c.err = err
	return err
}

// VerifiedLengths is like Lengths, but verifies their checksums first.
func (r *Reader) VerifiedLengths() (lengths []uint32, err error) {
	if r.closed {
		return nil, ErrClosed
	}
	defer mmap.Recover(mmap.Guard(), &err)
	lengths = r.Lengths()
	return lengths, r.touchLengths()
}

// touchLengths verifies the lengths of all documents before the first list is opened, because
// scoring looks them up one by one, without verification. It takes 0.5 ms for a million documents.
func (r *Reader) touchLengths() error {
	f := r.files[docsFile]
	err := f.Touch(r.classes)
	if e := r.expandErr.Load(); e != nil {
		err = errors.Join(err, *e)
	}
	if r.meta.flags&flagNoLengths == 0 {
		err = errors.Join(err, f.Touch(sections.Bytes(r.lengths)))
	}
	if err != nil {
		return err
	}
	r.lengthsGood.Store(true)
	return nil
}
