package model

// Boolean is the Boolean model: a document is an answer or is not, and all answers are as good as
// each other. Mode Or wants any of the words, And all of them. Nothing is ranked: every score is 0,
// and of more than k answers the k with the lowest document numbers are given, so that a search
// ends as soon as it has found k.
type Boolean struct{}

func (Boolean) String() string { return "boolean" }

type booleanWeigher struct{ c *Collection }

func (Boolean) weigher(c *Collection) (Weigher, error) { return booleanWeigher{c}, nil }

func (booleanWeigher) QueryNorm([]Term) float64 { return 1 }

// A cosine without weight scores nothing, on every engine.
func (w booleanWeigher) ScorerOf(*Term, float64) Scorer { return &CosineScorer{c: w.c} }
