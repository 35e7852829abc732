package worker

import (
	"context"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
)

// build writes the index of a corpus to a folder.
func (w *Worker) build(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Build
	var paths, schema []string // no paths: documents follow the call
	var threads int
	var memory int64
	err := decode(c, api.BuildQuestion, &ask, map[string]any{"paths": &paths, "schema": &schema,
		"threads": &threads, "memory": &memory})
	if err == nil {
		err = resources(threads, memory)
	}
	if err != nil {
		return pipe.Reply{}, err
	}
	if ask.Out == "" {
		return pipe.Reply{}, pipe.Valuef("out is missing: the folder for the index")
	}
	an, err := ask.Split()
	if err == nil {
		an, err = ask.With(an)
	}
	if err != nil {
		return pipe.Reply{}, err
	}
	corpus, err := corpusOf(c, &ask.Files, ask.Analyzer, paths, false)
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
	o.Except, o.Threads, o.Memory, o.Root = []string{ask.Out}, threads, memory, ask.IDRoot
	if len(schema) > 0 {
		if o.Schema, err = fields.ParseList(schema); err == nil {
			err = api.InlineFields(o.Schema)
		}
		if err != nil {
			return pipe.Reply{}, pipe.ValueError{Err: err}
		}
	}
	if o.Schema, err = ask.Cut(o.Schema); err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(memory)()
	err = buildAt(ctx, ask.Out, func(dir string) error {
		return index.Build(ctx, dir, corpus, index.BuildOptions{
			Analyzer:          an,
			StoreText:         ask.StoreText,
			Positions:         ask.Positions,
			Reorder:           ask.Reorder,
			AllowDuplicateIDs: ask.AllowDuplicateIDs,
			Threads:           threads,
			Memory:            memory,
			Progress:          c.Stage("writing"),
			Reordering:        c.Stage("reordering"),
		})
	})
	return pipe.Reply{}, err
}
