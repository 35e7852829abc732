package eval

import (
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
)

// strategy is a row of a plan: a way to answer queries of one mode. The plans are orPlan, andPlan
// and onePlan; each ends with a strategy that is always possible.
type strategy struct {
	name ask.Strategy
	// marks is the name if documents were marked (marks.go) instead of scores added up, which
	// planMarks decides.
	marks ask.Strategy
	why   string                                // when it pays, and what it does
	worth func(q *Query) bool                   // whether it is worth trying
	run   func(q *Query) (done bool, err error) // done: the heap holds the result
}

// follow tries the strategies of a plan that are worth it, in order, until one is done.
//
// Precondition: there are no answers yet, but for those of other segments. A strategy that is not
// done leaves none behind, but may have raised the floor. Postcondition: the last strategy that was
// tried is done, or there is an error.
func (q *Query) follow(plan []strategy) error {
	for i := range plan {
		s := &plan[i]
		if !s.worth(q) {
			continue
		}
		if assert.On && q.team == nil && !q.shared && len(q.Heap.Keys) > 0 {
			assert.Fail("a strategy begins with answers")
		}
		q.pushed = -1
		if done, err := s.run(q); done || err != nil {
			q.Stats.Strategy |= s.taken(q) // a worker of a team takes one for each partition
			return err
		}
	}
	panic("eval: a plan without an end")
}

// taken returns the name of a strategy that has answered a query.
func (s *strategy) taken(q *Query) ask.Strategy {
	if s.marks != ask.NoStrategy && q.or.marks.began {
		return s.marks
	}
	return s.name
}

// whole reports whether this query searches all documents and has no answers yet: only then do k
// answers prove a guess.
func (q *Query) whole() bool {
	return q.team == nil && q.from == 0 && uint64(q.to) == q.c.Docs && len(q.Heap.Keys) == 0
}
