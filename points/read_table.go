package points

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readTable reads CSV or TSV with a header line. The separator is whichever of tab, semicolon and
// comma comes first in the header, outside quotes.
func readTable(r *bufio.Reader, rows *rowSink) error {
	sep, err := separator(r)
	if err != nil {
		return err
	}
	t := tableReader{r: r, sep: byte(sep), rows: rows}
	if names := rows.opt.Columns; names != nil {
		t.names = names
		if err := t.take(); err != nil {
			return err
		}
		c, err := t.lines()
		if c == nil || err != nil {
			return err
		}
		return t.records(c)
	}
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
		return fmt.Errorf("line 1: %s are not column names: want a header line such as x,y,feature, or points.ReadOptions.Columns", quoteAll(t.names))
	}
	if err := t.take(); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
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
	r     *bufio.Reader
	sep   byte
	rows  *rowSink
	names []string
	at    layout
	line  int  // number of lines read before the csv reader took over
	comma bool // a comma was taken as the decimal point
	srid  int  // of the geometries so far; 0 means that none was given
}

// take finds the columns among the names and notes them in the Input.
func (t *tableReader) take() error {
	in := t.rows.in
	in.Format = "table"
	var err error
	if t.at, err = t.rows.columns(t.names, true); err != nil {
		return err
	}
	for i, c := range [3]int{t.at.x, t.at.y, t.at.feature} {
		if c >= 0 {
			in.Columns[i] = t.names[c]
		}
	}
	return nil
}

// fields are the values of a row.
type fields struct{ x, y, geometry, feature, time []byte }

// slow returns a reader of the csv package, which handles quotes.
func (t *tableReader) slow(r io.Reader) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma = rune(t.sep)
	c.ReuseRecord = true
	c.TrimLeadingSpace = t.sep != '\t'
	c.FieldsPerRecord = len(t.names)
	return c
}

// records reads the remaining rows with the csv package.
func (t *tableReader) records(c *csv.Reader) error {
	for {
		rec, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, csv.ErrFieldCount) {
			err = fmt.Errorf("%w: %d, but %d in the header", err, len(rec), len(t.names))
		}
		if err != nil {
			if err := t.rows.bad(noFields, t.reason(err), t.lineOf(err)); err != nil {
				return err
			}
			continue
		}
		line, _ := c.FieldPos(0)
		var f fields
		for col, to := range t.targets(&f) {
			if col >= 0 {
				*to = []byte(rec[col])
			}
		}
		if err := t.row(&f, t.line+line); err != nil {
			return err
		}
	}
}

// targets maps each column that is used to the field for its value.
func (t *tableReader) targets(f *fields) map[int]*[]byte {
	return map[int]*[]byte{t.at.x: &f.x, t.at.y: &f.y, t.at.geometry: &f.geometry,
		t.at.feature: &f.feature, t.at.time: &f.time}
}

// row parses the values of a row and adds it.
func (t *tableReader) row(f *fields, line int) error {
	where := func() string { return fmt.Sprintf("line %d", line) }
	t.rows.when = f.time
	if !utf8.Valid(f.feature) {
		return t.rows.bad(noFeature, fmt.Errorf("feature %q is not UTF-8: convert the file, such as with iconv", f.feature), where)
	}
	if t.at.geometry >= 0 {
		srid, x, y, err := parseWKTPoint(string(f.geometry))
		if err == nil && srid > 0 && t.rows.opt.CRS == nil {
			if t.srid > 0 && srid != t.srid {
				return fmt.Errorf("line %d: SRID %d, but %d in the lines before: want the same everywhere, or name it with points.ReadOptions.CRS", line, srid, t.srid)
			}
			t.srid = srid
		}
		if err == nil && srid > 0 && t.rows.crs == nil {
			err = t.rows.declare(fmt.Sprintf("EPSG:%d", srid))
		}
		if err != nil {
			return t.rows.bad(noPosition, fmt.Errorf("column %q: %w", t.names[t.at.geometry], err), where)
		}
		return t.rows.add(x, y, f.feature, where)
	}
	x, errX := t.number(f.x)
	y, errY := t.number(f.y)
	if errX != nil || errY != nil {
		col, text := t.at.x, f.x
		if errX == nil {
			col, text = t.at.y, f.y
		}
		return t.rows.bad(noPosition, fmt.Errorf("column %q: %q is not a number", t.names[col], text), where)
	}
	return t.rows.add(x, y, f.feature, where)
}

// number parses a coordinate. If the separator is not a comma, a comma is taken as the decimal
// point.
func (t *tableReader) number(text []byte) (float64, error) {
	if t.sep != ',' && bytes.IndexByte(text, ',') >= 0 {
		if !t.comma {
			t.comma = true
			t.rows.guess("coordinates such as %s: the comma is taken as the decimal point", bytes.TrimSpace(text))
		}
		text = bytes.Replace(text, []byte(","), []byte("."), 1)
	}
	return parseCoordinate(text)
}

// reason returns the csv package's error without its line and column.
func (t *tableReader) reason(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		if errors.Is(err, csv.ErrFieldCount) {
			_, counts, _ := strings.Cut(err.Error(), csv.ErrFieldCount.Error())
			return fmt.Errorf("%w%s", p.Err, counts)
		}
		return p.Err
	}
	return err
}

func (t *tableReader) lineOf(err error) func() string {
	return func() string {
		var p *csv.ParseError
		if errors.As(err, &p) {
			return fmt.Sprintf("line %d", t.line+p.Line)
		}
		return "a line"
	}
}

// failed returns the csv package's error with its line but without its column.
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
