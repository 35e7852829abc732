package vectors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/par"
)

// GloVeOptions are those of the training. The zero value is Stanford's defaults.
type GloVeOptions struct {
	Dim      int     // 0: 50
	Epochs   int     // 0: 25
	XMax     float64 // 0: 100
	Alpha    float64 // 0: 0.75
	Rate     float64 // learning rate; 0: 0.05
	Seed     uint64
	Threads  int   // 0: 1, with which the result depends on the seed only
	Memory   int64 // bound on the cells in memory, in bytes; 0: 2 GB
	Progress func(epoch int, loss float64)
}

// cell is an entry of the matrix, ready for training.
type cell struct {
	row, col    uint32
	log, weight float32 // ln X and f(X)
}

// parameters are a vector, its bias, and the sums of squares of the gradients of both, by word: a
// step reads and writes one stretch of memory for each of its two words.
type parameters struct {
	dim    int
	stride int
	all    []float32 // dim numbers, the bias, dim sums, the bias's sum
}

func newParameters(words, dim int, rng *rand.Rand) *parameters {
	p := &parameters{dim: dim, stride: 2 * (dim + 1), all: make([]float32, words*2*(dim+1))}
	for i := range words {
		row := p.of(uint32(i))
		for k := range row[:dim+1] {
			row[k] = float32((rng.Float64() - 0.5) / float64(dim+1))
		}
		for k := range row[dim+1:] {
			row[dim+1+k] = 1 // as GloVe begins, so that the first steps are not too long
		}
	}
	return p
}

func (p *parameters) of(i uint32) []float32 {
	at := int(i) * p.stride
	return p.all[at : at+p.stride : at+p.stride]
}

// TrainGloVe makes vectors from a matrix. Words are those of the matrix.
func TrainGloVe(ctx context.Context, r *cooccur.Reader, o GloVeOptions) (*Vectors, error) {
	if o.Dim == 0 {
		o.Dim = 50
	}
	if o.Epochs == 0 {
		o.Epochs = 25
	}
	if o.XMax == 0 {
		o.XMax = 100
	}
	if o.Alpha == 0 {
		o.Alpha = 0.75
	}
	if o.Rate == 0 {
		o.Rate = 0.05
	}
	if o.Memory <= 0 {
		o.Memory = 2_000_000_000
	}
	o.Threads = max(1, min(o.Threads, runtime.GOMAXPROCS(0)))
	switch {
	case o.Dim < 1 || o.Dim > 10_000:
		return nil, fmt.Errorf("%d dimensions: want 1 to 10000", o.Dim)
	case o.Epochs < 1:
		return nil, fmt.Errorf("%d epochs: want 1 or more", o.Epochs)
	case !(o.XMax > 0 && o.Alpha > 0 && o.Rate > 0):
		return nil, errors.New("x-max, alpha and the learning rate must be above 0")
	}
	need := int64(r.Entries())*16 + int64(r.Len())*int64(o.Dim+1)*16
	if need > o.Memory {
		return nil, fmt.Errorf("training on %d cells with %d dimensions takes %d MB: raise --memory", r.Entries(), o.Dim, need>>20)
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x676c6f7665))
	cells, err := trainingCells(ctx, r, o)
	if err != nil {
		return nil, err
	}
	words, contexts := newParameters(r.Len(), o.Dim, rng), newParameters(r.Len(), o.Dim, rng)
	for epoch := range o.Epochs {
		// An order of its own for each epoch, as good as GloVe's shuffled file and better.
		rng.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		losses := make([]float64, o.Threads)
		par.Do(o.Threads, func(w int) {
			lo, hi := par.Block(len(cells), o.Threads, w)
			for at := lo; at < hi && ctx.Err() == nil; at += 1 << 16 {
				losses[w] += train(cells[at:min(at+1<<16, hi)], words, contexts, float32(o.Rate))
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		loss := 0.0
		for _, l := range losses {
			loss += l
		}
		loss /= float64(max(len(cells), 1))
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return nil, fmt.Errorf("the training does not converge: the loss of epoch %d is %v; use a smaller --rate", epoch+1, loss)
		}
		if o.Progress != nil {
			o.Progress(epoch+1, loss)
		}
	}
	list := make([]string, r.Len())
	data := make([]float32, 0, r.Len()*o.Dim)
	for i := range list {
		list[i] = string(r.Word(i))
		w, c := words.of(uint32(i)), contexts.of(uint32(i))
		for k := range o.Dim {
			data = append(data, w[k]+c[k])
		}
	}
	return New(list, o.Dim, data)
}

func trainingCells(ctx context.Context, r *cooccur.Reader, o GloVeOptions) ([]cell, error) {
	cells := make([]cell, 0, r.Entries())
	for id := range r.Len() {
		if id%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		cols, values, err := r.Row(id)
		if err != nil {
			return nil, err
		}
		for k, x := range values {
			if x <= 0 {
				continue
			}
			cells = append(cells, cell{uint32(id), cols[k], float32(math.Log(x)),
				float32(min(1, math.Pow(x/o.XMax, o.Alpha)))})
		}
	}
	if len(cells) == 0 {
		return nil, errors.New("the matrix has no cells to train on")
	}
	return cells, nil
}

// train takes a step for each cell and returns the sum of the losses before them.
func train(cells []cell, words, contexts *parameters, rate float32) (loss float64) {
	dim := words.dim
	for i := range cells {
		c := &cells[i]
		w, v := words.of(c.row), contexts.of(c.col)
		diff := dot(w[:dim], v[:dim]) + w[dim] + v[dim] - c.log
		g := c.weight * diff
		loss += 0.5 * float64(g) * float64(diff)
		g = max(-100, min(100, g)) * rate // as GloVe clips
		step(w[:dim], v[:dim], w[dim+1:2*dim+1], v[dim+1:2*dim+1], g)
		wb, vb := &w[2*dim+1], &v[2*dim+1]
		w[dim] -= g / sqrt(*wb)
		v[dim] -= g / sqrt(*vb)
		*wb += g * g
		*vb += g * g
	}
	return loss
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// step moves both vectors against the gradient, each number by its own rate (AdaGrad).
func step(w, v, sw, sv []float32, g float32) {
	v, sw, sv = v[:len(w)], sw[:len(w)], sv[:len(w)]
	for k := range w {
		gw, gv := g*v[k], g*w[k]
		w[k] -= gw / sqrt(sw[k])
		v[k] -= gv / sqrt(sv[k])
		sw[k] += gw * gw
		sv[k] += gv * gv
	}
}
