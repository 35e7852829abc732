package query

import "testing"

// A note is made of a * in a phrase, and of nothing else.
func TestNotes(t *testing.T) {
	for text, want := range map[string]int{
		`"solar ecl*"`: 1, `+"ecl* x" -"y*"`: 1, `ecl*`: 0, `"solar eclipse" ecl*`: 0, `"a" * "b"`: 0,
		``: 0, `"open*`: 0,
	} {
		if got := Notes(text); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
