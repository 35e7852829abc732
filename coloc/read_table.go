package coloc

import (
	"bufio"
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
	c := csv.NewReader(r)
	c.Comma = sep
	c.ReuseRecord = true
	c.TrimLeadingSpace = sep != '\t'
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty: want a header line such as x,y,feature")
	}
	if err != nil {
		return tableError(err)
	}
	names := make([]string, len(header))
	numbers := 0
	for i, h := range header {
		names[i] = strings.Clone(strings.TrimSpace(h))
		if _, err := strconv.ParseFloat(names[i], 64); err == nil {
			numbers++
		}
	}
	if numbers >= 2 {
		return fmt.Errorf("line 1: %s are no column names: want a header line such as x,y,feature", quoteAll(names))
	}
	xi, yi, fi, err := rows.opt.columns(names, true)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	rows.in.Format = "table"
	rows.in.Columns = [3]string{names[xi], names[yi], names[fi]}
	where := func() string {
		line, _ := c.FieldPos(0)
		return fmt.Sprintf("line %d", line)
	}
	for {
		rec, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return tableError(err)
		}
		x, errX := strconv.ParseFloat(strings.TrimSpace(rec[xi]), 64)
		y, errY := strconv.ParseFloat(strings.TrimSpace(rec[yi]), 64)
		if errX != nil || errY != nil {
			col, text := xi, rec[xi]
			if errX == nil {
				col, text = yi, rec[yi]
			}
			if err := rows.bad(fmt.Errorf("column %q: %q is not a number", names[col], text), where); err != nil {
				return err
			}
			continue
		}
		if err := rows.add(x, y, strings.TrimSpace(rec[fi]), where); err != nil {
			return err
		}
	}
}

// tableError takes the column out of the csv package's message and keeps the line.
func tableError(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("line %d: %w", p.Line, p.Err)
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
