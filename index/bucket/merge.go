package bucket

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
)

// lease is how long a lease lasts that is not renewed.
const lease = time.Minute

// Merge merges segments where there are many of about the same size, or with all set all into one,
// and returns how many it merged. Then it removes what was superseded longer ago than the grace
// period, unless it did so within the last minute. The error wraps generations.ErrLeased if another
// process is at it.
func (x *Index) Merge(ctx context.Context, o segments.Options, all bool) (merged int, c generations.Collected, err error) {
	if err := x.x.Probe(ctx); err != nil {
		return 0, c, x.about(err)
	}
	err = x.leased(ctx, func(ctx context.Context) error {
		for {
			n, err := x.mergeSome(ctx, o, all)
			if merged += n; err != nil {
				return err
			}
			if n == 0 || all {
				break
			}
		}
		if !x.collects() {
			return nil
		}
		c, err = x.x.Collect(ctx)
		return err
	})
	return merged, c, x.about(err)
}

// collectEvery is how long after a collection of garbage the next one of this process is due. It
// lists all objects: at each merge that would be most of a store's work if there are many.
const collectEvery = time.Minute

func (x *Index) collects() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if now := time.Now(); x.collected.IsZero() || now.Sub(x.collected) > collectEvery {
		x.collected = now
		return true
	}
	return false
}

// leased calls do while it holds the lease. The context ends if it is lost.
func (x *Index) leased(ctx context.Context, do func(context.Context) error) error {
	host, _ := os.Hostname()
	holder := fmt.Sprintf("process %d on %s", os.Getpid(), host)
	l, err := x.x.Lease(ctx, holder, lease)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if err := l.Renew(ctx, holder, lease); err != nil {
					cancel(fmt.Errorf("the lease was lost: %w", err))
					return
				}
			}
		}
	}()
	err = do(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	close(stop)
	<-ended
	end, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	cancel(nil)
	return errors.Join(err, l.End(end))
}

// mergeSome merges one run of segments.
func (x *Index) mergeSome(ctx context.Context, o segments.Options, all bool) (merged int, err error) {
	v, err := x.View(ctx, 0)
	if err != nil {
		return 0, err
	}
	defer v.Close()
	r, err := segments.Open(v.Dir)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	list := r.Segments()
	from, to, err := r.Due(o)
	if err != nil {
		return 0, err
	}
	if all {
		if from, to = 0, len(list); to == 1 && list[0].Live == nil {
			return 0, nil
		}
	}
	if from == to {
		return 0, nil
	}
	var m segments.Moved
	var sources []index.Source
	for _, s := range list[from:to] {
		m.Of = append(m.Of, segments.Part{Name: s.Name, Live: s.Live})
		if source := (index.Source{Reader: s.Reader, Live: s.Live}); source.Kept() > 0 {
			sources = append(sources, source)
		}
	}
	if len(sources) > 0 {
		m.Dir = filepath.Join(v.root, "merged", x.x.NewName())
		if err := os.MkdirAll(filepath.Dir(m.Dir), 0o777); err != nil {
			return 0, err
		}
		if err := index.Merge(ctx, m.Dir, sources, index.MergeOptions{Memory: o.Memory}); err != nil {
			return 0, err
		}
		made, err := index.OpenSegment(m.Dir)
		if err != nil {
			return 0, err
		}
		defer made.Close()
		s := &segments.Segment{Reader: made, Name: filepath.Base(m.Dir)}
		if _, err := x.describe(ctx, s, true); err != nil {
			return 0, err
		}
	}
	done := false
	o.Names, o.Remote = x.x.NewName, nil
	_, err = x.commit(ctx, nil, nil, o, func(w *segments.Writer) (bool, error) {
		done, err = w.ReplaceSegments(m)
		return done, err
	})
	if err != nil || !done {
		return 0, err
	}
	return to - from, nil
}
