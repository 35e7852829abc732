package bm25

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/collocate/collocate/internal/choice"
)

// Variant is one of the formulas in the table of the package comment.
type Variant uint8

// The variants. ATIRE is another name of Papers.
const (
	Papers Variant = iota
	Lucene
	Lucene7
	Plus
	L
	Terrier     // only for searching
	LuceneLossy // only for searching: Lucene with lengths in one byte
	ATIRE       = Papers
)

var variantNames = choice.New[Variant]("BM25 variant",
	"papers", "lucene", "lucene7", "bm25+", "bm25l", "terrier", "lucene-lossy")

// Variants returns the names that ParseVariant accepts, without those that are only for searching.
func Variants() []string { return []string{"papers", "atire", "lucene", "lucene7", "bm25+", "bm25l"} }

// SearchVariants returns all names that ParseVariant accepts.
func SearchVariants() []string {
	return append(Variants(), Terrier.String(), LuceneLossy.String())
}

// OnlySearches reports whether a variant is only for searching, not for the weights of a
// collection.
func (v Variant) OnlySearches() bool { return v == Terrier || v == LuceneLossy }

func (v Variant) String() string { return variantNames.Of(v) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (v Variant) MarshalText() ([]byte, error) { return variantNames.Text(v) }

// UnmarshalText is the inverse of MarshalText.
func (v *Variant) UnmarshalText(name []byte) error {
	if string(name) == "atire" {
		name = []byte("papers")
	}
	return variantNames.Set(v, string(name))
}

// ParseVariant is the inverse of String. It also accepts "atire", which is the same as "papers".
func ParseVariant(name string) (v Variant, err error) {
	err = v.UnmarshalText([]byte(name))
	return v, err
}

// Params holds the parameters of the formula. The zero value is k1 = 1.2, b = 0.75 and the idf of
// the variant Papers.
type Params struct {
	// K1 and B are the formula's parameters. A K1 of 0 means 1.2, and a B of 0 means 0.75; Zero
	// means 0.
	K1, B   float64
	Variant Variant // which formula; the zero value is Papers
	// K3 reduces the effect of repetitions in a query: q of them count (K3+1)*q/(K3+q) times. 0
	// means that they count in full, except in the variant Terrier, where it means 8.
	K3 float64
}

// Zero stands for 0 in K1 and B, where 0 means the default. It is the smallest positive number and
// gives the same weights as 0, to the bit.
const Zero = math.SmallestNonzeroFloat64

// Explicit converts a number that a user gave to a parameter: 0 becomes Zero.
func Explicit(parameter float64) float64 {
	if parameter == 0 {
		return Zero
	}
	return parameter
}

// Shown is the inverse of Explicit. It returns the number to print and to store.
func Shown(parameter float64) float64 {
	if parameter == Zero {
		return 0
	}
	return parameter
}

// WithDefaults returns p with a K1 or B of 0 replaced by its default.
func (p Params) WithDefaults() Params {
	if p.K1 == 0 {
		p.K1 = 1.2
	}
	if p.B == 0 {
		p.B = 0.75
	}
	return p
}

// Check returns an error for parameters that could give weights that are negative or not numbers.
func (p Params) Check() error {
	if !(p.K1 >= 0 && p.K1 <= 1e6) {
		return fmt.Errorf("bm25: k1 = %v: want a number from 0 to 1,000,000", p.K1)
	}
	if !(p.B >= 0 && p.B <= 1) {
		return fmt.Errorf("bm25: b = %v: want a number from 0 to 1", p.B)
	}
	if !(p.K3 >= 0 && p.K3 <= 1e6) {
		return fmt.Errorf("bm25: k3 = %v: want a number from 0 to 1,000,000", p.K3)
	}
	if err := variantNames.Check(p.Variant); err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	return nil
}

// Scorer is the formula for one collection.
type Scorer struct {
	params Params
	docs   float64
	coef   Length
}

// Length computes the k of the package comment from a document's length: k = A + B*L.
type Length struct {
	A, B float32 // constant part of k, and what each token of the document adds to it
}

// K returns the k of a document with the given number of tokens.
func (c Length) K(tokens uint32) float32 { return c.A + float32(c.B*float32(tokens)) }

// Scorer returns the formula for a collection with the given numbers of documents and tokens.
func (p Params) Scorer(docs, tokens uint64) (*Scorer, error) {
	return p.WithDefaults().scorer(docs, tokens)
}

// scorer takes a K1 and a B of 0 as they are.
func (p Params) scorer(docs, tokens uint64) (*Scorer, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	perToken := 0.0 // b by the average length; not used in a collection without words
	if tokens > 0 {
		perToken = float64(p.B*float64(docs)) / float64(tokens)
	}
	s := &Scorer{params: p, docs: float64(docs)}
	if p.Variant == L {
		s.coef = Length{A: float32(1 - p.B), B: float32(perToken)}
	} else {
		s.coef = Length{A: float32(p.K1 * (1 - p.B)), B: float32(p.K1 * perToken)}
	}
	return s, nil
}

// Params returns the parameters of the Scorer, with defaults filled in.
func (s *Scorer) Params() Params { return s.params }

// Length returns the constants that turn a document length into k.
func (s *Scorer) Length() Length { return s.coef }

// IDF returns the word's share of the weight, before k1+1 and rounding. df must not exceed the
// number of documents; if it does, as in a faulty foreign index, the result is 0 rather than
// negative.
func (s *Scorer) IDF(df uint64) float64 {
	n, d := s.docs, float64(df)
	if df == 0 || d > n {
		return 0
	}
	switch s.params.Variant {
	case Lucene, Lucene7, LuceneLossy:
		return Log(1 + (n-d+0.5)/(d+0.5))
	case Plus:
		return Log((n + 1) / d)
	case L:
		return Log((n + 1) / (d + 0.5))
	case Terrier:
		if 2*d >= n {
			return 0
		}
		return Log((n-d+0.5)/(d+0.5)) / Log(2)
	}
	return Log(n / d)
}

// RepetitionsOf returns the effective K3, with the variant's default filled in. 0 means that
// repetitions count in full.
func (p Params) RepetitionsOf() float64 {
	if p.K3 == 0 && p.Variant == Terrier {
		return 8
	}
	return p.K3
}

// repeated returns the factor for a word that occurs this many times in a query.
func (p Params) repeated(times float64) float64 {
	k3 := p.RepetitionsOf()
	if k3 == 0 {
		return times
	}
	return float64((k3+1)*times) / float64(k3+times)
}

// The values of δ that the authors of BM25L and BM25+ recommend.
const (
	deltaL    = 0.5
	deltaPlus = 1.0
)

// Term is the formula for one word of a collection. Its fields are all that an engine needs; see
// the steps in the package comment.
type Term struct {
	Length
	Weight float32 // product of idf, k1+1 and the multiplicity
	Plus   float32 // added to every weight in bm25+; otherwise 0
	K1     float32 // for bm25l only
	L      bool    // the steps are those of bm25l
	Lossy  bool    // lengths are rounded by LossyLength
}

// Term returns the formula for a word that occurs in df documents. times multiplies the weight: it
// is 1 for a plain weight, and the number of repetitions for a word of a query.
func (s *Scorer) Term(df uint64, times float64) Term {
	idf := float64(s.IDF(df) * s.params.repeated(times))
	weight := float64(idf * (s.params.K1 + 1))
	t := Term{Length: s.coef, Weight: float32(weight)}
	switch s.params.Variant {
	case Lucene, LuceneLossy:
		t.Weight, t.Lossy = float32(idf), s.params.Variant == LuceneLossy
	case Plus:
		t.Plus = float32(idf * deltaPlus)
	case L:
		t.L, t.K1 = true, float32(s.params.K1)
	}
	return t
}

// reciprocal saves most divisions by tf, which is nearly always small.
var reciprocal = func() (r [256]float32) {
	for tf := range r {
		r[tf] = 1 / float32(tf)
	}
	return r
}()

// Reciprocal returns 1/tf in float32, for tf >= 1.
func Reciprocal(tf uint32) float32 {
	if tf < uint32(len(reciprocal)) {
		return reciprocal[tf]
	}
	return 1 / float32(tf)
}

// Score returns the weight of the word in a document of the given length in which it occurs tf >= 1
// times. It is also a bound: no document with at most that tf and at least that length has a larger
// weight.
func (t *Term) Score(tf, length uint32) float32 {
	if t.L {
		return t.scoreL(tf, length)
	}
	if t.Lossy {
		length = LossyLength(length)
	}
	x := float32(t.K(length) * Reciprocal(tf))
	return t.Weight/(1+x) + t.Plus
}

func (t *Term) scoreL(tf, length uint32) float32 {
	c := float32(tf)/t.K(length) + deltaL
	return t.Weight / (1 + t.K1/c)
}

// LossyLength returns a document's length as Lucene stores it in one byte: exactly up to 40 tokens,
// then the four highest bits of the part above 24. The result never decreases as tokens grows.
func LossyLength(tokens uint32) uint32 {
	const exact = 24
	if tokens < exact {
		return tokens
	}
	above := tokens - exact
	if low := bits.Len32(above) - 4; low > 0 {
		above = above >> low << low
	}
	return exact + above
}

// Exact computes the textbook formula in float64, which the float32 steps approximate. It is for
// tests and explanations.
func (s *Scorer) Exact(df, tf uint64, length float64, tokens uint64) float64 {
	p, f := s.params, float64(tf)
	if p.Variant == LuceneLossy {
		length = float64(LossyLength(uint32(length)))
	}
	n := (1 - p.B) + p.B*length*s.docs/math.Max(1, float64(tokens))
	k := p.K1 * n
	idf := s.IDF(df)
	switch p.Variant {
	case Lucene, LuceneLossy:
		return idf * f / (k + f)
	case Plus:
		return idf * ((p.K1+1)*f/(k+f) + deltaPlus)
	case L:
		c := f / n
		return idf * (p.K1 + 1) * (c + deltaL) / (p.K1 + c + deltaL)
	}
	return idf * (p.K1 + 1) * f / (k + f)
}
