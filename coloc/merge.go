package coloc

// merger finds classes of a group with the same sets. It pays off where tails are short. With a
// long tail almost no classes are equal (200,000 uniform points, 20 features, distance 6: three
// levels down, with 17 features left, 40,175 points are 39,485 classes), and it soon gives up.
type merger struct {
	slots  []int32 // class + 1, by hash
	mask   uint64
	tries  int
	merged int
	off    bool
}

// mergeTrial is the number of classes after which merging is abandoned unless it has removed an
// eighth of them.
const mergeTrial = 512

// reset empties the merger for a table of at most the given number of classes.
func (m *merger) reset(classes int) {
	size := 64
	for size < 2*classes {
		size *= 2
	}
	if len(m.slots) < size {
		m.slots = make([]int32, size)
	} else {
		clear(m.slots[:size])
	}
	m.mask = uint64(size - 1)
	m.tries, m.merged, m.off = 0, 0, false
}

// mergeOne adds a class of one set, or its weight to an equal one. Classes of
// one set have positive slots, those of several negative ones.
func mergeOne[M words](m *merger, g *group[M], s M, weight int32) {
	if !m.off {
		at := hashSet(0, s) & m.mask
		for ; m.slots[at] != 0; at = (at + 1) & m.mask {
			if c := m.slots[at] - 1; c >= 0 && g.set[c] == s {
				g.weight[c] += weight
				m.note(true)
				return
			}
		}
		m.slots[at] = int32(len(g.set) + 1)
		m.note(false)
	}
	g.set = append(g.set, s)
	g.weight = append(g.weight, weight)
}

// mergeMany is mergeOne for a class whose sets are in the group from start on.
func mergeMany[M words](m *merger, g *group[M], weight int32, start int) {
	sets := g.sets[start:]
	if !m.off {
		sortSets(sets)
		h := uint64(len(sets))
		for _, s := range sets {
			h = hashSet(h, s)
		}
		at := h & m.mask
		for ; m.slots[at] != 0; at = (at + 1) & m.mask {
			c := -m.slots[at] - 1
			if c < 0 {
				continue
			}
			from := int32(0)
			if c > 0 {
				from = g.end[c-1]
			}
			if equalSets(g.sets[from:g.end[c]], sets) {
				g.weights[c] += weight
				g.sets = g.sets[:start]
				m.note(true)
				return
			}
		}
		m.slots[at] = -int32(len(g.ext) + 1)
		m.note(false)
	}
	g.ext = append(g.ext, union(sets))
	g.weights = append(g.weights, weight)
	g.end = append(g.end, int32(len(g.sets)))
}

// note counts an attempt, and gives up on a group that does not shrink.
func (m *merger) note(merged bool) {
	m.tries++
	if merged {
		m.merged++
	}
	m.off = m.tries == mergeTrial && m.merged < mergeTrial/8
}

func hashSet[M words](h uint64, s M) uint64 {
	for k := 0; k < len(s); k++ {
		h = (h ^ s[k]) * 0xd6e8feb86659fd93
		h ^= h >> 32
	}
	return h
}

func union[M words](sets []M) (all M) {
	for _, s := range sets {
		all = or(all, s)
	}
	return all
}

func equalSets[M words](a, b []M) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// sortSets sorts a few sets.
func sortSets[M words](sets []M) {
	for i := 1; i < len(sets); i++ {
		for j := i; j > 0 && less(sets[j], sets[j-1]); j-- {
			sets[j-1], sets[j] = sets[j], sets[j-1]
		}
	}
}

func less[M words](a, b M) bool {
	if len(a) == 1 {
		return a[0] < b[0]
	}
	for i := 0; i < len(a); i++ {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
