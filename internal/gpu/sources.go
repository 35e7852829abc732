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

// Sum is the hash of the PTX.
func (s *Source) Sum() string {
	h := sha256.Sum256([]byte(s.PTX))
	return hex.EncodeToString(h[:])
}
