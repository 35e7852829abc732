package tree

import (
	"context"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
)

// Index is what trees are searched in: the segments of an index, which answer as one.
type Index struct {
	engines []*eval.Engine
	// search answers requests of plain words on all segments.
	search func(context.Context, *ask.Request) (*ask.Result, error)
}

// Of is an index of one segment.
func Of(e *eval.Engine) *Index { return &Index{[]*eval.Engine{e}, e.Search} }

// Over is an index of several segments.
func Over(s *eval.Segments) *Index { return &Index{s.Parts, s.Search} }

// plan is a query in all segments. Each has a tree of nodes of the same shape: words have the same
// place in all, and count by how often they occur in all of them.
type plan struct {
	ctx   context.Context
	ix    *Index
	parts []*exec
	roots []*node // of the parts; nil if the query says nothing

	task    task // what rank has to find
	counted bool // total is the number of all answers
	total   int64

	one struct { // room for those of one segment
		exec exec
		part [1]*exec
		root [1]*node
		live [1]*docset.Set
	}
}

// empty says that the query says nothing.
func (p *plan) empty() bool { return p.roots[0] == nil }

// docs is the number of documents of all segments.
func (p *plan) docs() int {
	last := p.parts[len(p.parts)-1]
	return int(last.base) + last.docs
}

// segment is that of a document.
func (p *plan) segment(doc uint32) int {
	i := len(p.parts) - 1
	for p.parts[i].base > doc {
		i--
	}
	return i
}

func prepare(ctx context.Context, ix *Index, r *ask.Request) (*plan, error) {
	return prepareTo(ctx, ix, r, nil)
}

// Patterns lists the patterns of a request with their words.
func Patterns(ctx context.Context, ix *Index, r *ask.Request) (found []ask.Pattern, err error) {
	_, err = prepareTo(ctx, ix, r, &found)
	return found, err
}

// prepareTo also lists patterns, if there is a list.
func prepareTo(ctx context.Context, ix *Index, r *ask.Request, found *[]ask.Pattern) (*plan, error) {
	p := &plan{ctx: ctx, ix: ix}
	p.parts, p.roots = p.one.part[:0], p.one.root[:0]
	base := uint32(0)
	for i, e := range ix.engines {
		x := &p.one.exec
		if i > 0 {
			x = new(exec)
		}
		*x = exec{ctx: ctx, e: e, base: base, src: e, docs: e.Index.Docs(), most: MaxExpansions,
			found: found}
		if r.Patterns != nil {
			x.patterns = *r.Patterns
		}
		base += uint32(x.docs)
		root, err := x.root(r)
		if err != nil {
			return nil, ask.Fault(err)
		}
		if root != nil {
			root.role = should
		}
		p.parts, p.roots = append(p.parts, x), append(p.roots, root)
	}
	if !p.empty() && len(p.parts) > 1 {
		if err := shareCounts(p.roots, p.parts[0].most); err != nil {
			return nil, ask.Fault(err)
		}
	}
	return p, nil
}

// live are the documents of each segment that may be answers.
func (p *plan) live(r *ask.Request) []*docset.Set {
	live := p.one.live[:0]
	for _, x := range p.parts {
		live = append(live, x.live(r))
	}
	return live
}

// Match finds all documents that a request matches, as sets of each segment.
func Match(ctx context.Context, ix *Index, r *ask.Request) ([]*docset.Set, error) {
	p, err := prepare(ctx, ix, r)
	if err != nil {
		return nil, err
	}
	sets := make([]*docset.Set, len(p.parts))
	for i, x := range p.parts {
		if p.empty() {
			sets[i] = docset.New(x.docs)
		} else if sets[i], err = x.match(p.roots[i], x.live(r)); err != nil {
			return nil, ask.Fault(err)
		}
	}
	return sets, nil
}

// scorers gives the words of all trees their scorers.
func (p *plan) scorers(m model.Model) error {
	for i, x := range p.parts {
		if err := x.scorers(p.roots[i], m); err != nil {
			return err
		}
	}
	return nil
}

// partsAt is part i of a node, as it is in each segment.
func partsAt(nodes []*node, i int) (list []*node) {
	for _, n := range nodes {
		list = append(list, n.parts[i])
	}
	return list
}

// shareCounts gives the words of a node, as it is in each segment, the counts of all segments. A
// pattern stands for the words that fit it in any of them.
func shareCounts(nodes []*node, most int) error {
	if nodes[0].pattern {
		if err := sharePattern(nodes, most); err != nil {
			return err
		}
	}
	for i := range nodes[0].terms {
		df, cf := uint64(0), uint64(0)
		for _, n := range nodes {
			df, cf = df+uint64(n.terms[i].Info.FullDF()), cf+n.terms[i].Info.CF
		}
		for _, n := range nodes {
			n.terms[i].DF, n.terms[i].CF = df, cf
		}
	}
	if nodes[0].pattern {
		whole := &nodes[0].whole
		for _, t := range nodes[0].terms {
			whole.DF, whole.CF = max(whole.DF, t.DF), whole.CF+t.CF
		}
		for _, n := range nodes[1:] {
			n.whole = *whole
		}
	}
	for i := range nodes[0].parts {
		if err := shareCounts(partsAt(nodes, i), most); err != nil {
			return err
		}
	}
	return nil
}

// sharePattern gives a pattern the same words in all segments, in byte order. In some a word may
// have no list.
func sharePattern(nodes []*node, most int) error {
	var texts []string
	for _, n := range nodes {
		for _, t := range n.terms {
			texts = append(texts, t.Text)
		}
	}
	slices.Sort(texts)
	if texts = slices.Compact(texts); len(texts) > most {
		return TooMany(nodes[0].whole.Text, most)
	}
	for _, n := range nodes {
		own := n.terms
		n.terms = make([]model.Term, len(texts))
		for i, text := range texts {
			n.terms[i] = model.Term{Text: text, Weight: n.whole.Weight}
			if len(own) > 0 && own[0].Text == text {
				n.terms[i], own = own[0], own[1:]
			}
		}
	}
	return nil
}

// TooMany refuses a pattern that stands for too many words.
func TooMany(pattern string, most int) error {
	return ask.Refuse("%s matches more than %d words of the index: make it longer", pattern, most)
}
