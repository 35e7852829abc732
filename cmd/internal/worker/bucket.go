package worker

import (
	"context"
	"errors"

	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
)

// openAt opens the index in a folder, or a generation of one in a bucket, the newest one for 0.
func openAt(ctx context.Context, path string, generation uint64) (*opened, error) {
	if !bucket.Is(path) {
		if generation > 0 {
			return nil, pipe.Valuef("generation: want the address of an index in a bucket, as in s3://bucket/news")
		}
		s, err := search.Open(path)
		return &opened{s: s}, err
	}
	x, err := bucket.Open(path, bucket.Options{})
	if err != nil {
		return nil, pipe.ValueError{Err: err}
	}
	view, err := x.View(ctx, generation)
	if err != nil {
		return nil, err
	}
	s, err := search.Open(view.Dir)
	if err != nil {
		return nil, errors.Join(err, view.Close())
	}
	return &opened{s: s, view: view}, nil
}

// close closes the index.
func (o *opened) close() error {
	err := o.s.Close()
	if o.s = nil; o.view != nil {
		err = errors.Join(err, o.view.Close())
	}
	return err
}

// changeAt calls do with the folder of an index, or with one that stands for an index in a bucket,
// and with options for its Writer.
func changeAt(ctx context.Context, path string, o segments.Options,
	do func(dir string, o segments.Options) error) error {
	if !bucket.Is(path) {
		return do(path, o)
	}
	x, err := bucket.Open(path, bucket.Options{})
	if err != nil {
		return pipe.ValueError{Err: err}
	}
	return x.Change(ctx, o, do)
}

// buildAt calls build with the folder for an index, or with one whose index is then put into a
// bucket.
func buildAt(ctx context.Context, path string, build func(dir string) error) error {
	if !bucket.Is(path) {
		return build(path)
	}
	x, err := bucket.Open(path, bucket.Options{})
	if err != nil {
		return pipe.ValueError{Err: err}
	}
	return x.Make(ctx, segments.Options{}, func(dir string, _ segments.Options) error { return build(dir) })
}

// mergeAt merges segments of an index in a bucket, all of them if told to.
func mergeAt(ctx context.Context, path string, all bool) (merged int, err error) {
	x, err := bucket.Open(path, bucket.Options{})
	if err != nil {
		return 0, pipe.ValueError{Err: err}
	}
	merged, _, err = x.Merge(ctx, segments.Options{}, all)
	return merged, err
}
