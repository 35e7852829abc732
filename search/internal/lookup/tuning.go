package lookup

// Numbers of this package that were chosen by measuring, each with what was measured. All else is
// structure: change a number here and results stay the same, only times differ.

// wordSets is the number of sets in the word cache: 1 MB, plus about 100 bytes for each word. The
// web queries of the tests have 31,220 words: with a quarter of the sets ANDs take a fifth longer.
const wordSets = 1 << 14

// fewWords are looked for one by one; more are put into a map.
const fewWords = 16

const (
	wordWays  = 4
	nearBytes = 24
	// longestKnown keeps what is remembered below some megabytes.
	LongestKnown = 64
)
