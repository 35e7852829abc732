package eval

import "github.com/collocate/collocate/search/internal/ask"

// andPlan lists the strategies for a query of several words in mode And.
var andPlan = []strategy{
	{
		name: ask.AndGuess,
		why: "if the floor is a guess already, for all segments (Segments.aboveGuess): traverse the " +
			"blocks above it; the caller proves it",
		worth: func(q *Query) bool { return q.guessed },
		run:   func(q *Query) (bool, error) { return true, q.andBlocks(q.and.lists, q.and.start) },
	},
	{
		name: ask.AndGuess,
		why: "if all lists have maps of levels: guess a floor from the number of documents that can " +
			"reach a score by their levels, so that few blocks are decoded",
		worth: (*Query).worthAndGuess,
		run:   (*Query).andAboveGuess,
	},
	{
		name: ask.AndBestFirst,
		why: "if all lists but the leading one have maps of levels: look up its most promising " +
			"postings first, which mostly proves that no other can win",
		worth: (*Query).worthBest,
		run:   (*Query).andBestFirst,
	},
	{
		name:  ask.AndBlocks,
		why:   "always possible: traverse the blocks of the shortest list in document order",
		worth: func(*Query) bool { return true },
		run:   func(q *Query) (bool, error) { return true, q.andBlocks(q.and.lists, q.and.start) },
	},
}
