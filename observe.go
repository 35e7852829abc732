package collocate

import (
	"context"
	"log/slog"
	"time"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
)

// Event is a call that has ended, or a merge of segments, which Commit may make or the background.
type Event struct {
	Call  string        // search, all, complete, similar, add, delete, commit, compact, refresh or merge
	Query string        // of search and all
	Took  time.Duration // all of the call
	// Documents is how many it found, added, deleted or merged; after commit, compact and refresh,
	// how many searches now see.
	Documents int
	Stats     *search.Stats // the work of a search that succeeded, otherwise nil
	Err       error         // what the call returned
}

// observe reports a call that began at start.
func (x *Index) observe(e Event, start time.Time) {
	e.Took = time.Since(start)
	if o := x.options.Observe; o != nil {
		o(e)
	}
	ctx := context.Background()
	if l := x.options.Log; l != nil && l.Enabled(ctx, slog.LevelDebug) {
		list := []slog.Attr{slog.String("index", x.dir), slog.Duration("took", e.Took), slog.Int("documents", e.Documents)}
		if e.Query != "" {
			list = append(list, slog.String("query", e.Query))
		}
		if e.Err != nil {
			list = append(list, slog.Any("error", e.Err))
		}
		l.LogAttrs(ctx, slog.LevelDebug, "collocate: "+e.Call, list...)
	}
}

// observed reports whether calls are worth timing.
func (x *Index) observed() bool { return x.options.Observe != nil || x.options.Log != nil }

// progress passes on how far the writer is, and reports merges.
func (x *Index) progress(p segments.Progress) {
	if fn := x.options.Progress; fn != nil {
		fn(p)
	}
	if !p.Merging || !x.observed() {
		return
	}
	if x.merging.IsZero() {
		x.merging = time.Now()
	}
	if p.Ended {
		x.observe(Event{Call: "merge", Documents: p.Done, Err: p.Err}, x.merging)
		x.merging = time.Time{}
	}
}

// checked returns the error of a context that is nil or has ended.
func checked(ctx context.Context) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return ctx.Err()
}
