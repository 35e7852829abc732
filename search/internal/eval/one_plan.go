package eval

import "github.com/collocate/collocate/search/internal/ask"

// onePlan is how algorithm bmm answers a query of one word.
var onePlan = []strategy{
	{
		name: ask.OneFromTop,
		why: "only some documents may be answers, and the list has a map of levels: those of them that " +
			"are its top postings, or at its best places, are looked at first, which mostly proves that no " +
			"other can win",
		worth: func(q *Query) bool { return q.worthFromTop() },
		run:   func(q *Query) (bool, error) { return q.oneFromTop(q.Lists[0]) },
	},
	{
		name: ask.OneGuess,
		why: "only some documents may be answers, and the list has no map: the score of a posting so low in " +
			"the list that k better ones should be among these is guessed, which skips most blocks",
		worth: func(q *Query) bool { return q.limited && !q.Lists[0].hasLevels() && q.whole() },
		run: func(q *Query) (bool, error) {
			blocks := func() error { return q.oneByBlocks(q.Lists[0]) }
			return guessing{
				guess:  q.guessOne,
				search: func(floor float32) error { return q.above(floor, blocks) },
				enough: q.Heap.Full,
				again:  q.beginAgain,
			}.prove()
		},
	},
	{
		name: ask.OneLevels,
		why: "the list has a map of levels and the score of its k-th best posting is known: of a block " +
			"only the places that can win are looked at",
		worth: func(q *Query) bool { return q.Lists[0].hasLevels() && q.floor >= 0 },
		run:   func(q *Query) (bool, error) { return true, q.oneByLevels(q.Lists[0]) },
	},
	{
		name:  ask.OneBlocks,
		why:   "always possible: the blocks whose bound can win",
		worth: func(*Query) bool { return true },
		run:   func(q *Query) (bool, error) { return true, q.oneByBlocks(q.Lists[0]) },
	},
}
