package dict

import "github.com/collocate/collocate/internal/choice"

// Dict is the interface of all kinds of dictionaries. Several goroutines may use one.
type Dict interface {
	// ID returns the number of a word, if it is in the dictionary.
	ID(word []byte) (id uint32, ok bool)
	// Word appends the word with the given number to dst. It appends nothing if there is no such
	// word.
	Word(dst []byte, id uint32) []byte
}

// Kind is a kind of dictionary; see the package comment.
type Kind int

// The kinds of dictionaries.
const (
	XBW Kind = iota
	XBWPlain
	XBWPaper
	STT
	Hash
	Double
	Front
	kinds
)

var kindNames = choice.New[Kind]("kind of dictionary", "xbw", "xbw-plain", "xbw-paper", "stt",
	"hash", "double", "front")

// Kinds returns the names that ParseKind accepts.
func Kinds() []string { return kindNames.List() }

func (k Kind) String() string { return kindNames.Of(k) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (k Kind) MarshalText() ([]byte, error) { return kindNames.Text(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(name []byte) error { return kindNames.Set(k, string(name)) }

// ParseKind returns the kind of that name.
func ParseKind(name string) (Kind, error) { return kindNames.Parse(name) }
