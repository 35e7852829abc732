package points

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// readParquet reads columns x, y and feature. In GeoParquet, the file's "geo" metadata names the
// column that holds the points as WKB.
func readParquet(r io.ReaderAt, size int64, rows *rowSink) (err error) {
	// The library panics on some damaged files.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parquet: damaged file: %v", p)
		}
	}()
	f, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	columns := f.Root().Columns()
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name()
	}
	rows.in.Format = "parquet"
	geometry := -1
	if meta, ok := f.Lookup("geo"); ok && rows.opt.X == "" && rows.opt.Y == "" {
		var geo struct {
			Primary string `json:"primary_column"`
			Columns map[string]struct {
				Encoding string          `json:"encoding"`
				CRS      json.RawMessage `json:"crs"`
			} `json:"columns"`
		}
		if err := json.Unmarshal([]byte(meta), &geo); err != nil {
			return fmt.Errorf("parquet: geo metadata: %w", err)
		}
		for i, n := range names {
			if n == geo.Primary {
				geometry = i
			}
		}
		if geometry < 0 {
			return fmt.Errorf("parquet: no column %q, the geometry of the geo metadata", geo.Primary)
		}
		if e := geo.Columns[geo.Primary].Encoding; e != "WKB" {
			return fmt.Errorf("parquet: geometry is encoded as %q: want WKB", e)
		}
		rows.in.Format = "geoparquet"
		switch crs := geo.Columns[geo.Primary].CRS; {
		case rows.opt.CRS != nil:
		case crs == nil: // GeoParquet's default
			rows.assume(WGS84, "GeoParquet without a reference system is in WGS 84")
		case string(crs) == "null":
			rows.crs = nil
		default:
			if err := rows.declare(string(crs)); err != nil {
				return fmt.Errorf("parquet: %w", err)
			}
		}
	}
	if rows.shapes != nil && geometry < 0 {
		return errors.New("parquet: want polygons as GeoParquet")
	}
	l, err := rows.columns(names, geometry < 0)
	if err == nil && l.geometry >= 0 {
		err = errors.New("well-known text in Parquet is not supported: want GeoParquet, or columns x and y")
	}
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	used := []int{geometry}
	if geometry < 0 {
		used = []int{l.x, l.y}
		rows.in.Columns[0], rows.in.Columns[1] = names[l.x], names[l.y]
	}
	positions := len(used)
	if l.feature >= 0 {
		rows.in.Columns[2] = names[l.feature]
		used = append(used, l.feature)
	}
	if l.time >= 0 {
		used = append(used, l.time)
	}
	for _, c := range used {
		if col := columns[c]; !col.Leaf() || col.Repeated() {
			return fmt.Errorf("parquet: column %q is nested: want one value per row", names[c])
		}
	}
	row := int64(0)
	for _, group := range f.RowGroups() {
		if err := readRowGroup(group, columns, used, positions, &row, rows); err != nil {
			return err
		}
	}
	return nil
}

// readRowGroup reads the used columns of a row group, row by row.
func readRowGroup(group parquet.RowGroup, columns []*parquet.Column, used []int, positions int,
	row *int64, rows *rowSink) error {
	cursors := make([]columnCursor, len(used))
	for i, c := range used {
		cursors[i].pages = group.ColumnChunks()[columns[c].Index()].Pages()
		defer cursors[i].pages.Close()
	}
	where := func() string { return fmt.Sprintf("parquet: row %d", *row) }
	for range group.NumRows() {
		*row++
		var v [4]parquet.Value
		for i := range cursors {
			var err error
			if v[i], err = cursors[i].next(); err != nil {
				return fmt.Errorf("%s, column %q: %w", where(), columns[used[i]].Name(), noEOF(err))
			}
		}
		if rows.shapes != nil {
			if err := parquetPolygons(v[:len(used)], rows, where); err != nil {
				return err
			}
			continue
		}
		x, y, err := position(v[:positions])
		if err != nil {
			if err := rows.bad(noPosition, err, where); err != nil {
				return err
			}
			continue
		}
		rest := v[positions:len(used)]
		kind := ""
		if rows.fixed == nil {
			kind, rest = kindOf(rest[0]), rest[1:]
		}
		if len(rest) > 0 {
			rows.when = []byte(timeOf(rest[0], columns[used[len(used)-1]]))
		}
		if err := rows.add(x, y, []byte(kind), where); err != nil {
			return err
		}
	}
	return nil
}

// parquetPolygons adds the polygons of a row: a geometry and, if there is one, a name.
func parquetPolygons(v []parquet.Value, rows *rowSink, where func() string) error {
	name := ""
	if len(v) > 1 {
		name = kindOf(v[1])
	}
	if v[0].IsNull() {
		return rows.polygons(name, nil, errors.New("no geometry"), where)
	}
	return rows.polygons(name, v[0].ByteArray(), nil, where)
}

// columnCursor returns the values of one column chunk one by one.
type columnCursor struct {
	pages  parquet.Pages
	values parquet.ValueReader
	buf    [256]parquet.Value
	n, at  int
}

func (c *columnCursor) next() (parquet.Value, error) {
	for c.at == c.n {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, err
			}
			c.values = page.Values()
		}
		n, err := c.values.ReadValues(c.buf[:])
		if errors.Is(err, io.EOF) {
			c.values = nil
		} else if err != nil {
			return parquet.Value{}, err
		}
		c.n, c.at = n, 0
	}
	v := c.buf[c.at]
	c.at++
	return v, nil
}

func position(v []parquet.Value) (x, y float64, err error) {
	if len(v) == 1 {
		if v[0].IsNull() {
			return 0, 0, errors.New("no geometry")
		}
		return parseWKBPoint(v[0].ByteArray())
	}
	if x, err = number(v[0]); err == nil {
		y, err = number(v[1])
	}
	return x, y, err
}

func number(v parquet.Value) (float64, error) {
	switch {
	case v.IsNull():
		return 0, errors.New("a coordinate is missing")
	case v.Kind() == parquet.Double:
		return v.Double(), nil
	case v.Kind() == parquet.Float:
		return float64(v.Float()), nil
	case v.Kind() == parquet.Int32:
		return float64(v.Int32()), nil
	case v.Kind() == parquet.Int64:
		return float64(v.Int64()), nil
	}
	return 0, fmt.Errorf("coordinate of type %s: want a number", v.Kind())
}

// timeOf returns a time as text that parseTime accepts.
func timeOf(v parquet.Value, c *parquet.Column) string {
	if v.IsNull() {
		return ""
	}
	if logical := c.Type().LogicalType(); logical != nil {
		switch kind := logical.Value.(type) {
		case *format.DateType:
			return time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly)
		case *format.TimestampType:
			perSecond := int64(1000)
			switch kind.Unit.Value.(type) {
			case *format.MicroSeconds:
				perSecond = 1_000_000
			case *format.NanoSeconds:
				perSecond = 1_000_000_000
			}
			return time.Unix(v.Int64()/perSecond, 0).UTC().Format(time.RFC3339)
		}
	}
	return kindOf(v)
}

func kindOf(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	switch v.Kind() {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return strings.TrimSpace(string(v.ByteArray()))
	case parquet.Int32:
		return strconv.FormatInt(int64(v.Int32()), 10)
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	}
	return v.String()
}

// parseWKBPoint parses a point in well-known binary: byte order (0 big, 1 little endian), type, x
// and y as float64. The type is 1; Z, M and a reference system are flagged in it as in ISO's or
// PostGIS's dialect. POINT(1 2), little endian, is
//
//	01 01000000 000000000000f03f 0000000000000040
func parseWKBPoint(b []byte) (x, y float64, err error) {
	if len(b) < 21 || b[0] > 1 {
		return 0, 0, errors.New("geometry is not a WKB point")
	}
	var order binary.ByteOrder = binary.BigEndian
	if b[0] == 1 {
		order = binary.LittleEndian
	}
	kind, rest := order.Uint32(b[1:]), b[5:]
	if kind&0x20000000 != 0 { // a reference system comes first
		rest = rest[4:]
	}
	if kind&0x0fffffff%1000 != 1 || len(rest) < 16 {
		return 0, 0, fmt.Errorf("geometry is WKB of type %d: want a point", kind)
	}
	return math.Float64frombits(order.Uint64(rest)), math.Float64frombits(order.Uint64(rest[8:])), nil
}
