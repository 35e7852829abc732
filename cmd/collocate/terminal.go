package main

import (
	"bytes"
	"io"
	"unicode"
	"unicode/utf8"
)

// The only escape sequences that verbs print themselves, around query words in snippets.
const (
	boldOn  = "\x1b[1m"
	boldOff = "\x1b[0m"
)

// terminal is standard output on a terminal. It replaces control characters in IDs, words and
// documents, which could move the cursor, change the title or type for the user. Pipes and files
// get everything unchanged.
type terminal struct {
	w    io.Writer
	rest []byte // the beginning of a character that Write split
}

func (t *terminal) Write(p []byte) (int, error) {
	in := p
	if len(t.rest) > 0 {
		in = append(t.rest, p...)
		t.rest = nil
	}
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		if in[0] == boldOn[0] {
			if n := ownEscape(in); n > 0 {
				out, in = append(out, in[:n]...), in[n:]
				continue
			}
		}
		r, size := utf8.DecodeRune(in)
		switch {
		case r == utf8.RuneError && !utf8.FullRune(in):
			t.rest = bytes.Clone(in)
			size = len(in)
		case r == '\n' || r == '\t' || r != utf8.RuneError && !unicode.IsControl(r):
			out = append(out, in[:size]...)
		default:
			out = utf8.AppendRune(out, unicode.ReplacementChar)
		}
		in = in[size:]
	}
	if _, err := t.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownEscape returns the length of boldOn or boldOff at the beginning of in, or 0.
func ownEscape(in []byte) int {
	for _, e := range []string{boldOn, boldOff} {
		if bytes.HasPrefix(in, []byte(e)) {
			return len(e)
		}
	}
	return 0
}

// onTerminal reports whether standard output is a terminal.
func (a *app) onTerminal() bool {
	_, ok := a.stdout.(*terminal)
	return ok
}
