package tree

import (
	"cmp"
	"context"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
)

// Count returns the number of documents that a request matches.
func Count(ctx context.Context, ix *Index, r *ask.Request) (int64, error) {
	p, err := prepareKept(ctx, ix, r)
	if err != nil || p.empty() {
		return 0, err
	}
	n, err := p.count(p.live(r))
	if err != nil {
		return 0, ask.Fault(err)
	}
	return n, nil
}

// count returns the number of matching documents in all segments.
func (p *plan) count(live []*docset.Set) (n int64, err error) {
	for i, x := range p.parts {
		c, err := x.count(p.roots[i], live[i])
		if err != nil {
			return 0, err
		}
		n += c
	}
	return n, nil
}

// count returns the number of documents of a segment that a node matches.
func (x *exec) count(root *node, live *docset.Set) (int64, error) {
	root = root.deciding()
	if live == nil && root.plainWord() {
		return int64(root.terms[0].Info.DF), nil
	}
	if root.kind == phrase {
		n := int64(0)
		err := x.eachPhrase(root, live, func(uint32, uint32) { n++ })
		return n, err
	}
	if least, _ := root.rarest(); least >= 0 && (least < x.docs/shortShare || root.hasPhrase()) {
		return x.countLed(root, live)
	}
	s, err := x.match(root, live)
	if err != nil {
		return 0, err
	}
	return int64(s.Count()), nil
}

// deciding returns a node that matches the same documents without the optional parts, which do not
// affect matching where there are mandatory ones.
func (n *node) deciding() *node {
	has := func(r role) bool {
		return slices.ContainsFunc(n.parts, func(p *node) bool { return p.role == r })
	}
	if n.kind != boolean || !has(must) || len(n.parts) > 1 && !has(should) {
		return n
	}
	parts := slices.DeleteFunc(slices.Clone(n.parts), func(p *node) bool { return p.role == should })
	if len(parts) == 1 {
		return parts[0]
	}
	return &node{kind: boolean, from: n.from, parts: parts}
}

// onlyRare returns the parts, the rarest first, if they are several plain words and the rarest is
// in so few documents that a list of them is smaller than a bit set. It sorts the parts.
func onlyRare(parts []*node, docs int) ([]*node, bool) {
	if len(parts) < 2 || slices.ContainsFunc(parts, func(p *node) bool { return !p.plainWord() }) {
		return nil, false
	}
	slices.SortStableFunc(parts, func(a, b *node) int {
		return cmp.Compare(a.terms[0].Info.DF, b.terms[0].Info.DF)
	})
	return parts, int(parts[0].terms[0].Info.DF) < docs/shortShare
}

// together finds the documents that contain all of some words, given the rarest first, restricted
// to within if it is not nil.
func (x *exec) together(list []*node, within *docset.Set) ([]uint32, error) {
	var docs []uint32
	var c index.Cursor
	for i, n := range list {
		if n.terms[0].Info.DF == 0 {
			return nil, nil
		}
		if err := n.src.Index.OpenDocs(n.terms[0].Info, &c); err != nil {
			return nil, err
		}
		if i > 0 {
			docs = keepListed(docs, &c)
		} else {
			docs = make([]uint32, 0, n.terms[0].Info.DF)
			for b := range c.Blocks() {
				docs = append(docs, c.Load(b)...)
			}
			if within != nil {
				docs = slices.DeleteFunc(docs, func(doc uint32) bool { return !within.Has(doc) })
			}
		}
		if err := cmp.Or(c.Err(), x.ctx.Err()); err != nil || len(docs) == 0 {
			return nil, err
		}
	}
	return docs, nil
}

// keepListed keeps the documents that a list contains; docs is in increasing order.
func keepListed(docs []uint32, c *index.Cursor) []uint32 {
	kept, b := docs[:0], 0
	for i := 0; i < len(docs); {
		if b = c.FindBlock(b, docs[i]); b >= c.Blocks() {
			break
		}
		last := c.Last[b]
		if words, base := c.Words(b); words != nil {
			for ; i < len(docs) && docs[i] <= last; i++ {
				if doc := docs[i]; doc >= base && words[(doc-base)>>3]>>(doc&7)&1 != 0 {
					kept = append(kept, doc)
				}
			}
			continue
		}
		list := c.Load(b)
		if list == nil { // damaged: the cursor has the error
			break
		}
		for ; i < len(docs) && docs[i] <= last; i++ {
			if c.Seek(docs[i]) == docs[i] {
				kept = append(kept, docs[i])
			}
		}
	}
	return kept
}
