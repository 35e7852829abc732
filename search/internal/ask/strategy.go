package ask

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/collocate/collocate/internal/choice"
)

// Strategy is the strategy that answered a query, for algorithms with several: see the plans in the
// packages eval, tree and device. The zero value stands for an algorithm with a single strategy. It
// is a set of bits, since parts of the index may take different ones.
type Strategy uint32

// NoStrategy is the strategy of algorithms that have only one.
const NoStrategy Strategy = 0

// The strategies of bmm, of mode And, of trees, and of tiles.
const (
	OneFromTop      Strategy = 1 << iota // one word within a set of documents, its best levels first
	OneGuess                             // one word within a set of documents, above a guessed score
	OneLevels                            // one word, by its level map
	OneBlocks                            // one word, block by block
	OrFromTop                            // within a document set: rare words first
	OrGuess                              // above a guessed threshold
	OrGuessMarks                         // the same, marking documents before they are scored
	OrSample                             // whole lists, above the threshold of a sample
	OrWhole                              // whole lists are added up
	OrWindows                            // windows of documents
	OrMarks                              // the same, marking documents before they are scored
	OrImpacts                            // weighted tokens, tile by tile
	AndGuess                             // above a threshold guessed from level maps
	AndBestFirst                         // the most promising postings first
	AndBlocks                            // the blocks of the shortest list
	TreePhrase                           // a phrase, positions last
	TreeLists                            // a tree, list by list within its answers
	TreeConjunction                      // mandatory words and phrases, led by the rarest list
	TreeSparse                           // any of several words, within few documents
	TreeBeside                           // words and weighted tokens: sums of the best of each
	GPUPair                              // up to two words in one launch, with a guessed threshold
	GPUOne                               // up to four words in one launch
	GPUGeneral                           // any number of words: plan, score and pick
	GPUShort                             // in a batch: a word with few postings decides, all are scored
	GPULong                              // in a batch: the device chooses how it reads the lists
	GPUImpacts                           // weighted tokens: sums of tiles above a guessed threshold
	FilterLists                          // besides another: on the lists within a filter that was asked before
)

// strategyNames has the names of the bits, the lowest first.
var strategyNames = choice.New[uint8]("strategy",
	"one-from-top", "one-guess", "one-levels", "one-blocks", "or-from-top", "or-guess",
	"or-guess-marks", "or-sample", "or-whole", "or-windows", "or-marks", "or-impacts", "and-guess",
	"and-best-first", "and-blocks",
	"tree-phrase", "tree-lists", "tree-conjunction", "tree-sparse", "tree-beside",
	"gpu-pair", "gpu-one", "gpu-general", "gpu-short", "gpu-long", "gpu-impacts",
	"filter-lists")

// String returns the name. If parts of the index took different strategies, these are joined by a
// plus sign, such as one-levels+or-guess.
func (m Strategy) String() string {
	if m>>strategyNames.Len() != 0 {
		return fmt.Sprintf("Strategy(%d)", uint32(m))
	}
	names := make([]string, 0, 4)
	for rest := m; rest != 0; rest &= rest - 1 {
		names = append(names, strategyNames.Of(uint8(bits.TrailingZeros32(uint32(rest)))))
	}
	return strings.Join(names, "+")
}

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (m Strategy) MarshalText() ([]byte, error) {
	if m>>strategyNames.Len() != 0 {
		return nil, fmt.Errorf("unknown strategy %d", uint32(m))
	}
	return []byte(m.String()), nil
}

// UnmarshalText is the inverse of MarshalText.
func (m *Strategy) UnmarshalText(text []byte) error {
	set := NoStrategy
	if len(text) > 0 {
		for name := range strings.SplitSeq(string(text), "+") {
			bit, err := strategyNames.Parse(name)
			if err != nil {
				return err
			}
			set |= 1 << bit
		}
	}
	*m = set
	return nil
}
