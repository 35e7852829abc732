package segments

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/given"
)

// Merge merges segments until the merge policy finds no more, and returns how many it merged. Other
// methods may be called meanwhile. The next Commit publishes the result. If ctx is cancelled, the
// segments stay as they were.
func (w *Writer) Merge(ctx context.Context) (merged int, err error) {
	if err := given.Context(ctx); err != nil {
		return 0, err
	}
	if w.o.Remote != nil {
		w.mu.Lock()
		from, to, err := w.o.chooseRun(w.segs)
		w.mu.Unlock()
		if from == to || err != nil {
			return 0, err
		}
		return w.o.Remote.Merge(ctx, w.o, false)
	}
	for {
		n, err := w.mergeSome(ctx, w.o.chooseRun)
		merged += n
		if n == 0 || err != nil {
			return merged, err
		}
	}
}

// Compact merges all segments into one, without deleted documents. As with Merge, the next Commit
// publishes the result.
func (w *Writer) Compact(ctx context.Context) (merged int, err error) {
	if err := given.Context(ctx); err != nil {
		return 0, err
	}
	if w.o.Remote != nil {
		if err := w.Commit(); err != nil {
			return 0, err
		}
		return w.o.Remote.Merge(ctx, w.o, true)
	}
	w.mu.Lock()
	if err = w.err; err == nil {
		err = w.fail(w.flush())
	}
	w.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return w.mergeSome(ctx, func(segs []*segment) (from, to int, err error) {
		if len(segs) == 1 && segs[0].docs() == segs[0].Docs() {
			return 0, 0, nil
		}
		return 0, len(segs), nil
	})
}

// mergeSome merges the run of segments that choose returns.
func (w *Writer) mergeSome(ctx context.Context, choose func([]*segment) (from, to int, err error)) (merged int, err error) {
	w.merging.Lock()
	defer w.merging.Unlock()
	w.mu.Lock()
	if w.err != nil {
		w.mu.Unlock()
		return 0, w.err
	}
	from, to, err := choose(w.segs)
	if from == to || err != nil {
		w.mu.Unlock()
		return 0, err
	}
	run := slices.Clone(w.segs[from:to])
	var sources []index.Source
	for _, s := range run {
		live := s.live
		if live != nil {
			live = live.Clone() // snapshot; later deletions are handled by carry
		}
		sources = append(sources, index.Source{Reader: s.Reader, Live: live})
	}
	name := w.newName()
	w.making = name
	for _, s := range run {
		s.busy = true
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.making = ""
		for _, s := range run {
			if s.busy = false; s.gone {
				s.Close()
			}
		}
	}()
	sources = slices.DeleteFunc(sources, func(s index.Source) bool { return s.Kept() == 0 })
	var r *index.Reader
	if len(sources) > 0 {
		path, docs := filepath.Join(w.dir, name), 0
		for _, s := range sources {
			docs += s.Kept()
		}
		progress, ended := w.o.tell(true, docs)
		err := index.Merge(ctx, path, sources, index.MergeOptions{Memory: w.o.Memory, Progress: progress})
		if ended(err); err != nil {
			return 0, err
		}
		if r, err = index.OpenSegment(path); err != nil {
			return 0, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock() // runs before the deferred function above, which clears making
	var made []*segment
	if r != nil {
		s := &segment{Reader: r, name: name, from: origins(run, sources)}
		s.carry()
		made = []*segment{s}
	}
	at := slices.Index(w.segs, run[0]) // Commit may have dropped segments meanwhile
	if at < 0 || at+len(run) > len(w.segs) || !slices.Equal(w.segs[at:at+len(run)], run) {
		if r != nil {
			r.Close()
		}
		return 0, nil // one of the run was dropped; the next call merges the others
	}
	w.segs = slices.Replace(w.segs, at, at+len(run), made...)
	w.changed = true
	for _, s := range run {
		s.Close()
	}
	return len(run), nil
}

// origin is a segment that was merged into another.
type origin struct {
	old  *segment    // closed
	kept *docset.Set // its documents that were merged
	base uint32      // number of the first of them in the new segment
}

// origins returns where the documents of a run of segments are after merging.
func origins(run []*segment, taken []index.Source) (out []origin) {
	base := uint32(0)
	for _, old := range run {
		at := slices.IndexFunc(taken, func(t index.Source) bool { return t.Reader == old.Reader })
		if at < 0 {
			continue
		}
		o := origin{old, taken[at].Live, base}
		if o.kept == nil {
			o.kept = docset.Full(old.Docs())
		}
		out = append(out, o)
		base += uint32(o.kept.Count())
	}
	return out
}

// image maps documents of the segment with that name to their numbers in s. It returns false if s
// neither is that segment nor was merged from it.
func (s *segment) image(name string, docs *docset.Set) (*docset.Set, bool) {
	if s.name == name {
		return docs, true
	}
	for _, o := range s.from {
		then, ok := o.old.image(name, docs)
		if !ok {
			continue
		}
		out, place := docset.New(s.Docs()), o.base
		for d := range o.kept.All() {
			if then.Has(d) {
				out.Add(place)
			}
			place++
		}
		return out, true
	}
	return nil, false
}

// carry repeats the deletions that were made in the old segments while they were being merged.
func (s *segment) carry() {
	for _, o := range s.from {
		place := o.base
		for d := range o.kept.All() {
			if o.old.live != nil && !o.old.live.Has(d) {
				s.remove(place)
			}
			place++
		}
	}
}

const (
	// smallSegment is the number of documents below which all segments count as equally large.
	smallSegment = 1000
	// levelSpan is the range of the logarithms, to base MergeFactor, of the sizes of segments that
	// are merged.
	levelSpan = 0.75
	// mostDeleted is the share of deleted documents above which a segment is rewritten.
	mostDeleted = 1.0 / 3
)

// chooseRun chooses a run of adjacent segments to merge.
func (o *Options) chooseRun(segs []*segment) (from, to int, err error) {
	live, all := make([]int, len(segs)), make([]int, len(segs))
	for i, s := range segs {
		live[i], all[i] = s.docs(), s.Docs()
	}
	return o.choose(live, all)
}

// choose chooses a run of segments of all[i] documents, of which live[i] are not deleted.
func (o *Options) choose(live, all []int) (from, to int, err error) {
	if o.MergePolicy == nil {
		from, to = chooseBySize(live, all, cmp.Or(o.MergeFactor, defaultMergeFactor))
		return from, to, nil
	}
	deleted := make([]int, len(all))
	for i := range all {
		deleted[i] = all[i] - live[i]
	}
	from, to = o.MergePolicy(all, deleted)
	switch {
	case from == to:
	case from < 0 || to < from || to > len(all):
		err = fmt.Errorf("segments: the merge policy chose segments %d to %d of %d", from, to, len(all))
	case to == from+1 && deleted[from] == 0:
		err = fmt.Errorf("segments: the merge policy chose segment %d alone, of which nothing is deleted", from)
	}
	return from, to, err
}

// chooseBySize chooses a run of adjacent segments of all[i] documents, of which live[i] are not
// deleted, as Lucene's log merge policy does. It finds the last segment whose size is similar to
// that of the largest; if there are at least factor segments up to it, the first factor are merged.
// Otherwise it repeats this with the segments after it. A segment with many deletions is rewritten
// alone.
func chooseBySize(live, all []int, factor int) (from, to int) {
	levels := make([]float64, len(live))
	for i, n := range live {
		levels[i] = math.Log(float64(max(n, smallSegment))) / math.Log(float64(factor))
	}
	for start := 0; start < len(levels); {
		top := slices.Max(levels[start:])
		end := len(levels) // after the last segment of that level
		for end > start && levels[end-1] < top-levelSpan {
			end--
		}
		if end-start >= factor {
			return start, start + factor
		}
		start = end
	}
	for i := range live {
		if float64(all[i]-live[i]) > mostDeleted*float64(all[i]) {
			return i, i + 1
		}
	}
	return 0, 0
}
