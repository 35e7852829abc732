package main

import (
	"strings"
	"testing"
)

func TestTerminalShowsNoControlCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                 "plain\ttext\n",
		"a\x1b]0;title\x07b":            "a\ufffd]0;title\ufffdb",
		"\x1b[2Jgone":                   "\ufffd[2Jgone",
		boldOn + "word" + boldOff:       boldOn + "word" + boldOff,
		"\u009b31mred":                  "\ufffd31mred",
		"\x9b31m\xff":                   "\ufffd31m\ufffd",
		"back\b\rover":                  "back\ufffd\ufffdover",
		"Grüße 世界 \ufffd":               "Grüße 世界 \ufffd",
		"\x1b[1;31m":                    "\ufffd[1;31m",
		"zwölf \u200d und ein Zwischen": "zwölf \u200d und ein Zwischen",
	} {
		for cut := range len(in) + 1 { // in two writes
			if strings.HasPrefix(in, boldOn) && cut > 0 && cut < len(in) {
				continue // verbs write an escape at once
			}
			var out strings.Builder
			w := &terminal{w: &out}
			for _, part := range []string{in[:cut], in[cut:]} {
				if n, err := w.Write([]byte(part)); err != nil || n != len(part) {
					t.Fatal(n, err)
				}
			}
			if out.String() != want {
				t.Errorf("%q cut at %d: %q, want %q", in, cut, out.String(), want)
			}
		}
	}
}
