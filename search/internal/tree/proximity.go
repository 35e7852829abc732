package tree

import (
	"slices"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/query"
)

// proximity returns the node of the sequential dependence model: the words, each pair of adjacent
// words as a phrase, and each pair within a window. Each part has its weight, and all are optional.
func (x *exec) proximity(r *ask.Request) (*node, error) {
	p := r.Proximity.WithDefaults()
	switch {
	case r.Query != nil || len(r.Words) > 0:
		return nil, ask.Refuse("proximity needs plain words, which have an order")
	case r.Mode == ask.And:
		return nil, ask.Refuse("proximity needs mode or")
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	list, err := x.wordsOf(r.Text)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	n := &node{kind: boolean}
	add := func(part *node, err error) error {
		if err == nil {
			part.role = should
			n.add(part)
		}
		return err
	}
	for _, w := range list {
		if err := add(x.word(query.Term{Text: w}, w, p.Words)); err != nil {
			return nil, err
		}
	}
	list = x.needed(list)
	for i := range list[1:] {
		pair := list[i : i+2]
		var offsets []uint32
		if len(x.at) > 0 {
			offsets = []uint32{0, x.at[i+1] - x.at[i]}
		}
		if p.Ordered > 0 {
			q := query.Phrase{Text: pair[0] + " " + pair[1]}
			if err := add(x.phrase(q, pair, p.Ordered, matcher{places: true, offsets: offsets})); err != nil {
				return nil, err
			}
		}
		if p.Unordered > 0 {
			q := query.Near{Words: slices.Clone(pair), Within: p.Window - 1}
			m := matcher{slop: q.Within, near: true}
			if err := add(x.phrase(q, pair, p.Unordered, m)); err != nil {
				return nil, err
			}
		}
	}
	return n, nil
}
