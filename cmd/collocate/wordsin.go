package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/search"
)

// wordsIn returns what a question about words is asked of: the index in the first path if it is
// one, else the corpus of the paths. Results are files to be written, which are not read. done
// frees what was opened.
func (a *app) wordsIn(cmd *cobra.Command, read *api.Reading, paths []string,
	results ...string) (env *api.Env, done func(), err error) {
	env = a.env()
	if len(results) > 0 && results[0] != "" {
		env.TempDir = cooccur.ScratchDir(results[0])
	}
	if len(paths) == 1 && isIndex(paths[0]) {
		if err := onlyForCorpora(cmd, paths[0], "an index"); err != nil {
			return nil, nil, err
		}
		if env.Searcher, err = search.Open(paths[0]); err != nil {
			return nil, nil, err
		}
		env.Analyzer = env.Searcher.Analyzer()
		return env, func() { env.Searcher.Close() }, nil
	}
	corpus := corpusFlags{Reading: *read}
	if env.Analyzer, err = corpus.analyzer(); err != nil {
		return nil, nil, err
	}
	corpus.hint(cmd, a, paths)
	cleanup, err := a.spoolStdin(&paths, "")
	if err != nil {
		return nil, nil, err
	}
	env.Corpus = corpus.corpus(a, paths, results...)
	return env, cleanup, nil
}

// env returns the resources of questions about words.
func (a *app) env() *api.Env {
	return &api.Env{Door: api.Command, Note: a.note, Also: a.alsoGPUs(),
		Threads: a.threads, Memory: int64(a.memory), Engine: a.engine, Device: a.gpu, Log: a.log,
		Progress: func(stage string, done, total int64) {
			if show := a.progress(stage); show != nil {
				show(done, total)
			}
		}}
}

// onlyForCorpora refuses flags that say how a corpus is read, for something else.
func onlyForCorpora(cmd *cobra.Command, path, kind string, others ...string) error {
	for _, p := range api.ReadingQuestion.Params() {
		others = append(others, p.Flag)
	}
	for _, name := range others {
		if cmd.Flags().Changed(name) {
			return usagef("--%s needs a corpus, and %s is %s; leave it out", name, path, kind)
		}
	}
	return nil
}
