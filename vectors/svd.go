package vectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/par"
)

// SVDOptions are the options of TrainSVD. The zero value means the defaults of `collocate embed
// --method svd`: the parameters of Levy, Goldberg and Dagan.
type SVDOptions struct {
	// Dim is the number of components of each vector, from 1 to the number of words; 0 means 100.
	Dim int
	// Smoothing is the exponent of the contexts' frequencies; 1 leaves them as they are. 0 means
	// 0.75, and a negative number means 0: all contexts count as equally frequent.
	Smoothing float64
	// Shift is the number of negative samples, whose logarithm is subtracted from each PMI; 0 and 1
	// mean none.
	Shift float64
	// Eigen is the exponent of the singular values that scale the components. 0 means 0.5, and a
	// negative number means 0: no scaling.
	Eigen float64
	// Power is the number of power iterations; more are more accurate. A negative number means
	// none. 0 means as many as it takes until the residual is at most 0.005, at most 30. The
	// residual is the root mean square, over the dimensions, of |M M'u - s^2 u| / s^2, where M is
	// the matrix, u a singular vector that was found and s its singular value.
	Power int
	// Seed is the seed of the random matrix that the iteration begins with. Any value will do, 0
	// included; the command's default is 1.
	Seed uint64
	// Threads is the number of threads; 0 means GOMAXPROCS. The vectors do not depend on it.
	Threads int
	// Memory bounds the cells and the columns in memory, in bytes; 0 means 2 GB. What does not fit
	// is an error.
	Memory int64
	// Engine is where to multiply; engine.Auto uses a GPU if there is one and the work is large.
	Engine engine.Kind
	// Device is the GPU, if one is used; the zero value is the first one.
	Device engine.Device
	// Began, unless it is nil, is called with the engine when the decomposition begins.
	Began func(engine.Kind)
	// Log, unless it is nil, gets a message if engine.Auto tries a GPU in vain.
	Log *slog.Logger
}

// TrainSVD computes vectors from a matrix. The result depends neither on the engine nor on the
// number of threads.
func TrainSVD(ctx context.Context, m Matrix, o SVDOptions) (*Vectors, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := o.settle(m); err != nil {
		return nil, err
	}
	p, err := newPPMI(ctx, m, &o)
	if err != nil {
		return nil, err
	}
	s := &svd{ppmi: p, o: &o, width: svdWidth(o.Dim)}
	// The multiplications of a product with the matrix and of the dense products before the next
	// one. There are some dozens of such rounds.
	work := int64(s.width) * (int64(len(p.rows.other)) + 2*int64(p.n)*int64(s.width))
	c := gpu.Choice{Kind: o.Engine, Log: o.Log,
		Pays: func() bool { return work > svdOnGPU*int64(o.Threads) }}
	err = c.Run(ctx, func() error {
		return withGPU(c, o.Device, func(g *card) error {
			s.began(engine.GPU)
			return s.onGPU(ctx, g)
		})
	}, func() error {
		s.began(engine.Multicore)
		c := &coreMatrix{ppmi: p, width: s.width, threads: o.Threads}
		c.x, c.y = s.draw(), make([]float64, p.n*s.width)
		return s.decompose(ctx, c)
	})
	if err != nil {
		return nil, err
	}
	return New(wordsOf(m), o.Dim, s.data)
}

func (o *SVDOptions) settle(m Matrix) error {
	o.Dim = cmp.Or(o.Dim, 100)
	o.Smoothing = max(0, cmp.Or(o.Smoothing, 0.75))
	o.Eigen = max(0, cmp.Or(o.Eigen, 0.5))
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Engine == engine.Sequential {
		o.Threads = 1
	}
	if o.Memory <= 0 {
		o.Memory = 2_000_000_000
	}
	n := m.Len()
	if o.Dim < 1 || o.Dim > n {
		return fmt.Errorf("%d dimensions of %d words: want 1 or more, and no more than words",
			o.Dim, n)
	}
	need := int64(m.Entries())*16 + int64(n)*int64(2*8*svdWidth(o.Dim)+4*o.Dim)
	if need > o.Memory {
		return fmt.Errorf("a decomposition of %d words to %d dimensions takes %d MB: raise "+
			"vectors.SVDOptions.Memory", n, o.Dim, need>>20+1)
	}
	return nil
}

// svdWidth returns the number of columns that are multiplied: a multiple of 8, half as many again
// as dim and ten more. An iteration reduces the error by the square of the ratio of two singular
// values, the first one beyond the columns and the last one that is wanted. The singular values of
// words fall slowly, so more columns save more iterations than they cost.
func svdWidth(dim int) int { return (dim + dim/2 + 10 + 7) &^ 7 }

// svd is a decomposition in progress.
type svd struct {
	*ppmi
	o     *SVDOptions
	width int
	data  []float32 // the vectors
}

func (s *svd) began(k engine.Kind) {
	if k == engine.Multicore && s.o.Threads == 1 {
		k = engine.Sequential
	}
	if s.o.Began != nil {
		s.o.Began(k)
	}
}

// draw returns the random matrix that a decomposition starts from: 1 and -1, by the seed.
func (s *svd) draw() []float64 {
	x := make([]float64, s.n*s.width)
	par.For(s.o.Threads, s.n, 1024, func(_, lo, hi int) {
		for i := lo * s.width; i < hi*s.width; i += 8 {
			bits := mix(s.o.Seed*0x9e3779b97f4a7c15 + uint64(i))
			for k := range x[i : i+8] {
				x[i+k] = 1 - 2*float64(bits>>(7*k+7)&1)
			}
		}
	})
	return x
}

// mix is the hash function of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tall is a matrix X with a row for each word and a few hundred columns, on the cores or on a
// device. M is the matrix of mutual information.
type tall interface {
	times(transposed bool) error     // X becomes M X, or M' X
	turn(t []float64) error          // X becomes X T, where T is square
	gram() ([]float64, error)        // X' X
	gramOfTimes() ([]float64, error) // (M' X)' (M' X); X does not change
	rows() ([]float64, error)        // X itself
}

// The bounds of the iterations that a Power of 0 means. With 100 dimensions of 1,460 words of
// Shakespeare, the share of the vectors outside the exact subspace (root mean square) was 0.42
// after 2 iterations, 0.13 after 8, 0.07 after 12, and 0.04 where the residual reached 0.005. With
// ten columns more than dimensions instead of half as many again, it was 0.54 after 2 and 0.05
// after 40.
const (
	svdResidual  = 0.005
	svdMostPower = 30
)

// decompose finds the singular vectors (Halko, Martinsson and Tropp 2011) in the range of
// (M M')^Power M times a random matrix.
func (s *svd) decompose(ctx context.Context, x tall) error {
	if err := x.times(false); err != nil {
		return err
	}
	_, _, err := s.orthonormal(x)
	if err != nil {
		return err
	}
	power := s.o.Power
	if power == 0 {
		power = svdMostPower
	}
	for range power {
		if err := ctx.Err(); err != nil {
			return err
		}
		// With Q the orthonormal X, X becomes M'Q = P R, and then M P.
		if err := x.times(true); err != nil {
			return err
		}
		small, r, err := s.orthonormal(x)
		if err == nil {
			err = x.times(false)
		}
		if err != nil {
			return err
		}
		next, _, err := s.orthonormal(x)
		if err != nil {
			return err
		}
		if s.o.Power == 0 {
			residual, err := s.residual(small, r, next)
			if err != nil {
				return err
			}
			if residual <= svdResidual {
				break
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// With Q the orthonormal X and B = M' Q, the eigenvalues of the small matrix B'B are the
	// squares of the singular values.
	g, err := x.gramOfTimes()
	if err != nil {
		return err
	}
	values, vectors, err := eigenOf(g, s.width)
	if err != nil {
		return err
	}
	t := make([]float64, s.width*s.width)
	for k := range s.o.Dim {
		at := s.width - 1 - k
		scale := math.Pow(math.Sqrt(max(values[at], 0)), s.o.Eigen)
		for i := range s.width {
			t[i*s.width+k] = vectors.At(i, at) * scale
		}
	}
	if err := x.turn(t); err != nil {
		return err
	}
	u, err := x.rows()
	if err != nil {
		return err
	}
	s.finish(u)
	return nil
}

// eigenOf returns the eigenvalues of a symmetric matrix, ascending, and its eigenvectors as
// columns.
func eigenOf(g []float64, n int) ([]float64, *mat.Dense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, g), true) {
		return nil, nil, errors.New("the factorization does not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	return eigen.Values(nil), &vectors, nil
}

// residual returns the residual of SVDOptions.Power before an iteration, from what the iteration
// computes anyway: small is Q'M M'Q, M'Q = P R, and next is (M P)'(M P). An eigenvector w of small
// gives u = Q w, and |M M'u|^2 = (R w)' next (R w).
func (s *svd) residual(small, r, next []float64) (float64, error) {
	values, vectors, err := eigenOf(small, s.width)
	if err != nil {
		return 0, err
	}
	n := s.width
	y := make([]float64, n)
	sum, count := 0.0, 0
	for k := range s.o.Dim {
		at := n - 1 - k
		if values[at] <= 1e-12*values[n-1] {
			break // the rank is lower than the dimension
		}
		for i := range n {
			y[i] = 0
			for j := i; j < n; j++ {
				y[i] += r[i*n+j] * vectors.At(j, at)
			}
		}
		square := 0.0
		for i := range n {
			for j := range n {
				square += y[i] * next[i*n+j] * y[j]
			}
		}
		sum += max(0, square/(values[at]*values[at])-1)
		count++
	}
	return math.Sqrt(sum / float64(max(count, 1))), nil
}

// finish makes the vectors from the scaled singular vectors, whose signs are arbitrary. In each
// dimension, the number with the largest absolute value becomes positive.
func (s *svd) finish(u []float64) {
	sign := make([]float64, s.o.Dim)
	par.For(s.o.Threads, s.o.Dim, 8, func(_, lo, hi int) {
		largest := make([]float64, hi-lo)
		for i := range s.n {
			for k, x := range u[i*s.width+lo : i*s.width+hi] {
				if math.Abs(x) > math.Abs(largest[k]) {
					largest[k] = x
				}
			}
		}
		for k, x := range largest {
			sign[lo+k] = math.Copysign(1, x)
		}
	})
	s.data = make([]float32, s.n*s.o.Dim)
	par.For(s.o.Threads, s.n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for k, x := range sign {
				s.data[i*s.o.Dim+k] = float32(x * u[i*s.width+k])
			}
		}
	})
}

// orthonormal makes the columns of X an orthonormal basis of their range by Cholesky QR, twice for
// accuracy (Yamamoto et al. 2015). Columns that depend linearly on others become 0. It returns X'X
// from before, and the triangular R for which the new X times R is the old one.
func (s *svd) orthonormal(x tall) (gram, r []float64, err error) {
	n := s.width
	for range 2 {
		g, err := x.gram()
		if err != nil {
			return nil, nil, err
		}
		if gram == nil {
			gram = slices.Clone(g)
		}
		if err := x.turn(inverseOfCholesky(g, n)); err != nil {
			return nil, nil, err
		}
		if r == nil {
			r = g
			continue
		}
		product := make([]float64, n*n) // of two upper triangles
		for i := range n {
			for j := i; j < n; j++ {
				for k := i; k <= j; k++ {
					product[i*n+j] += g[i*n+k] * r[k*n+j]
				}
			}
		}
		r = product
	}
	return gram, r, nil
}

// inverseOfCholesky returns the inverse of R, where G = R'R and R is upper triangular. A column
// that depends linearly on those before it becomes zeros. The upper triangle of G becomes R.
func inverseOfCholesky(g []float64, n int) []float64 {
	inverse := make([]float64, n) // of R's diagonal
	for k := range n {
		row := g[k*n : k*n+n]
		whole := row[k]
		for j := range k {
			r := g[j*n : j*n+n]
			if f := r[k]; f != 0 {
				for i := k; i < n; i++ {
					row[i] -= f * r[i]
				}
			}
		}
		if d := row[k]; d > 1e-12*whole && d > 0 {
			inverse[k] = 1 / math.Sqrt(d)
		}
		for i := k; i < n; i++ {
			row[i] *= inverse[k]
		}
	}
	t := make([]float64, n*n)
	for k := range n {
		t[k*n+k] = inverse[k]
		for i := k - 1; i >= 0; i-- {
			sum := 0.0
			for j := i + 1; j <= k; j++ {
				sum += g[i*n+j] * t[j*n+k]
			}
			t[i*n+k] = -sum * inverse[i]
		}
	}
	return t
}
