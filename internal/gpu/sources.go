package gpu

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

// All sources of the program, so that a receipt can say which kernels it is about.
var (
	sourcesMu sync.Mutex
	sources   []*Source
)

// Sources returns every source of the program, by name.
func Sources() []*Source {
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	list := slices.Clone(sources)
	slices.SortFunc(list, func(a, b *Source) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Sum is the hash of the PTX, or why there is none, which no receipt names.
func (s *Source) Sum() string {
	text, err := s.text()
	if err != nil {
		return err.Error()
	}
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}
