package eval

import "github.com/collocate/collocate/search/internal/ask"

// onePlan lists the strategies of algorithm bmm for a query of one word.
var onePlan = []strategy{
	{
		name: ask.OneFromTop,
		why: "if only some documents may be answers and the list has a map of levels: test its top " +
			"postings and its best places first, which mostly proves that no other document can win",
		worth: func(q *Query) bool { return q.worthFromTop() },
		run:   func(q *Query) (bool, error) { return q.oneFromTop(q.Lists[0]) },
	},
	{
		name: ask.OneGuess,
		why: "if only some documents may be answers and the list has no map of levels: guess a floor " +
			"that k of these should beat from the scores at stored ranks, which skips most blocks",
		worth: func(q *Query) bool { return q.limited && !q.Lists[0].hasLevels() && q.whole() },
		run: func(q *Query) (bool, error) {
			return q.oneAboveGuess(func() error { return q.oneByBlocks(q.Lists[0]) })
		},
	},
	{
		name: ask.OneLevels,
		why: "if the list has a map of levels and the score of its k-th best posting is known: read " +
			"only the places of a block that can win",
		worth: func(q *Query) bool { return q.Lists[0].hasLevels() && q.floor >= 0 },
		run:   func(q *Query) (bool, error) { return true, q.oneByLevels(q.Lists[0]) },
	},
	{
		name:  ask.OneBlocks,
		why:   "always possible: read the blocks whose bound can win",
		worth: func(*Query) bool { return true },
		run:   func(q *Query) (bool, error) { return true, q.oneByBlocks(q.Lists[0]) },
	},
}
