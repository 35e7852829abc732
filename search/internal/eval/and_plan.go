package eval

import "github.com/collocate/collocate/search/internal/ask"

// andPlan is how a query of several words is answered in mode And.
var andPlan = []strategy{
	{
		name: ask.AndGuess,
		why: "all lists have maps of levels: these tell how many documents can reach a score, so one " +
			"that k documents should beat is guessed, and few blocks are decoded",
		worth: (*Query).worthAndGuess,
		run:   (*Query).andAboveGuess,
	},
	{
		name: ask.AndBestFirst,
		why: "the leading list has no map, the others do: its most promising postings are looked up " +
			"first, which mostly proves that no other can win",
		worth: (*Query).worthBest,
		run:   (*Query).andBestFirst,
	},
	{
		name:  ask.AndBlocks,
		why:   "always possible: the blocks of the shortest list, in order of documents",
		worth: func(*Query) bool { return true },
		run:   func(q *Query) (bool, error) { return true, q.andBlocks(q.and.lists, q.and.start) },
	},
}
