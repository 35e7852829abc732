package points

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Nearly all lines have no quotes. They are split here, because the csv package and strconv take
// 0.4 µs a line. The csv package takes over at the first line that has a quote or does not fit in
// the buffer.

// plainHeader reports whether the first line is a header without quotes.
func plainHeader(r *bufio.Reader) bool {
	head, err := r.Peek(1 << 14)
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	line, _, ok := bytes.Cut(head, []byte("\n"))
	return ok && len(bytes.TrimSpace(line)) > 0 && bytes.IndexByte(line, '"') < 0
}

// lines reads rows up to the first line that needs the csv package, and returns a reader of that
// line and all after it. At the end of the file it returns nil.
func (t *tableReader) lines() (rest *csv.Reader, err error) {
	for {
		line, err := t.r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || bytes.IndexByte(line, '"') >= 0 {
			return t.slow(io.MultiReader(bytes.NewReader(bytes.Clone(line)), t.r)), nil
		}
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return nil, err
		}
		t.line++
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) > 0 {
			if err := t.split(line); err != nil {
				return nil, err
			}
		}
		if end {
			return nil, nil
		}
	}
}

// split splits a line into fields and adds the row.
func (t *tableReader) split(line []byte) error {
	var f fields
	at, n := line, 0
	for ; ; n++ {
		end := bytes.IndexByte(at, t.sep)
		field := at
		if end >= 0 {
			field = at[:end]
		}
		switch n {
		case t.at.x:
			f.x = field
		case t.at.y:
			f.y = field
		case t.at.feature:
			f.feature = field
		case t.at.geometry:
			f.geometry = field
		case t.at.time:
			f.time = field
		}
		if end < 0 {
			break
		}
		at = at[end+1:]
	}
	if n+1 != len(t.names) {
		where := func() string { return fmt.Sprintf("line %d", t.line) }
		return t.rows.bad(noFields, fmt.Errorf("%w: %d, but %d in the header", csv.ErrFieldCount, n+1, len(t.names)), where)
	}
	return t.row(&f, t.line)
}

// parseCoordinate is strconv.ParseFloat, but ignores surrounding space. Up to 15 digits without an
// exponent take a fast path: as float64, the digits and the power of ten that divides them are
// exact, so that only their quotient is rounded.
func parseCoordinate(text []byte) (float64, error) {
	text = bytes.TrimSpace(text)
	digits, point, value := 0, -1, uint64(0)
	unsigned := text
	if len(text) > 0 && text[0] == '-' {
		unsigned = text[1:]
	}
	for i, b := range unsigned {
		switch {
		case b >= '0' && b <= '9':
			value = 10*value + uint64(b-'0')
			digits++
		case b == '.' && point < 0:
			point = i
		default:
			digits = 16
		}
		if digits > 15 {
			break
		}
	}
	if digits == 0 || digits > 15 {
		return strconv.ParseFloat(string(text), 64)
	}
	v := float64(value)
	if point >= 0 {
		v /= powersOfTen[len(unsigned)-1-point]
	}
	if len(unsigned) < len(text) {
		v = -v
	}
	return v, nil
}

var powersOfTen = [16]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
