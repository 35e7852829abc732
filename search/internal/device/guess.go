package device

import "math"

// The cut for the sums of codes of two words can be guessed from the number of postings with each
// code, assuming that the words are independent. The result proves or refutes the guess. If the
// words occur together more often than by chance, the guess is lower than necessary, which costs a
// little time.

// guess returns a cut that somewhat more than k documents are expected to reach; 0 if there is
// none.
func (m *gpuModel) guess(q *gpuQuery, terms []gpuTerm) uint32 {
	a, b := &terms[0], &terms[1]
	g := guesser{m.tops[a.Row*256:][:256], m.tops[b.Row*256:][:256], uint64(a.Mult), uint64(b.Mult),
		q.Need == 0, uint64(m.st.docs)}
	k := float64(q.K)
	want := uint64(k + guessDeviations*math.Sqrt(k) + guessMore)
	lo, hi := uint64(0), 256*(g.m0+g.m1) // invariant: lo is reached by at least want documents
	if !g.expects(0, want) {
		return 0
	}
	for range guessSteps {
		mid := (lo + hi) / 2
		if g.expects(mid, want) {
			lo = mid
		} else {
			hi = mid
		}
	}
	// On average a sum exceeds the score by half a step of each code.
	if half := (g.m0 + g.m1) / 2; lo > half {
		return uint32(lo - half)
	}
	return 0
}

// guesser is two lists: the number of postings with each code or a higher one, and the value of a
// code step.
type guesser struct {
	above0, above1 []uint32
	m0, m1         uint64
	alone          bool // documents with only one of the words match too
	docs           uint64
}

// expects reports whether at least want documents are expected to have a sum of at least s.
func (g *guesser) expects(s, want uint64) bool {
	if g.alone {
		want -= min(want, aloneAbove(g.above0, g.m0, s)+aloneAbove(g.above1, g.m1, s))
	}
	want *= g.docs
	pairs, c1 := uint64(0), 0
	more := uint64(0) // postings of the first list with a higher code
	for c0 := 255; c0 >= 0; c0-- {
		worth := uint64(c0+1) * g.m0
		for c1 < 256 && worth+uint64(c1+1)*g.m1 < s {
			c1++
		}
		if c1 == 256 {
			break
		}
		all := uint64(g.above0[c0])
		pairs += (all - more) * uint64(g.above1[c1])
		more = all
		if pairs >= want {
			return true
		}
	}
	return pairs >= want
}

// aloneAbove returns the number of postings whose value is at least s.
func aloneAbove(above []uint32, mult, s uint64) uint64 {
	c := uint64(0)
	if s > mult {
		c = (s - 1) / mult
	}
	if c > 255 {
		return 0
	}
	return uint64(above[c])
}
