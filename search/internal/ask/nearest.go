package ask

import (
	"math"

	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/search/query"
)

// Nearest ranks documents by the similarity of their vectors to that of a query, alone or together
// with the words of the request.
type Nearest struct {
	Field  string    // a vector field; "" means the only one
	Vector []float32 // of the query
	// Like is the ID of a document whose own vector is that of the query, instead of Vector.
	Like string
	// Filter are the documents that are admitted; nil means all. The query of the request only adds
	// to scores.
	Filter query.Node
	// Fusion says how similarity and the score of the words become one score.
	Fusion Fusion
	// Weight and WordWeight are the weights of the similarity and of the words; 0 means 1.
	Weight, WordWeight float64
	// Depth is the length of the lists that ReciprocalRanks combines; 0 means 100.
	Depth int
}

// Fusion is a way to combine two scores of a document.
type Fusion uint8

const (
	// WeightedSum adds them; a document without the words, or without a vector, has 0 there.
	WeightedSum Fusion = iota
	// SumOfShares divides them by the best score of words and the largest absolute similarity to
	// any document before they are added.
	SumOfShares
	// ReciprocalRanks adds weight/(60 + rank) of the Depth best by words and by vectors.
	ReciprocalRanks
)

var fusionNames = choice.New[Fusion]("fusion", "sum", "shares", "rrf")

func (f Fusion) String() string { return fusionNames.Of(f) }

// MarshalText writes the name.
func (f Fusion) MarshalText() ([]byte, error) { return fusionNames.Text(f) }

// UnmarshalText reads a name.
func (f *Fusion) UnmarshalText(name []byte) error { return fusionNames.Set(f, string(name)) }

// Fusions lists the names.
func Fusions() []string { return fusionNames.List() }

// Check reports weights and depths that are not valid.
func (n *Nearest) Check() error {
	for _, w := range []float64{n.Weight, n.WordWeight} {
		if !(w >= 0 && w <= maxWeight) {
			return Refuse("vector: weight %v: want 0 to %v", w, float64(maxWeight))
		}
	}
	if n.Depth < 0 || n.Depth > MaxK {
		return Refuse("vector: depth %d: want 0 to %d", n.Depth, MaxK)
	}
	if err := fusionNames.Check(n.Fusion); err != nil {
		return Refuse("vector: %w", err)
	}
	return nil
}

const maxWeight = 1e6

// Usual values of fields that are 0.
const (
	usualDepth = 100
	rankOffset = 60 // as in the paper on reciprocal rank fusion, and in package trec
)

// Usual fills in fields that are 0.
func (n Nearest) Usual() Nearest {
	if n.Weight == 0 {
		n.Weight = 1
	}
	if n.WordWeight == 0 {
		n.WordWeight = 1
	}
	if n.Depth == 0 {
		n.Depth = usualDepth
	}
	return n
}

// Sum returns the weighted sum of the score of words and a similarity, with the weights given. It
// is computed in float64 and rounded once.
func Sum(wordWeight float64, words float32, weight float64, similarity float32) float32 {
	a := float64(wordWeight * float64(words)) // no fused multiply-add
	b := float64(weight * float64(similarity))
	return float32(a + b)
}

// OfRank returns the contribution of a rank, from 1; 0 stands for none.
func OfRank(weight float64, rank int) float64 {
	if rank == 0 {
		return 0
	}
	return weight / float64(rankOffset+rank)
}

// Share returns a weight divided by the largest score.
func Share(weight float64, most float32) float64 {
	if most == 0 {
		return weight
	}
	return weight / math.Abs(float64(most))
}
