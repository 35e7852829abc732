package worker

import (
	"cmp"
	"context"
	"runtime"

	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/vectors"
)

// embed trains vectors of the words of a matrix. The array vectors has them row by row.
func (w *Worker) embed(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		Path    string  `json:"path"`
		Method  string  `json:"method"`
		Dim     int     `json:"dim"`
		Epochs  int     `json:"epochs"`
		XMax    float64 `json:"x_max"`
		Shift   float64 `json:"shift"`
		Seed    uint64  `json:"seed"`
		Threads int     `json:"threads"`
		Memory  int64   `json:"memory"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if err := cmp.Or(within("dim", a.Dim, 1, 10_000), atLeast("epochs", a.Epochs, 1)); err != nil {
		return pipe.Reply{}, err
	}
	if !(a.XMax > 0) {
		return pipe.Reply{}, pipe.Valuef("x_max=%v: want a positive number", a.XMax)
	}
	r, err := cooccur.Open(a.Path)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer r.Close()
	if r.Len()*a.Dim > pipe.MaxPayload/4 {
		return pipe.Reply{}, pipe.Valuef("%d words of %d dimensions do not fit in a message to Python (%d numbers): "+
			"take fewer dimensions (dim=), or write them with the command's embed", r.Len(), a.Dim, pipe.MaxPayload/4)
	}
	defer bounded(a.Memory)()
	var v *vectors.Vectors
	switch a.Method {
	case "glove":
		v, err = vectors.TrainGloVe(ctx, r, vectors.GloVeOptions{Dim: a.Dim, Epochs: a.Epochs,
			XMax: a.XMax, Seed: a.Seed, Threads: a.Threads, Memory: a.Memory,
			Progress: func(epoch int, _ float64) {
				c.Progress("training", int64(epoch), int64(a.Epochs))
			}})
	case "svd":
		v, err = vectors.TrainSVD(ctx, r, vectors.SVDOptions{Dim: a.Dim, Shift: a.Shift,
			Seed: a.Seed, Threads: a.Threads, Memory: a.Memory})
	default:
		return pipe.Reply{}, pipe.Valuef("method=%q: want glove or svd", a.Method)
	}
	if err != nil {
		return pipe.Reply{}, err
	}
	var words joined
	for _, word := range v.Words {
		words.add([]byte(word))
	}
	arrays := append(words.arrays("words", "ends"), pipe.NewArray("vectors", v.Data))
	return pipe.Reply{Result: map[string]int{"dim": v.Dim}, Arrays: arrays}, nil
}

// threadsOr returns n, or the number of cores if n is 0.
func threadsOr(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}
