package tree

import (
	"cmp"
	"math"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/search/internal/ask"
)

// ordering finds the first k matching documents in the order of a field.
type ordering struct {
	field      *fields.Field
	descending bool
	k          int
	first      []placed   // of the segments so far
	missing    []uint32   // matching documents without a value, the first k
	after      *ask.After // only documents after it; nil means all
}

// placed is a document with its sort key.
type placed struct {
	key  uint64 // smaller keys come first; for keywords, comparable within a segment only
	word string // for keywords
	doc  uint32
}

// add adds the matching documents of a segment, whose numbers follow those of the segments before.
func (o *ordering) add(s *steps, c *columns.Column, answers *docset.Set, base uint32) error {
	if err := c.Verify(answers); err != nil {
		return err
	}
	from, err := newEdges(o.after, []*ordering{o}, []*columns.Column{c})
	if err != nil {
		return err
	}
	// A max-heap of the first k. Documents come in increasing order, so an equal key never enters.
	var heap []placed
	var ords []uint32
	for doc := range answers.All() {
		if !s.step(1) {
			return s.err
		}
		key, ok := o.key(c, int(doc), &ords)
		switch {
		case from != nil && !from.precede(base+doc, levelKey{key: key, missing: !ok}):
		case !ok:
			if len(o.missing) < o.k {
				o.missing = append(o.missing, base+doc)
			}
		case len(heap) < o.k:
			heap = append(heap, placed{key: key, doc: base + doc})
			up(heap)
		case key < heap[0].key:
			heap[0] = placed{key: key, doc: base + doc}
			down(heap)
		}
	}
	if o.field.Type == fields.Keyword {
		for i := range heap {
			ord := heap[i].key
			if o.descending {
				ord = ^ord
			}
			var err error
			if heap[i].word, err = c.Value(int(ord)); err != nil {
				return err
			}
		}
	}
	o.first = append(o.first, heap...)
	slices.SortFunc(o.first, o.compare)
	o.first = o.first[:min(o.k, len(o.first))]
	return nil
}

// key returns the sort key of a document within its segment.
func (o *ordering) key(c *columns.Column, doc int, ords *[]uint32) (key uint64, ok bool) {
	switch o.field.Type {
	case fields.Keyword:
		if *ords = c.Ords(doc, (*ords)[:0]); len(*ords) == 0 {
			return 0, false
		}
		if key = uint64((*ords)[0]); o.descending {
			key = uint64((*ords)[len(*ords)-1])
		}
	case fields.Date:
		v, has := c.Date(doc)
		if !has {
			return 0, false
		}
		key = uint64(v) ^ 1<<63
	default:
		v, has := c.Number(doc)
		if !has {
			return 0, false
		}
		key = math.Float64bits(v + 0) // -0 becomes 0
		if key>>63 != 0 {
			key = ^key
		} else {
			key |= 1 << 63
		}
	}
	if o.descending {
		key = ^key
	}
	return key, true
}

func (o *ordering) compare(a, b placed) int {
	by := cmp.Compare(a.key, b.key)
	if o.field.Type == fields.Keyword {
		if by = cmp.Compare(a.word, b.word); o.descending {
			by = -by
		}
	}
	return cmp.Or(by, cmp.Compare(a.doc, b.doc))
}

// hits returns the first k documents in order, with their keys.
func (o *ordering) hits() (list []uint32, keys []ask.SortKey) {
	n := min(o.k, len(o.first)+len(o.missing))
	list, keys = make([]uint32, 0, n), make([]ask.SortKey, 0, n)
	for _, p := range o.first {
		key := ask.SortKey{Key: p.key}
		if o.field.Type == fields.Keyword {
			key = ask.SortKey{Word: p.word}
		}
		list, keys = append(list, p.doc), append(keys, key)
	}
	slices.Sort(o.missing)
	for _, doc := range o.missing[:n-len(list)] {
		list, keys = append(list, doc), append(keys, ask.SortKey{Missing: true})
	}
	return list, keys
}

// edges are the sort keys of a hit as they compare with those of a segment's documents.
type edges struct {
	levels []*ordering
	keys   []levelKey
	exact  []bool // of a keyword: the segment has it; otherwise its key is the next larger one's
	doc    int64
}

// newEdges returns nil if there is no hit to begin after.
func newEdges(after *ask.After, levels []*ordering, list []*columns.Column) (*edges, error) {
	if after == nil {
		return nil, nil
	}
	e := &edges{levels: levels, doc: after.Doc}
	for i, l := range levels {
		k := after.Key
		if i > 0 {
			k = after.Key.Then[i-1]
		}
		at, exact := levelKey{key: k.Key, missing: k.Missing}, true
		if l.field.Type == fields.Keyword && !k.Missing {
			ord, found, err := list[i].Find(k.Word)
			if err != nil {
				return nil, err
			}
			if at.key, exact = uint64(ord), found; l.descending {
				at.key = ^at.key
			}
		}
		e.keys, e.exact = append(e.keys, at), append(e.exact, exact)
	}
	return e, nil
}

// precede reports whether a document with these sort keys comes after the hit.
func (e *edges) precede(doc uint32, keys ...levelKey) bool {
	for i := range keys {
		by := missingLast(&keys[i], &e.keys[i])
		if by == 0 && !keys[i].missing {
			if by = cmp.Compare(keys[i].key, e.keys[i].key); by == 0 && !e.exact[i] {
				if by = 1; e.levels[i].descending {
					by = -1
				}
			}
		}
		if by != 0 {
			return by > 0
		}
	}
	return int64(doc) > e.doc
}

// later reports whether a comes after b within a segment.
func later(a, b placed) bool { return a.key > b.key || a.key == b.key && a.doc > b.doc }

// up restores the heap after its last entry was added.
func up(h []placed) {
	for i := len(h) - 1; i > 0; {
		above := (i - 1) / 2
		if !later(h[i], h[above]) {
			return
		}
		h[i], h[above] = h[above], h[i]
		i = above
	}
}

// down restores the heap after its root was replaced.
func down(h []placed) {
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < len(h) && later(h[child+1], h[child]) {
			child++
		}
		if child >= len(h) || !later(h[child], h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
