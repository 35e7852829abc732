package lookup

// The numbers of this package that were chosen by measuring. Change one and results stay the same;
// only times differ.

// wordSets is the number of sets in the word cache: 1 MB, plus about 100 bytes for each word. The
// web queries of the tests have 31,220 words: with a quarter of the sets ANDs take a fifth longer.
const wordSets = 1 << 14

// fewWords is the most words of a query among which repetitions are found by comparing; with more,
// a map finds them.
const fewWords = 16

const (
	wordWays  = 4
	nearBytes = 24
	// LongestKnown is the most bytes of a word in the cache, which bounds its size.
	LongestKnown = 64
)
