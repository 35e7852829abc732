package trec

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds a line: a run or judgment has a hundred bytes, a topic a few thousand.
const maxLine = 16 << 20

// byteOrderMark stands before the first line of some files.
const byteOrderMark = "\ufeff"

// eachLine calls fn with every line and its number from 1, without line ends (LF or
// CRLF). Errors get the file's name and the line's number.
func eachLine(r io.Reader, name string, fn func(n int, line string) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for s.Scan() {
		n++
		line := s.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, byteOrderMark)
		}
		if err := fn(n, line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return nil
}

// eachLineOf is eachLine for a text that is in memory: lines are parts of it, and nothing is
// allocated.
func eachLineOf(text, name string, fn func(n int, line string) error) error {
	text = strings.TrimPrefix(text, byteOrderMark)
	for n := 1; text != ""; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		err := error(bufio.ErrTooLong)
		if len(line) < maxLine {
			err = fn(n, strings.TrimSuffix(line, "\r"))
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return nil
}

// columns splits at white space, which is that of ASCII as in trec_eval: a document's ID may have a
// no-break space in it. A comment or an empty line has no columns.
func columns(line string) []string {
	if strings.HasPrefix(line, "#") {
		return nil
	}
	return strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' })
}

// blanks separate columns.
const blanks = " \t\n\v\f\r"
