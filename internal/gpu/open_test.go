package gpu

import (
	"errors"
	"testing"
)

// A program without the interpreter says so, and does not take a real device instead.
func TestNoInterpreter(t *testing.T) {
	t.Setenv(EmulateEnv, "emulator")
	defer RegisterInterpreter(interpreter)
	RegisterInterpreter(nil)
	_, err := Open(0)
	if _, listed := Devices(); !errors.Is(err, ErrUnavailable) || !errors.Is(listed, ErrUnavailable) {
		t.Errorf("Open: %v, Devices: %v", err, listed)
	}
}
