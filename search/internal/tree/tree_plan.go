package tree

import (
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// strategy is a row of treePlan: a way to find the k best answers to a tree.
type strategy struct {
	name  ask.Strategy // for Stats; NoStrategy: package eval names its own
	why   string       // when it pays off, and what it saves
	worth func(p *plan) (bool, error)
	run   func(p *plan) (*ask.Result, error)
}

// treePlan lists the strategies for a tree. The first one that is worth it answers the query.
var treePlan = []strategy{
	{
		name: ask.TreeConjunction,
		why: "an obligatory word is rare, or a phrase is obligatory: the rarest list leads, and its " +
			"documents are looked up in the other lists a block at a time",
		worth: func(p *plan) (bool, error) { return p.led(p.task.r), nil },
		run: func(p *plan) (*ask.Result, error) {
			return p.rankLed(p.roots, p.task.live, p.task.k, p.task.r)
		},
	},
	{
		name: ask.TreeConjunction,
		why: "all words are obligatory, and filters leave few documents: the same, of these " +
			"documents alone",
		worth: (*plan).worthLedWithin,
		run: func(p *plan) (*ask.Result, error) {
			return p.rankLed(p.obligatory(), p.task.within, p.task.k, p.task.r)
		},
	},
	{
		name: ask.TreeSparse,
		why: "any of the words will do, and filters leave so few documents that looking these up in " +
			"the lists costs less than reading the lists",
		worth: (*plan).worthSparse,
		run: func(p *plan) (*ask.Result, error) {
			return p.rankEach(ask.TreeSparse, (*exec).rankSparse, p.task.within)
		},
	},
	{
		why: "only words score: the engines of package eval answer, within the documents that " +
			"filters leave",
		worth: (*plan).onlyWords,
		run: func(p *plan) (*ask.Result, error) {
			t := &p.task
			return p.rankWords(t.words, t.mode, t.within, t.limited, t.k, t.r)
		},
	},
	{
		why: "BM25F scores words over all fields: the tree is a filter, and package fielded scores " +
			"its words",
		worth: func(p *plan) (bool, error) { return model.IsFielded(p.task.r.Model), nil },
		run: func(p *plan) (*ask.Result, error) {
			return p.rankFielded(p.task.live, p.task.k, p.task.r)
		},
	},
	{
		name: ask.TreePhrase,
		why: "nothing but one phrase scores: blocks are skipped by the bound of its rarest word, and " +
			"positions are read last",
		worth: func(p *plan) (bool, error) { _, _, ok := p.roots[0].onePhrase(); return ok, nil },
		run:   (*plan).rankPhrases,
	},
	{
		name:  ask.TreeLists,
		why:   "always possible: the documents that match, as a set, then their scores list by list",
		worth: func(*plan) (bool, error) { return true, nil },
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
}

// rank finds the k best.
func (p *plan) rank(live []*docset.Set, k int, r *ask.Request) (*ask.Result, error) {
	p.task = task{r: r, k: k, live: live}
	for i := range treePlan {
		s := &treePlan[i]
		if ok, err := s.worth(p); err != nil {
			return nil, err
		} else if ok {
			return s.run(p)
		}
	}
	panic("tree: a plan without an end")
}

// onlyWords says whether only words score, and finds the documents that satisfy the other parts of
// the query.
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

// worthLedWithin says whether to search for all of some words within few documents.
func (p *plan) worthLedWithin() (bool, error) {
	only, err := p.onlyWords()
	t := &p.task
	return only && t.mode == ask.And && t.limited && t.left < p.docs()/shortShare && mayLead(t.r), err
}

// worthSparse says whether to search for any of some words within few documents.
func (p *plan) worthSparse() (bool, error) {
	only, err := p.onlyWords()
	t := &p.task
	return only && t.mode == ask.Or && t.limited && !model.IsFielded(t.r.Model) &&
		p.sparse(t.left), err
}
