package dict

import "github.com/collocate/collocate/internal/choice"

// Dict is a dictionary. Several goroutines may use one.
type Dict interface {
	// ID is the number of a word, if it is in the dictionary.
	ID(word []byte) (id uint32, ok bool)
	// Word appends the word of a number to dst. For a number that is not below
	// the number of words it appends nothing.
	Word(dst []byte, id uint32) []byte
}

// Kind is a way to hold words. See the package comment.
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

// Kinds lists the names that ParseKind takes.
func Kinds() []string { return kindNames.List() }

func (k Kind) String() string { return kindNames.Of(k) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(name []byte) error { return kindNames.Set(k, string(name)) }

// ParseKind returns the kind of that name.
func ParseKind(name string) (Kind, error) { return kindNames.Parse(name) }
