package words

import (
	"fmt"
	"testing"
)

// Words that were added are there, and of others only few seem to be.
func TestFewWords(t *testing.T) {
	f := &fewWords{}
	word := func(i int) []byte { return fmt.Append(nil, "wordy"[:i%6], i*i, "longer than sixteen"[:i%20]) }
	for i := range 500 {
		f.add(word(i))
	}
	wrong := 0
	for i := range 20_000 {
		if has := f.mayHave(word(i)); i < 500 && !has {
			t.Errorf("%q is not there", word(i))
		} else if i >= 500 && has {
			wrong++
		}
	}
	if wrong > 400 {
		t.Errorf("%d of 19500 words seem to be there", wrong)
	}
	for _, short := range []string{"", "a", "ab", "abc"} {
		f.add([]byte(short))
		if !f.mayHave([]byte(short)) {
			t.Errorf("%q is not there", short)
		}
	}
}
