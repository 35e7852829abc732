package ask

import "github.com/collocate/collocate/internal/choice"

// Algorithm is one of the algorithms in the comment of package search.
type Algorithm uint8

// Auto chooses by the lists and k.
const (
	Auto Algorithm = iota
	Exhaustive
	TAAT
	MaxScore
	WAND
	BMW
	VBMW
	BMM
	// Tiles runs on GPUs only and is the default there.
	Tiles
)

var algorithmNames = choice.New[Algorithm]("algorithm",
	"auto", "exhaustive", "taat", "maxscore", "wand", "bmw", "vbmw", "bmm", "tiles")

// Algorithms lists the names that ParseAlgorithm accepts.
func Algorithms() []string { return algorithmNames.List() }

func (a Algorithm) String() string { return algorithmNames.Of(a) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (a Algorithm) MarshalText() ([]byte, error) { return algorithmNames.Text(a) }

// UnmarshalText is the inverse of MarshalText.
func (a *Algorithm) UnmarshalText(name []byte) error { return algorithmNames.Set(a, string(name)) }

// ParseAlgorithm is the inverse of String.
func ParseAlgorithm(name string) (Algorithm, error) { return named(algorithmNames.Parse(name)) }
