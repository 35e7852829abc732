package tree

import (
	"math"
	"slices"
	"sort"

	"github.com/collocate/collocate/search/internal/model"
)

// matcher describes the required positions of the words of a phrase or a Near.
type matcher struct {
	slop    int  // largest difference between two words' displacements; for near: distance
	near    bool // only distances matter
	ordered bool // for near: positions must increase
	places  bool // a phrase: word i is expected at offset i, or at offsets[i]
	offsets []uint32

	equal []int // for each word the index of its previous occurrence in the phrase, or -1
}

// exact reports whether the words must be adjacent and in order.
func (m *matcher) exact() bool { return m.places && m.slop == 0 }

// prepare finds words that occur more than once.
func (m *matcher) prepare(words []model.Term) {
	m.equal = m.equal[:0]
	var last map[string]int // of long phrases: for each word its last occurrence, from 1
	if len(words) > 16 {
		last = make(map[string]int, len(words))
	}
	for i := range words {
		word, before := words[i].Text, -1
		if last != nil {
			before = last[word] - 1
			last[word] = i + 1
		} else {
			for j := range i {
				if words[j].Text == word {
					before = j
				}
			}
		}
		m.equal = append(m.equal, before)
	}
}

// sweep is the state of a matcher that reads a document from its beginning to its end. It looks at
// the context also within a document.
type sweep struct {
	steps
	at []int // for each word the index of its position, among those of the document
}

// count returns the number of matches of words at the given positions, if they need not be
// adjacent: the match that ends first, then the one that ends first among those that begin after
// it, and so on. If the sweep has an error afterwards, the number is meaningless.
//
// Positions are only passed forwards. With n words at p positions in all, of a document of d words,
// it takes at most n steps for each of min(d, p) values of low in first, and one for each match.
func (m *matcher) count(places [][]uint32, s *sweep) (n uint32) {
	s.at = slices.Grow(s.at[:0], len(places))[:len(places)]
	clear(s.at)
	for after := int64(-1); ; n++ {
		end, ok := m.first(places, s, after)
		if !ok {
			return n
		}
		after = end
	}
}

// first finds the match that ends first among those that begin after a position, and returns its
// end.
//
// Let word i be expected at offset want(i): i in a phrase, 0 in Near. A match is a position p(i)
// for each word, distinct for equal words, such that the displacements p(i)-want(i) differ by at
// most the slop. Equal words take theirs in the order of the phrase, since swapping two that are in
// reverse order only brings their displacements closer together.
//
// The sweep holds a position for each word that is not after its position in any match that is
// left: at first the smallest ones. Let low be the largest displacement of these, minus the slop.
// In no match is a displacement below low: the word with the largest one never has a smaller one.
// So each word may move on to its first position from low+want(i) on that is after that of the
// equal word before it. If no displacement is below low, the positions are a match, and no match
// ends earlier. Otherwise low has risen, and the words move again.
func (m *matcher) first(places [][]uint32, s *sweep, after int64) (end int64, ok bool) {
	if m.ordered {
		return m.firstOrdered(places, s, after)
	}
	low, slop := int64(math.MinInt32), int64(m.slop)
	for {
		if !s.step(len(places)) {
			return 0, false
		}
		least := int64(math.MaxInt64)
		for i, list := range places {
			from := max(low+m.want(i), after+1)
			if before := m.equal[i]; before >= 0 {
				from = max(from, int64(places[before][s.at[before]])+1)
			}
			k := seek(list, s.at[i], from)
			if s.at[i] = k; k == len(list) {
				return 0, false
			}
			moved := int64(list[k]) - m.want(i)
			least, low = min(least, moved), max(low, moved-slop)
		}
		if least >= low {
			break
		}
	}
	for i, list := range places {
		end = max(end, int64(list[s.at[i]]))
	}
	return end, true
}

// firstOrdered is first for positions that must increase. From the first position of the first word
// on, each word takes its first position after that of the word before. No match that begins there
// or later ends earlier; so if the last position is too far away, a match begins at most slop
// before it.
func (m *matcher) firstOrdered(places [][]uint32, s *sweep, after int64) (end int64, ok bool) {
	for from := after + 1; ; from = end - int64(m.slop) {
		if !s.step(len(places)) {
			return 0, false
		}
		end = from - 1
		for i, list := range places {
			k := seek(list, s.at[i], end+1)
			if s.at[i] = k; k == len(list) {
				return 0, false
			}
			end = int64(list[k])
		}
		if end-int64(places[0][s.at[0]]) <= int64(m.slop) {
			return end, true
		}
	}
}

// want returns the offset at which word i is expected.
func (m *matcher) want(i int) int64 {
	if m.places {
		return int64(m.offset(i))
	}
	return 0
}

// offset returns the offset of word i in a phrase.
func (m *matcher) offset(i int) uint32 {
	if len(m.offsets) > 0 {
		return m.offsets[i]
	}
	return uint32(i)
}

// seek returns the first index from k on at which a rising list has at least a value.
func seek(list []uint32, k int, value int64) int {
	for range 4 { // most are near
		if k == len(list) || int64(list[k]) >= value {
			return k
		}
		k++
	}
	step := 4
	for k+step < len(list) && int64(list[k+step]) < value {
		k += step
		step *= 2
	}
	rest := list[k:min(k+step+1, len(list))]
	return k + sort.Search(len(rest), func(i int) bool { return int64(rest[i]) >= value })
}
