package tree

import (
	"context"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/filters"
	"github.com/collocate/collocate/search/internal/model"
)

// Index is the segments of an index, which trees search as one.
type Index struct {
	engines []*eval.Engine
	// search answers requests of plain words on all segments.
	search func(context.Context, *ask.Request) (*ask.Result, error)
	kept   *filters.Cache
	// Lists answers requests for words within documents that were asked for before.
	Lists *filters.Lists
}

// Of returns an index of one segment.
func Of(e *eval.Engine) *Index { return indexOf([]*eval.Engine{e}, e.Search, e.LookUpWords) }

// Over returns an index of several segments.
func Over(s *eval.Segments) *Index { return indexOf(s.Parts, s.Search, s.LookUpWords) }

func indexOf(engines []*eval.Engine,
	search func(context.Context, *ask.Request) (*ask.Result, error),
	lookUp func(*eval.Words, *ask.Request) error) *Index {
	docs := 0
	for _, e := range engines {
		docs += e.Index.Docs()
	}
	kept := filters.New(docs)
	return &Index{engines, search, kept, filters.NewLists(kept, engines, lookUp)}
}

// plan is a query on all segments. The trees of all segments have the same shape: a word has the
// same position in each and the counts of all segments.
type plan struct {
	ctx   context.Context
	ix    *Index
	parts []*exec
	roots []*node // of the parts; nil if the query is empty

	task    task // the input of rank
	counted bool // total is the number of all answers
	total   int64

	one struct { // storage for a single segment
		exec exec
		part [1]*exec
		root [1]*node
		live [1]*docset.Set

		asked asked
		words [4]string   // for wordsOf
		lists [4]wordList // for stats
	}
}

// empty reports whether the query has no words or other parts.
func (p *plan) empty() bool { return p.roots[0] == nil }

// docs returns the number of documents in all segments.
func (p *plan) docs() int {
	last := p.parts[len(p.parts)-1]
	return int(last.base) + last.docs
}

// segment returns the segment of a document.
func (p *plan) segment(doc uint32) int {
	i := len(p.parts) - 1
	for p.parts[i].base > doc {
		i--
	}
	return i
}

func prepare(ctx context.Context, ix *Index, r *ask.Request) (*plan, error) {
	return prepareTo(ctx, ix, r, nil, false)
}

// prepareKept is prepare for callers that do not look into filters: their documents may be kept
// from an earlier request.
func prepareKept(ctx context.Context, ix *Index, r *ask.Request) (*plan, error) {
	if ix.kept == nil || r.Patterns != nil { // what a pattern matches depends on these
		return prepare(ctx, ix, r)
	}
	p, err := prepareTo(ctx, ix, r, nil, true)
	if err == nil {
		p.one.asked.keep()
	}
	return p, err
}

// Patterns lists the patterns of a request with their words.
func Patterns(ctx context.Context, ix *Index, r *ask.Request) (found []ask.Pattern, err error) {
	_, err = prepareTo(ctx, ix, r, &found, false)
	return found, err
}

// prepareTo also collects patterns, if found is not nil, and filters, if they may be kept.
func prepareTo(ctx context.Context, ix *Index, r *ask.Request, found *[]ask.Pattern,
	keep bool) (*plan, error) {
	if err := ask.CheckChoices(r); err != nil {
		return nil, ask.Fault(err)
	}
	p := &plan{ctx: ctx, ix: ix}
	p.parts, p.roots = p.one.part[:0], p.one.root[:0]
	var a *asked
	if keep {
		a = &p.one.asked
		a.cache, a.segments = ix.kept, len(ix.engines)
	}
	base := uint32(0)
	for i, e := range ix.engines {
		x, list := &p.one.exec, p.one.words[:0]
		if i > 0 {
			x, list = new(exec), nil
		}
		*x = exec{ctx: ctx, e: e, base: base, src: e, docs: e.Index.Docs(), most: MaxExpansions,
			list: list, found: found, asked: a}
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

// live returns the documents of each segment that may match.
func (p *plan) live(r *ask.Request) []*docset.Set {
	live := p.one.live[:0]
	for _, x := range p.parts {
		live = append(live, x.live(r))
	}
	return live
}

// Match finds all documents that a request matches, as one set per segment.
func Match(ctx context.Context, ix *Index, r *ask.Request) ([]*docset.Set, error) {
	return match(ctx, ix, r, (*exec).match)
}

// Admitted is Match for a request that is only a filter. The sets must not be changed: they may be
// kept for other requests.
func Admitted(ctx context.Context, ix *Index, r *ask.Request) ([]*docset.Set, error) {
	return match(ctx, ix, r, func(x *exec, root *node, live *docset.Set) (*docset.Set, error) {
		return x.limitBy(root.parts, live)
	})
}

func match(ctx context.Context, ix *Index, r *ask.Request,
	of func(*exec, *node, *docset.Set) (*docset.Set, error)) ([]*docset.Set, error) {
	p, err := prepareKept(ctx, ix, r)
	if err != nil {
		return nil, err
	}
	sets := make([]*docset.Set, len(p.parts))
	for i, x := range p.parts {
		if p.empty() {
			sets[i] = docset.New(x.docs)
		} else if sets[i], err = of(x, p.roots[i], x.live(r)); err != nil {
			return nil, ask.Fault(err)
		}
	}
	return sets, nil
}

// scorers sets the scorers of the words in all trees.
func (p *plan) scorers(m model.Model) error {
	for i, x := range p.parts {
		if err := x.scorers(p.roots[i], m); err != nil {
			return err
		}
	}
	return nil
}

// partsAt returns part i of a node, in each segment.
func partsAt(nodes []*node, i int) (list []*node) {
	for _, n := range nodes {
		list = append(list, n.parts[i])
	}
	return list
}

// shareCounts sets the counts of a node's words, in each segment, to the sums over all segments. A
// pattern expands to the words that match it in any segment.
//
// Precondition: the trees of all segments have the same shape and words, but for those of patterns.
func shareCounts(nodes []*node, most int) error {
	if assert.On && !alike(nodes) {
		assert.Fail("the trees of segments differ")
	}
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

// sharePattern gives a pattern the same words in all segments, in byte order. A segment may have no
// list for some of them.
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

// TooMany returns the error for a pattern that expands to too many words.
func TooMany(pattern string, most int) error {
	return ask.Refuse("%s matches more than %d words of the index: make it longer", pattern, most)
}
