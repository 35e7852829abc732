package points

import (
	"math/rand/v2"
	"slices"
)

// times restricts curves to pairs of points that are near in time. K divides by their number
// instead of that of all pairs: it is the space-time K function of Diggle and others (1995),
// divided by K of times alone. So L is the distance if nearness in space and in time are
// independent, as it is without times.
type times struct {
	at     []int64 // of each point of the plane, in seconds
	within int64
	near   map[[2]int32]float64 // pairs of points of two features that are near in time
}

// holds reports whether two points are near in time.
func (t *times) holds(i, j int32) bool {
	return max(t.at[i], t.at[j])-min(t.at[i], t.at[j]) <= t.within
}

// timed makes the sums of a plane those of pairs near in time, for some pairs of features.
func (l *plane) timed(p *Set, within int64, pairs [][2]int32) {
	l.times = &times{p.Time, within, make(map[[2]int32]float64)}
	by := make([][]int64, len(p.Features))
	for i, f := range p.Feature {
		by[f] = append(by[f], p.Time[i])
	}
	for _, of := range by {
		slices.Sort(of)
	}
	for _, pair := range pairs {
		count, from, to := 0.0, 0, 0
		other := by[pair[1]]
		for _, at := range by[pair[0]] {
			for from < len(other) && at-other[from] > within {
				from++
			}
			for to < len(other) && other[to]-at <= within {
				to++
			}
			count += float64(to - from)
		}
		if pair[0] == pair[1] {
			count = (count - float64(len(other))) / 2
		}
		l.times.near[pair] = count
	}
}

// pairs returns the number of pairs of points that K divides by.
func (l *plane) pairs(total []int64, a, b int32) float64 {
	if l.times != nil {
		return l.times.near[[2]int32{a, b}]
	}
	return pairsOf(total, a, b)
}

// permutedTimes returns the times of the points of each feature in a random order.
func permutedTimes(at []int64, members [][]int32, seed uint64, round int) []int64 {
	out := slices.Clone(at)
	rng := rand.New(rand.NewPCG(seed, uint64(round)))
	for _, of := range members {
		rng.Shuffle(len(of), func(i, j int) { out[of[i]], out[of[j]] = out[of[j]], out[of[i]] })
	}
	return out
}
