package worker

import (
	"context"
	"errors"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/pipe"
)

// add adds documents to the index in a folder.
func (w *Worker) add(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		corpusArgs
		Path string `json:"path"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	a.needIDs = true
	corpus, an, err := a.corpus(c, a.Path)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(a.Memory)()
	var added, replaced int
	err = change(ctx, c, a.Path, segments.Options{Analyzer: an}, func(w *segments.Writer) (err error) {
		added, replaced, err = w.AddCorpus(ctx, corpus, index.BuildOptions{
			Threads: a.Threads, Memory: a.Memory, Progress: c.Stage("writing"),
		})
		return err
	})
	return pipe.Reply{Result: map[string]int{"added": added, "replaced": replaced}}, err
}

// delete deletes the documents with the IDs in the array ids.
func (w *Worker) delete(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		Path string `json:"path"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	ids, err := split(c.Message, "ids", "ends")
	if err != nil {
		return pipe.Reply{}, err
	}
	deleted := 0
	err = change(ctx, c, a.Path, segments.Options{}, func(w *segments.Writer) error {
		for _, id := range ids {
			n, err := w.Delete(string(id))
			if err != nil {
				return err
			}
			deleted += n
		}
		return nil
	})
	return pipe.Reply{Result: map[string]int{"deleted": deleted}}, err
}

// change changes an index, and merges segments where the merge policy says so. If only that fails,
// it is a note.
func change(ctx context.Context, c *pipe.Call, dir string, o segments.Options, do func(*segments.Writer) error) (err error) {
	w, err := segments.NewWriter(dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := do(w); err != nil {
		return err
	}
	_, err = w.CommitAndMerge(ctx)
	if failed := new(segments.MergeError); errors.As(err, &failed) && ctx.Err() == nil {
		c.Note(err.Error())
		return nil
	}
	return err
}
