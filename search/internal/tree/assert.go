package tree

import (
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/topk"
)

// Conditions of several lines that assertions check; only tests evaluate them.

// allows reports whether hits can be the k best of live documents, one set per segment.
func (p *plan) allows(hits []ask.Hit, k int, live []*docset.Set) bool {
	for _, h := range hits {
		if int(h.Doc) >= p.docs() {
			return false
		}
		at := p.segment(h.Doc)
		if live[at] != nil && !live[at].Has(h.Doc-p.parts[at].base) {
			return false
		}
	}
	return topk.Ordered(hits, k)
}

// alike reports whether nodes have the same kind, number of parts and, unless they are patterns,
// the same words.
func alike(nodes []*node) bool {
	first := nodes[0]
	for _, n := range nodes[1:] {
		if n.kind != first.kind || n.role != first.role || n.pattern != first.pattern ||
			len(n.parts) != len(first.parts) || !n.pattern && len(n.terms) != len(first.terms) {
			return false
		}
		for i := range first.terms {
			if !n.pattern && n.terms[i].Text != first.terms[i].Text {
				return false
			}
		}
	}
	return true
}

// rising reports whether the remaining candidates are in increasing order.
func (c *candidates) rising() bool {
	for i := 1; i < len(c.left); i++ {
		if c.left[i] <= c.left[i-1] {
			return false
		}
	}
	return len(c.left) == 0 || int(c.left[len(c.left)-1]) < len(c.docs)
}

// zero reports whether all scores are 0.
func zero(scores []float32) bool {
	for _, s := range scores {
		if s != 0 {
			return false
		}
	}
	return true
}
