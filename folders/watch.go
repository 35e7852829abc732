package folders

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/collocate/collocate/internal/given"
)

// Watching says when Watch calls Sync. The zero value is useful.
type Watching struct {
	// Settle is how long nothing must have changed before Sync is called; 0 means a second. Under
	// changes without an end it is called every ten times that.
	Settle time.Duration
	// Every is the longest time between two calls, for file systems that report no changes, such as
	// those of other machines; 0 means a minute.
	Every time.Duration
}

// Watch calls Sync, and again whenever something below the folder changes, until the context ends;
// then it returns nil. did is called after each Sync, with its report or its error. An error of the
// first Sync, or of did, ends Watch. After a later one, such as that of an index which another
// process is changing, Sync is tried again.
//
// The system reports changes where it can. If it cannot watch all folders, a note says so, and
// Watch only looks every Watching.Every.
func Watch(ctx context.Context, folder, dir string, o Options, when Watching, did func(*Report, error) error) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	if when.Settle <= 0 {
		when.Settle = time.Second
	}
	if when.Every <= 0 {
		when.Every = time.Minute
	}
	w := &watcher{Watching: when, seen: map[string]bool{}, note: o.Note}
	var err error
	if w.events, err = fsnotify.NewWatcher(); err != nil {
		w.giveUp(err)
	} else {
		defer w.events.Close()
	}
	for first := true; ; first = false {
		begun := time.Now()
		r, err := Sync(ctx, folder, dir, o)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && first {
			return err
		}
		if err := did(r, err); err != nil {
			return err
		}
		o.Moved, o.Again = false, false // once is enough
		if err == nil && w.follow(r.folders) {
			continue // something may have changed in a folder before it was watched
		}
		// Looking at a large folder takes time: do not spend more than a tenth of it on that.
		if !w.wait(ctx, 10*time.Since(begun)) {
			return nil
		}
	}
}

type watcher struct {
	Watching
	events *fsnotify.Watcher // nil if the system cannot watch
	seen   map[string]bool   // folders that are watched
	note   func(string)
}

// giveUp goes on without events.
func (w *watcher) giveUp(err error) {
	if w.events != nil {
		w.events.Close()
		w.events = nil
	}
	if w.note != nil {
		w.note("changes are looked for every " + w.Every.String() + ", as the system cannot report them: " + err.Error())
	}
}

// follow watches the folders that there are now, and reports whether some of them are new.
func (w *watcher) follow(folders []string) (more bool) {
	now := make(map[string]bool, len(folders))
	for _, dir := range folders {
		now[dir] = true
	}
	// A folder that was renamed is watched under its old name: first end that, as the system knows
	// both by one number.
	for dir := range w.seen {
		if !now[dir] && w.events != nil {
			w.events.Remove(dir) // an error means that it is gone
		}
	}
	for _, dir := range folders {
		if w.seen[dir] || w.events == nil {
			continue
		}
		err := w.events.Add(dir)
		if errors.Is(err, fs.ErrNotExist) { // it is gone since: look again
			delete(now, dir)
			more = true
			continue
		}
		if err != nil {
			w.giveUp(err)
			return false
		}
		more = true
	}
	w.seen = now
	return more
}

// wait waits for changes that have settled, at least for some time, and reports false at the end of
// the context.
func (w *watcher) wait(ctx context.Context, least time.Duration) bool {
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.events != nil {
		events, errs = w.events.Events, w.events.Errors
	}
	begun := time.Now()
	until := begun.Add(max(least, w.Every))
	var last time.Time // when no event may come any more
	for {
		timer := time.NewTimer(time.Until(until))
		var e fsnotify.Event
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
			return true
		case e = <-events:
		case <-errs: // such as events that were lost
		}
		timer.Stop()
		if e.Op == fsnotify.Chmod {
			continue
		}
		if w.seen[e.Name] && e.Has(fsnotify.Remove|fsnotify.Rename) {
			delete(w.seen, e.Name) // one of that name may be another folder
		}
		now := time.Now()
		if last.IsZero() {
			last = now.Add(10 * w.Settle)
		}
		until = now.Add(w.Settle)
		if until.After(last) {
			until = last
		}
		if earliest := begun.Add(least); until.Before(earliest) {
			until = earliest
		}
	}
}
