package tree

import (
	"fmt"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/filters"
	"github.com/collocate/collocate/search/query"
)

// asked are the filters of a request, whose documents the cache of the index may have. From its
// second use on, a filter is compiled to its set of documents.
type asked struct {
	cache    *filters.Cache
	segments int
	list     []*askedFilter
}

type askedFilter struct {
	key  string
	sets []*docset.Set // of each segment; nil if they are not wanted
	kept bool          // the cache has them
}

// find returns a filter of the request. All segments see the same one, since their trees must have
// the same shape: what another request does meanwhile is not seen.
func (a *asked) find(q query.Node) *askedFilter {
	key := fmt.Sprintf("%#v", q) // unlike String, it tells all trees apart
	if len(key) > filters.LongestKey {
		return nil
	}
	for _, f := range a.list {
		if f.key == key {
			return f
		}
	}
	f := &askedFilter{key: key}
	var again bool
	if f.sets, again = a.cache.Find(key); f.sets != nil {
		f.kept = true
	} else if again {
		f.sets = make([]*docset.Set, a.segments)
	}
	a.list = append(a.list, f)
	return f
}

// keep gives the cache what it does not have yet, once the request is known to be valid.
func (a *asked) keep() {
	for _, f := range a.list {
		if f.kept {
			continue
		}
		for _, s := range f.sets {
			if s == nil { // a part without words, or the same part in a field
				f.sets = nil
				break
			}
		}
		a.cache.Keep(f.key, f.sets)
	}
}

// filter compiles a filter: to its live documents if it was asked before.
func (x *exec) filter(q query.Node) (*node, error) {
	if x.asked == nil || x.src != x.e || x.col != nil {
		return x.compile(q, 1)
	}
	f, at := x.asked.find(q), x.e.Segment
	if f == nil || f.sets == nil {
		return x.compile(q, 1)
	}
	if f.sets[at] == nil {
		n, err := x.compile(q, 1)
		if n == nil || err != nil {
			return n, err
		}
		if f.sets[at], err = x.match(n, x.e.Live); err != nil {
			return nil, err
		}
	}
	return &node{kind: fixed, from: q, set: f.sets[at], live: true}, nil
}
