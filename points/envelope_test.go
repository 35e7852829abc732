package points

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// curvesAround returns random curves with ties: each is a random walk of small steps.
func curvesAround(rng *rand.Rand, n, bins int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		v := 0.0
		for range bins {
			v += float64(rng.IntN(5) - 2)
			out[i] = append(out[i], v)
		}
	}
	return out
}

// Extreme rank lengths are compared with their definition: the sorted two-sided ranks of a curve,
// counted one by one. A curve leaves the envelope if and only if its p is at most 0.05.
func TestRankEnvelopesFollowFromTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 8))
	outside := 0
	for range 60 {
		n, bins := 20+rng.IntN(60), 1+rng.IntN(12)
		curves := curvesAround(rng, n, bins)
		ranks := make([][]float64, n)
		for i, c := range curves {
			for r, v := range c {
				below, same := 0.0, 0.0
				for _, other := range curves {
					if other[r] < v {
						below++
					} else if other[r] == v {
						same++
					}
				}
				rank := below + (same+1)/2
				ranks[i] = append(ranks[i], min(rank, float64(n)+1-rank))
			}
			slices.Sort(ranks[i])
		}
		for first := range min(n, 10) {
			all := append([][]float64{curves[first]}, slices.Delete(slices.Clone(curves), first, first+1)...)
			c := &Curve{R: make([]float64, bins)}
			deviation := make([]float64, bins)
			for r := range bins {
				c.R[r], deviation[r] = float64(r+1), 1
			}
			low, high := c.byRank(all, deviation)
			var hits, less, most float64
			for _, of := range ranks {
				if slices.Compare(of, ranks[first]) <= 0 {
					hits++
				}
				if of[0] < ranks[first][0] {
					less++
				}
				if of[0] <= ranks[first][0] {
					most++
				}
			}
			if m := float64(n); c.P != hits/m || c.PLow != less/m || c.PHigh != most/m || c.P <= c.PLow || c.P > c.PHigh {
				t.Fatalf("p %v of %v to %v, want %v of %v to %v", c.P, c.PLow, c.PHigh, hits/m, less/m, most/m)
			}
			leaves := false
			for r, v := range all[0] {
				leaves = leaves || v < low[r] || v > high[r]
			}
			if leaves != (c.P <= 0.05+1e-9) {
				t.Fatalf("p %v, and the curve leaves the envelope: %t", c.P, leaves)
			}
			if leaves {
				outside++
			}
		}
	}
	if outside == 0 {
		t.Error("no curve left its envelope")
	}
}

// Attraction that was planted is found by ranks, too, upwards, and independent features are not.
func TestRankEnvelopesFindAttraction(t *testing.T) {
	p := drawn(32, 240, 3, 0.5)
	for i := range 40 {
		p.X[80+i], p.Y[80+i] = wrap(p.X[i]+5, 1000), p.Y[i]
	}
	for _, text := range []string{"POLYGON ((0 0, 1000 0, 1000 1000, 0 1000))", "POLYGON ((0 0, 1000 0, 1001 500, 1000 1000, 0 1000))"} {
		p.Window = windowOf(t, text)
		for i := range p.X {
			p.X[i], p.Y[i] = min(1000, p.X[i]), min(1000, p.Y[i])
		}
		curves, err := Curves(t.Context(), p, CurveOptions{Most: 60, Bins: 6, Rounds: 99, Envelope: ByRank,
			Pairs: [][2]int32{{0, 1}, {1, 2}}})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range curves {
			leaves := false
			for r, l := range c.Low {
				leaves = leaves || c.L[r] < l-1e-5 || c.L[r] > c.High[r]+1e-5
			}
			if found := c.P <= 0.05; found != (i == 0) || leaves != found || i == 0 && (!c.Attract || c.Z < 2) ||
				math.IsNaN(c.PLow) || c.PHigh < c.P {
				t.Errorf("pair %d: p %v of %v to %v, z %v at %v, leaves the envelope: %t", i, c.P, c.PLow, c.PHigh, c.Z, c.At, leaves)
			}
		}
	}
}
