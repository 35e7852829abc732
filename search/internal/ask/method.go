package ask

// Method is the strategy that answered a query, where an algorithm has several: see the plans in
// package eval. The zero value stands for an algorithm that has one.
type Method uint8

// The methods of bmm and of mode And.
const (
	NoMethod     Method = iota
	OneLevels           // one word, by its map of levels
	OneBlocks           // one word, block by block
	OrGuess             // above a guessed score
	OrGuessMarks        // the same, marking documents before they are scored
	OrWindows           // windows of documents
	OrMarks             // the same, marking documents before they are scored
	AndGuess            // above a score that is guessed from maps of levels
	AndBestFirst        // the most promising postings first
	AndBlocks           // the blocks of the shortest list
)

var methodNames = []string{
	"", "one-levels", "one-blocks", "or-guess", "or-guess-marks", "or-windows", "or-marks",
	"and-guess", "and-best-first", "and-blocks",
}

func (m Method) String() string { return nameOf(methodNames, int(m)) }

// MarshalText makes a Method its name in JSON.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }
