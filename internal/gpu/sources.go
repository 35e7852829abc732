package gpu

import (
	"slices"
	"strings"
	"sync"
)

// sources lists all sources of the program, so that a receipt can name the kernels it covers.
var (
	sourcesMu sync.Mutex
	sources   []*Source
)

// Sources returns all sources of the program, sorted by name.
func Sources() []*Source {
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	list := slices.Clone(sources)
	slices.SortFunc(list, func(a, b *Source) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Text returns the PTX.
func (s *Source) Text() (string, error) { return s.text() }
