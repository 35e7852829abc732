package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/vectors"
	"github.com/collocate/collocate/words"
)

// A call for each question about words.
func init() {
	for _, q := range api.AboutWords(api.Python) {
		calls[q.Name] = func(w *Worker, ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
			return w.aboutWords(ctx, c, q)
		}
	}
}

// aboutWords answers a question about words, whose parameters and more are in the call.
func (w *Worker) aboutWords(ctx context.Context, c *pipe.Call, q *api.Question) (pipe.Reply, error) {
	question := q.New(api.Python)
	env, done, err := w.asked(c, q, question)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	answer, err := q.Ask(ctx, env, question)
	unknown := new(words.UnknownWord)
	switch {
	case errors.As(err, &unknown):
		return pipe.Reply{}, pipe.ValueError{Err: unknown}
	case errors.Is(err, words.ErrNoText), errors.Is(err, words.ErrNoWords), errors.Is(err, api.ErrNothing):
		return pipe.Reply{}, pipe.ValueError{Err: err}
	case err != nil:
		return pipe.Reply{}, err
	}
	if notes := reflect.Indirect(reflect.ValueOf(answer)).FieldByName("Notes"); notes.IsValid() {
		for _, note := range notes.Interface().([]string) {
			c.Note(note)
		}
	}
	return inColumns(answer), nil
}

// asked reads the parameters of a question about words, and what it is asked of: an index, vectors,
// the files at paths, a matrix at path, arrays of words with counts, or the documents that follow
// the call. done frees what was opened.
func (w *Worker) asked(c *pipe.Call, q *api.Question, question any) (env *api.Env, done func(), err error) {
	env = &api.Env{Door: api.Python, Progress: c.Progress, Note: c.Note}
	var index, near int
	var paths []string
	var matrix string
	var totals *[2]uint64
	others := map[string]any{"index": &index, "vectors": &near, "paths": &paths, "path": &matrix, "totals": &totals,
		"threads": &env.Threads, "memory": &env.Memory}
	err = api.Object(json.NewDecoder(bytes.NewReader(c.With)), func(name string, raw json.RawMessage) error {
		if to := others[name]; to != nil {
			return api.Decode(name, raw, to)
		}
		return q.SetJSON(api.Python, question, name, raw)
	})
	if err == nil {
		err = resources(env.Threads, env.Memory)
	}
	if err != nil {
		return nil, nil, pipe.Valuef("%s: %w", c.Do, err)
	}
	env.Threads = threadsOr(env.Threads)
	switch read := api.ReadingOf(question); {
	case index > 0: // indexes are numbered from 1, as vectors are
		if env.Searcher, done, err = w.use(index); err == nil {
			env.Analyzer = env.Searcher.Analyzer()
		}
		return env, done, err
	case near > 0:
		w.mu.Lock()
		env.Vectors = w.vectors[near]
		w.mu.Unlock()
		return env, func() {}, nil
	case matrix != "":
		env.Matrix, err = cooccur.Open(matrix)
		return env, func() { env.Matrix.Close() }, err
	case totals != nil:
		env.Counts, err = counted(c.Message, *totals)
		return env, func() {}, err
	case read == nil:
		return env, func() {}, nil
	default:
		done = bounded(env.Memory)
		if env.Analyzer, err = read.Split(); err == nil {
			env.Corpus, err = w.corpusFor(c, env, read, paths)
		}
		if with, ok := question.(interface{ References() []string }); ok && err == nil && len(with.References()) > 0 {
			env.Reference, err = w.corpusFor(c, env, read, with.References())
		}
		if err != nil {
			done()
		}
		return env, done, err
	}
}

// corpusFor returns the corpus of a question.
func (w *Worker) corpusFor(c *pipe.Call, env *api.Env, read *api.Reading, paths []string) (*text.Corpus, error) {
	corpus, err := corpusOf(c, &read.Files, read.Analyzer, paths, false)
	if err == nil {
		corpus.Options.Threads, corpus.Options.Memory = env.Threads, env.Memory
	}
	return corpus, err
}

// counted reads two vocabularies: each an array of words and one of counts.
func counted(m *pipe.Message, totals [2]uint64) (*[2]words.Frequencies, error) {
	var both [2]words.Frequencies
	for i, name := range []string{"here", "there"} {
		list, err := split(m, name, name+"_ends")
		if err != nil {
			return nil, err
		}
		counts, err := pipe.Get[int64](m, name+"_counts")
		if err != nil {
			return nil, err
		}
		if len(counts) != len(list) {
			return nil, pipe.Valuef("%s: %d counts of %d words: want one for each", name, len(counts), len(list))
		}
		both[i] = words.Frequencies{Total: totals[i], Counts: make(map[string]uint64, len(list))}
		for j, word := range list {
			both[i].Counts[string(word)] = uint64(counts[j])
		}
	}
	return &both, nil
}

// keepVectors keeps word vectors for later calls, which refer to them by the number in the reply.
func (w *Worker) keepVectors(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	list, err := split(c.Message, "words", "ends")
	if err != nil {
		return pipe.Reply{}, err
	}
	data, err := pipe.Get[float32](c.Message, "vectors")
	if err != nil {
		return pipe.Reply{}, err
	}
	names := make([]string, len(list))
	for i, word := range list {
		names[i] = string(word)
	}
	v, err := vectors.New(names, len(data)/max(1, len(names)), append([]float32(nil), data...))
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	var a struct {
		Analyzer string `json:"analyzer"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	v.Analyzer = a.Analyzer
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	w.vectors[w.last] = v
	return pipe.Reply{Result: w.last}, nil
}

// dropVectors forgets vectors.
func (w *Worker) dropVectors(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		Vectors int `json:"vectors"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.vectors, a.Vectors)
	return pipe.Reply{}, nil
}
