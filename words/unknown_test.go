package words

import (
	"strings"
	"testing"
)

// A very long word is not quoted whole.
func TestUnknownWordsAreShortened(t *testing.T) {
	err := (&UnknownWord{Word: strings.Repeat("x", 1000)}).Error()
	if len(err) > 120 || !strings.Contains(err, strings.Repeat("x", 60)) {
		t.Errorf("error %q, want 60 letters of the word", err)
	}
}
