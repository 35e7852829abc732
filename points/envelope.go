package points

import (
	"cmp"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/choice"
)

// Envelope is how a curve is compared with those of the rounds, at all distances at once. Both are
// of Myllymäki, Mrkvička, Grabarnik, Seijo and Hahn (2017), and two-sided.
type Envelope int

// The envelopes.
const (
	// ByDeviation compares the largest deviation from the mean, in standard deviations.
	ByDeviation Envelope = iota
	// ByRank compares the ranks of a curve among all: first the most extreme one, then by how many
	// distances have it, and so on (extreme rank length). It assumes no distribution. Curves of
	// equal most extreme rank make the p-interval; few rounds make it wide.
	ByRank
)

var envelopeNames = choice.New[Envelope]("envelope", "deviation", "rank")

// Envelopes returns the names that ParseEnvelope accepts.
func Envelopes() []string { return envelopeNames.List() }

func (e Envelope) String() string { return envelopeNames.Of(e) }

// MarshalText returns the name, so that JSON has it too.
func (e Envelope) MarshalText() ([]byte, error) { return envelopeNames.Text(e) }

// UnmarshalText is the inverse of MarshalText.
func (e *Envelope) UnmarshalText(name []byte) error { return envelopeNames.Set(e, string(name)) }

// ParseEnvelope returns the envelope with the given name.
func ParseEnvelope(name string) (Envelope, error) { return envelopeNames.Parse(name) }

// test compares L with that of the rounds. Mean and standard deviation at each distance are those
// of all curves, the observed one included. Under the null hypothesis, each curve then has the same
// chance to be the most extreme. ByDeviation compares the largest deviations, and the envelope is
// as many deviations wide as the curve that 5% of all exceed.
//
// Where features slid, K is compared instead, whose mean does not depend on how far. observed is L
// weighed as that of the rounds, and shares are the rounds' overlaps, to which variances are
// inversely proportional. The envelope is then moved by what L exceeds observed: what the density
// that features share adds to L.
//
// It returns the sizes of the largest deviations, the observed one first; nil of ByRank.
func (c *Curve) test(how Envelope, observed []float64, rounds curveRounds, shares []float64) (sizes []float64) {
	n := float64(rounds.rounds() + 1)
	scale := func(l float64) float64 { return l }
	back, share := scale, func(int) float64 { return 1 }
	if shares != nil {
		scale = func(l float64) float64 { return l * l }
		back = func(k float64) float64 { return math.Sqrt(max(0, k)) }
		share = func(i int) float64 { return shares[i] }
	}
	mean, deviation := make([]float64, len(c.R)), make([]float64, len(c.R))
	values := make([]float64, rounds.rounds())
	c.Expected = make([]float64, len(c.R))
	for r := range c.R {
		rounds.at(r, values)
		sum, all := 0.0, 0.0
		for i, v := range values {
			values[i] = scale(v)
			sum, all = sum+float64(share(i)*values[i]), all+share(i)
		}
		c.Expected[r] = back(sum / all)
		seen := scale(observed[r])
		mean[r] = (seen + sum) / (1 + all)
		square := (seen - mean[r]) * (seen - mean[r])
		for i, v := range values {
			square += float64(share(i) * (v - mean[r]) * (v - mean[r]))
		}
		deviation[r] = math.Sqrt(square / n)
	}
	low, high := make([]float64, len(c.R)), make([]float64, len(c.R))
	if how == ByRank {
		all := make([][]float64, 0, rounds.rounds()+1)
		add := func(l []float64, share float64) {
			d := make([]float64, len(l))
			for r := range l {
				// K cannot be less than 0. That of rounds with less overlap, brought nearer to the
				// mean, could never be as small as an observed one. So deviations downwards stay as
				// they are: cautious, as those of the rounds are larger.
				if d[r] = scale(l[r]) - mean[r]; d[r] > 0 {
					d[r] *= math.Sqrt(share)
				}
			}
			all = append(all, d)
		}
		add(observed, 1)
		for i := range rounds.rounds() {
			add(rounds.of(i), share(i))
		}
		low, high = c.byRank(all, deviation)
	} else {
		var width float64
		width, sizes = c.byDeviation(observed, rounds, share, scale, mean, deviation)
		for r := range c.R {
			high[r] = width * deviation[r]
			low[r] = -high[r]
		}
	}
	c.Low, c.High = low, high
	for r := range c.R {
		added := c.L[r] - observed[r]
		c.Expected[r] += added
		c.Low[r], c.High[r] = added+back(mean[r]+low[r]), added+back(mean[r]+high[r])
	}
	return sizes
}

// byDeviation is test's comparison by largest deviations. It returns the width of the envelope and
// the sizes of all.
func (c *Curve) byDeviation(observed []float64, rounds curveRounds, share func(int) float64,
	scale func(float64) float64, mean, deviation []float64) (width float64, sizes []float64) {
	largest := func(l []float64, share float64) (at int, size float64) {
		for r := range l {
			if deviation[r] == 0 {
				continue
			}
			if z := math.Sqrt(share) * (scale(l[r]) - mean[r]) / deviation[r]; math.Abs(z) > math.Abs(size) {
				at, size = r, z
			}
		}
		return at, size
	}
	at, size := largest(observed, 1)
	hits := 1
	sizes = []float64{math.Abs(size)}
	for i := range rounds.rounds() {
		_, other := largest(rounds.of(i), share(i))
		sizes = append(sizes, math.Abs(other))
		if math.Abs(other) >= math.Abs(size) {
			hits++
		}
	}
	n := float64(len(sizes))
	c.P, c.At, c.Z, c.Attract = float64(hits)/n, c.R[at], size, size > 0
	c.PLow, c.PHigh = c.P, c.P
	// The largest 5% lie outside, so those that count as p of at most 0.05.
	return nth(slices.Clone(sizes), len(sizes)-1-int(0.05*n+1e-9)), sizes
}

// byRank is test's comparison by extreme rank lengths. deviations are those from the mean, of the
// observed curve and then of the rounds, and deviation is their size at each distance.
func (c *Curve) byRank(deviations [][]float64, deviation []float64) (low, high []float64) {
	n, bins := len(deviations), len(c.R)
	ranks := make([][]int32, n) // twice the two-sided rank; 2 is the most extreme
	for i := range ranks {
		ranks[i] = make([]int32, bins)
	}
	order := make([]int, n)
	for r := range bins {
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(deviations[a][r], deviations[b][r]) })
		for from := 0; from < n; {
			to := from + 1
			for to < n && deviations[order[to]][r] == deviations[order[from]][r] {
				to++
			}
			rank := int32(from + 1 + to) // equal values share the mean of their ranks
			for _, i := range order[from:to] {
				ranks[i][r] = min(rank, int32(2*n+2)-rank)
			}
			from = to
		}
	}
	at := 0
	for r := range bins {
		if ranks[0][r] < ranks[0][at] ||
			ranks[0][r] == ranks[0][at] && studentised(deviations[0][r], deviation[r]) > studentised(deviations[0][at], deviation[at]) {
			at = r
		}
	}
	for _, of := range ranks {
		slices.Sort(of)
	}
	// The curves from the most extreme one on.
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(ranks[a], ranks[b]) })
	var hits, less, same int
	for _, of := range ranks {
		if slices.Compare(of, ranks[0]) <= 0 {
			hits++
		}
		switch {
		case of[0] < ranks[0][0]:
			less++
		case of[0] == ranks[0][0]:
			same++
		}
	}
	all := float64(n)
	c.P, c.PLow, c.PHigh = float64(hits)/all, float64(less)/all, float64(less+same)/all
	c.At, c.Attract = c.R[at], deviations[0][at] > 0
	if deviation[at] > 0 {
		c.Z = deviations[0][at] / deviation[at]
	}
	// Those with p of at most 0.05 lie outside.
	out := int(0.05*all + 1e-9)
	for out > 0 && out < n && slices.Equal(ranks[order[out]], ranks[order[out-1]]) {
		out-- // equal ones are all in or all out
	}
	low, high = slices.Clone(deviations[order[n-1]]), slices.Clone(deviations[order[n-1]])
	for _, i := range order[out:] {
		for r, v := range deviations[i] {
			low[r], high[r] = min(low[r], v), max(high[r], v)
		}
	}
	return low, high
}

// studentised returns the size of a deviation in standard deviations.
func studentised(v, deviation float64) float64 {
	if deviation == 0 {
		return 0
	}
	return math.Abs(v) / deviation
}
