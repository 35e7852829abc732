package ask

import "github.com/collocate/collocate/internal/choice"

// Strategy is what answered a query, where an algorithm has several: see the plans in
// the packages eval and tree. The zero value stands for an algorithm that has one.
type Strategy uint8

// The strategies of bmm, of mode And, and of trees.
const (
	NoStrategy      Strategy = iota
	OneFromTop               // one word among some documents, the best levels of its map first
	OneGuess                 // one word among some documents, above a guessed score
	OneLevels                // one word, by its map of levels
	OneBlocks                // one word, block by block
	OrFromTop                // among some documents: those with rare words, then a frequent one's best
	OrGuess                  // above a guessed score
	OrGuessMarks             // the same, marking documents before they are scored
	OrSample                 // above a score that a sample of the documents promises
	OrSampleMarks            // the same, marking documents before they are scored
	OrWindows                // windows of documents
	OrMarks                  // the same, marking documents before they are scored
	AndGuess                 // above a score that is guessed from maps of levels
	AndBestFirst             // the most promising postings first
	AndBlocks                // the blocks of the shortest list
	TreePhrase               // a phrase, positions last
	TreeLists                // a tree, list by list within its answers
	TreeConjunction          // obligatory words and phrases, led by the rarest list
	TreeSparse               // any of some words, among few documents
)

var strategyNames = choice.New[Strategy]("strategy",
	"", "one-from-top", "one-guess", "one-levels", "one-blocks", "or-from-top", "or-guess",
	"or-guess-marks", "or-sample",
	"or-sample-marks", "or-windows", "or-marks", "and-guess", "and-best-first", "and-blocks",
	"tree-phrase", "tree-lists", "tree-conjunction", "tree-sparse")

func (m Strategy) String() string { return strategyNames.Of(m) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (m Strategy) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (m *Strategy) UnmarshalText(name []byte) error { return strategyNames.Set(m, string(name)) }
