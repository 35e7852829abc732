package trec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// eachLineOf gives the lines and errors of eachLine.
func TestLinesInMemoryAreThoseThatAreRead(t *testing.T) {
	for _, text := range []string{"", "\n", "a", "a\n", "a\n\nb", "a\r\nb\r", "\r\n", "a\r\r\n",
		strings.Repeat("x", maxLine) + "\nb", "a\n" + strings.Repeat("x", maxLine-1)} {
		collect := func(each func(fn func(int, string) error) error) (out []string) {
			err := each(func(n int, line string) error {
				out = append(out, fmt.Sprint(n, line))
				return nil
			})
			return append(out, fmt.Sprint(err))
		}
		read := collect(func(fn func(int, string) error) error { return eachLine(strings.NewReader(text), "f", fn) })
		have := collect(func(fn func(int, string) error) error { return eachLineOf(text, "f", fn) })
		if !slices.Equal(read, have) {
			t.Errorf("%.20q: %.60q, want %.60q", text, have, read)
		}
	}
}

// tidy gives the same as splitting at white space and joining, also if it changes nothing.
func TestTidyJoinsFields(t *testing.T) {
	for _, text := range []string{"", " ", "a", "a b", " a", "a ", "a  b", "a\tb", "a\u00a0b",
		"naïve words", "a\u2003", "a b c\n", "\x7f x"} {
		if got, want := tidy(text), strings.Join(strings.Fields(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
