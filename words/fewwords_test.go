package words

import (
	"fmt"
	"testing"
)

// The filter has all words that were added, and few others.
func TestFewWords(t *testing.T) {
	f := &fewWords{}
	word := func(i int) []byte { return fmt.Append(nil, "wordy"[:i%6], i*i, "longer than sixteen"[:i%20]) }
	for i := range 500 {
		f.add(word(i))
	}
	wrong := 0
	for i := range 20_000 {
		if has := f.mayHave(word(i)); i < 500 && !has {
			t.Errorf("mayHave(%q) is false, and it was added", word(i))
		} else if i >= 500 && has {
			wrong++
		}
	}
	if wrong > 400 {
		t.Errorf("mayHave is true for %d of 19500 words that were not added, want at most 400", wrong)
	}
	for _, short := range []string{"", "a", "ab", "abc"} {
		f.add([]byte(short))
		if !f.mayHave([]byte(short)) {
			t.Errorf("mayHave(%q) is false, and it was added", short)
		}
	}
}
