package device

import (
	"errors"
	"slices"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
)

// Requests within the same filter are answered on an excerpt of the index, once enough of them have
// come: it is made for these documents without those that were deleted.

// keptExcerpts are the excerpts of an index, the one that was asked last in front, and the sets for
// which there may soon be one.
type keptExcerpts struct {
	mu   sync.Mutex
	sets []*askedSet
}

// askedSet is a set of documents that requests are limited to.
type askedSet struct {
	version uint64 // of the set
	asked   int
	x       *Index // nil: none yet
	bytes   int64
	users   int
	refused bool // there was not enough memory
}

// limited returns the set of documents for whose requests there may be an excerpt: those that a
// request is limited to or, if it is not and many were deleted, those that were not. It returns nil
// if there is none.
func (g *Index) limited(w *ask.Within) *docset.Set {
	if g.x != nil || !g.pack.whole {
		return nil
	}
	set, ok := g.within(w)
	if live := g.s.Live; ok && set == nil && live != nil &&
		float64(live.Count()) < excerptLive*float64(live.Len()) {
		return live
	}
	if !ok {
		return nil
	}
	return set
}

// excerptFor returns an excerpt with the documents that a request is limited to, and a function to
// call when it is no longer needed. It is nil if there is none. requests is how many ask for it
// now.
func (g *Index) excerptFor(w *ask.Within, requests int) (x *Index, done func()) {
	set := g.limited(w)
	if set == nil {
		return nil, nil
	}
	return g.excerptOf(set, requests)
}

func (g *Index) excerptOf(set *docset.Set, requests int) (x *Index, done func()) {
	k := &g.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.find(set.Version())
	if a.asked += requests; a.x == nil && !a.refused && a.asked >= excerptAsked {
		g.makeExcerpt(a, set)
	}
	if a.x == nil {
		return nil, nil
	}
	a.users++
	return a.x, func() {
		k.mu.Lock()
		a.users--
		k.mu.Unlock()
	}
}

// find returns what is known of a set, and moves it to the front. The lock is held.
func (k *keptExcerpts) find(version uint64) *askedSet {
	at := slices.IndexFunc(k.sets, func(a *askedSet) bool { return a.version == version })
	a := &askedSet{version: version}
	if at >= 0 {
		a = k.sets[at]
		k.sets = slices.Delete(k.sets, at, at+1)
	} else if len(k.sets) >= excerptSets { // the oldest without an excerpt is forgotten
		for i := len(k.sets) - 1; i >= 0; i-- {
			if k.sets[i].x == nil {
				k.sets = slices.Delete(k.sets, i, i+1)
				break
			}
		}
	}
	k.sets = slices.Insert(k.sets, 0, a)
	return a
}

// makeExcerpt makes an excerpt, for which others that are not in use make room. If there is not
// enough memory, the cores go on. The lock is held.
func (g *Index) makeExcerpt(a *askedSet, set *docset.Set) {
	k, spare := &g.kept, &g.pack.spare
	if live := g.s.Live; live != nil && live != set {
		both := set.Clone()
		both.And(live)
		set = both
	}
	for i, made := len(k.sets)-1, k.made(); ; i-- {
		if made < mostExcerpts {
			x, err := newExcerpt([]*Index{g}, []*docset.Set{set}, g, spare.Load())
			if x != nil && err == nil {
				a.x, a.bytes = x, x.pack.bytesOfExcerpt()
				spare.Add(-a.bytes)
				return
			}
		}
		for i >= 0 && (k.sets[i].x == nil || k.sets[i].users > 0) {
			i--
		}
		if i < 0 {
			a.refused = true
			return
		}
		if k.drop(g, k.sets[i]) != nil {
			a.refused = true
			return
		}
		made--
	}
}

// made returns the number of excerpts.
func (k *keptExcerpts) made() (n int) {
	for _, a := range k.sets {
		if a.x != nil {
			n++
		}
	}
	return n
}

// drop frees an excerpt.
func (k *keptExcerpts) drop(g *Index, a *askedSet) error {
	err := a.x.Close()
	g.pack.spare.Add(a.bytes)
	a.x, a.asked = nil, 0
	return err
}

// free frees all excerpts, which nobody uses any more.
func (k *keptExcerpts) free(st *gpuStore) error {
	var errs []error
	for _, a := range k.sets {
		if a.x != nil {
			errs = append(errs, a.x.Close())
			st.spare.Add(a.bytes)
		}
	}
	k.sets = nil
	return errors.Join(errs...)
}

// bytesOfExcerpt returns the memory of an excerpt, with the codes of one model.
func (st *gpuStore) bytesOfExcerpt() int64 {
	return st.offsets.Bytes() + st.tfs.Bytes() + st.more.Bytes() + st.starts.Bytes() +
		st.lengths.Bytes() + st.known.terms.Bytes() + st.postings.size +
		st.rows.size*int64(st.tiles+256*4)
}
