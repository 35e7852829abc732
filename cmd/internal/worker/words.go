package worker

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/weigh"
)

// maxEntries is the most entries of a matrix in one reply.
const maxEntries = pipe.MaxPayload / 16

// wordArgs says which words form a vocabulary.
type wordArgs struct {
	corpusArgs
	MinCount uint64 `json:"min_count"`
	MaxSize  int    `json:"max_size"`
}

func (a *wordArgs) options() cooccur.VocabularyOptions {
	return cooccur.VocabularyOptions{
		MinCount: a.MinCount, MaxSize: a.MaxSize, KeepUnk: true, Threads: a.Threads, Memory: a.Memory,
	}
}

// cooccurrence writes the matrix of a corpus to a .cooc file. Documents are sent twice: for the
// vocabulary, and for the matrix.
func (w *Worker) cooccurrence(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		wordArgs
		Out       string  `json:"out"`
		Window    int     `json:"window"` // 0: the whole document
		Side      string  `json:"side"`
		Weighting string  `json:"weighting"`
		Subsample float64 `json:"subsample"`
		Seed      uint64  `json:"seed"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if a.Window < 0 || a.Window > cooccur.MaxWindow {
		return pipe.Reply{}, pipe.Valuef("window=%d: want 1 to %d, or 0 for the whole document",
			a.Window, cooccur.MaxWindow)
	}
	if !(a.Subsample >= 0 && a.Subsample <= 1) {
		return pipe.Reply{}, pipe.Valuef("subsample=%v: want 0 (off) up to 1", a.Subsample)
	}
	corpus, an, err := a.corpus(c, a.Out)
	if err != nil {
		return pipe.Reply{}, err
	}
	opt := cooccur.Options{
		Window: a.Window, Analyzer: an, Subsample: a.Subsample, Seed: a.Seed,
		Threads: a.Threads, Memory: a.Memory, TempDir: cooccur.ScratchDir(a.Out), Progress: c.Progress,
	}
	if a.Window == 0 {
		opt.Window = cooccur.WholeDocument
	}
	if err := opt.Side.UnmarshalText([]byte(cmp.Or(a.Side, "both"))); err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	if err := opt.Weighting.UnmarshalText([]byte(cmp.Or(a.Weighting, "distance"))); err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	defer bounded(a.Memory)()
	words := a.options()
	words.Analyzer = an
	var file *cooccur.File
	defer func() {
		if file != nil {
			file.Abort()
		}
	}()
	_, stats, err := cooccur.Make(ctx, corpus, words, opt, func(v *cooccur.Vocabulary) (_ cooccur.Sink, err error) {
		if v.Len() == 0 && a.MinCount > 1 {
			return nil, pipe.Valuef("min_count=%d: no word occurs that often, so the matrix would be empty", a.MinCount)
		}
		file, err = cooccur.Create(a.Out, cooccur.CSR, v, opt)
		return file, err
	})
	if err != nil {
		return pipe.Reply{}, err
	}
	file.Describe(stats)
	return pipe.Reply{Result: stats}, file.Commit()
}

// matrixArgs has the path of a .cooc file, which is mapped for the time of the call, and a measure.
type matrixArgs struct {
	Path     string  `json:"path"`
	By       string  `json:"by"`
	MinValue float64 `json:"min_value"`
}

func openMatrix(c *pipe.Call) (a matrixArgs, by cooccur.Measure, r *cooccur.Reader, err error) {
	if err = c.Decode(&a); err != nil {
		return
	}
	if err = by.UnmarshalText([]byte(cmp.Or(a.By, "value"))); err != nil {
		err = pipe.ValueError{Err: err}
		return
	}
	r, err = cooccur.Open(a.Path)
	return
}

// matrixWords returns the words of a matrix, with their counts.
func (w *Worker) matrixWords(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	_, _, r, err := openMatrix(c)
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
	a, by, r, err := openMatrix(c)
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
		if by == cooccur.ByValue && a.MinValue <= 0 {
			for i := range to {
				cols, values = append(cols, int32(to[i])), append(values, sums[i])
			}
		} else {
			row, err := r.Neighbours(id, max(1, len(to)), by, a.MinValue)
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
