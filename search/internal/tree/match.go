package tree

import (
	"slices"

	"github.com/collocate/collocate/search/internal/model"
)

// matcher describes the required positions of the words of a phrase or a Near.
type matcher struct {
	slop    int  // largest difference between two words' displacements; for near: distance
	near    bool // only distances matter
	ordered bool // for near: positions must increase
	places  bool // a phrase: word i is expected at offset i

	equal []int // for each word the index of its previous occurrence in the phrase, or -1
}

// exact reports whether the words must be adjacent and in order.
func (m *matcher) exact() bool { return m.places && m.slop == 0 }

// prepare finds words that occur more than once.
func (m *matcher) prepare(words []model.Term) {
	m.equal = m.equal[:0]
	for i := range words {
		last := -1
		for j := range i {
			if words[j].Text == words[i].Text {
				last = j
			}
		}
		m.equal = append(m.equal, last)
	}
}

// count returns the number of matches of words at the given positions, if they need not be
// adjacent.
func (m *matcher) count(places [][]uint32) (n uint32) {
	for after := int64(-1); ; n++ {
		end, ok := m.first(places, after)
		if !ok {
			return n
		}
		after = end
	}
}

// first finds the match that ends first among those that begin after a position, and returns its
// end.
//
// Let word i be expected at offset want(i): i in a phrase, 0 in Near. A match is a set of distinct
// positions p(i) with low <= p(i)-want(i) <= low+slop for some low. For a given low the smallest
// positions that fit also end first. Equal words take theirs in the order of the phrase, since
// swapping two that are in reverse order only brings them closer together. The only values of low
// to try are those at which some word occurs.
func (m *matcher) first(places [][]uint32, after int64) (end int64, ok bool) {
	if m.ordered {
		return m.firstOrdered(places, after)
	}
	for i, list := range places {
		k, _ := slices.BinarySearch(list, uint32(after+1))
		for _, p := range list[k:] {
			low := int64(p) - m.want(i)
			if ok && low > end {
				break
			}
			if e, fits := m.fit(places, low, after); fits && (!ok || e < end) {
				end, ok = e, true
			}
		}
	}
	return end, ok
}

// want returns the offset at which word i is expected.
func (m *matcher) want(i int) int64 {
	if m.places {
		return int64(i)
	}
	return 0
}

// fit finds the smallest positions for a low, and returns the largest of them.
func (m *matcher) fit(places [][]uint32, low, after int64) (end int64, ok bool) {
	var few [16]int64
	taken := few[:0]
	for i, list := range places {
		from := max(low+m.want(i), after+1, 0)
		if before := m.equal[i]; before >= 0 {
			from = max(from, taken[before]+1)
		}
		k, _ := slices.BinarySearch(list, uint32(from))
		if k == len(list) || int64(list[k]) > low+m.want(i)+int64(m.slop) {
			return 0, false
		}
		taken = append(taken, int64(list[k]))
		end = max(end, int64(list[k]))
	}
	return end, true
}

// firstOrdered is first for positions that must increase.
func (m *matcher) firstOrdered(places [][]uint32, after int64) (end int64, ok bool) {
	k, _ := slices.BinarySearch(places[0], uint32(after+1))
	for _, p := range places[0][k:] {
		if ok && int64(p) > end {
			break
		}
		at := p
		fits := true
		for _, list := range places[1:] {
			k, _ := slices.BinarySearch(list, at+1)
			if fits = k < len(list) && int64(list[k])-int64(p) <= int64(m.slop); !fits {
				break
			}
			at = list[k]
		}
		if fits && (!ok || int64(at) < end) {
			end, ok = int64(at), true
		}
	}
	return end, ok
}
