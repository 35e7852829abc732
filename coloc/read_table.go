package coloc

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readTable reads CSV or TSV with a header line. The separator is the one of
// tab, semicolon and comma that comes first in the header, outside quotes.
func readTable(r *bufio.Reader, rows *rowSink) error {
	sep, err := separator(r)
	if err != nil {
		return err
	}
	t := tableReader{r: r, sep: byte(sep), rows: rows}
	quick := plainHeader(r)
	c := t.slow(r)
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty: want a header line such as x,y,feature")
	}
	if err != nil {
		return t.failed(err)
	}
	t.names = make([]string, len(header))
	numbers := 0
	for i, h := range header {
		t.names[i] = strings.Clone(strings.TrimSpace(h))
		if _, err := strconv.ParseFloat(t.names[i], 64); err == nil {
			numbers++
		}
	}
	if numbers >= 2 {
		return fmt.Errorf("line 1: %s are no column names: want a header line such as x,y,feature", quoteAll(t.names))
	}
	t.x, t.y, t.feature, err = rows.opt.columns(t.names, true)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	rows.in.Format = "table"
	rows.in.Columns = [3]string{t.names[t.x], t.names[t.y], t.names[t.feature]}
	if quick {
		t.line = 1
		if c, err = t.lines(); c == nil || err != nil {
			return err
		}
	}
	return t.records(c)
}

// tableReader reads the rows under a header.
type tableReader struct {
	r             *bufio.Reader
	sep           byte
	rows          *rowSink
	names         []string
	x, y, feature int // columns
	line          int // lines read before those of the csv reader
}

// slow is a reader that knows quotes.
func (t *tableReader) slow(r io.Reader) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma = rune(t.sep)
	c.ReuseRecord = true
	c.TrimLeadingSpace = t.sep != '\t'
	c.FieldsPerRecord = len(t.names)
	return c
}

// records reads the rows that are left, any quotes among them.
func (t *tableReader) records(c *csv.Reader) error {
	for {
		rec, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return t.failed(err)
		}
		line, _ := c.FieldPos(0)
		if err := t.row([]byte(rec[t.x]), []byte(rec[t.y]), []byte(rec[t.feature]), t.line+line); err != nil {
			return err
		}
	}
}

// row takes a row in.
func (t *tableReader) row(x, y, feature []byte, line int) error {
	where := func() string { return fmt.Sprintf("line %d", line) }
	px, errX := parseCoordinate(x)
	py, errY := parseCoordinate(y)
	if errX != nil || errY != nil {
		col, text := t.x, x
		if errX == nil {
			col, text = t.y, y
		}
		return t.rows.bad(fmt.Errorf("column %q: %q is not a number", t.names[col], text), where)
	}
	return t.rows.add(px, py, bytes.TrimSpace(feature), where)
}

// failed takes the column out of the csv package's message and keeps the line.
func (t *tableReader) failed(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("line %d: %w", t.line+p.Line, p.Err)
	}
	return err
}

func separator(r *bufio.Reader) (rune, error) {
	head, err := r.Peek(1 << 14)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	quoted := false
	for _, b := range head {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '\t', b == ';', b == ',':
			return rune(b), nil
		case b == '\n':
			return ',', nil
		}
	}
	return ',', nil
}
