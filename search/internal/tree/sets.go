package tree

import (
	"cmp"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
)

// match finds the documents that a node matches, restricted to within if it is not nil. The caller
// may modify the result.
func (x *exec) match(n *node, within *docset.Set) (*docset.Set, error) {
	switch n.kind {
	case fixed:
		s := n.set.Clone()
		if within != nil {
			s.And(within)
		}
		return s, nil
	case boolean:
		return x.matchParts(n, within)
	}
	s := docset.New(x.docs)
	return s, x.matchLeaf(n, within, s)
}

// matchLeaf adds the documents of words or a phrase to a set.
func (x *exec) matchLeaf(n *node, within, to *docset.Set) error {
	if n.kind == phrase {
		return x.eachPhrase(n, within, func(doc, _ uint32) { to.Add(doc) })
	}
	for i := range n.terms {
		if n.terms[i].Info.DF == 0 {
			continue
		}
		if err := x.addList(n.src.Index, n.terms[i].Info, within, to); err != nil {
			return err
		}
	}
	return nil
}

// addList adds the documents of a list to a set.
func (x *exec) addList(r *index.Reader, t index.Term, within, to *docset.Set) error {
	var c index.Cursor
	if err := r.OpenDocs(t, &c); err != nil {
		return err
	}
	few := within != nil && within.Count() < int(t.DF)
	if few && within.Count() < x.docs/shortShare {
		return x.eachIn(&c, within, func() {}, func(_ int, doc uint32) { to.Add(doc) })
	}
	for b := range c.Blocks() {
		if err := x.tick(); err != nil {
			return err
		}
		if words, base := c.Words(b); words != nil {
			to.AddBits(base, words, within)
		} else if within == nil {
			to.AddAll(c.Load(b))
		} else {
			to.AddAllIn(c.Load(b), within)
		}
	}
	return c.Err()
}

// matchParts is match for a node with parts.
func (x *exec) matchParts(n *node, within *docset.Set) (*docset.Set, error) {
	var wanted []*node
	has := [4]bool{}
	for _, p := range n.parts {
		has[p.role] = true
		if p.role == must || p.role == filter {
			wanted = append(wanted, p)
		}
	}
	s := within
	if list, ok := onlyRare(wanted, x.docs); ok {
		docs, err := x.together(list, s)
		if err != nil {
			return nil, err
		}
		s = docset.New(x.docs)
		s.AddAll(docs)
	} else if len(wanted) > 0 {
		// Cheap and rare parts come first, and restrict the others.
		slices.SortStableFunc(wanted, func(a, b *node) int { return cmp.Compare(x.cost(a), x.cost(b)) })
		for _, p := range wanted {
			found, err := x.match(p, s)
			if err != nil {
				return nil, err
			}
			if s = found; s.Count() == 0 {
				return s, nil
			}
		}
	}
	switch {
	case has[should] && !has[must]:
		var err error
		if s, err = x.matchAny(n, s); err != nil {
			return nil, err
		}
	case len(wanted) > 0:
	case s == nil:
		s = docset.Full(x.docs)
	default:
		s = s.Clone()
	}
	for _, p := range n.parts {
		if p.role == not {
			found, err := x.match(p, s)
			if err != nil {
				return nil, err
			}
			s.AndNot(found)
		}
	}
	return s, nil
}

// matchAny finds the documents that match any of the optional parts.
func (x *exec) matchAny(n *node, within *docset.Set) (*docset.Set, error) {
	s := docset.New(x.docs)
	for _, p := range n.parts {
		if p.role != should {
			continue
		}
		if p.kind == words || p.kind == phrase {
			if err := x.matchLeaf(p, within, s); err != nil {
				return nil, err
			}
			continue
		}
		found, err := x.match(p, within)
		if err != nil {
			return nil, err
		}
		s.Or(found)
	}
	return s, nil
}

// cost estimates the work to find the documents of a node.
func (x *exec) cost(n *node) int {
	sum, least := 0, x.docs
	for i := range n.terms {
		sum += int(n.terms[i].Info.DF)
		least = min(least, int(n.terms[i].Info.DF))
	}
	switch n.kind {
	case fixed:
		return 0
	case phrase:
		return x.docs + 10*least
	case boolean:
		for _, p := range n.parts {
			sum += x.cost(p)
		}
	}
	return sum
}
