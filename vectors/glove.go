package vectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/par"
)

// Matrix is a sparse matrix from which vectors are made. *cooccur.Reader implements it.
type Matrix interface {
	Len() int        // words
	Entries() uint64 // of all rows
	Word(id int) []byte
	// Row returns the columns of a row, in ascending order, and their values. They must not be
	// changed.
	Row(id int) (cols []uint32, values []float64, err error)
}

// GloVeOptions are the options of TrainGloVe. The zero value means the defaults of `collocate
// embed`, which are Stanford's except for Dim: theirs is 50.
type GloVeOptions struct {
	// Dim is the number of components of each vector, 1 to 10,000; 0 means 100.
	Dim int
	// Epochs is the number of passes over all cells of the matrix; 0 means 25.
	Epochs int
	// XMax is the value from which cells have the full weight of 1, more than 0; 0 means 100. Small
	// corpora need a smaller one, such as 10.
	XMax float64
	// Alpha is the exponent of smaller values: a cell of value x weighs (x/XMax)^Alpha. 0 means
	// 0.75, and a negative number means 0: all cells weigh the same.
	Alpha float64
	// Rate is the learning rate of AdaGrad, more than 0; 0 means 0.05.
	Rate float64
	// Seed is the seed of the initial vectors and of the order of cells. Any value will do, 0
	// included; the command's default is 1.
	Seed uint64
	// Threads is the number of threads; 0 means GOMAXPROCS. The vectors do not depend on it.
	Threads int
	// Memory bounds the cells and the vectors in memory, in bytes; 0 means 2 GB. What does not fit
	// is an error.
	Memory int64
	// Engine is where to train; engine.Auto uses a GPU if there is one and the work is large.
	Engine engine.Kind
	// Device is the GPU, if one is used; the zero value is the first one.
	Device engine.Device
	// Progress, unless it is nil, is called after each epoch with its number, from 1, and the mean
	// loss of a cell in it.
	Progress func(epoch int, loss float64)
	// Began, unless it is nil, is called with the engine when the first epoch begins.
	Began func(engine.Kind)
	// Log, unless it is nil, gets a message if engine.Auto tries a GPU in vain.
	Log *slog.Logger
}

// parameters are, for each word, a vector and its bias, followed by the sums of their squared
// gradients. So a step accesses one contiguous range of memory for each of its two words.
type parameters struct {
	dim  int       // rounded up to a multiple of 8; the padding stays 0
	half int       // numbers of a row before the sums: dim, the bias, and 7 unused
	all  []float32 // rows of 2*half
}

func paddedTo(dim int) (padded, half int) {
	padded = (dim + 7) &^ 7
	return padded, padded + 8
}

func newParameters(words int, o *GloVeOptions, which uint64) *parameters {
	padded, half := paddedTo(o.Dim)
	p := &parameters{dim: padded, half: half, all: make([]float32, words*2*half)}
	par.For(o.Threads, words, 256, func(_, lo, hi int) {
		var rng rand.PCG
		for i := lo; i < hi; i++ {
			rng.Seed(o.Seed^0x676c6f7665, uint64(i)<<1|which) // the same for any number of threads
			draw := func() float32 {
				return float32((float64(rng.Uint64()>>11)/(1<<53) - 0.5) / float64(o.Dim+1))
			}
			row, sums := p.of(uint32(i))
			for k := range o.Dim {
				row[k] = draw()
			}
			row[padded] = draw()
			for k := range padded {
				sums[k] = 1 // as in GloVe, so that the first steps are not too long
			}
			// GloVe's biases learn at a rate of 1. A sum that begins with the square of the rate,
			// not with 1, is equivalent: b -= g rate / sqrt(rate^2 + sum of (g rate)^2). If biases
			// learn more slowly, vectors encode the frequency of words and become similar because
			// of it.
			sums[padded] = float32(o.Rate * o.Rate)
		}
	})
	return p
}

// of returns a word's vector followed by its bias, and their sums.
func (p *parameters) of(i uint32) (row, sums []float32) {
	at := int(i) * 2 * p.half
	both := p.all[at : at+2*p.half : at+2*p.half]
	return both[: p.dim+1 : p.half], both[p.half : p.half+p.dim+1]
}

// TrainGloVe trains vectors on a matrix. The result depends only on the matrix, the training
// options and the seed: it is the same on one core, on many and on a GPU.
func TrainGloVe(ctx context.Context, m Matrix, o GloVeOptions) (*Vectors, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := o.settle(m); err != nil {
		return nil, err
	}
	s, err := newSchedule(ctx, m, &o)
	if err != nil {
		return nil, err
	}
	t := &training{schedule: s, o: &o, rows: m.Len()}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	return t.sums(wordsOf(m))
}

// sums returns the vectors: for each word, the sum of its row vector and its column vector.
func (t *training) sums(list []string) (*Vectors, error) {
	dim := t.o.Dim
	data := make([]float32, len(list)*dim)
	par.For(t.o.Threads, len(list), 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			w, _ := t.words.of(uint32(i))
			c, _ := t.contexts.of(uint32(i))
			for k := range dim {
				data[i*dim+k] = w[k] + c[k]
			}
		}
	})
	return New(list, dim, data)
}

func wordsOf(m Matrix) []string {
	list := make([]string, m.Len())
	for i := range list {
		list[i] = string(m.Word(i))
	}
	return list
}

// settle sets defaults and checks the options.
func (o *GloVeOptions) settle(m Matrix) error {
	o.Dim = cmp.Or(o.Dim, 100)
	o.Epochs = cmp.Or(o.Epochs, 25)
	o.XMax = cmp.Or(o.XMax, 100)
	o.Alpha = max(0, cmp.Or(o.Alpha, 0.75))
	o.Rate = cmp.Or(o.Rate, 0.05)
	if o.Memory <= 0 {
		o.Memory = 2_000_000_000
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Engine == engine.Sequential {
		o.Threads = 1
	}
	switch {
	case o.Dim < 1 || o.Dim > 10_000:
		return fmt.Errorf("%d dimensions: want 1 to 10000", o.Dim)
	case o.Epochs < 1:
		return fmt.Errorf("%d epochs: want 1 or more", o.Epochs)
	case !(o.XMax > 0 && o.Alpha >= 0 && o.Rate > 0):
		return fmt.Errorf("x-max %v, alpha %v, learning rate %v: want more than 0, or 0 for alpha",
			o.XMax, o.Alpha, o.Rate)
	}
	_, half := paddedTo(o.Dim)
	groups := int64(groupsOf(int(m.Entries()), m.Len()))
	need := int64(m.Entries())*16 + int64(m.Len())*int64(4*half+o.Dim)*4 + groups*groups*8
	if need > o.Memory {
		return fmt.Errorf("training on %d cells with %d dimensions takes %d MB: raise vectors.GloVeOptions.Memory",
			m.Entries(), o.Dim, need>>20+1)
	}
	return nil
}

// errDiverges is wrapped by the error of a training that does not converge.
var errDiverges = errors.New("training does not converge")

// training is a training in progress.
type training struct {
	*schedule
	o               *GloVeOptions
	rows            int // number of words
	words, contexts *parameters
	losses          []float64 // of the current epoch, by group of rows
}

// draw sets the parameters to their initial values.
func (t *training) draw() {
	t.words, t.contexts = newParameters(t.rows, t.o, 0), newParameters(t.rows, t.o, 1)
}

// choice is the choice of the engine. A training that does not converge is not repeated: that is so
// on any engine.
func (t *training) choice() gpu.Choice {
	work := int64(len(t.cells)) * int64(t.o.Dim) * int64(t.o.Epochs)
	return gpu.Choice{Kind: t.o.Engine, Log: t.o.Log,
		Pays:  func() bool { return work > gloveOnGPU*int64(t.o.Threads) },
		Final: func(err error) bool { return errors.Is(err, errDiverges) }}
}

// run trains on the engine of the options.
func (t *training) run(ctx context.Context) error {
	c := t.choice()
	return c.Run(ctx, func() error {
		return withGPU(c, t.o.Device, func(g *card) error {
			t.draw()
			return t.onGPU(ctx, g)
		})
	}, func() error {
		t.draw() // a GPU that failed may have changed them
		t.began(engine.Multicore)
		return t.epochs(ctx, t.epoch)
	})
}

func (t *training) began(k engine.Kind) {
	if k == engine.Multicore && t.o.Threads == 1 {
		k = engine.Sequential
	}
	if t.o.Began != nil {
		t.o.Began(k)
	}
}

// epochs runs all epochs. epoch gets the order of the strata, and sets the losses.
func (t *training) epochs(ctx context.Context, epoch func(ctx context.Context,
	strata []int) error) error {
	rng := rand.New(rand.NewPCG(t.o.Seed, 0x737472617461))
	t.losses = make([]float64, t.groups)
	for i := range t.o.Epochs {
		clear(t.losses)
		if err := epoch(ctx, rng.Perm(t.groups)); err != nil {
			return err
		}
		loss := 0.0
		for _, l := range t.losses {
			loss += l
		}
		loss /= float64(len(t.cells))
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return fmt.Errorf("%w: the loss of epoch %d is %v; use a smaller vectors.GloVeOptions.Rate",
				errDiverges, i+1, loss)
		}
		if t.o.Progress != nil {
			t.o.Progress(i+1, loss)
		}
	}
	return nil
}

// epoch trains on the cores. Blocks are taken in the order of the strata. A block begins when all
// earlier blocks that share its rows or its columns are done; there is one such block of each kind
// in each earlier stratum.
func (t *training) epoch(ctx context.Context, strata []int) error {
	n := t.groups
	rowsDone, colsDone := make([]atomic.Int32, n), make([]atomic.Int32, n)
	var next atomic.Int64
	par.Do(min(t.o.Threads, n), func(int) {
		for ctx.Err() == nil {
			at := int(next.Add(1)) - 1
			if at >= n*n {
				return
			}
			turn, g := at/n, at%n
			rows, cols := &rowsDone[g], &colsDone[(g+strata[turn])%n]
			for rows.Load() != int32(turn) || cols.Load() != int32(turn) {
				if ctx.Err() != nil {
					return
				}
				runtime.Gosched()
			}
			block := strata[turn]*n + g
			t.losses[g] += train(t.cells[t.begin(block):t.ends[block]], t.words, t.contexts,
				float32(t.o.Rate))
			rows.Add(1)
			cols.Add(1)
		}
	})
	return ctx.Err()
}

// train takes a step for each cell and returns the sum of the losses before the steps.
func train(cells []cell, words, contexts *parameters, rate float32) (loss float64) {
	dim := words.dim
	for i := range cells {
		c := &cells[i]
		w, sw := words.of(c.row)
		v, sv := contexts.of(c.col)
		diff := dot(w[:dim], v[:dim]) + ((w[dim] + v[dim]) - c.log)
		g := c.weight * diff
		loss += 0.5 * float64(g) * float64(diff)
		g = clipped(g) * rate
		step(w[:dim], v[:dim], sw[:dim], sv[:dim], g)
		w[dim] -= float32(g / sqrt(sw[dim]))
		v[dim] -= float32(g / sqrt(sv[dim]))
		sw[dim] += float32(g * g)
		sv[dim] += float32(g * g)
	}
	return loss
}

// clipped bounds a gradient, as GloVe does.
func clipped(g float32) float32 {
	if g > 100 {
		return 100
	}
	if g < -100 {
		return -100
	}
	return g
}
