package nearest

import (
	"math"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
)

// Query is a vector that is compared with those of a field.
type Query struct {
	metric fields.Metric
	dim    int
	vector []float32 // followed by zeros up to a multiple of 16
	codes  []int8    // followed by zeros up to a multiple of 64
	sum    int32     // of the codes

	scale, rest, norm float64 // t, p and Q of the package comment
	coded             float64 // D
	rounding          float64 // g
}

// NewQuery prepares a vector, which fields.Field.CheckQuery must have accepted.
func NewQuery(f *fields.Field, v []float32) *Query {
	q := &Query{metric: f.Metric, dim: f.Dim, vector: make([]float32, dense.Padded(f.Dim)),
		codes: make([]int8, dense.Stride(f.Dim))}
	copy(q.vector, v)
	c := dense.Quantize(q.codes[:f.Dim], v)
	q.scale, q.rest, q.norm = float64(c.Scale), float64(c.Rest), float64(c.Norm)
	squares := 0
	for _, x := range q.codes {
		q.sum += int32(x)
		squares += int(x) * int(x)
	}
	q.coded = q.scale * math.Sqrt(float64(squares)) * (1 + 1.0/(1<<40))
	q.rounding = float64(len(q.vector)/lanes+8) / (1 << 24) * 1.01
	return q
}

// exact returns the similarity to a vector that is followed by zeros, and its norm.
func (q *Query) exact(x []float32, norm float32) float32 {
	if q.metric == fields.Euclidean {
		return dense.Similarity(q.metric, distance(q.vector, x), 0, 0)
	}
	return dense.Similarity(q.metric, products(q.vector, x), float32(q.norm), norm)
}
