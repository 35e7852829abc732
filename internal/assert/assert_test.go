package assert

import "testing"

// Tests check assertions.
func TestOnInTests(t *testing.T) {
	if !On {
		t.Error("assertions are off in a test")
	}
}
