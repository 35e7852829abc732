package tree

import "slices"

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
func (m *matcher) prepare(words []string) {
	m.equal = m.equal[:0]
	for i, w := range words {
		last := -1
		for j := range i {
			if words[j] == w {
				last = j
			}
		}
		m.equal = append(m.equal, last)
	}
}

// count is how often words that stand at these places match. If one is enough, it stops at the
// first.
func (m *matcher) count(places [][]uint32, one bool) uint32 {
	if m.exact() {
		return countExact(places, one)
	}
	n, after := uint32(0), int64(-1)
	for {
		end, ok := m.first(places, after)
		if !ok {
			return n
		}
		if n++; one {
			return n
		}
		after = end
	}
}

// countExact counts the places p of the first word such that word i is at p+i.
func countExact(places [][]uint32, one bool) uint32 {
	lead := 0
	for i, list := range places {
		if len(list) < len(places[lead]) {
			lead = i
		}
	}
	if len(places) == 2 {
		return countPair(places[0], places[1], one)
	}
	n := uint32(0)
	var at [16]int // where the lists stand; longer phrases search from the start
candidates:
	for _, p := range places[lead] {
		if int(p) < lead {
			continue
		}
		for i, list := range places {
			if i == lead {
				continue
			}
			want := p - uint32(lead) + uint32(i)
			k := 0
			if i < len(at) {
				for k = at[i]; k < len(list) && list[k] < want; k++ {
				}
				at[i] = k
			} else {
				k, _ = slices.BinarySearch(list, want)
			}
			if k == len(list) {
				return n
			}
			if list[k] != want {
				continue candidates
			}
		}
		if n++; one {
			return n
		}
	}
	return n
}

// countPair counts the places of a that are followed by one of b.
func countPair(a, b []uint32, one bool) uint32 {
	n := uint32(0)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch want := a[i] + 1; {
		case b[j] < want:
			j++
		case b[j] > want:
			i++
		default:
			if n++; one {
				return n
			}
			i++
			j++
		}
	}
	return n
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
