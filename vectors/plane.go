package vectors

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Placed is a word with its cosine and its position in a plane.
type Placed struct {
	Near
	X float64 `json:"x"` // coordinate on the first principal component; see Vectors.Around
	Y float64 `json:"y"` // coordinate on the second
}

// Plane places words in two dimensions, so that words with similar vectors are near each other.
type Plane struct {
	// Points are the words: first the given one, then those most similar to it.
	Points []Placed `json:"points"`
	// Shares are the shares of the words' variance that the two axes show, each between 0 and 1.
	Shares [2]float64 `json:"shares"`
}

// Around places a word and the k words most similar to it in the plane of their first two principal
// components. The word itself is the first point. Vectors are scaled to length 1 first, because
// words are compared by cosines. The mean of the points is the origin. The direction of an axis has
// no meaning; it is chosen so that the point farthest from the origin is on the positive side.
func (v *Vectors) Around(word string, k, threads int) (*Plane, error) {
	near, err := v.Similar(word, k, threads)
	if err != nil {
		return nil, err
	}
	list := append([]Near{{word, 1}}, near...)
	n := len(list)
	rows := mat.NewDense(n, v.Dim, nil)
	mean := make([]float64, v.Dim)
	for i, w := range list {
		for j, x := range v.unit(v.index[w.Word]) {
			rows.Set(i, j, float64(x))
			mean[j] += float64(x) / float64(n)
		}
	}
	total := 0.0
	rows.Apply(func(_, j int, x float64) float64 {
		x -= mean[j]
		total += x * x
		return x
	}, rows)
	p := &Plane{Points: make([]Placed, n)}
	for i, w := range list {
		p.Points[i].Near = w
	}
	// The eigenvectors of the Gram matrix, scaled, are the coordinates on the principal components.
	// It has k+1 rows, where the covariance matrix has one for each dimension.
	products := mat.NewSymDense(n, nil)
	products.SymOuterK(1, rows)
	var eigen mat.EigenSym
	if total < 1e-12 || !eigen.Factorize(products, true) {
		return p, nil // all words have the same vector
	}
	values := eigen.Values(nil) // ascending
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	for axis := range min(2, n) {
		at := n - 1 - axis
		value := max(0, values[at])
		p.Shares[axis] = min(1, value/total)
		scale, farthest := math.Sqrt(value), 0.0
		for i := range n {
			if x := axes.At(i, at); math.Abs(x) > math.Abs(farthest) {
				farthest = x
			}
		}
		if farthest < 0 {
			scale = -scale
		}
		for i := range n {
			x := axes.At(i, at) * scale
			if axis == 0 {
				p.Points[i].X = x
			} else {
				p.Points[i].Y = x
			}
		}
	}
	return p, nil
}
