package gpu

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// A source is read when a kernel is first requested. If the file is missing, that returns an error,
// and so does its text.
func TestMissingSource(t *testing.T) {
	s := SourceIn(embed.FS{}, "gpu/absent")
	defer func() {
		sourcesMu.Lock()
		defer sourcesMu.Unlock()
		sources = sources[:len(sources)-1] // other tests go through all of them
	}()
	if _, err := s.Entries(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "kernels/absent.ptx") {
		t.Errorf("Entries returned %v, want ErrNotExist with the name", err)
	}
	if _, err := s.Text(); err == nil || !strings.Contains(err.Error(), "kernels/absent.ptx") {
		t.Errorf("Text returned %v, want an error with the name", err)
	}
}
