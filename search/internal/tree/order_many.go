package tree

import (
	"cmp"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/search/internal/ask"
)

// orderings finds the first k matching documents in the order of several fields: by the first, then
// by the next one where documents are equal, and at last by document number.
type orderings struct {
	levels []*ordering
	k      int
	first  []placedBy // of the segments so far
	after  *ask.After // only documents after it; nil means all
}

// placedBy is a document with its sort keys, one for each field.
type placedBy struct {
	keys []levelKey
	doc  uint32
}

type levelKey struct {
	key     uint64 // as in placed
	word    string // as in placed
	missing bool
}

// add adds the matching documents of a segment, whose numbers follow those of the segments before.
func (o *orderings) add(s *steps, list []*columns.Column, answers *docset.Set, base uint32) error {
	for _, c := range list {
		if err := c.Verify(answers); err != nil {
			return err
		}
	}
	from, err := newEdges(o.after, o.levels, list)
	if err != nil {
		return err
	}
	// The first k, in order, and up to k that came later. When there are 2k, the last k are
	// dropped.
	var room []placedBy
	full := false // the first k of room are in order, and no other before the last of them was dropped
	keep := func() {
		slices.SortFunc(room, o.compareWithin)
		if len(room) >= o.k {
			room, full = room[:o.k], true
		}
	}
	var ords []uint32
	next := placedBy{keys: make([]levelKey, len(o.levels))}
	for doc := range answers.All() {
		if !s.step(1) {
			return s.err
		}
		next.doc = base + doc
		for i, l := range o.levels {
			key, ok := l.key(list[i], int(doc), &ords)
			next.keys[i] = levelKey{key: key, missing: !ok}
		}
		if from != nil && !from.precede(next.doc, next.keys...) {
			continue
		}
		if full && o.compareWithin(next, room[o.k-1]) >= 0 {
			continue
		}
		if len(room) < cap(room) && room[:len(room)+1][len(room)].keys != nil { // use what was dropped
			room = room[:len(room)+1]
			copy(room[len(room)-1].keys, next.keys)
			room[len(room)-1].doc = next.doc
		} else {
			room = append(room, placedBy{slices.Clone(next.keys), next.doc})
		}
		if len(room) >= 2*o.k {
			keep()
		}
	}
	keep()
	for i, l := range o.levels {
		if l.field.Type != fields.Keyword {
			continue
		}
		for _, p := range room {
			if p.keys[i].missing {
				continue
			}
			ord := p.keys[i].key
			if l.descending {
				ord = ^ord
			}
			var err error
			if p.keys[i].word, err = list[i].Value(int(ord)); err != nil {
				return err
			}
		}
	}
	o.first = append(o.first, room...)
	slices.SortFunc(o.first, o.compare)
	o.first = o.first[:min(o.k, len(o.first))]
	return nil
}

// compareWithin compares documents of a segment.
func (o *orderings) compareWithin(a, b placedBy) int {
	for i := range o.levels {
		x, y := &a.keys[i], &b.keys[i]
		if by := cmp.Or(missingLast(x, y), cmp.Compare(x.key, y.key)); by != 0 {
			return by
		}
	}
	return cmp.Compare(a.doc, b.doc)
}

// compare compares documents of any segments.
func (o *orderings) compare(a, b placedBy) int {
	for i, l := range o.levels {
		x, y := &a.keys[i], &b.keys[i]
		by := missingLast(x, y)
		switch {
		case by != 0 || x.missing:
		case l.field.Type != fields.Keyword:
			by = cmp.Compare(x.key, y.key)
		case l.descending:
			by = cmp.Compare(y.word, x.word)
		default:
			by = cmp.Compare(x.word, y.word)
		}
		if by != 0 {
			return by
		}
	}
	return cmp.Compare(a.doc, b.doc)
}

func missingLast(a, b *levelKey) int {
	switch {
	case a.missing == b.missing:
		return 0
	case a.missing:
		return 1
	}
	return -1
}

// hits returns the first k documents in order, with their keys.
func (o *orderings) hits() (list []uint32, keys []ask.SortKey) {
	for _, p := range o.first {
		all := make([]ask.SortKey, len(o.levels))
		for i, l := range o.levels {
			switch k := &p.keys[i]; {
			case k.missing:
				all[i].Missing = true
			case l.field.Type == fields.Keyword:
				all[i].Word = k.word
			default:
				all[i].Key = k.key
			}
		}
		all[0].Then = all[1:]
		list, keys = append(list, p.doc), append(keys, all[0])
	}
	return list, keys
}
