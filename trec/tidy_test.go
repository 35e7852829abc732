package trec

import (
	"strings"
	"testing"
)

// A text is tidied as if its fields were joined, whether it needs it or not.
func TestTidyJoinsFields(t *testing.T) {
	for _, text := range []string{"", " ", "a", "a b", " a", "a ", "a  b", "a\tb", "a\u00a0b", "naïve words", "a\u2003", "a b c\n", "\x7f x"} {
		if got, want := tidy(text), strings.Join(strings.Fields(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
