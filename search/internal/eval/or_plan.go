package eval

import "github.com/collocate/collocate/search/internal/ask"

// orPlan is how algorithm bmm answers a query of several words, mode Or.
var orPlan = []strategy{
	{
		name: ask.OrFromTop,
		why: "only some documents may be answers, and all words but one are rare: the documents with " +
			"a rare word are scored, then the frequent one is looked for as if it were alone",
		worth: (*Query).worthOrTop,
		run:   (*Query).orFromTop,
	},
	{
		name: ask.OrSample,
		why: "for many answers to many words: a sample of the documents tells the score to beat, for " +
			"a twentieth of the time that scoring all of them takes",
		worth: (*Query).worthSample,
		run:   (*Query).orAboveSample,
	},
	{
		name: ask.OrGuess,
		why: "a high score to beat from the start skips most postings; guessing it from the frequencies " +
			"of the words takes a microsecond a word, which pays if much would be looked at without",
		worth: func(q *Query) bool { return q.whole() && q.across == nil && q.worthGuess() },
		run:   (*Query).orAboveGuess,
	},
	{
		name:  ask.OrWindows,
		why:   "always possible: windows of documents, from the floor that the index knows",
		worth: func(*Query) bool { return true },
		run:   func(q *Query) (bool, error) { return true, q.allWindows() },
	},
}

// withMarks names the variant of a strategy that marks documents (marks.go) instead of adding
// scores up. Each of the three does so where planMarks expects it to be cheaper.
func withMarks(m ask.Strategy) ask.Strategy {
	switch m {
	case ask.OrSample:
		return ask.OrSampleMarks
	case ask.OrGuess:
		return ask.OrGuessMarks
	case ask.OrWindows:
		return ask.OrMarks
	}
	return m
}

// orState is the state of mode Or.
type orState struct {
	span     uint32  // documents in a window
	fullSpan uint32  // documents in a window of full size
	plain    backoff // whether dividing the lists pays
	grid     grid
	seeds    *seeds // nil before the first query of many words
	expected expected
	sample   sample
	sampled  bool // the floor is a guess by the sample
	marks    marking
}
