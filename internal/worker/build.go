package worker

import (
	"context"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/pipe"
)

// build writes the index of a corpus to a folder.
func (w *Worker) build(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		corpusArgs
		Out               string `json:"out"`
		StoreText         bool   `json:"store_text"`
		Positions         bool   `json:"positions"`
		Reorder           bool   `json:"reorder"`
		AllowDuplicateIDs bool   `json:"allow_duplicate_ids"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if a.Out == "" {
		return pipe.Reply{}, pipe.Valuef("out is missing: the folder for the index")
	}
	corpus, an, err := a.corpus(c, a.Out)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(a.Memory)()
	err = index.Build(ctx, a.Out, corpus, index.BuildOptions{
		Analyzer:          an,
		StoreText:         a.StoreText,
		Positions:         a.Positions,
		Reorder:           a.Reorder,
		AllowDuplicateIDs: a.AllowDuplicateIDs,
		Threads:           a.Threads,
		Memory:            a.Memory,
		Progress:          c.Stage("writing"),
		Reordering:        c.Stage("reordering"),
	})
	return pipe.Reply{}, err
}
