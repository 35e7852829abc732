package gpu

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// A source is read when a kernel is first requested. If the file is missing, that returns an error,
// and the source's sum matches no receipt.
func TestMissingSource(t *testing.T) {
	s := SourceIn(embed.FS{}, "gpu/absent")
	defer func() {
		sourcesMu.Lock()
		defer sourcesMu.Unlock()
		sources = sources[:len(sources)-1] // other tests go through all of them
	}()
	if _, err := s.Module(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "kernels/absent.ptx") {
		t.Errorf("Module returned %v, want ErrNotExist with the name", err)
	}
	if sum := s.Sum(); !strings.Contains(sum, "kernels/absent.ptx") {
		t.Errorf("Sum returned %s, want an error with the name", sum)
	}
}
