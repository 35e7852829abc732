package gpu

import (
	"crypto/sha256"
	"encoding/hex"
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

// Sum returns the hash of the PTX. If the PTX cannot be read it returns the error's text, which
// matches no receipt.
func (s *Source) Sum() string {
	text, err := s.text()
	if err != nil {
		return err.Error()
	}
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}
