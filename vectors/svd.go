package vectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"

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
	// Power is the number of power iterations; more are more accurate. 0 means 2, and a negative
	// number means none.
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
	// one. There are about six such rounds.
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
	o.Power = max(0, cmp.Or(o.Power, 2))
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
			"--memory", n, o.Dim, need>>20+1)
	}
	return nil
}

// svdWidth returns the number of columns that are multiplied: a multiple of 8, and at least ten
// more than dim for accuracy.
func svdWidth(dim int) int { return (dim + 10 + 7) &^ 7 }

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

// decompose finds the singular vectors (Halko, Martinsson and Tropp 2011) in the range of
// (M M')^Power M times a random matrix.
func (s *svd) decompose(ctx context.Context, x tall) error {
	if err := x.times(false); err != nil {
		return err
	}
	for i := range 2 * s.o.Power {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := errors.Join(s.orthonormal(x), x.times(i%2 == 0)); err != nil {
			return err
		}
	}
	if err := s.orthonormal(x); err != nil {
		return err
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
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(s.width, g), true) {
		return errors.New("the factorization does not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil) // ascending
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
// accuracy (Yamamoto et al. 2015). Columns that depend linearly on others become 0.
func (s *svd) orthonormal(x tall) error {
	for range 2 {
		g, err := x.gram()
		if err != nil {
			return err
		}
		if err := x.turn(inverseOfCholesky(g, s.width)); err != nil {
			return err
		}
	}
	return nil
}

// inverseOfCholesky returns the inverse of R, where G = R'R and R is upper triangular. A column
// that depends linearly on those before it becomes zeros. G is overwritten.
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
