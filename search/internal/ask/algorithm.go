package ask

import "slices"

// Algorithm is one of those in the package comment.
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
	// Tiles is the GPU's own, and its default.
	Tiles
)

var algorithmNames = []string{"auto", "exhaustive", "taat", "maxscore", "wand", "bmw", "vbmw", "bmm", "tiles"}

// Algorithms lists the names that ParseAlgorithm takes.
func Algorithms() []string { return slices.Clone(algorithmNames) }

func (a Algorithm) String() string { return nameOf(algorithmNames, int(a)) }

// MarshalText makes an Algorithm its name in JSON.
func (a Algorithm) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// ParseAlgorithm is the inverse of String.
func ParseAlgorithm(name string) (Algorithm, error) {
	i, err := parseName("algorithm", algorithmNames, name)
	return Algorithm(i), err
}
