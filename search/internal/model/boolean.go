package model

// Boolean is the Boolean model: a document either matches or not. Mode Or requires any of the
// words, And all of them. Nothing is ranked: every score is 0, and the k matching documents with
// the lowest numbers are returned, so a search ends as soon as it has found k.
type Boolean struct{}

func (Boolean) String() string { return "boolean" }

type booleanWeigher struct{ c *Collection }

func (Boolean) weigher(c *Collection) (Weigher, error) { return booleanWeigher{c}, nil }

func (booleanWeigher) QueryNorm([]Term) float64 { return 1 }

// A cosine scorer of weight 0 gives every posting the score 0, on every engine.
func (w booleanWeigher) ScorerOf(*Term, float64) Scorer { return &CosineScorer{c: w.c} }
