package tree

import (
	"slices"

	"github.com/collocate/collocate/search/internal/model"
)

// matcher says how the words of a phrase must stand.
type matcher struct {
	slop    int  // how far words may be moved in all; of near: apart
	near    bool // only distances count
	ordered bool // of near: places must rise
	places  bool // a phrase: word i is wanted at place i

	equal []int // for each word the last one before that is the same, or -1
}

// exact says whether words must follow each other.
func (m *matcher) exact() bool { return m.places && m.slop == 0 }

// prepare finds words that are said twice.
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

// count is how often words that stand at these places match, if they need not follow each other.
func (m *matcher) count(places [][]uint32) (n uint32) {
	for after := int64(-1); ; n++ {
		end, ok := m.first(places, after)
		if !ok {
			return n
		}
		after = end
	}
}

// first finds the match that ends first of those that begin behind a place, and where it ends.
//
// Let word i be wanted at place i of a phrase, and at place 0 of Near. A match is places p(i), all
// different, with low <= p(i)-want(i) <= low+slop for some low. For a low the smallest places that
// fit also end first: equal words take theirs in the order of the phrase, since exchanging two that
// stand the other way round only brings them closer together. The only lows to try are those that
// some word stands at.
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

// want is where word i is wanted.
func (m *matcher) want(i int) int64 {
	if m.places {
		return int64(i)
	}
	return 0
}

// fit finds the smallest places for a low, and the largest of them.
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

// firstOrdered is first for places that rise.
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
