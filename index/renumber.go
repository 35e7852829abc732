package index

import "math/bits"

// renumbering maps documents to their new numbers, called places. The new order consists of parts
// in each of which the old numbers ascend. So a list is sorted by distributing its postings to the
// parts, as in a counting sort.
type renumbering struct {
	place []uint32 // new number of each document
	parts int      // above maxParts if parts are too many or too small for distributing
	// starts is the first place of each part, and then the number of documents; near is the part
	// of every place that is a multiple of 1<<shift.
	starts [maxParts + 1]uint32
	near   [nearParts]uint8
	shift  uint
}

// maxParts is the largest number of parts to which postings are distributed. A bisection makes up
// to 128 of about the same size, none of which is as small as one in nearParts documents.
const (
	maxParts  = 256
	nearParts = 1 << 12
)

// renumber returns the renumbering for an order of the documents.
func renumber(order []uint32) *renumbering {
	to := &renumbering{place: make([]uint32, len(order))}
	to.shift = uint(max(bits.Len(uint(len(order)))-bits.Len(nearParts-1), 0))
	borders := 0 // parts that begin within the last 1<<shift places, except at their first
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

// partOf returns the part that contains a place.
func (to *renumbering) partOf(place uint32) uint8 {
	part := to.near[place>>to.shift&(nearParts-1)]
	return part + uint8((to.starts[int(part)+1]-1-place)>>31) // plus 1 if the next part has begun
}
