package ask

import "github.com/collocate/collocate/internal/choice"

// Collapse says whether the passages of a document are hits of their own.
type Collapse uint8

// Each passage is a hit by NoCollapse. By BestPassage a document has one hit, its best passage. By
// SumOfPassages, too, and its score is the sum of those of all its passages that match.
const (
	NoCollapse Collapse = iota
	BestPassage
	SumOfPassages
)

var collapseNames = choice.New[Collapse]("collapse", "none", "best", "sum")

func (c Collapse) String() string { return collapseNames.Of(c) }

// MarshalText and UnmarshalText write and read the name.
func (c Collapse) MarshalText() ([]byte, error) { return collapseNames.Text(c) }

// UnmarshalText is the inverse of MarshalText.
func (c *Collapse) UnmarshalText(name []byte) error { return collapseNames.Set(c, string(name)) }
