package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/folders"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/bytesize"
)

// bucketFlags are the flags of verbs that take the address of an index in a bucket.
type bucketFlags struct {
	cache      string
	cacheSize  bytesize.Size
	generation uint64
}

// bucketAnnotation marks verbs whose --out may be the address of an index in a bucket, by "out".
const bucketAnnotation = "bucket"

// inBuckets lets a verb read indexes in buckets: its first argument or, with all set, any.
func (a *app) inBuckets(cmd *cobra.Command, all bool) *bucketFlags {
	f := a.changesBuckets(cmd)
	cmd.Flags().Uint64Var(&f.generation, "generation", 0, "of an index in a bucket: this generation; 0 means the newest")
	group(cmd, "Buckets", "generation")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		local, close, err := f.local(cmd.Context(), a, cmd, args, all)
		if err == nil {
			err = run(cmd, local)
		}
		return errors.Join(err, close())
	}
	return f
}

// changesBuckets adds the flags that all verbs need that know buckets.
func (a *app) changesBuckets(cmd *cobra.Command) *bucketFlags {
	f := &bucketFlags{cacheSize: 10 * bytesize.GB}
	cmd.Flags().StringVar(&f.cache, "cache", "",
		"of indexes in buckets: `FOLDER` for segments (default collocate in the user's folder for caches)")
	cmd.Flags().Var(&f.cacheSize, "cache-size", "of indexes in buckets: largest `size` of segments that are kept and not in use")
	group(cmd, "Buckets", "cache", "cache-size")
	return f
}

func (f *bucketFlags) open(address string) (*bucket.Index, error) {
	return bucket.Open(address, bucket.Options{Cache: f.cache, CacheBytes: int64(f.cacheSize)})
}

// local returns the arguments with folders in the place of addresses, and what removes these.
func (f *bucketFlags) local(ctx context.Context, a *app, cmd *cobra.Command, args []string, all bool) (local []string, close func() error, err error) {
	var views []*bucket.View
	var stop []func()
	close = func() error {
		var errs []error
		for _, end := range stop {
			end()
		}
		for _, v := range views {
			errs = append(errs, v.Close())
		}
		return errors.Join(errs...)
	}
	for i, arg := range args {
		name, address, named := strings.Cut(arg, "=")
		if !all || !named || !bucket.Is(address) {
			name, address, named = "", arg, false
		}
		if i > 0 && !all || !bucket.Is(address) {
			local = append(local, arg)
			continue
		}
		if w := cmd.Flags().Lookup("writable"); w != nil && w.Changed && f.generation > 0 {
			return nil, close, usagef("--writable with --generation: only the newest generation can be changed")
		}
		x, err := f.open(address)
		if err != nil {
			return nil, close, err
		}
		v, err := x.View(ctx, f.generation)
		if err != nil {
			return nil, close, err
		}
		views = append(views, v)
		a.views[v.Dir] = v
		if named {
			local = append(local, name+"="+v.Dir)
		} else {
			local = append(local, v.Dir)
		}
		if all {
			stop = append(stop, follow(ctx, a, v, f.generation == 0))
		}
	}
	if f.generation > 0 && len(views) == 0 {
		return nil, close, usagef("--generation: want the address of an index in a bucket, as in s3://bucket/news")
	}
	return local, close, nil
}

// shown is how messages name an index: by its address, if it is a view of one.
func (a *app) shown(dir string) string {
	if v, ok := a.views[dir]; ok {
		return v.Address()
	}
	return dir
}

// followEvery is how often a server asks for a newer generation: one request each time.
const followEvery = 500 * time.Millisecond

// follow fetches what is missing of a view and, if newest is set, shows the newest generation in it
// and tells a.arrived, until end is called.
func follow(ctx context.Context, a *app, v *bucket.View, newest bool) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	missing := make(chan struct{}, 1)
	missing <- struct{}{}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-missing:
			}
			if err := v.Fill(ctx); err != nil { // queries fetch what they need
				a.log.Info("not all of the index was fetched", "index", v.Address(), "error", err)
			}
		}
	})
	wait.Go(func() {
		if !newest {
			return
		}
		failing := false
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(followEvery):
			}
			changed, err := v.Refresh(ctx)
			if changed {
				for _, to := range []chan struct{}{a.arrived, missing} {
					select {
					case to <- struct{}{}:
					default: // one is told already
					}
				}
			}
			if err != nil && ctx.Err() == nil && !failing {
				a.warn("%v; still answering from generation %d, and trying again", err, v.Generation().Number)
			}
			failing = err != nil
		}
	})
	return func() { cancel(); wait.Wait() }
}

// changed describes an index in a bucket after a change.
func (f *bucketFlags) changed(ctx context.Context, x *bucket.Index, c *api.Changed, address string) error {
	g, err := x.Generations().Newest(ctx)
	if err != nil {
		return err
	}
	c.Index, c.Segments, c.Generation, c.Documents = address, len(g.Segments), g.Number, 0
	for _, s := range g.Segments {
		c.Documents += s.Docs - s.Deleted
	}
	return nil
}

// change changes the index at an address, or makes it, by do, which is given a folder and options
// for a Writer.
func (f *bucketFlags) change(ctx context.Context, address string, o segments.Options, c *api.Changed,
	do func(dir string, o segments.Options) error) error {
	x, err := f.open(address)
	if err != nil {
		return err
	}
	is, err := x.Exists(ctx)
	switch {
	case err != nil:
		return err
	case is:
		err = x.Change(ctx, o, do)
	default:
		if err = x.Make(ctx, o, do); errors.Is(err, generations.ErrExists) { // since just now
			err = x.Change(ctx, o, do)
		}
	}
	if err != nil {
		return err
	}
	return f.changed(ctx, x, c, address)
}

// sync makes the index at an address by do, if there is none, and else changes it. do gets a
// folder, where commits go, and what completes a report.
func (f *bucketFlags) sync(ctx context.Context, address string, ask *api.Sync,
	do func(dir string, to segments.Remote, did func(*folders.Report) error) error) error {
	x, err := f.open(address)
	if err != nil {
		return err
	}
	is, err := x.Exists(ctx)
	if err != nil {
		return err
	}
	if !is {
		watch := ask.Watch
		ask.Watch = false
		err := x.Make(ctx, segments.Options{}, func(dir string, _ segments.Options) error {
			return do(dir, nil, func(r *folders.Report) error { r.Index = address; return nil })
		})
		if ask.Watch = watch; err != nil || !watch {
			return err
		}
	}
	return x.Change(ctx, segments.Options{}, func(dir string, o segments.Options) error {
		return do(dir, o.Remote, func(r *folders.Report) error {
			var c api.Changed
			err := f.changed(ctx, x, &c, address)
			r.Index, r.Segments, r.Generation = address, c.Segments, c.Generation
			return err
		})
	})
}

// merge merges segments of the index at an address, all of them if told to.
func (f *bucketFlags) merge(ctx context.Context, address string, o segments.Options, all bool) (c api.Changed, err error) {
	x, err := f.open(address)
	if err != nil {
		return c, err
	}
	if c.Merged, _, err = x.Merge(ctx, o, all); err != nil {
		return c, err
	}
	return c, f.changed(ctx, x, &c, address)
}

// put puts what build writes to a folder at an address, as a new index.
func (f *bucketFlags) put(ctx context.Context, address string, build func(dir string) error) (c api.Changed, err error) {
	x, err := f.open(address)
	if err != nil {
		return c, err
	}
	if err := x.Make(ctx, segments.Options{}, func(dir string, _ segments.Options) error { return build(dir) }); err != nil {
		return c, err
	}
	return c, f.changed(ctx, x, &c, address)
}

// mustExist returns an error if there is no index at an address.
func (f *bucketFlags) mustExist(ctx context.Context, address string) error {
	x, err := f.open(address)
	if err != nil {
		return err
	}
	_, err = x.Generations().Newest(ctx)
	return err
}
