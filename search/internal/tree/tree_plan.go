package tree

import (
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/filters"
	"github.com/collocate/collocate/search/internal/model"
)

// strategy is a row of treePlan: a way to find the k best answers to a tree.
type strategy struct {
	name  ask.Strategy // for Stats; NoStrategy means that another package names its own
	why   string       // when it pays off, and what it saves
	worth func(p *plan) (bool, error)
	// after says that it can answer a request with After. The others would skip documents by what
	// the k best scores must be at least, and these have been returned before.
	after func(fielded bool) bool
	run   func(p *plan) (*ask.Result, error)
}

// treePlan lists the strategies for a tree. The first one that is worth it answers the query.
var treePlan = []strategy{
	{
		why: "if only words score, within documents that were asked for before: search the lists of " +
			"these documents alone, which package filters keeps",
		worth: (*plan).worthLists,
		run:   func(p *plan) (*ask.Result, error) { return p.task.found, nil },
	},
	{
		name: ask.TreeConjunction,
		why: "if a mandatory word is rare, or a phrase is mandatory: traverse the list of the rarest " +
			"word, and look its documents up in the other lists, a block at a time",
		worth: func(p *plan) (bool, error) { return p.led(p.task.r), nil },
		run: func(p *plan) (*ask.Result, error) {
			return p.rankLed(p.roots, p.task.live, p.task.k, p.task.r)
		},
	},
	{
		name: ask.TreeConjunction,
		why: "if all words are mandatory and filters leave few documents: the same, restricted to " +
			"these documents",
		worth: (*plan).worthLedWithin,
		run: func(p *plan) (*ask.Result, error) {
			return p.rankLed(p.mandatory(), p.task.within, p.task.k, p.task.r)
		},
	},
	{
		name: ask.TreeSparse,
		why: "if the words are optional and filters leave few documents: look these up in the lists, " +
			"which costs less than reading the lists",
		worth: (*plan).worthSparse,
		run: func(p *plan) (*ask.Result, error) {
			return p.rankEach(ask.TreeSparse, (*exec).rankSparse, p.task.within)
		},
	},
	{
		why:   "if only words score: package eval answers, within the documents that filters leave",
		worth: (*plan).onlyWords,
		after: func(fielded bool) bool { return fielded }, // package fielded does
		run: func(p *plan) (*ask.Result, error) {
			t := &p.task
			return p.rankWords(t.words, t.mode, t.within, t.limited, t.k, t.r)
		},
	},
	{
		why: "for BM25F, which scores words over all fields: use the tree as a filter, and let " +
			"package fielded score its words",
		worth: func(p *plan) (bool, error) { return model.IsFielded(p.task.r.Model), nil },
		after: func(bool) bool { return true },
		run: func(p *plan) (*ask.Result, error) {
			return p.rankFielded(p.task.live, p.task.k, p.task.r)
		},
	},
	{
		name: ask.TreeBeside,
		why: "for an OR of words and of weighted tokens in fields of their own: sum up the best of " +
			"each, until no other document can be among the best",
		worth: (*plan).worthBeside,
		run:   (*plan).rankBeside,
	},
	{
		name: ask.TreePhrase,
		why: "if only one phrase scores: skip blocks by the bound of its rarest word, and read " +
			"positions last",
		worth: func(p *plan) (bool, error) { _, _, ok := p.roots[0].onePhrase(); return ok, nil },
		run:   (*plan).rankPhrases,
	},
	{
		name:  ask.TreeLists,
		why:   "always possible: find the set of matching documents, then add up scores list by list",
		worth: func(*plan) (bool, error) { return true, nil },
		after: func(bool) bool { return true },
		run: func(p *plan) (*ask.Result, error) {
			return p.rankEach(ask.TreeLists, (*exec).rankLists, p.task.live)
		},
	},
}

// task is the input of the strategies besides the tree. Each slice of sets has one per segment; nil
// means all documents.
type task struct {
	r    *ask.Request
	k    int
	live []*docset.Set // documents that may match

	asked   bool // whether onlyWords has been computed
	only    bool // whether only words score; if so:
	words   []ask.Word
	mode    ask.Mode      // mode for the engines
	within  []*docset.Set // documents that filters and excluded parts leave
	limited bool          // whether within excludes any document
	left    int           // number of documents in within

	found  *ask.Result // by the lists within a filter; or else:
	missed filters.Missed
}

// rank finds the k best.
//
// Postcondition: the hits are in order, at most k, each once, and live.
func (p *plan) rank(live []*docset.Set, k int, r *ask.Request) (*ask.Result, error) {
	p.task = task{r: r, k: k, live: live}
	for i := range treePlan {
		s := &treePlan[i]
		if r.After != nil && (s.after == nil || !s.after(model.IsFielded(r.Model))) {
			continue
		}
		if ok, err := s.worth(p); err != nil {
			return nil, err
		} else if ok {
			found, err := s.run(p)
			p.task.missed.Done()
			if assert.On && err == nil && !p.allows(found.Hits, k, live) {
				assert.Fail("the hits of a tree are not a result, or not live")
			}
			return found, err
		}
	}
	panic("tree: no strategy of the plan is always possible")
}

// onlyWords reports whether only words score. If so, it finds the documents that satisfy the other
// parts of the query.
func (p *plan) onlyWords() (bool, error) {
	t := &p.task
	if t.asked {
		return t.only, nil
	}
	t.asked = true
	if t.words, t.mode, t.only = p.roots[0].onlyWords(p.parts[0].e); !t.only {
		return false, nil
	}
	t.within = make([]*docset.Set, len(t.live))
	for i, x := range p.parts {
		var err error
		if t.within[i], err = x.limit(p.roots[i], t.live[i], t.mode); err != nil {
			return false, err
		}
		if t.within[i] != nil {
			t.limited = true
			t.left += t.within[i].Count()
		} else {
			t.left += x.docs
		}
	}
	return true, nil
}

// worthLists reports whether the lists within the documents that filters leave have answered the
// query.
func (p *plan) worthLists() (bool, error) {
	only, err := p.onlyWords()
	t := &p.task
	if !only || !t.limited || err != nil {
		return false, err
	}
	sets := p.lastingSets()
	if sets == nil {
		return false, nil
	}
	r := wordsOnly(t.words, t.mode, t.k, t.r)
	r.Within = &ask.Within{Sets: sets}
	t.found, t.missed, err = p.ix.Lists.Search(p.ctx, &r)
	return t.found != nil, err
}

// lastingSets returns the documents that filters leave, if the same sets will be those of a later
// request: they come with the request, or are kept.
func (p *plan) lastingSets() []*docset.Set {
	t := &p.task
	if t.r.Within != nil && slices.Equal(t.within, t.live) {
		return t.r.Within.Sets
	}
	for i, root := range p.roots {
		if !slices.ContainsFunc(root.parts, func(n *node) bool { return n.live && n.set == t.within[i] }) {
			return nil
		}
	}
	return t.within
}

// worthLedWithin reports whether to search for mandatory words within few documents.
func (p *plan) worthLedWithin() (bool, error) {
	only, err := p.onlyWords()
	t := &p.task
	return only && t.mode == ask.And && t.limited && t.left < p.docs()/shortShare &&
		mayLead(t.r), err
}

// worthSparse reports whether to search for optional words within few documents.
func (p *plan) worthSparse() (bool, error) {
	only, err := p.onlyWords()
	t := &p.task
	return only && t.mode == ask.Or && t.limited && !model.IsFielded(t.r.Model) &&
		p.sparse(t.left), err
}
