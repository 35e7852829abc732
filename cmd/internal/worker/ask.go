package worker

import (
	"bytes"
	"encoding/json"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/cooccur"
)

// asked reads the parameters of a question about words, and what it is asked of: an index, the
// files at paths, a matrix at path, or the documents that follow the call. read, unless it is nil,
// is the part of the question that says how these are read. done frees what was opened.
func (w *Worker) asked(c *pipe.Call, q *api.Question, question any, read *api.Reading) (
	env *api.Env, done func(), err error) {
	q.FillAt(api.Python, question)
	env = &api.Env{Progress: c.Progress}
	var index int
	var paths []string
	var matrix string
	err = api.Object(json.NewDecoder(bytes.NewReader(c.With)), func(name string, raw json.RawMessage) error {
		others := map[string]any{"index": &index, "paths": &paths, "path": &matrix, "threads": &env.Threads, "memory": &env.Memory}
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
	if index > 0 { // indexes are numbered from 1
		s, done, err := w.use(index)
		if err != nil {
			return nil, nil, err
		}
		env.Searcher, env.Analyzer = s, s.Analyzer()
		return env, done, nil
	}
	if matrix != "" {
		if env.Matrix, err = cooccur.Open(matrix); err != nil {
			return nil, nil, err
		}
		return env, func() { env.Matrix.Close() }, nil
	}
	done = bounded(env.Memory)
	if read == nil {
		return env, done, nil
	}
	if env.Analyzer, err = read.Split(); err == nil {
		env.Corpus, err = corpusOf(c, &read.Files, read.Analyzer, paths, false)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	env.Corpus.Options.Threads, env.Corpus.Options.Memory = env.Threads, env.Memory
	return env, done, nil
}
