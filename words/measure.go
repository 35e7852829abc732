package words

import (
	"math"

	"github.com/collocate/collocate/internal/choice"
)

// Measure is a measure of association of two words. The formulas use the names of the package
// comment. E follows from the frequencies of words. Measures of the same names in cooccur.Measure
// use the margins of the matrix and have other values; see there.
type Measure int

const (
	// LogDice is 14 + log2(Dice): 14 for words that occur only together, in a corpus of any size.
	LogDice Measure = iota
	Dice            // 2 O / (f1 + f2)
	MI              // pointwise mutual information, log2(O/E); high for rare words
	MI3             // log2(O^3/E): the same, less in favour of rare words
	NPMI            // MI / -log2(O / (N S)): from -1 to 1
	PPMI            // MI where it is positive, else 0
	T               // t-score, (O-E)/sqrt(O); high for frequent words
	Z               // z-score, (O-E)/sqrt(E)
	G2              // log-likelihood ratio of the table, below 0 where O < E
	Chi2            // chi-squared with Yates' correction, below 0 where O < E
	DeltaP          // P(v near u) - P(v elsewhere): how well u predicts v
	DeltaP2         // the same for v as a predictor of u
	Odds            // odds ratio, 0.5 added to each cell
	// LRC is the conservative log ratio (Evert 2022). It is the end nearer to 0 of the 95%
	// confidence interval of log2(P(v near u) / P(v elsewhere)), or 0 if the interval contains 0.
	LRC
	Fisher // -log10 of the p-value of Fisher's exact test, one-sided
	Value  // O itself, or the cell of a weighted matrix
	measures
)

var measureNames = choice.New[Measure]("measure", "logdice", "dice", "mi", "mi3", "npmi", "ppmi",
	"t", "z", "g2", "chi2", "deltap", "deltap2", "odds", "lrc", "fisher", "value")

// Measures returns the names of all measures.
func Measures() []string { return measureNames.List() }

func (m Measure) String() string { return measureNames.Of(m) }

// MarshalText writes the name.
func (m Measure) MarshalText() ([]byte, error) { return measureNames.Text(m) }

// UnmarshalText reads a name; pmi is another one of mi, and ll of g2.
func (m *Measure) UnmarshalText(name []byte) error {
	switch text := string(name); text {
	case "pmi":
		return measureNames.Set(m, "mi")
	case "ll":
		return measureNames.Set(m, "g2")
	default:
		return measureNames.Set(m, text)
	}
}

// Tests reports whether a measure assumes counts of independent events, which weighted or
// subsampled matrices do not have.
func (m Measure) Tests() bool {
	switch m {
	case T, Z, G2, Chi2, LRC, Fisher:
		return true
	}
	return false
}

// expects reports whether a measure uses E or the contingency table.
func (m Measure) expects() bool { return m != LogDice && m != Dice && m != Value }

// Score computes the measure of a pair that co-occurs. tests is the number of pairs that are
// compared, for which LRC is corrected.
func (m Measure) Score(c Counts, tests int) float64 {
	if c.O <= 0 {
		return 0
	}
	switch m {
	case LogDice:
		return 14 + math.Log2(2*c.O/(c.F1+c.F2))
	case Dice:
		return 2 * c.O / (c.F1 + c.F2)
	case MI:
		return math.Log2(c.O / c.Expected())
	case PPMI:
		return max(0, math.Log2(c.O/c.Expected()))
	case MI3:
		return math.Log2(c.O * c.O * c.O / c.Expected())
	case NPMI:
		joint := c.O / (c.N * c.Span)
		if joint >= 1 { // the only pair
			return 1
		}
		return math.Log2(c.O/c.Expected()) / -math.Log2(joint)
	case T:
		return (c.O - c.Expected()) / math.Sqrt(c.O)
	case Z:
		return (c.O - c.Expected()) / math.Sqrt(c.Expected())
	case G2:
		return c.table().g2()
	case Chi2:
		return c.table().chi2()
	case DeltaP:
		d, _ := c.table().deltaP()
		return d
	case DeltaP2:
		_, d := c.table().deltaP()
		return d
	case Odds:
		return c.table().odds()
	case LRC:
		t := c.table()
		return logRatioConservative(t.o11, t.r1, t.c1-t.o11, t.n-t.r1, 0.95, tests)
	case Fisher:
		return -c.table().fisher() / math.Ln10
	}
	return c.O
}
