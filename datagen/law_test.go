package datagen

import (
	"math"
	"math/rand/v2"
	"regexp"
	"testing"
)

func TestCellsCoverAllRanks(t *testing.T) {
	next := int64(0)
	for c := range cellCount {
		first, width := cellRanks(c)
		last := first + int64(1)<<width - 1
		if first != next || cellOf(first) != c || cellOf(last) != c {
			t.Fatalf("cell %d holds ranks %d to %d, which lie in cells %d and %d; want it to start at %d", c, first, last, cellOf(first), cellOf(last), next)
		}
		next = last + 1
	}
	if next != 1<<rankBits {
		t.Errorf("cells hold %d ranks, want 2^%d", next, rankBits)
	}
}

// Drawn words follow the law: the counts of cells pass a chi-square test at five standard
// deviations.
func TestDrawsFollowTheLaw(t *testing.T) {
	n := 4_000_000.0
	if testing.Short() {
		n = 500_000
	}
	for name, law := range map[string]Law{"web": Web, "news": News} {
		s, rng := newSampler(law), rand.NewPCG(1, 2)
		hits := make([]float64, cellCount)
		lower := 0 // draws in the lower half of their cell
		wide := 0
		for range int(n) {
			rank := s.draw(rng)
			c := cellOf(rank)
			hits[c]++
			if first, width := cellRanks(c); width > 0 {
				wide++
				if rank-first < int64(1)<<(width-1) {
					lower++
				}
			}
		}
		chi, freedom := 0.0, 0.0
		for c, p := range law.probabilities() {
			_, width := cellRanks(c)
			want := n * math.Ldexp(p, width)
			if want < 10 {
				continue
			}
			chi += (hits[c] - want) * (hits[c] - want) / want
			freedom++
		}
		if math.Abs(chi-freedom) > 5*math.Sqrt(2*freedom) {
			t.Errorf("%s: chi-square %.0f for %.0f cells", name, chi, freedom)
		}
		if d := float64(lower) - float64(wide)/2; math.Abs(d) > 5*math.Sqrt(float64(wide))/2 {
			t.Errorf("%s: %d of %d draws in the lower half of their cell", name, lower, wide)
		}
	}
}

// The parameters of the laws give the papers' numbers of distinct words and pairs, as expected
// values.
func TestLawsMatchThePapers(t *testing.T) {
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		t.Logf("%s: %.0f, %+.2f%%", what, got, 100*(got/want-1))
		if math.Abs(got/want-1) > tolerance {
			t.Errorf("%s: %g, want %g within %g", what, got, want, tolerance)
		}
	}
	for _, row := range paperTable {
		near("distinct words", Web.distinct(float64(row[1])), float64(row[4]), 0.012)
	}
	near("distinct words of the 1 Billion Word Benchmark", News.distinct(719e6), 2_438_611, 0.01)
	p := Web.probabilities()
	share := newLengths(6.0, 1.1)
	pairs := 0.0
	for c, p := range p {
		_, width := cellRanks(c)
		pairs += math.Ldexp(share.documents(p), width)
	}
	near("pairs, of a hundred words", 100*pairs/share.mean, 100*0.6168, 0.01)
}

func TestWordsAreDistinctAndPronounceable(t *testing.T) {
	spoken := regexp.MustCompile(`^([bcdfghjklmnprstvwz]?([aeiou][bcdfghjklmnprstvwz])*[aeiou]?)$`)
	seen := map[string]int64{}
	var letters [2]int
	ranks := int64(1 << 20)
	if testing.Short() {
		ranks = 1 << 17
	}
	for rank := range ranks {
		w := Word(rank)
		if old, ok := seen[w]; ok {
			t.Fatalf("ranks %d and %d are both %q", old, rank, w)
		}
		seen[w] = rank
		if rank%64 == 0 && (!spoken.MatchString(w) || w == "") {
			t.Fatalf("rank %d is %q", rank, w)
		}
		if rank < 128 {
			letters[0] += len(w)
		} else if rank < 1<<17 {
			letters[1] += len(w)
		}
	}
	if short, long := float64(letters[0])/128, float64(letters[1])/(1<<17-128); short > 4 || long < 6.7 || long > 9.4 {
		t.Errorf("frequent words have %.2f letters, others %.2f", short, long)
	}
	// Bands use no more words of a length than there are, up to the last rank.
	for b, bd := range bands {
		for n, c := range bd.count {
			if need := bd.used[n] + c<<max(0, b-1); need > classes[n].words {
				t.Errorf("band %d needs %d words of %d letters, there are %d", b, need, n, classes[n].words)
			}
		}
	}
	if w := Word(1<<rankBits - 1); len(w) > maxLength {
		t.Errorf("the last word is %q", w)
	}
}
