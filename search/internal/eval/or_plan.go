package eval

import "github.com/collocate/collocate/search/internal/ask"

// orPlan lists the strategies of algorithm bmm for a query of several words in mode Or.
var orPlan = []strategy{
	{
		name: ask.OrImpacts,
		why: "for weighted tokens with copies of long lists: bound the sum of all words in blocks of " +
			"documents, and add up what can win tile by tile",
		worth: (*Query).worthImpacts,
		run:   (*Query).orImpacts,
	},
	{
		name: ask.OrWhole,
		why: "for very many words and many answers: add up whole lists, since nothing could be " +
			"skipped",
		worth: func(q *Query) bool { return len(q.Lists) > manyWords && q.Heap.K >= manyAnswers },
		run:   func(q *Query) (bool, error) { return true, taat(q) },
	},
	{
		name: ask.OrFromTop,
		why: "if only some documents may be answers and all words but one are rare: score the " +
			"documents with a rare word, then search for the frequent word as if it were alone",
		worth: (*Query).worthOrTop,
		run:   (*Query).orFromTop,
	},
	{
		name: ask.OrFromTop,
		why: "if only some documents may be answers and several words are frequent: score the " +
			"documents with a rare word, only for a floor",
		worth: (*Query).worthRareFirst,
		run:   (*Query).rareFirst,
	},
	{
		name: ask.OrSample,
		why: "for very many answers to several words: add up whole lists, above a threshold " +
			"estimated from a sample of the documents, which takes a twentieth of the time",
		worth: (*Query).worthSample,
		run:   (*Query).orAboveSample,
	},
	{
		name:  ask.OrWhole,
		why:   "for many answers to many words: add up whole lists, since little could be skipped",
		worth: (*Query).worthWhole,
		run:   func(q *Query) (bool, error) { return true, taat(q) },
	},
	{
		name:  ask.OrGuess,
		marks: ask.OrGuessMarks,
		why: "if the floor is a guess already, for all workers (Team.answer) or all segments " +
			"(Segments.aboveGuess): process windows above it; the caller proves it",
		worth: func(q *Query) bool { return q.guessed },
		run:   func(q *Query) (bool, error) { return true, q.allWindows() },
	},
	{
		name:  ask.OrGuess,
		marks: ask.OrGuessMarks,
		why: "if many postings would be read: guess a high floor from the frequencies of the words, so " +
			"that most postings are skipped; the guess takes a microsecond per word",
		worth: func(q *Query) bool { return q.whole() && q.across == nil && q.worthGuess() },
		run:   (*Query).orAboveGuess,
	},
	{
		name:  ask.OrWindows,
		marks: ask.OrMarks,
		why:   "always possible: process windows of documents, with the floor that the index stores",
		worth: func(*Query) bool { return true },
		run:   func(q *Query) (bool, error) { return true, q.allWindows() },
	},
}

// orState is the state of mode Or.
type orState struct {
	span         uint32  // documents in a window
	fullSpan     uint32  // documents in a window of full size
	skipDividing backoff // chooses windows for which the lists are not divided
	grid         grid
	seeds        *seeds // nil before the first query of many words
	expected     expected
	sample       sample
	marks        marking
	impacts      *impacts // nil before the first query of weighted tokens
}
