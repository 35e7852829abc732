package worker

import (
	"context"
	"runtime"
	"strconv"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/cooccur"
)

// embed trains vectors of the words of a matrix. The array vectors has them row by row.
func (w *Worker) embed(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Embed
	var path string
	env := &api.Env{Door: api.Python}
	if err := decode(c, api.EmbedQuestion, &ask, map[string]any{"path": &path,
		"threads": &env.Threads, "memory": &env.Memory}); err != nil {
		return pipe.Reply{}, err
	}
	if err := resources(env.Threads, env.Memory); err != nil {
		return pipe.Reply{}, err
	}
	if err := ask.Check(); err != nil { // they were always ignored
		c.Note(err.Error())
	}
	var err error
	if env.Matrix, err = cooccur.Open(path); err != nil {
		return pipe.Reply{}, err
	}
	defer env.Matrix.Close()
	if n := env.Matrix.Len(); n*ask.Dim > pipe.MaxPayload/4 {
		return pipe.Reply{}, pipe.Valuef("%d words of %d dimensions do not fit in a message to Python (%d numbers): "+
			"take fewer dimensions (dim=), or write them with the command's embed", n, ask.Dim, pipe.MaxPayload/4)
	}
	defer bounded(env.Memory)()
	epochs, _ := strconv.ParseInt(api.EmbedQuestion.Find("epochs").Default, 10, 64)
	if ask.Epochs != nil {
		epochs = int64(*ask.Epochs)
	}
	made, err := ask.Do(ctx, env, func(epoch int, _ float64) { c.Progress("training", int64(epoch), epochs) })
	if err != nil {
		return pipe.Reply{}, err
	}
	v := made.Vectors
	var words joined
	for _, word := range v.Words {
		words.add([]byte(word))
	}
	arrays := append(words.arrays("words", "ends"), pipe.NewArray("vectors", v.Data))
	return pipe.Reply{Result: map[string]any{"dim": v.Dim, "analyzer": v.Analyzer}, Arrays: arrays}, nil
}

// vectorsOf makes vectors of texts from the vectors of their words; zeros where there is none.
func (w *Worker) vectorsOf(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		Vectors int `json:"vectors"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	texts, err := split(c.Message, "texts", "ends")
	if err != nil {
		return pipe.Reply{}, err
	}
	w.mu.Lock()
	v := w.vectors[a.Vectors]
	w.mu.Unlock()
	if v == nil {
		return pipe.Reply{}, pipe.Valuef("there are no vectors %d", a.Vectors)
	}
	of, err := v.Texts()
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	if len(texts)*v.Dim > pipe.MaxPayload/4 {
		return pipe.Reply{}, pipe.Valuef("the vectors of %d texts do not fit in a message to Python: "+
			"pass fewer", len(texts))
	}
	data := make([]float32, len(texts)*v.Dim)
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return pipe.Reply{}, err
		}
		copy(data[i*v.Dim:(i+1)*v.Dim], of(string(text)))
	}
	return pipe.Reply{Arrays: []pipe.Array{pipe.NewArray("vectors", data)}}, nil
}

// threadsOr returns n, or the number of cores if n is 0.
func threadsOr(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}
