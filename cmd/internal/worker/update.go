package worker

import (
	"context"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// add adds documents to the index in a folder.
func (w *Worker) add(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Add
	var path, analyzer string
	var paths []string
	var threads int
	var memory int64
	err := decode(c, api.AddQuestion, &ask, map[string]any{"path": &path, "analyzer": &analyzer, "paths": &paths,
		"threads": &threads, "memory": &memory})
	if err == nil {
		err = resources(threads, memory)
	}
	if err != nil {
		return pipe.Reply{}, err
	}
	an, err := text.ParseAnalyzer(analyzer)
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	corpus, err := corpusOf(c, &ask.Files, analyzer, paths, true)
	if err != nil {
		return pipe.Reply{}, err
	}
	beside, err := ask.Beside.Open()
	if err != nil {
		return pipe.Reply{}, err
	}
	o := &corpus.Options
	if beside != nil {
		defer beside.Close()
		o.Beside = beside
	}
	o.Except, o.Threads, o.Memory, o.Root = []string{path}, threads, memory, ask.IDRoot
	defer bounded(memory)()
	var did api.Changed
	err = changeAt(ctx, path, segments.Options{Analyzer: an}, func(dir string, o segments.Options) error {
		return did.Change(ctx, dir, o, true, c.Note, func(w *segments.Writer) (err error) {
			did.Added, did.Replaced, err = w.AddCorpus(ctx, corpus, index.BuildOptions{
				Threads: threads, Memory: memory, Progress: c.Stage("writing"),
			})
			return err
		})
	})
	return pipe.Reply{Result: did}, err
}

// delete deletes the documents with the IDs in the array ids, or those that match a query.
func (w *Worker) delete(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Delete
	var path string
	if err := decode(c, api.DeleteQuestion, &ask, map[string]any{"path": &path}); err != nil {
		return pipe.Reply{}, err
	}
	var ids []string
	if _, ok := c.Array("ids"); ok {
		list, err := split(c.Message, "ids", "ends")
		if err != nil {
			return pipe.Reply{}, err
		}
		for _, id := range list {
			ids = append(ids, string(id))
		}
	}
	var did api.Changed
	err := changeAt(ctx, path, segments.Options{}, func(dir string, o segments.Options) (err error) {
		did, _, err = ask.Do(ctx, dir, ids, o, c.Note)
		return err
	})
	return pipe.Reply{Result: did}, err
}

// merge merges segments of the index in a folder.
func (w *Worker) merge(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Merge
	var path string
	if err := decode(c, api.MergeQuestion, &ask, map[string]any{"path": &path}); err != nil {
		return pipe.Reply{}, err
	}
	if bucket.Is(path) {
		merged, err := mergeAt(ctx, path, false)
		return pipe.Reply{Result: api.Changed{Merged: merged}}, err
	}
	did, err := ask.Do(ctx, path, segments.Options{})
	return pipe.Reply{Result: did}, err
}

// compact makes one segment of the index in a folder, or an index of it in another.
func (w *Worker) compact(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Compact
	var path string
	if err := decode(c, api.CompactQuestion, &ask, map[string]any{"path": &path}); err != nil {
		return pipe.Reply{}, err
	}
	if bucket.Is(path) {
		if ask.Out != "" {
			return pipe.Reply{}, pipe.Valuef("out: an index in a bucket is compacted where it is")
		}
		merged, err := mergeAt(ctx, path, true)
		return pipe.Reply{Result: api.Changed{Merged: merged}}, err
	}
	did, err := ask.Do(ctx, path, segments.Options{})
	return pipe.Reply{Result: did}, err
}
