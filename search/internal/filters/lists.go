package filters

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
)

// Lists keeps the lists of words within filters that are asked again, as an index of the admitted
// documents alone ([eval.Excerpt]). Bounds of the whole lists hold for documents outside the
// filter, too: within a tenth of the documents the ten best are about as deep as the hundred best
// of all, and a search must read as far. In an index of the tenth they are the ten best.
//
// From the second request within the same documents on, the time is counted that requests take
// without such lists. Once it exceeds the time to make those that a request needs, they are made.
// So making lists at most doubles the time of all requests, and long requests bring theirs soon.
type Lists struct {
	cache  *Cache
	parts  []*eval.Engine
	lookUp func(*eval.Words, *ask.Request) error
	credit time.Duration // see Afford
}

// NewLists returns the lists of an index of some segments, in which lookUp looks words up. They
// take memory of a cache.
func NewLists(c *Cache, parts []*eval.Engine, lookUp func(*eval.Words, *ask.Request) error) *Lists {
	return &Lists{cache: c, parts: parts, lookUp: lookUp}
}

// Afford has lists made as if requests within each filter had taken a time already. It is for
// tests, which must not depend on how fast the machine is.
func (l *Lists) Afford(spent time.Duration) { l.credit = spent }

// within is what is kept of the lists within a filter.
type within struct {
	at *entry

	mu     sync.Mutex
	making bool          // one asker makes what is missing; the others do not wait
	spent  time.Duration // by requests without lists, less that to make lists
	x      *eval.Excerpt // nil before the first list
	words  map[string]*word
	bytes  int // of all this
}

// word is a word that was asked for within a filter.
type word struct {
	made bool
	list index.Term
	used bool // since the lists took too much memory
}

// wordBytes is the memory of a word, besides its text and list.
const wordBytes = 200

// wordings reuses memory.
var wordings = sync.Pool{New: func() any { return new(eval.Words) }}

// Missed is a request that no lists within its documents have answered.
type Missed struct {
	f     *within // nil if lists will not answer its like
	began time.Time
}

// Done is called when the request has been answered in the usual way.
func (m *Missed) Done() {
	if m.f != nil {
		m.f.mu.Lock()
		m.f.spent += time.Since(m.began)
		m.f.mu.Unlock()
	}
}

// Search answers a request for words if the lists within its documents are there, or should now be
// made. Otherwise it returns nil, and a note to be Done when the request has been answered.
func (l *Lists) Search(ctx context.Context, r *ask.Request) (_ *ask.Result, m Missed, err error) {
	if r.Within == nil || r.Algorithm != ask.Auto || r.Trace || model.IsFielded(r.Model) ||
		r.Parallel != nil && (ask.WantsGPU(r.Parallel) || !r.Parallel.Exact()) ||
		len(r.Within.Sets) != len(l.parts) {
		return nil, m, nil
	}
	f := l.within(r.Within.Sets)
	if f == nil {
		return nil, m, nil
	}
	w := wordings.Get().(*eval.Words)
	defer wordings.Put(w)
	if err := l.lookUp(w, r); err != nil || len(w.Terms) == 0 {
		return nil, m, nil // the usual way says so
	}
	var room [8]index.Term
	x, lists := f.known(w, r.Within.Sets, room[:0])
	if x == nil {
		if lists == nil {
			return nil, Missed{f, time.Now()}, nil
		}
		if x, err = f.make(ctx, l, r.Within.Sets, w, lists); err != nil {
			return nil, m, err
		}
	}
	found, err := x.Search(ctx, r, w, lists)
	if err == nil {
		found.Stats.Strategy |= ask.FilterLists
	}
	return found, m, err
}

// within returns what is kept of some sets of documents, or nil if they are asked for the first
// time, are too many, or would take too much memory.
func (l *Lists) within(sets []*docset.Set) *within {
	n, docs := 0, 0
	for i, s := range sets {
		from := l.parts[i].Index
		if s == nil || s.Len() != from.Docs() || from.HasImpacts() { // which have their own algorithm
			return nil
		}
		n, docs = n+s.Count(), docs+s.Len()
	}
	c := l.cache
	if n*leastShare > docs || n == 0 || bytesOf(sets) > c.room/largestShare {
		return nil
	}
	key := make([]byte, 0, 64)
	for _, s := range sets {
		key = binary.LittleEndian.AppendUint64(key, s.Version())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.entries[string(key)]
	if at == nil {
		c.add(&entry{key: string(key), bytes: entryBytes + len(key)})
		return nil
	}
	c.order.MoveToFront(at)
	e := at.Value.(*entry)
	if e.within == nil {
		e.within = &within{at: e, spent: l.credit, words: map[string]*word{}}
	}
	return e.within
}

// known returns the lists of the words of a request, and the excerpt if all are there. If they are
// not, and should not be made now, it returns nil.
func (f *within) known(w *eval.Words, sets []*docset.Set,
	lists []index.Term) (*eval.Excerpt, []index.Term) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missing, cost := false, time.Duration(0)
	for i := range w.Terms {
		t := &w.Terms[i]
		known := f.words[t.Text]
		if known == nil {
			known = &word{}
			f.words[t.Text] = known
			f.bytes += wordBytes + len(t.Text)
		}
		if known.used = true; !known.made {
			missing = true
			cost += postingTime * time.Duration(t.AllDF())
		}
		lists = append(lists, known.list)
	}
	if !missing {
		return f.x, lists
	}
	if f.x == nil {
		for _, s := range sets {
			cost += docTime * time.Duration(s.Count())
		}
	}
	if f.making || f.spent < cost {
		return nil, nil
	}
	f.making = true
	return nil, lists
}

// make makes the lists that are missing.
func (f *within) make(ctx context.Context, l *Lists, sets []*docset.Set, w *eval.Words,
	lists []index.Term) (x *eval.Excerpt, err error) {
	more, done, began := 0, false, time.Now()
	defer func() { // also after a fault in a mapped file
		f.mu.Lock()
		defer f.mu.Unlock()
		f.making = false
		f.spent -= time.Since(began)
		if done {
			f.x = x
			for i, t := range lists {
				if known := f.words[w.Terms[i].Text]; known != nil {
					known.list, known.made = t, true
				}
			}
			f.bytes += more
			f.limit(l.cache.room / 2)
		}
		l.cache.resize(f.at, entryBytes+len(f.at.key)+f.bytes)
	}()
	if x = f.x; x == nil { // only the one who makes lists sets it
		if x, err = eval.NewExcerpt(l.parts, sets); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		more += bytesOf(sets)
	}
	for i := range lists {
		if lists[i].Bytes() == 0 {
			if lists[i], err = x.List(ctx, w, i); err != nil {
				return nil, fmt.Errorf("search: word %q: %w", w.Terms[i].Text, err)
			}
			more += lists[i].Bytes()
		}
	}
	done = true
	return x, nil
}

// bytesOf returns the memory of an excerpt, without lists.
func bytesOf(sets []*docset.Set) int {
	n, docs := 0, 0
	for _, s := range sets {
		n, docs = n+s.Count(), docs+s.Len()
	}
	return index.ExcerptBytes(n, docs)
}

// limit drops lists until there is room: those that were not used since it was last called, or else
// all.
func (f *within) limit(most int) {
	for all := false; f.bytes > most && len(f.words) > 0; all = true {
		for text, known := range f.words {
			if all || !known.used {
				f.bytes -= wordBytes + len(text) + known.list.Bytes()
				delete(f.words, text)
			}
			known.used = false
		}
	}
}
