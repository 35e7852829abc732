package dict

import (
	"fmt"
	"slices"
	"strings"
)

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
	kinds
)

var kindNames = [kinds]string{"xbw", "xbw-plain", "xbw-paper", "stt", "hash", "double"}

// Kinds lists the names that ParseKind takes.
func Kinds() []string { return slices.Clone(kindNames[:]) }

func (k Kind) String() string {
	if k < 0 || k >= kinds {
		return fmt.Sprintf("dict.Kind(%d)", int(k))
	}
	return kindNames[k]
}

// ParseKind returns the kind of that name.
func ParseKind(name string) (Kind, error) {
	if i := slices.Index(kindNames[:], name); i >= 0 {
		return Kind(i), nil
	}
	return XBW, fmt.Errorf("unknown kind of dictionary %q: want %s", name, strings.Join(kindNames[:], ", "))
}

// Set and Type make *Kind a command-line flag.
func (k *Kind) Set(name string) (err error) {
	*k, err = ParseKind(name)
	return err
}

// Type names the flag's value in help texts.
func (k *Kind) Type() string { return "kind" }
