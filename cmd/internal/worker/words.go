package worker

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/weigh"
)

// maxEntries is the most entries of a matrix in one reply.
const maxEntries = pipe.MaxPayload / 16

// openMatrix reads a call about a .cooc file, which is mapped for the time of the call.
func openMatrix(c *pipe.Call) (ask api.Matrix, r *cooccur.Reader, err error) {
	var path string
	if err = decode(c, api.MatrixQuestion, &ask, map[string]any{"path": &path}); err == nil {
		r, err = cooccur.Open(path)
	}
	return ask, r, err
}

// matrixWords returns the words of a matrix, with their counts.
func (w *Worker) matrixWords(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	_, r, err := openMatrix(c)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer r.Close()
	var words joined
	counts := make([]int64, r.Len())
	for id := range r.Len() {
		words.add(r.Word(id))
		counts[id] = int64(r.Count(id))
	}
	return pipe.Reply{Result: map[string]any{"entries": r.Entries()},
		Arrays: append(words.arrays("words", "ends"), pipe.NewArray("counts", counts))}, nil
}

// matrix returns a matrix as compressed sparse rows, of its sums or of a measure.
func (w *Worker) matrix(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	ask, r, err := openMatrix(c)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer r.Close()
	if r.Entries() > maxEntries {
		return pipe.Reply{}, fmt.Errorf("the matrix has %d entries: want at most %d, for a message to Python: "+
			"raise min_count", r.Entries(), maxEntries)
	}
	starts := make([]int64, 1, r.Len()+1)
	cols := make([]int32, 0, r.Entries())
	values := make([]float64, 0, r.Entries())
	for id := range r.Len() {
		if err := ctx.Err(); err != nil {
			return pipe.Reply{}, err
		}
		to, sums, err := r.Row(id)
		if err != nil {
			return pipe.Reply{}, err
		}
		if ask.By == cooccur.ByValue && ask.MinValue <= 0 {
			for i := range to {
				cols, values = append(cols, int32(to[i])), append(values, sums[i])
			}
		} else {
			row, err := r.Neighbours(id, max(1, len(to)), ask.By, ask.MinValue)
			if err != nil {
				return pipe.Reply{}, err
			}
			slices.SortFunc(row, func(a, b cooccur.Neighbour) int { return cmp.Compare(a.ID, b.ID) })
			for _, n := range row {
				if n.Score != 0 {
					cols, values = append(cols, int32(n.ID)), append(values, n.Score)
				}
			}
		}
		starts = append(starts, int64(len(cols)))
	}
	return pipe.Reply{Arrays: []pipe.Array{
		pipe.NewArray("starts", starts), pipe.NewArray("columns", cols), pipe.NewArray("values", values),
	}}, nil
}

// count returns how often each word occurs in each document, word by word in byte order.
func (w *Worker) count(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a corpusArgs
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	corpus, an, err := a.corpus(c)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(a.Memory)()
	v, err := weigh.Invert(ctx, corpus, weigh.InvertOptions{Analyzer: an, Threads: a.Threads, Memory: a.Memory})
	if err != nil {
		return pipe.Reply{}, err
	}
	defer v.Close()
	var words joined
	var docs, counts []int32
	starts := []int64{0}
	var last []byte
	for t, err := range v.Terms(ctx) {
		if err != nil {
			return pipe.Reply{}, err
		}
		if len(docs)+len(t.Docs) > maxEntries {
			return pipe.Reply{}, fmt.Errorf("the documents have more than %d distinct words, summed over documents: pass fewer documents at a time", maxEntries)
		}
		if len(words.ends) > 0 && string(last) == string(t.Word) {
			starts = starts[:len(starts)-1] // a frequent word arrives in several parts
		} else {
			words.add(t.Word)
			last = append(last[:0], t.Word...)
		}
		for i := range t.Docs {
			docs, counts = append(docs, int32(t.Docs[i])), append(counts, int32(t.TFs[i]))
		}
		starts = append(starts, int64(len(docs)))
	}
	return pipe.Reply{Result: map[string]any{"documents": v.Docs(), "tokens": v.Tokens()},
		Arrays: append(words.arrays("words", "ends"),
			pipe.NewArray("starts", starts), pipe.NewArray("docs", docs), pipe.NewArray("counts", counts),
			pipe.NewArray("lengths", slices.Clone(v.Lengths())))}, nil
}
