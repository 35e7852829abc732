package tree

import (
	"cmp"
	"math"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// An OR of words of the text and of weighted tokens of other fields has lists in several indexes,
// each of which has an engine that finds its own best documents fast. With the best of each, as in
// Fagin's threshold algorithm, any other document has at most the sum of the last scores. If the k
// best sums exceed that, they are the answer; else more of the best are taken.

// source is an index with words of such a query.
type source struct {
	field string // of weighted tokens; "" means the text
	words []ask.Word
	scale float64 // factor of the weights, which are whole without it if those of the query were
}

// beside returns the indexes that a query has words in, if it is an OR of words of the text and of
// weighted tokens.
func (p *plan) beside() (all []source, ok bool) {
	x, tokens := p.parts[0], false
	var add func(n *node, top bool) bool
	add = func(n *node, top bool) bool {
		if n.kind == boolean {
			for _, part := range n.parts {
				if !part.scores() && top {
					continue
				}
				if part.role != should || !add(part, false) {
					return false
				}
			}
			return true
		}
		if !n.plainWord() || n.src != x.e && !n.src.OfTokens() {
			return false
		}
		name, scale := "", 1.0
		if n.src != x.e {
			name, scale, tokens = x.e.FieldName(n.src), n.scale, true
		}
		at := slices.IndexFunc(all, func(s source) bool { return s.field == name && s.scale == scale })
		if at < 0 {
			at, all = len(all), append(all, source{field: name, scale: scale})
		}
		s, w := &all[at], wordOf(n)
		if whole := math.Round(w.Weight / scale); math.Abs(w.Weight-whole*scale) <= 1e-12*w.Weight {
			w.Weight = whole
		} else {
			w.Weight /= scale
		}
		if at := slices.IndexFunc(s.words, func(v ask.Word) bool { return v.Text == w.Text }); at >= 0 {
			s.words[at].Weight += w.Weight
		} else {
			s.words = append(s.words, w)
		}
		return true
	}
	ok = add(p.roots[0], true) && tokens
	return all, ok
}

// worthBeside reports whether the best documents of each index may suffice.
func (p *plan) worthBeside() (bool, error) {
	if model.IsFielded(p.task.r.Model) {
		return false, nil
	}
	all, ok := p.beside()
	return ok && (alone(all) || p.firstDepth() <= p.mostDepth()), nil
}

// firstDepth and mostDepth are how many of the best of each index are taken first, and at most.
func (p *plan) firstDepth() int { return max(besideFirst, besideEach*p.task.k) }
func (p *plan) mostDepth() int  { return min(ask.MaxK, p.docs()/besideShare) }

// alone reports whether the engine of one index has the scores.
func alone(all []source) bool { return len(all) == 1 && all[0].scale == 1 }

// rankBeside finds the k best by the best of each index.
func (p *plan) rankBeside() (*ask.Result, error) {
	if err := p.scorers(p.task.r.Model); err != nil {
		return nil, err
	}
	within, limited := make([]*docset.Set, len(p.parts)), false
	for i, x := range p.parts {
		var err error
		if within[i], err = x.limit(p.roots[i], p.task.live[i], ask.Or); err != nil {
			return nil, err
		}
		limited = limited || within[i] != nil
	}
	all, _ := p.beside()
	stats := p.stats(ask.TreeBeside)
	if alone(all) {
		hits, _, _, err := p.bestIn(&all[0], p.task.k, within, limited)
		slices.SortFunc(hits, func(a, b ask.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
		})
		return &ask.Result{Hits: hits[:min(p.task.k, len(hits))], Stats: stats}, err
	}
	for depth := p.firstDepth(); depth <= p.mostDepth(); depth *= besideMore {
		h := newRanking(min(p.task.k, p.docs()), p.scoringTerms())
		done, err := p.bestOf(all, depth, within, limited, h)
		if err != nil {
			return nil, err
		}
		if found := h.result(stats); done {
			return found, nil
		}
	}
	return p.rankEach(ask.TreeLists, (*exec).rankLists, p.task.live)
}

// candidate is one of the best documents of an index.
type candidate struct {
	doc   uint32
	sum   float64 // of the scores in the indexes that have it among their best
	lacks float64 // bound on those in the others
}

// bestOf offers the candidates among the depth best of each index. It reports whether no other
// document can be among the answers.
func (p *plan) bestOf(all []source, depth int, within []*docset.Set, limited bool, h *ranking) (bool, error) {
	var found []candidate
	rest := 0.0   // bound on the score of a document that is in none of the lists
	whole := true // they have all documents with any of the words
	for i := range all {
		s := &all[i]
		hits, last, cut, err := p.bestIn(s, depth, within, limited)
		if err != nil {
			return false, err
		}
		for _, hit := range hits {
			found = append(found, candidate{hit.Doc, float64(hit.Score) * s.scale, -last * s.scale})
		}
		rest += last * s.scale
		whole = whole && !cut
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Compare(a.doc, b.doc) })
	n := 0
	for _, c := range found {
		if n > 0 && found[n-1].doc == c.doc {
			found[n-1].sum += c.sum
			found[n-1].lacks += c.lacks
			continue
		}
		found[n] = c
		found[n].lacks += rest
		n++
	}
	found = found[:n]
	// The k best sums so far are lower bounds of k scores.
	margin := 1 - 2*h.margin - 1e-6
	if k := p.task.k; n > k {
		sums := make([]float64, n)
		for i, c := range found {
			sums[i] = c.sum
		}
		slices.Sort(sums)
		least := sums[n-k] * margin
		found = slices.DeleteFunc(found, func(c candidate) bool { return c.sum+c.lacks < least })
	}
	if err := p.offer(found, h); err != nil {
		return false, err
	}
	return whole || h.heap.Full() && float64(h.heap.Worst())*margin > rest, nil
}

// bestIn returns the depth best documents of an index and, if there may be others, a bound on their
// scores, all without the factor of the source.
func (p *plan) bestIn(s *source, depth int, within []*docset.Set, limited bool) (
	hits []ask.Hit, last float64, cut bool, err error) {
	r := wordsOnly(s.words, ask.Or, depth, p.task.r)
	r.AtLeast, r.Algorithm = 0, ask.Auto
	if s.field == "" {
		if limited {
			r.Within = &ask.Within{Sets: within}
		}
		found, err := p.ix.search(p.ctx, &r)
		if err != nil {
			return nil, 0, false, err
		}
		if hits = found.Hits; len(hits) == depth {
			last, cut = float64(hits[depth-1].Score), true
		}
		return hits, last, cut, nil
	}
	for i, x := range p.parts {
		e, err := x.e.Field(s.field)
		if err != nil {
			return nil, 0, false, err
		}
		if r.Within = nil; within[i] != nil {
			r.Within = &ask.Within{Sets: []*docset.Set{within[i]}}
		}
		found, err := e.Search(p.ctx, &r)
		if err != nil {
			return nil, 0, false, err
		}
		if len(found.Hits) == depth {
			last, cut = max(last, float64(found.Hits[depth-1].Score)), true
		}
		for _, hit := range found.Hits {
			hits = append(hits, ask.Hit{Doc: x.base + hit.Doc, Score: hit.Score})
		}
	}
	return hits, last, cut, nil
}

// offer scores candidates, in increasing order, as rankLists does: word by word in float32.
func (p *plan) offer(found []candidate, h *ranking) error {
	scores := map[uint32]float32{}
	for i, x := range p.parts {
		set := docset.New(x.docs)
		for _, c := range found {
			if c.doc >= x.base && int(c.doc-x.base) < x.docs {
				set.Add(c.doc - x.base)
			}
		}
		clear(scores)
		var err error
		p.roots[i].each(func(n *node) {
			if err == nil && len(n.scorers) > 0 {
				s, lengths := n.scorers[0], n.src.Collection.Lengths
				err = x.eachPosting(n, set, func(doc, tf uint32) { scores[doc] += s.Score(tf, lengths[doc]) })
			}
		})
		if err != nil {
			return err
		}
		for doc := range set.All() {
			h.push(x.base+doc, scores[doc])
		}
	}
	return nil
}
