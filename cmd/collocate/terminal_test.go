package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu/driver"
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
				continue // verbs write an escape in one call
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

func TestErrorsAreOneLine(t *testing.T) {
	dead := errors.New("the GPU stopped working")
	for want, err := range map[string]error{
		"the GPU stopped working":                     errors.Join(dead, dead, dead),
		"the GPU stopped working; no such file":       errors.Join(dead, errors.New("no such file")),
		"read \ufffd[2J of a broken file":             errors.New("read \x1b[2J of a broken file\n"),
		"no database: connection refused":             errors.New("no database:\n\tconnection refused"),
		"the GPU stopped working; x; the GPU stopped": errors.New("the GPU stopped working\nx\nthe GPU stopped"),
	} {
		if got := oneLine(err.Error()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The interpreter gets fewer items: it would take days for those that keep a GPU busy.
func TestItemsToMeasure(t *testing.T) {
	real, emulated := driver.Info{}, driver.Info{Emulated: true}
	for _, c := range []struct {
		flags gpuTestFlags
		on    driver.Info
		want  int
	}{
		{gpuTestFlags{}, real, testItems},
		{gpuTestFlags{}, emulated, emulatedItems},
		{gpuTestFlags{items: 5000}, emulated, 5000},
		{gpuTestFlags{items: 5000}, real, 5000},
	} {
		if got := c.flags.itemsOn(c.on); got != c.want {
			t.Errorf("%+v, emulated %v: %d items, want %d", c.flags, c.on.Emulated, got, c.want)
		}
	}
}
