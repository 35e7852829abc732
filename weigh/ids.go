package weigh

import (
	"io"
	"slices"

	"github.com/collocate/collocate/internal/numberedid"
	"github.com/collocate/collocate/internal/scratch"
	"github.com/collocate/collocate/internal/sections"
)

// idCursor reads the IDs of documents in place, because they may not fit in memory. It remembers
// the batch of the last one: most of a word's documents are close together.
type idCursor struct {
	v           *documents
	from, to    int // range of the batch's documents
	b           docBatch
	page, endAt int // pages of the last ID and of its end, in the batch's record

	counted []byte // the last ID returned from a batch with consecutively numbered IDs
	nth     int    // its position in the batch
}

// at returns the ID of document i, valid until the next call.
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

// count returns ID i of a batch with consecutively numbered IDs.
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

// find moves the cursor to the batch of document i.
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

// touch records that these pages of the batch's record are read, if they differ from the last ones.
func (c *idCursor) touch(page, endAt int) {
	if page != c.page || endAt != c.endAt {
		c.page, c.endAt = page, endAt
		c.v.records.Touch(2)
	}
}

// idBytes returns the total length of all IDs.
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

// putIDEnds writes the end of each ID in the concatenation of all, as uint64.
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
