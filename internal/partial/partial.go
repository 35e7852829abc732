// Package partial tells those who open the files of an index by their path which ones are not whole
// yet, and what brings the rest. Only the process that makes such files opens them, in folders of
// its own; so a table in memory is enough, and the many ways to open an index need not know it.
package partial

import (
	"path/filepath"
	"sync"

	"github.com/collocate/collocate/internal/sections"
)

var (
	mu      sync.Mutex
	folders = map[string]func(file string) *sections.Rest{}
)

// Set makes Of call of for the files of a folder, until end is called.
func Set(folder string, of func(file string) *sections.Rest) (end func()) {
	folder = absolute(folder)
	mu.Lock()
	defer mu.Unlock()
	folders[folder] = of
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(folders, folder)
	}
}

// Of returns what brings the rest of a file, named with slashes within its folder, or nil if the
// file is whole.
func Of(folder, file string) *sections.Rest {
	mu.Lock()
	defer mu.Unlock()
	if len(folders) == 0 {
		return nil
	}
	if of := folders[absolute(folder)]; of != nil {
		return of(file)
	}
	return nil
}

func absolute(folder string) string {
	if path, err := filepath.Abs(folder); err == nil {
		return path
	}
	return filepath.Clean(folder)
}
