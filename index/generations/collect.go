package generations

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Collected says what a collection of garbage removed.
type Collected struct {
	Generations int      `json:"generations"` // that were removed
	Segments    int      `json:"segments"`    // of which objects were removed
	Objects     int      `json:"objects"`     // of both
	Bytes       int64    `json:"bytes"`       // of these objects
	Orphans     []string `json:"orphans"`     // found now, and removed after the grace period
}

// Collect removes old generations and segments, after the grace period. See the package's comment.
// It is best called by who holds the lease.
func (x *Index) Collect(ctx context.Context) (c Collected, err error) {
	newest, err := x.Newest(ctx)
	if err != nil {
		return c, err
	}
	// All objects are listed after newest was read, so what newest lists is not taken for garbage.
	gens, err := x.store.List(ctx, generationsFolder, 0)
	if err != nil {
		return c, fmt.Errorf("collect garbage: %w", err)
	}
	now, err := x.store.Now(ctx)
	if err != nil {
		return c, fmt.Errorf("collect garbage: %w", err)
	}
	files, err := x.store.List(ctx, segmentsFolder, 0)
	if err != nil {
		return c, fmt.Errorf("collect garbage: %w", err)
	}
	grace := newest.grace()
	if x.noGrace {
		grace = 0
	}
	at := &ages{made: map[uint64]time.Time{}, now: now, grace: grace, least: newest.Number}
	for _, o := range gens {
		if n, ok := numberOf(generationsFolder, o.Name); ok {
			at.made[n], at.least = o.Modified, min(at.least, n)
		}
	}
	there := bySegment(files)
	var orphans, forget []string
	for name, objects := range there {
		youngest := slices.MaxFunc(objects, func(a, b Object) int { return a.Modified.Compare(b.Modified) })
		if !newest.Has(name) && !newest.dropped(name) && now.Sub(youngest.Modified) > grace {
			orphans = append(orphans, name)
		}
	}
	slices.Sort(orphans)
	for _, d := range newest.Dropped {
		switch {
		case !at.old(d.Generation):
		case len(there[d.Segment]) == 0:
			forget = append(forget, d.Segment)
		default:
			if err := x.remove(ctx, d.Segment, there[d.Segment], &c); err != nil {
				return c, err
			}
		}
	}
	if x.noDrop {
		for _, name := range orphans {
			if err := x.remove(ctx, name, there[name], &c); err != nil {
				return c, err
			}
		}
		orphans = nil
	}
	if len(orphans) > 0 || len(forget) > 100 {
		if err := x.drop(ctx, newest, orphans, forget); err != nil {
			return c, err
		}
		c.Orphans = orphans
	}
	return c, x.removeGenerations(ctx, newest, gens, at, &c)
}

// bySegment groups the objects of segments.
func bySegment(files []Object) map[string][]Object {
	there := map[string][]Object{}
	for _, o := range files {
		name, _, _ := strings.Cut(strings.TrimPrefix(o.Name, segmentsFolder), "/")
		if isSegment(name) {
			there[name] = append(there[name], o)
		}
	}
	return there
}

// ages says when generations were made.
type ages struct {
	made  map[uint64]time.Time
	now   time.Time
	grace time.Duration
	least uint64 // the smallest number
}

// old reports whether a generation was made longer ago than the grace period. One that is missing
// was made before the oldest that is there; if it has a larger number, the list is late.
func (a *ages) old(n uint64) bool {
	t, ok := a.made[n]
	return !ok && n < a.least || ok && a.now.Sub(t) > a.grace
}

// drop commits that segments must not be listed any more, and forgets those of which nothing is
// left. If another process commits first, the next collection finds what is still to be done.
func (x *Index) drop(ctx context.Context, base *Generation, orphans, forget []string) error {
	_, err := x.Commit(ctx, base, func(_ context.Context, newest *Generation) (*Generation, error) {
		if newest != base {
			return nil, nil
		}
		next := &Generation{Segments: newest.Segments, Manifest: newest.Manifest, Dropped: []Drop{}}
		for _, d := range newest.Dropped {
			if !slices.Contains(forget, d.Segment) {
				next.Dropped = append(next.Dropped, d)
			}
		}
		for _, name := range orphans {
			next.Dropped = append(next.Dropped, Drop{name, newest.Number + 1})
		}
		return next, nil
	})
	if err != nil {
		return fmt.Errorf("collect garbage: %w", err)
	}
	return nil
}

// remove removes the objects of a segment, the one that Begin made first: see stillThere.
func (x *Index) remove(ctx context.Context, name string, objects []Object, c *Collected) error {
	if err := x.store.Delete(ctx, segmentsFolder+name+"/"+begunName); err != nil {
		return fmt.Errorf("remove segment %s: %w", name, err)
	}
	for _, o := range objects {
		if path.Base(o.Name) != begunName {
			if err := x.store.Delete(ctx, o.Name); err != nil {
				return fmt.Errorf("remove segment %s: %w", name, err)
			}
		}
		c.Objects++
		c.Bytes += o.Size
	}
	c.Segments++
	return nil
}

// removeGenerations removes generations that were superseded longer ago than the grace period.
func (x *Index) removeGenerations(ctx context.Context, newest *Generation, gens []Object, at *ages, c *Collected) error {
	var superseded time.Time // when the next generation was made
	for _, o := range gens { // the newest first
		n, ok := numberOf(generationsFolder, o.Name)
		if !ok || n >= newest.Number {
			superseded = o.Modified
			continue
		}
		if !superseded.IsZero() && at.now.Sub(superseded) > at.grace {
			if err := x.store.Delete(ctx, o.Name); err != nil {
				return errors.Join(fmt.Errorf("remove generation %d", n), err)
			}
			c.Generations++
			c.Objects++
			c.Bytes += o.Size
		}
		superseded = o.Modified
	}
	return nil
}
