package gpu

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// A source is read when a kernel is asked for. One that is not there is an error then,
// and no receipt can name it.
func TestASourceThatIsNotThere(t *testing.T) {
	s := SourceIn(embed.FS{}, "gpu/absent")
	defer func() {
		sourcesMu.Lock()
		defer sourcesMu.Unlock()
		sources = sources[:len(sources)-1] // other tests look at all of them
	}()
	if _, err := s.Module(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "kernels/absent.ptx") {
		t.Errorf("Module: %v", err)
	}
	if sum := s.Sum(); !strings.Contains(sum, "kernels/absent.ptx") {
		t.Errorf("Sum: %s", sum)
	}
}
