//go:build !linux || nogpu || !(amd64 || arm64)

package cuda

import (
	"errors"
	"strings"
	"testing"
)

// TestBuiltWithout: a build without GPU support says so.
func TestBuiltWithout(t *testing.T) {
	list, err := Devices()
	if len(list) != 0 || !errors.Is(err, errNone) || !strings.Contains(err.Error(), "built without GPU support (") {
		t.Errorf("Devices returned %v, %v; want an error about the build", list, err)
	}
	if d, err := Open(0); d != nil || !errors.Is(err, errNone) {
		t.Errorf("Open returned %v, %v; want an error about the build", d, err)
	}
}
