package index

import "math/bits"

// renumbering says where documents are in a new order. It consists of parts in each of which
// documents rise, so that a list is sorted by dealing its postings out to the parts.
type renumbering struct {
	place []uint32 // of each document
	parts int      // more than maxParts if there are too many, or too small ones, to deal out to
	// The first place of each part, and the number of documents; and the part of the first of
	// each 1<<shift places.
	starts [maxParts + 1]uint32
	near   [nearParts]uint8
	shift  uint
}

// maxParts is the most parts to which postings are dealt out: a bisection makes up to 128 of about
// the same size. None of them is as small as 1 in nearParts documents.
const (
	maxParts  = 256
	nearParts = 1 << 12
)

// renumber says at which place of an order each document is.
func renumber(order []uint32) *renumbering {
	to := &renumbering{place: make([]uint32, len(order))}
	to.shift = uint(max(bits.Len(uint(len(order)))-bits.Len(nearParts-1), 0))
	borders := 0 // in the last 1<<shift places, but at their first
	last := uint32(0)
	for p, doc := range order {
		to.place[doc] = uint32(p)
		if p == 0 || doc < last {
			if to.parts < maxParts {
				to.starts[to.parts] = uint32(p)
			}
			to.parts++
			borders++
		}
		last = doc
		if p&(1<<to.shift-1) == 0 {
			to.near[p>>to.shift] = uint8(to.parts - 1)
			borders = 0
		}
		if borders > 1 {
			to.parts = max(to.parts, maxParts+1)
		}
	}
	for part := to.parts; part <= maxParts; part++ {
		to.starts[part] = uint32(len(order))
	}
	return to
}

// partOf is the part in which a place is.
func (to *renumbering) partOf(place uint32) uint8 {
	part := to.near[place>>to.shift&(nearParts-1)]
	return part + uint8((to.starts[int(part)+1]-1-place)>>31) // one more from the next start on
}
