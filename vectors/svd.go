package vectors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/par"
)

// SVDOptions are those of the decomposition. The zero value is the recipe of Levy, Goldberg and Dagan.
type SVDOptions struct {
	Dim       int     // 0: 100
	Smoothing float64 // exponent of the contexts' frequencies; 0: 0.75
	Shift     float64 // ln of the number of negative samples is taken off: 1 or less means none
	Eigen     float64 // exponent of the singular values; 0: 0.5, negative: 0
	Power     int     // power iterations; 0: 2
	Seed      uint64
	Threads   int   // 0: GOMAXPROCS
	Memory    int64 // in bytes; 0: 2 GB
}

// TrainSVD makes vectors from a matrix. The result does not depend on the number of threads.
func TrainSVD(ctx context.Context, r *cooccur.Reader, o SVDOptions) (*Vectors, error) {
	if o.Dim == 0 {
		o.Dim = 100
	}
	if o.Smoothing == 0 {
		o.Smoothing = 0.75
	}
	if o.Eigen == 0 {
		o.Eigen = 0.5
	}
	if o.Power == 0 {
		o.Power = 2
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 2_000_000_000
	}
	n := r.Len()
	if o.Dim < 1 || o.Dim > n {
		return nil, fmt.Errorf("%d dimensions of %d words: want fewer dimensions than words", o.Dim, n)
	}
	width := min(o.Dim+10, n) // some more than wanted, for accuracy
	if need := int64(r.Entries())*8 + 3*8*int64(n)*int64(width); need > o.Memory {
		return nil, fmt.Errorf("a decomposition of %d words to %d dimensions takes %d MB: raise --memory", n, o.Dim, need>>20)
	}
	m, err := newPPMI(ctx, r, o)
	if err != nil {
		return nil, err
	}
	// Halko et al.: the range of (M M')^q M times a random matrix.
	rng := rand.New(rand.NewPCG(o.Seed, 0x737664))
	y := mat.NewDense(n, width, nil)
	for i := range y.RawMatrix().Data {
		y.RawMatrix().Data[i] = rng.NormFloat64()
	}
	q := m.times(y, o.Threads, false)
	for range o.Power {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q = m.times(orthonormal(q), o.Threads, true)
		q = m.times(orthonormal(q), o.Threads, false)
	}
	q = orthonormal(q)
	b := m.times(q, o.Threads, true) // M' Q, n x width
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// The small matrix B'B has the squares of the singular values, and Q its vectors U.
	var small mat.SymDense
	small.SymOuterK(1, b.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&small, true) {
		return nil, errors.New("the decomposition does not converge")
	}
	var turn mat.Dense
	eigen.VectorsTo(&turn)
	values := eigen.Values(nil) // rising
	var u mat.Dense
	u.Mul(q, &turn)
	data := make([]float32, n*o.Dim)
	for k := range o.Dim {
		at := width - 1 - k
		scale := math.Pow(math.Sqrt(max(values[at], 0)), max(o.Eigen, 0))
		sign := 1.0 // the largest number of each dimension is positive: vectors do not depend on chance signs
		largest := 0.0
		for i := range n {
			if x := u.At(i, at); math.Abs(x) > math.Abs(largest) {
				largest = x
			}
		}
		if largest < 0 {
			sign = -1
		}
		for i := range n {
			data[i*o.Dim+k] = float32(sign * scale * u.At(i, at))
		}
	}
	words := make([]string, n)
	for i := range words {
		words[i] = string(r.Word(i))
	}
	return New(words, o.Dim, data)
}

// ppmi is the matrix of positive pointwise mutual information, by rows and by columns.
type ppmi struct {
	n          int
	rows, cols compressed
}

type compressed struct {
	ends  []int
	other []uint32
	value []float32
}

func newPPMI(ctx context.Context, r *cooccur.Reader, o SVDOptions) (*ppmi, error) {
	n := r.Len()
	rowSum, colSum := make([]float64, n), make([]float64, n)
	total := 0.0
	err := eachCell(ctx, r, func(row int, col uint32, x float64) {
		rowSum[row] += x
		colSum[col] += x
		total += x
	})
	if err != nil {
		return nil, err
	}
	smooth := 0.0
	for i, c := range colSum {
		if c > 0 {
			colSum[i] = math.Pow(c, o.Smoothing)
		}
		smooth += colSum[i]
	}
	shift := 0.0
	if o.Shift > 1 {
		shift = math.Log(o.Shift)
	}
	m := &ppmi{n: n}
	m.rows.ends = make([]int, n)
	count := make([]int, n+1)
	last := 0
	err = eachCell(ctx, r, func(row int, col uint32, x float64) {
		for ; last < row; last++ {
			m.rows.ends[last] = len(m.rows.other)
		}
		if v := math.Log(x*smooth/(rowSum[row]*colSum[col])) - shift; v > 0 {
			m.rows.other, m.rows.value = append(m.rows.other, col), append(m.rows.value, float32(v))
			count[col+1]++
		}
	})
	if err != nil {
		return nil, err
	}
	for ; last < n; last++ {
		m.rows.ends[last] = len(m.rows.other)
	}
	if len(m.rows.other) == 0 {
		return nil, errors.New("no pair co-occurs more often than chance, so there is nothing to decompose")
	}
	// The same by columns.
	for i := range n {
		count[i+1] += count[i]
	}
	m.cols = compressed{make([]int, n), make([]uint32, len(m.rows.other)), make([]float32, len(m.rows.value))}
	copy(m.cols.ends, count[1:])
	at := 0
	for row, end := range m.rows.ends {
		for ; at < end; at++ {
			c := m.rows.other[at]
			m.cols.other[count[c]], m.cols.value[count[c]] = uint32(row), m.rows.value[at]
			count[c]++
		}
	}
	return m, nil
}

func eachCell(ctx context.Context, r *cooccur.Reader, fn func(row int, col uint32, x float64)) error {
	for id := range r.Len() {
		if id%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cols, values, err := r.Row(id)
		if err != nil {
			return err
		}
		for k, c := range cols {
			if values[k] > 0 {
				fn(id, c, values[k])
			}
		}
	}
	return nil
}

// times is the product with a dense matrix, of the matrix or of its transpose.
func (m *ppmi) times(x *mat.Dense, threads int, transposed bool) *mat.Dense {
	c := &m.rows
	if transposed {
		c = &m.cols
	}
	_, width := x.Dims()
	out := mat.NewDense(m.n, width, nil)
	from, to := x.RawMatrix(), out.RawMatrix()
	par.For(threads, m.n, 256, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			at := 0
			if i > 0 {
				at = c.ends[i-1]
			}
			row := to.Data[i*to.Stride : i*to.Stride+width]
			for ; at < c.ends[i]; at++ {
				v := float64(c.value[at])
				other := from.Data[int(c.other[at])*from.Stride:][:width]
				for k, y := range other {
					row[k] += v * y
				}
			}
		}
	})
	return out
}

// orthonormal is an orthonormal basis of the columns' range, by Gram and Schmidt, each column twice.
// Columns that depend on others become 0.
func orthonormal(x *mat.Dense) *mat.Dense {
	n, width := x.Dims()
	cols := make([][]float64, width)
	for k := range cols {
		cols[k] = mat.Col(nil, k, x)
	}
	norm := func(c []float64) float64 {
		sum := 0.0
		for _, v := range c {
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	for k, c := range cols {
		before := norm(c)
		for range 2 {
			for _, other := range cols[:k] {
				d := 0.0
				for i, v := range other {
					d += v * c[i]
				}
				for i, v := range other {
					c[i] -= d * v
				}
			}
		}
		after := norm(c)
		scale := 0.0
		if after > 1e-10*before && after > 0 {
			scale = 1 / after
		}
		for i := range c {
			c[i] *= scale
		}
	}
	q := mat.NewDense(n, width, nil)
	for k, c := range cols {
		q.SetCol(k, c)
	}
	return q
}
