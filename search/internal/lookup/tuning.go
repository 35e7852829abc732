package lookup

// Tuning constants of this package, chosen by measurement. They affect only speed, never results.

// wordSets is the number of sets in the word cache: 1 MB, plus about 100 bytes for each word. The
// web queries of the tests have 31,220 distinct words: with a quarter of the sets ANDs take a fifth
// longer.
const wordSets = 1 << 14

// fewWords is the largest number of query words for which repetitions are found by linear search;
// beyond it a map is used.
const fewWords = 16

const (
	wordWays  = 4
	nearBytes = 24
	// LongestKnown is the maximum length of a cached word in bytes, which bounds the size of the
	// cache.
	LongestKnown = 64
)
