package fielded

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/topk"
)

// query is a search among the documents [from, to) of a segment.
type query struct {
	ctx      context.Context
	s        *scoring
	segment  int
	base     uint32     // number of the segment's first document in the index
	floor    float32    // an initial threshold
	after    *ask.After // only documents after it; nil means all
	mode     ask.Mode
	from, to uint32
	sets     []*docset.Set
	lists    []*list // in query order
	heap     topk.Heap
	prune    bool
	margin   float64 // factor on bounds that exceeds any rounding error
	scores   []float32

	scored, entered, ticks int64
	visited                int64 // the last document that was scored, for an assertion; -1: none yet
}

// list is the postings of a word in all fields.
type list struct {
	w     *word
	parts []part
	doc   uint32  // the lowest current document of its parts
	best  float64 // bound on its score in any document
	// If known, bound is a bound on the score in the documents up to until.
	bound float64
	until uint32
	known bool
}

// part is the postings of a word in one field.
type part struct {
	c      *index.Cursor
	weight float32
	field  int
	block  int       // the block of the last bound
	ratios []float32 // bound on T/k in each block; negative: not computed
}

func (q *query) open(words []word) error {
	for i := range words {
		w := &words[i]
		l := &list{w: w}
		for f, t := range w.terms[q.segment] {
			if t.DF == 0 {
				continue
			}
			c := new(index.Cursor)
			if err := q.s.fields[q.segment][f].index.Open(t, c); err != nil {
				return err
			}
			p := part{c: c, weight: q.s.weight[f], field: f}
			p.ratios = make([]float32, c.Blocks())
			for b := range p.ratios {
				p.ratios[b] = -1
			}
			l.best += float64(q.ratio(&p, c.Bound))
			l.parts = append(l.parts, p)
		}
		if len(l.parts) > 0 {
			l.best = q.scoreOf(l, l.best)
		}
		l.seek(q.from)
		q.lists = append(q.lists, l)
	}
	q.margin = 1 + 1e-5 + 1e-6*float64(len(words))
	q.scores = make([]float32, len(words))
	return nil
}

// ratio returns a bound on T/k for the postings in one field that b covers.
func (q *query) ratio(p *part, b index.Bound) float32 {
	low := q.s.fields[q.segment][p.field].low
	best := 0.0
	for i := range index.BoundPairs {
		code, class := b.Pair(i)
		k := float64(q.s.length.A) + float64(q.s.length.B)*float64(p.weight)*float64(low[class])
		best = max(best, float64(p.weight)*float64(tfOfCode[code])/k)
	}
	if best > math.MaxFloat32 {
		return math.MaxFloat32 // k1 is 0: the score attains its maximum
	}
	return float32(best * (1 + 1e-6))
}

var tfOfCode = index.TFOfCode()

// scoreOf returns the score for a value of T/k.
func (q *query) scoreOf(l *list, ratio float64) float64 {
	return float64(l.w.term.Weight)*ratio/(1+ratio) + float64(l.w.term.Plus)
}

// boundAt returns a bound on the score in doc and the following documents up to l.until. It does
// not move cursors.
func (q *query) boundAt(l *list, doc uint32) float64 {
	if l.known && doc <= l.until {
		return l.bound
	}
	ratio, until := 0.0, uint32(index.End)
	for i := range l.parts {
		p := &l.parts[i]
		b := p.c.FindBlock(p.block, doc)
		if p.block = b; b == p.c.Blocks() {
			continue // the list ends before doc
		}
		if p.ratios[b] < 0 {
			p.ratios[b] = q.ratio(p, p.c.Bounds[b])
		}
		ratio += float64(p.ratios[b])
		until = min(until, p.c.Last[b])
	}
	l.bound, l.until, l.known = 0, until, true
	if ratio > 0 {
		l.bound = q.scoreOf(l, ratio)
	}
	return l.bound
}

// seek moves to the first document that is at least doc.
//
// Precondition: doc is not before the current document.
func (l *list) seek(doc uint32) uint32 {
	if assert.On && doc < l.doc {
		assert.Fail("a cursor would have to go back")
	}
	l.doc = index.End
	for i := range l.parts {
		l.doc = min(l.doc, l.parts[i].c.Seek(doc))
	}
	return l.doc
}

// score returns the word's score in the current document of the list.
func (q *query) score(l *list, length float32) float32 {
	tf := float32(0)
	for i := range l.parts {
		if p := &l.parts[i]; p.c.Doc() == l.doc {
			tf += float32(p.weight * float32(p.c.TF()))
		}
	}
	return q.s.score(&l.w.term, tf, length)
}

func (q *query) admits(doc uint32) bool {
	for _, s := range q.sets {
		if s != nil && !s.Has(doc) {
			return false
		}
	}
	return true
}

// threshold returns the score that a bound must exceed.
func (q *query) threshold() float64 {
	switch {
	case !q.prune:
		return -1
	case !q.heap.Full():
		return float64(q.floor)
	}
	return float64(max(q.floor, q.heap.Worst()))
}

func (q *query) run(prune bool) error {
	q.prune = prune
	var err error
	if q.mode == ask.And {
		err = q.all()
	} else {
		err = q.any()
	}
	for _, l := range q.lists {
		for i := range l.parts {
			if e := l.parts[i].c.Err(); e != nil && err == nil {
				err = e
			}
		}
	}
	return err
}

// tick checks the context every 1,024 calls.
func (q *query) tick() error {
	if q.ticks++; q.ticks&1023 == 0 {
		return q.ctx.Err()
	}
	return nil
}

// any finds documents with any of the words, as MaxScore does. The lists are ordered by increasing
// bound: a document that is only in lists before the first essential one cannot enter the result.
func (q *query) any() error {
	order := slices.Clone(q.lists)
	slices.SortStableFunc(order, func(a, b *list) int {
		switch {
		case a.best < b.best:
			return -1
		case a.best > b.best:
			return 1
		}
		return 0
	})
	below := make([]float64, len(order)+1) // sum of the bounds of the lists before each
	for i, l := range order {
		below[i+1] = below[i] + l.best
	}
	essential := 0
	for doc := q.from; ; doc++ {
		if err := q.tick(); err != nil {
			return err
		}
		limit := q.threshold()
		for essential < len(order) && below[essential+1]*q.margin <= limit {
			essential++
		}
		next := uint32(index.End)
		for _, l := range order[essential:] {
			if l.doc < doc {
				l.seek(doc)
			}
			next = min(next, l.doc)
		}
		if doc = next; doc >= q.to {
			return nil
		}
		if limit >= 0 {
			sum, until := 0.0, uint32(index.End-1)
			for _, l := range order {
				sum += q.boundAt(l, doc)
				until = min(until, l.until)
			}
			if sum*q.margin <= limit {
				doc = max(doc, until)
				continue
			}
		}
		if q.admits(doc) {
			q.visit(doc)
		}
	}
}

// visit scores a document.
//
// Precondition: documents are in [from, to), and rise. Postcondition: no score exceeds its bounds.
func (q *query) visit(doc uint32) {
	length := q.s.lengthOf(q.segment, doc)
	q.scored++
	sum := float32(0)
	for _, l := range q.lists {
		if l.doc < doc {
			l.seek(doc)
		}
		if l.doc == doc {
			sum += q.score(l, length)
		}
	}
	if assert.On {
		q.assertVisit(doc, sum)
	}
	if q.after != nil && !q.after.Precedes(q.base+doc, sum) {
		return
	}
	if q.heap.Add(doc, sum) {
		q.entered++
	}
}

// all finds documents with all words, led by the shortest list.
func (q *query) all() error {
	order := slices.Clone(q.lists)
	slices.SortStableFunc(order, func(a, b *list) int { return cmp.Compare(a.w.df, b.w.df) })
	for doc := q.from; ; doc++ {
		if err := q.tick(); err != nil {
			return err
		}
		met := false
		for !met {
			met = true
			for _, l := range order {
				if l.doc < doc {
					l.seek(doc)
				}
				if l.doc > doc {
					doc, met = l.doc, false
					break
				}
			}
			if doc >= q.to {
				return nil
			}
		}
		if limit := q.threshold(); limit >= 0 {
			sum, until := 0.0, uint32(index.End-1)
			for _, l := range order {
				sum += q.boundAt(l, doc)
				until = min(until, l.until)
			}
			if sum*q.margin <= limit {
				doc = max(doc, until)
				continue
			}
		}
		if q.admits(doc) {
			q.visit(doc)
		}
	}
}

// assertVisit checks the conditions of visit.
func (q *query) assertVisit(doc uint32, score float32) {
	most := 0.0
	for _, l := range q.lists {
		if l.doc == doc {
			most += min(l.best, q.boundAt(l, doc))
		}
	}
	switch {
	case doc < q.from || doc >= q.to || int64(doc) <= q.visited:
		assert.Fail("documents do not rise, or are not those to be searched")
	case float64(score) > most*q.margin:
		assert.Fail("a score exceeds its bounds")
	}
	q.visited = int64(doc)
}

// cover reports whether the ranges of queries follow each other, from the first document to the
// last.
func cover(queries []*query, docs uint32) bool {
	end := uint32(0)
	for _, q := range queries {
		if q.from != end {
			return false
		}
		end = q.to
	}
	return end == docs
}
