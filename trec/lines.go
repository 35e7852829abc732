package trec

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds the length of a line. A line of a run or of judgments has about a hundred bytes, a
// topic a few thousand.
const maxLine = 16 << 20

// byteOrderMark precedes the first line of some files.
const byteOrderMark = "\ufeff"

// eachLine calls fn with every line, without its end (LF or CRLF), and its number from 1. Errors
// have the file's name and the number of the line.
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

// eachLineOf is eachLine for a text in memory: lines are substrings of it, without allocations.
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

// columns splits a line at ASCII white space only, as trec_eval does: a document's ID may contain a
// no-break space. A comment or an empty line has no columns.
func columns(line string) []string {
	if strings.HasPrefix(line, "#") {
		return nil
	}
	return strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' })
}

// blanks are the separators of columns.
const blanks = " \t\n\v\f\r"
