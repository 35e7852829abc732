package points

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A Shapefile consists of three files or more. The .shp file has a header of 100 bytes, which
// starts with 9994 as a big-endian number, and records. A record is its number and its length in
// 16-bit words, both big endian, then a type and the coordinates, little endian. Types are 0 (no
// shape), 1 (point), 8 (multipoint), 11 and 18 (the same with height), 21 and 28 (with a measure).
// The .dbf file has a row of attributes for each record, in the same order. A .prj file holds the
// reference system as well-known text, and a .cpg file names the encoding of the attributes.

var shapefileMagic = []byte{0, 0, 0x27, 0x0a, 0, 0, 0, 0}

func readShapefile(shp *bufio.Reader, path string, open companions, rows *rowSink) error {
	rows.in.Format = "shapefile"
	if prj := open.text(".prj"); prj != "" {
		if err := rows.declare(prj); err != nil {
			return fmt.Errorf("its .prj file: %w", err)
		}
	} else if rows.opt.CRS == nil {
		rows.guess("%s: no .prj file says what the positions are; they are taken as numbers in a plane (points.ReadOptions.CRS=EPSG:n)", path)
	}
	f, err := open(".dbf")
	if err != nil {
		return fmt.Errorf("a Shapefile has its features in a .dbf file: %w", err)
	}
	defer f.Close()
	table, err := openDBF(bufio.NewReaderSize(f, 1<<16), open.text(".cpg"))
	if err != nil {
		return fmt.Errorf("its .dbf file: %w", err)
	}
	l, err := rows.columns(table.names, false)
	if err != nil {
		return err
	}
	if l.feature >= 0 {
		rows.in.Columns[2] = table.names[l.feature]
	}
	var head [100]byte
	if _, err := io.ReadFull(shp, head[:]); err != nil {
		return fmt.Errorf("header of the Shapefile: %w", noEOF(err))
	}
	for n := 1; ; n++ {
		record, err := readShape(shp)
		positions := record.points
		if errors.Is(err, io.EOF) {
			return nil
		}
		where := func() string { return fmt.Sprintf("record %d", n) }
		if err != nil && !errors.Is(err, errShape) {
			return fmt.Errorf("%s: %w", where(), err)
		}
		values, deleted, rowErr := table.next()
		if rowErr != nil {
			return fmt.Errorf("%s: its .dbf file: %w", where(), noEOF(rowErr))
		}
		if deleted {
			continue
		}
		kind := ""
		if l.feature >= 0 {
			kind = values[l.feature]
		}
		if rows.shapes != nil {
			if len(record.polygons) == 0 {
				return fmt.Errorf("%s: want a polygon", where())
			}
			rows.shapes.add(kind, record.polygons)
			continue
		}
		if err != nil {
			if err := rows.bad(noPosition, err, where); err != nil {
				return err
			}
			continue
		}
		if l.time >= 0 {
			rows.when = []byte(values[l.time])
		}
		for _, p := range positions {
			if err := rows.add(p[0], p[1], []byte(kind), where); err != nil {
				return err
			}
		}
	}
}

// besideFile opens files beside a Shapefile, whose extension may be in upper case.
func besideFile(path string) companions {
	base := strings.TrimSuffix(path, filepath.Ext(path))
	return func(ending string) (io.ReadCloser, error) {
		f, err := os.Open(base + ending)
		if err != nil {
			if upper, ok := os.Open(base + strings.ToUpper(ending)); ok == nil {
				return upper, nil
			}
		}
		return f, err
	}
}

var errShape = errors.New("the shape is not a point")

// largestShape bounds the bytes of a record: a million points with height and measure.
const largestShape = 1 << 25

// shape is a record: points, or polygons.
type shape struct {
	points   [][2]float64
	polygons [][][][2]float64
}

// readShape reads one record.
func readShape(r io.Reader) (s shape, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return s, err
	}
	size := 2 * int64(binary.BigEndian.Uint32(head[4:]))
	if size < 4 || size > largestShape {
		return s, fmt.Errorf("record of %d bytes: want 4 to %d for points", size, largestShape)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return s, noEOF(err)
	}
	order := binary.LittleEndian
	position := func(at int) [2]float64 {
		return [2]float64{math.Float64frombits(order.Uint64(data[at:])),
			math.Float64frombits(order.Uint64(data[at+8:]))}
	}
	switch kind := order.Uint32(data); kind {
	case 0:
		return s, fmt.Errorf("%w: it is empty", errShape)
	case 1, 11, 21:
		if size < 20 {
			return s, errors.New("truncated point")
		}
		return shape{points: [][2]float64{position(4)}}, nil
	case 8, 18, 28:
		if size < 40 {
			return s, errors.New("truncated points")
		}
		n := int64(order.Uint32(data[36:]))
		if 40+16*n > size {
			return s, errors.New("truncated points")
		}
		out := make([][2]float64, n)
		for i := range out {
			out[i] = position(40 + 16*i)
		}
		return shape{points: out}, nil
	case 5, 15, 25:
		if s.polygons, err = shapePolygons(data); err != nil {
			return s, err
		}
		return s, fmt.Errorf("%w but a polygon", errShape)
	default:
		return s, fmt.Errorf("%w but of type %d", errShape, kind)
	}
}

// shapePolygons reads the rings of a polygon: their number at 36 and that of positions at 40, the
// first position of each, and the positions. Rings that go clockwise are outer ones; the holes of
// each follow it.
func shapePolygons(data []byte) (out [][][][2]float64, err error) {
	order := binary.LittleEndian
	if len(data) < 44 {
		return nil, errors.New("truncated polygon")
	}
	parts, n := int64(order.Uint32(data[36:])), int64(order.Uint32(data[40:]))
	if 44+4*parts+16*n > int64(len(data)) {
		return nil, errors.New("truncated polygon")
	}
	from := 44 + 4*parts
	for k := range parts {
		lo, hi := int64(order.Uint32(data[44+4*k:])), n
		if k+1 < parts {
			hi = int64(order.Uint32(data[44+4*(k+1):]))
		}
		if lo > hi || hi > n {
			return nil, errors.New("the parts of a polygon are out of order")
		}
		var ring [][2]float64
		for i := lo; i < hi; i++ {
			ring = append(ring, [2]float64{math.Float64frombits(order.Uint64(data[from+16*i:])),
				math.Float64frombits(order.Uint64(data[from+16*i+8:]))})
		}
		if len(ring) > 2 && (ringArea(ring) <= 0 || len(out) == 0) {
			out = append(out, nil)
		} else if len(out) == 0 {
			return nil, errors.New("a ring without an area")
		}
		out[len(out)-1] = append(out[len(out)-1], ring)
	}
	return out, nil
}

// dbf is a dBASE table. Its header has 32 bytes, with the number of records at 4 and the lengths of
// the header at 8 and of a record at 10, little endian. For each field follow 32 bytes: name, type
// at 11, length at 16. The byte 0x0d ends the header. A record is a byte, * if it is deleted, and
// the fields as text of fixed width.
type dbf struct {
	r      io.Reader
	names  []string
	widths []int
	record []byte
	left   uint32
	utf8   bool
}

func openDBF(r io.Reader, encoding string) (*dbf, error) {
	var head [32]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, noEOF(err)
	}
	length, record := int(binary.LittleEndian.Uint16(head[8:])), int(binary.LittleEndian.Uint16(head[10:]))
	t := &dbf{r: r, left: binary.LittleEndian.Uint32(head[4:]), record: make([]byte, record)}
	encoding = strings.ToUpper(strings.TrimSpace(encoding))
	t.utf8 = encoding == "UTF-8" || encoding == "UTF8" || encoding == "65001"
	if length < 33 {
		return nil, fmt.Errorf("header of %d bytes: want at least 33", length)
	}
	rest := make([]byte, length-32)
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, noEOF(err)
	}
	sum := 1
	for ; len(rest) >= 32 && rest[0] != 0x0d; rest = rest[32:] {
		name, _, _ := strings.Cut(string(rest[:11]), "\x00")
		t.names = append(t.names, t.text([]byte(name)))
		t.widths = append(t.widths, int(rest[16]))
		sum += int(rest[16])
	}
	if sum > record {
		return nil, fmt.Errorf("fields need %d bytes, but records have %d", sum, record)
	}
	return t, nil
}

// next reads a row's values.
func (t *dbf) next() (values []string, deleted bool, err error) {
	if t.left == 0 {
		return nil, false, io.ErrUnexpectedEOF
	}
	t.left--
	if _, err := io.ReadFull(t.r, t.record); err != nil {
		return nil, false, err
	}
	at := 1
	for _, w := range t.widths {
		values = append(values, strings.TrimSpace(t.text(t.record[at:at+w])))
		at += w
	}
	return values, t.record[0] == '*', nil
}

// text decodes UTF-8 if it is declared or valid, and otherwise Latin-1, the next most common.
func (t *dbf) text(b []byte) string {
	b = []byte(strings.TrimRight(string(b), "\x00"))
	if t.utf8 || utf8.Valid(b) {
		return string(b)
	}
	out := make([]rune, len(b))
	for i, c := range b {
		out[i] = rune(c)
	}
	return string(out)
}
