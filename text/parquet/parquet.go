// Package parquet lets package text read Parquet tables. A program that reads them imports it for
// that effect:
//
//	import _ "github.com/collocate/collocate/text/parquet"
//
// Each row is read as if it were a line of JSON, so that columns are fields like any others. The
// package stands apart because the library for Parquet brings 150 packages, net/http among them.
//
// Experimental: it may change with any version; package collocate says what may not.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/collocate/collocate/text"
)

func init() { text.RegisterParquet(open) }

// lines reads a table as JSON lines, one object per row.
type lines struct {
	file    *parquet.File
	columns []column // leaves of the schema
	groups  []parquet.RowGroup
	rows    parquet.Rows
	buffer  []parquet.Row
	line    []byte // not read yet
	read    int
	tell    func(n int64)
	share   int64 // bytes of the file per row group
}

// column is a leaf of the table's schema and its conversion.
type column struct {
	name  string // of the column of the table
	part  string // name inside a struct
	lists int    // 1: a list of values, 2: a list of such lists
	maps  int    // 1: the keys of a map, 2: its values
	// optional: the map may be null
	optional bool
	other    bool // none of a plain value, such a list, and a struct or a map of plain values
	convert  func(dst []byte, v parquet.Value) []byte
}

func open(r io.ReaderAt, size int64, tell func(n int64)) (_ io.ReadCloser, err error) {
	defer recoverDamage(&err)
	f, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	p := &lines{file: f, groups: f.RowGroups(), tell: tell, buffer: make([]parquet.Row, 64)}
	p.share = size / int64(max(1, len(p.groups)))
	for _, c := range f.Root().Columns() {
		p.addColumn(c)
	}
	return p, nil
}

// recoverDamage turns a panic into an error: the library panics on some damaged files.
func recoverDamage(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("parquet: damaged file: %v", p)
	}
}

// addColumn appends the leaves of a column, in order.
func (p *lines) addColumn(c *parquet.Column) {
	leaves := leavesOf(c, nil)
	kind := column{name: c.Name()}
	switch {
	case c.Leaf() && !c.Repeated():
	case len(leaves) == 1 && (leaves[0].MaxRepetitionLevel() == 1 || leaves[0].MaxRepetitionLevel() == 2):
		kind.lists = leaves[0].MaxRepetitionLevel()
	case isMap(c) && len(leaves) == 2 && leaves[1].MaxRepetitionLevel() == 1:
		p.columns = append(p.columns, column{name: c.Name(), maps: 1, convert: converter(leaves[0])},
			column{name: c.Name(), maps: 2, optional: c.Optional(), convert: converter(leaves[1])})
		return
	default:
		for _, leaf := range leaves {
			part := column{name: c.Name(), part: leaf.Name(), convert: converter(leaf)}
			// A struct of structs would lose the names in between.
			part.other = leaf.MaxRepetitionLevel() > 0 || len(leaf.Path()) != len(c.Path())+1
			p.columns = append(p.columns, part)
		}
		return
	}
	kind.convert = converter(leaves[0])
	p.columns = append(p.columns, kind)
}

// isMap reports whether a column is a map: an optional group of repeated keys and values.
func isMap(c *parquet.Column) bool {
	if logical := c.Type().LogicalType(); logical != nil {
		_, ok := logical.Value.(*format.MapType)
		return ok
	}
	return false
}

func leavesOf(c *parquet.Column, list []*parquet.Column) []*parquet.Column {
	if c.Leaf() {
		return append(list, c)
	}
	for _, child := range c.Columns() {
		list = leavesOf(child, list)
	}
	return list
}

// converter returns a function that appends a value as JSON.
func converter(c *parquet.Column) func([]byte, parquet.Value) []byte {
	quotedTime := func(dst []byte, t time.Time, form string) []byte {
		return append(t.UTC().AppendFormat(append(dst, '"'), form), '"')
	}
	var (
		date, unsigned bool
		unit, scale    = time.Duration(0), -1
	)
	if logical := c.Type().LogicalType(); logical != nil {
		switch kind := logical.Value.(type) {
		case *format.DateType:
			date = true
		case *format.TimestampType:
			unit = time.Nanosecond
			if kind.Unit.Value != nil {
				unit = kind.Unit.Value.Duration()
			}
		case *format.IntType:
			unsigned = !kind.IsSigned
		case *format.DecimalType:
			scale = int(kind.Scale)
		}
	}
	return func(dst []byte, v parquet.Value) []byte {
		switch k := v.Kind(); {
		case date && k == parquet.Int32:
			return quotedTime(dst, time.Unix(int64(v.Int32())*24*3600, 0), time.DateOnly)
		case unit > 0 && k == parquet.Int64:
			perSecond := int64(time.Second / unit)
			t := time.Unix(v.Int64()/perSecond, v.Int64()%perSecond*int64(unit))
			return quotedTime(dst, t, "2006-01-02T15:04:05.999Z07:00")
		case scale >= 0 && (k == parquet.Int32 || k == parquet.Int64):
			return appendDecimal(dst, v.Int64(), scale)
		case k == parquet.Boolean:
			return strconv.AppendBool(dst, v.Boolean())
		case k == parquet.Int32 && unsigned:
			return strconv.AppendUint(dst, uint64(v.Uint32()), 10)
		case k == parquet.Int64 && unsigned:
			return strconv.AppendUint(dst, v.Uint64(), 10)
		case k == parquet.Int32 || k == parquet.Int64:
			return strconv.AppendInt(dst, v.Int64(), 10)
		case k == parquet.Float:
			return appendFloat(dst, float64(v.Float()), 32)
		case k == parquet.Double:
			return appendFloat(dst, v.Double(), 64)
		case k == parquet.ByteArray || k == parquet.FixedLenByteArray:
			return appendJSONString(dst, v.ByteArray())
		case k == parquet.Int96:
			n := v.Int96() // nanoseconds of the day, then the Julian day
			nanos := int64(n[0]) | int64(n[1])<<32
			return quotedTime(dst, time.Unix((int64(n[2])-2440588)*24*3600, nanos), "2006-01-02T15:04:05.999Z07:00")
		}
		return append(dst, "null"...)
	}
}

func appendDecimal(dst []byte, v int64, scale int) []byte {
	if scale <= 0 {
		return strconv.AppendInt(dst, v, 10)
	}
	if v < 0 {
		dst = append(dst, '-')
	}
	digits := strconv.FormatUint(uint64(max(v, -v)), 10)
	for len(digits) <= scale {
		digits = "0" + digits
	}
	dst = append(append(dst, digits[:len(digits)-scale]...), '.')
	return append(dst, digits[len(digits)-scale:]...)
}

// appendFloat appends a number, or null for NaN and infinities: pandas writes missing values as
// NaN.
func appendFloat(dst []byte, v float64, bits int) []byte {
	if v-v != 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

func appendJSONString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		if c < 0x20 {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, '\\', c)
		}
		from = i + 1
	}
	return append(append(dst, s[from:]...), '"')
}

func (p *lines) Read(b []byte) (n int, err error) {
	defer recoverDamage(&err)
	for p.read == len(p.line) {
		if err := p.fill(); err != nil {
			return 0, err
		}
	}
	n = copy(b, p.line[p.read:])
	p.read += n
	return n, nil
}

// fill makes lines of the next rows.
func (p *lines) fill() error {
	p.line, p.read = p.line[:0], 0
	if p.rows == nil {
		if len(p.groups) == 0 {
			return io.EOF
		}
		p.rows = p.groups[0].Rows()
		p.groups = p.groups[1:]
		p.tell(p.share)
	}
	n, err := p.rows.ReadRows(p.buffer)
	for _, row := range p.buffer[:n] {
		p.appendRow(row)
	}
	if errors.Is(err, io.EOF) || n == 0 && err == nil {
		err = p.rows.Close()
		p.rows = nil
	}
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

// appendRow appends one object. The values of a row are in the order of columns. A struct has only
// the members that are not null, as tables of dictionaries have a column for each key of any row;
// without any it is null.
func (p *lines) appendRow(row parquet.Row) {
	p.line = append(p.line, '{')
	open, start := "", 0 // the struct that is being written, "" if none, and where it begins
	end := func() {
		if open != "" && len(p.line) == start {
			p.line = append(p.line, "null"...)
		} else if open != "" {
			p.line = append(p.line, '}')
		}
		open = ""
	}
	var keys []parquet.Value // of a map
	first := true
	row.Range(func(at int, values []parquet.Value) bool {
		if at >= len(p.columns) {
			return false
		}
		c := &p.columns[at]
		if c.maps == 1 {
			keys = values
			return true
		}
		if open == "" || open != c.name || c.part == "" {
			if end(); !first {
				p.line = append(p.line, ',')
			}
			first = false
			p.line = append(appendJSONString(p.line, []byte(c.name)), ':')
			if c.part != "" {
				open, start = c.name, len(p.line)
			}
		}
		switch {
		case c.maps == 2:
			p.line = p.appendMap(p.line, at, keys, values)
		case c.part == "":
			p.line = c.append(p.line, values)
		case c.other || len(values) > 0 && !values[0].IsNull():
			if len(p.line) == start {
				p.line = append(p.line, '{')
			} else {
				p.line = append(p.line, ',')
			}
			p.line = append(appendJSONString(p.line, []byte(c.part)), ':')
			p.line = c.append(p.line, values)
		}
		return true
	})
	end()
	p.line = append(p.line, '}', '\n')
}

// appendMap appends a map as an object, without keys whose value is null. Column at has its values,
// the one before its keys.
func (p *lines) appendMap(dst []byte, at int, keys, values []parquet.Value) []byte {
	if c := p.columns[at]; len(keys) == 0 || c.optional && keys[0].DefinitionLevel() == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	n := 0
	for i, v := range values {
		if v.IsNull() || i >= len(keys) || keys[i].IsNull() {
			continue
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		from := len(dst)
		if dst = p.columns[at-1].convert(dst, keys[i]); dst[from] != '"' {
			key := append([]byte(nil), dst[from:]...)
			dst = appendJSONString(dst[:from], key)
		}
		dst = p.columns[at].convert(append(dst, ':'), v)
	}
	return append(dst, '}')
}

func (c *column) append(dst []byte, values []parquet.Value) []byte {
	switch {
	case c.other:
		return append(dst, "{}"...)
	case c.lists == 0 && (len(values) == 0 || values[0].IsNull()):
		return append(dst, "null"...)
	case c.lists == 0:
		return c.convert(dst, values[0])
	case c.lists == 2:
		return c.appendLists(dst, values)
	}
	return c.appendList(dst, values)
}

// appendLists appends a list of lists, without those that are missing if there is no other.
func (c *column) appendLists(dst []byte, values []parquet.Value) []byte {
	dst = append(dst, '[')
	if len(values) == 1 && values[0].IsNull() {
		values = nil
	}
	for from := 0; from < len(values); {
		to := from + 1
		for to < len(values) && values[to].RepetitionLevel() == 2 {
			to++
		}
		if from > 0 {
			dst = append(dst, ',')
		}
		dst = c.appendList(dst, values[from:to])
		from = to
	}
	return append(dst, ']')
}

func (c *column) appendList(dst []byte, values []parquet.Value) []byte {
	dst = append(dst, '[')
	n := 0
	for _, v := range values {
		if v.IsNull() {
			continue // a missing or empty list, or a missing element
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		dst = c.convert(dst, v)
	}
	return append(dst, ']')
}

func (p *lines) Close() error {
	if p.rows == nil {
		return nil
	}
	return p.rows.Close()
}
