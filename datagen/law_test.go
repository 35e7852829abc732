package datagen

import (
	"math"
	"math/bits"
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

var spoken = regexp.MustCompile(`^([bcdfghjklmnprstvwz]?([aeiou][bcdfghjklmnprstvwz])*[aeiou]?)$`)

func TestWordsAreDistinctAndPronounceable(t *testing.T) {
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
	inBounds(t, shortWords)
	if w := Word(1<<rankBits - 1); len(w) > maxLength {
		t.Errorf("the last word is %q", w)
	}
}

// inBounds checks that bands use no more words of a length than there are, up to the last rank.
func inBounds(t *testing.T, l *lexicon) {
	t.Helper()
	for b, bd := range l {
		for n, c := range bd.count {
			if need := bd.used[n] + c<<max(0, b-1); need > classes[n].words {
				t.Errorf("band %d needs %d words of %d letters, there are %d", b, need, n, classes[n].words)
			}
		}
	}
}

// table3 is the term weighting paper's Table 3: mean and variance of the lengths of words in a
// text, drawn by frequency and equally often. Its columns are the vocabularies of 10 thousand to 10
// million words.
var table3 = []struct {
	words                                int64
	byFrequency, variance, equally, vary float64
}{
	{1e4, 4.55, 6.34, 6.66, 6.42}, {1e5, 4.78, 6.91, 7.12, 7.04},
	{1e6, 4.84, 7.09, 7.84, 8.32}, {1e7, 4.86, 7.24, 9.44, 17.2},
}

// Long words have the means and variances of the paper's lengths, plain and by frequency.
func TestLongWordsHaveThePapersLengths(t *testing.T) {
	p := Web.probabilities()
	var plain, weighted struct{ n, sum, squares float64 }
	word := make([]byte, 0, maxLong)
	rank := int64(0)
	for _, want := range table3 {
		if testing.Short() && want.words > 1e6 {
			break
		}
		for ; rank < want.words; rank++ {
			word = longWords.appendWord(word[:0], rank)
			x, w := float64(len(word)), p[cellOf(rank)]
			plain.n, plain.sum, plain.squares = plain.n+1, plain.sum+x, plain.squares+x*x
			weighted.n, weighted.sum, weighted.squares = weighted.n+w, weighted.sum+w*x,
				weighted.squares+w*x*x
		}
		mean, often := plain.sum/plain.n, weighted.sum/weighted.n
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"mean", mean, want.equally}, {"variance", plain.squares/plain.n - mean*mean, want.vary},
			{"mean by frequency", often, want.byFrequency},
			{"variance by frequency", weighted.squares/weighted.n - often*often, want.variance},
		} {
			t.Logf("%d words: %s %.2f, the paper's %.2f", want.words, c.what, c.got, c.want)
			if math.Abs(c.got/c.want-1) > 0.05 {
				t.Errorf("%d words: %s of the lengths %.2f, the paper's is %.2f", want.words, c.what,
					c.got, c.want)
			}
		}
	}
}

// Long words are distinct and can be pronounced, and the frequent ones fit into their slots.
func TestLongWordsAreDistinct(t *testing.T) {
	seen := map[string]int64{}
	for rank := range int64(1 << 17) {
		w := LongWord(rank)
		if old, ok := seen[w]; ok {
			t.Fatalf("ranks %d and %d are both %q", old, rank, w)
		}
		seen[w] = rank
		if rank%64 == 0 && (!spoken.MatchString(w) || w == "") {
			t.Fatalf("rank %d is %q", rank, w)
		}
		if rank < 1<<singleBits && len(w) >= wordSlot {
			t.Errorf("the frequent word %q is too long", w)
		}
	}
	inBounds(t, longWords)
	for _, rank := range []int64{1 << 24, 1<<24 + 11, 1 << 30, 1<<rankBits - 1} {
		if w := LongWord(rank); len(w) > maxLong || !spoken.MatchString(w) {
			t.Errorf("rank %d is %q", rank, w)
		}
	}
}

// cellOf returns the cell of a rank, counted from 0.
func cellOf(rank int64) int {
	if rank < 1<<singleBits {
		return int(rank)
	}
	octave := bits.Len64(uint64(rank)) - 1
	return 1<<singleBits + (octave-singleBits)<<octaveBits + int(rank>>(octave-octaveBits))&(1<<octaveBits-1)
}

// distinct returns the expected number of distinct words among n drawn ones: the sum over words of
// 1-(1-p)^n.
func (l Law) distinct(n float64) (d float64) {
	for c, p := range l.probabilities() {
		_, width := cellRanks(c)
		d -= math.Ldexp(math.Expm1(n*math.Log1p(-p)), width)
	}
	return d
}
