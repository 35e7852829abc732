package weigh

import (
	"io"
	"slices"

	"github.com/collocate/collocate/internal/numberedid"
	"github.com/collocate/collocate/internal/scratch"
	"github.com/collocate/collocate/internal/sections"
)

// idCursor reads IDs of documents where they lie: there may be more than memory has room for. It
// remembers the batch of the last one, for most of a word's documents follow each other closely.
type idCursor struct {
	v           *documents
	from, to    int // the batch's documents
	b           docBatch
	page, endAt int // of the last ID and its end, in pages of the records

	counted []byte // the last ID of a batch whose IDs count on
	nth     int    // and its place there
}

// at is the ID of document i, until the next call.
func (c *idCursor) at(i int) []byte {
	if i < c.from || i >= c.to {
		c.find(i)
	}
	if c.b.counted {
		return c.count(i - c.from)
	}
	at, start := i-c.from, uint32(0)
	if at > 0 {
		start = c.b.idEnds[at-1]
	}
	if c.v.records != nil {
		c.touch(int(start)/scratch.PageBytes, at*4/scratch.PageBytes)
	}
	return c.b.ids[start:c.b.idEnds[at]]
}

// count is ID i of a batch whose IDs count on.
func (c *idCursor) count(i int) []byte {
	switch i {
	case c.nth:
	case c.nth + 1:
		c.counted = numberedid.Step(c.counted)
	default:
		n := numberedid.Of(c.b.ids)
		c.counted = n.Append(append(c.counted[:0], c.b.ids[:n.Stem]...), uint64(i))
	}
	c.nth = i
	return c.counted
}

// find makes the batch of document i the cursor's.
func (c *idCursor) find(i int) {
	v := c.v
	n, ok := slices.BinarySearch(v.base, uint32(i))
	if !ok {
		n--
	}
	for int(v.base[n])+v.batches[n].docs <= i {
		n++ // batches without documents share their base with the next
	}
	c.b, c.from = v.batches[n], int(v.base[n])
	c.to = c.from + c.b.docs
	c.nth = -2 // none
	if v.records != nil {
		c.b, c.page, c.endAt = v.recordOf(c.b), -1, -1
	}
}

// touch says which pages of the batch's record are read, if they are others than before.
func (c *idCursor) touch(page, endAt int) {
	if page != c.page || endAt != c.endAt {
		c.page, c.endAt = page, endAt
		c.v.records.Touch(2)
	}
}

// idBytes is how long all IDs are together.
func (v *documents) idBytes() (n int64) {
	c := idCursor{v: v}
	at := 0
	for _, b := range v.batches {
		if b.counted {
			for i := range b.docs {
				n += int64(len(c.at(at + i)))
			}
		} else {
			n += int64(max(b.idBytes, len(b.ids)))
		}
		at += b.docs
	}
	return n
}

// putIDs writes all IDs, one after the other.
func (v *documents) putIDs(to io.Writer) error {
	c := idCursor{v: v}
	for i := range v.lengths {
		if _, err := to.Write(c.at(i)); err != nil {
			return err
		}
	}
	return nil
}

// putIDEnds writes where each ID ends among all, as 64 bits.
func (v *documents) putIDEnds(to io.Writer) error {
	c := idCursor{v: v}
	end, some := uint64(0), make([]uint64, 0, 1024)
	for i := range v.lengths {
		end += uint64(len(c.at(i)))
		if some = append(some, end); len(some) == cap(some) {
			if err := sections.Put(to, some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return sections.Put(to, some)
}
