package ask

import "github.com/collocate/collocate/internal/choice"

// Strategy is the strategy that answered a query, for algorithms with several: see the plans in the
// packages eval, tree and device. The zero value stands for an algorithm with a single strategy.
type Strategy uint8

// The strategies of bmm, of mode And, of trees, and of tiles.
const (
	NoStrategy      Strategy = iota
	OneFromTop               // one word within a document set, the best levels of its map first
	OneGuess                 // one word within a document set, above a guessed threshold
	OneLevels                // one word, by its level map
	OneBlocks                // one word, block by block
	OrFromTop                // within a document set: rare words first
	OrGuess                  // above a guessed threshold
	OrGuessMarks             // the same, marking documents before they are scored
	OrSample                 // whole lists, above a threshold estimated from a sample of the documents
	OrWhole                  // whole lists are added up
	OrWindows                // windows of documents
	OrMarks                  // the same, marking documents before they are scored
	AndGuess                 // above a threshold guessed from level maps
	AndBestFirst             // the most promising postings first
	AndBlocks                // the blocks of the shortest list
	TreePhrase               // a phrase, positions last
	TreeLists                // a tree, list by list within its answers
	TreeConjunction          // mandatory words and phrases, led by the rarest list
	TreeSparse               // any of several words, within few documents
	GPUPair                  // up to two words in one launch, with a guessed threshold
	GPUOne                   // up to four words in one launch
	GPUGeneral               // any number of words: plan, score and pick
	GPUShort                 // in a batch: a word with few postings decides, all are scored
	GPULong                  // in a batch: the device chooses how it reads the lists
)

var strategyNames = choice.New[Strategy]("strategy",
	"", "one-from-top", "one-guess", "one-levels", "one-blocks", "or-from-top", "or-guess",
	"or-guess-marks", "or-sample", "or-whole", "or-windows", "or-marks", "and-guess",
	"and-best-first", "and-blocks",
	"tree-phrase", "tree-lists", "tree-conjunction", "tree-sparse",
	"gpu-pair", "gpu-one", "gpu-general", "gpu-short", "gpu-long")

func (m Strategy) String() string { return strategyNames.Of(m) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (m Strategy) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (m *Strategy) UnmarshalText(name []byte) error { return strategyNames.Set(m, string(name)) }
