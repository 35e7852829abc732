package points

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// A FlatGeobuf file has 8 bytes of magic ("fgb", the version 3, "fgb", a patch number), a header,
// an index of the envelopes, which is passed over, and the features. Header and features are
// FlatBuffers after their length in 32 bits. Fields are numbered in the order of the schema:
//
//	header:   name, envelope, geometry type, z, m, t, tm, columns, number of features, node size of
//	          the index, reference system
//	column:   name, type
//	system:   organisation, code, name, description, well-known text
//	feature:  geometry, properties, columns
//	geometry: ends of rings, x and y in turn, z, m, t, tm, type, parts
//
// Properties are the number of a column in 16 bits and its value, again and again.

const (
	flatGeobufVersion = 3
	largestFlatHeader = 1 << 24
	largestFlat       = 1 << 28 // bytes of a feature
)

func isFlatGeobuf(start []byte) bool {
	return len(start) >= 8 && string(start[:3]) == "fgb" && string(start[4:7]) == "fgb"
}

// flatColumns are the bytes of a value of each type of column, from byte to binary; 0 means that
// its length comes before it.
var flatColumns = [...]int{1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0, 0, 0, 0}

// Geometry types of FlatGeobuf.
const (
	flatPoint        = 1
	flatPolygon      = 3
	flatMultiPoint   = 4
	flatMultiPolygon = 6
)

type flatReader struct {
	r     io.Reader
	rows  *rowSink
	kind  int // of the geometries; 0 if each says its own
	types []int
	at    layout
	count uint64
	node  uint64
}

func readFlatGeobuf(r *bufio.Reader, rows *rowSink) error {
	rows.in.Format = "flatgeobuf"
	var magic [8]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return noEOF(err)
	}
	if magic[3] != flatGeobufVersion {
		return fmt.Errorf("FlatGeobuf of version %d: want %d", magic[3], flatGeobufVersion)
	}
	f := &flatReader{r: r, rows: rows}
	head, err := f.next(largestFlatHeader)
	if err == nil {
		err = f.header(head)
	}
	if err == nil {
		err = f.passIndex(r)
	}
	if err != nil {
		return fmt.Errorf("header of the FlatGeobuf: %w", noEOF(err))
	}
	for n := uint64(1); f.count == 0 || n <= f.count; n++ {
		where := func() string { return fmt.Sprintf("feature %d", n) }
		data, err := f.next(largestFlat)
		if errors.Is(err, io.EOF) && f.count == 0 {
			return nil
		}
		if err == nil {
			err = f.feature(data, where)
		} else {
			err = fmt.Errorf("%s: %w", where(), noEOF(err))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next reads a FlatBuffer. Its memory grows with what is read, whatever the length says.
func (f *flatReader) next(largest int64) (*flatbuffer, error) {
	var size [4]byte
	if _, err := io.ReadFull(f.r, size[:]); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(size[:]))
	if n < 8 || n > largest {
		return nil, fmt.Errorf("a FlatBuffer of %d bytes: want 8 to %d", n, largest)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, f.r, n); err != nil {
		return nil, noEOF(err)
	}
	return &flatbuffer{data: b.Bytes()}, nil
}

func (f *flatReader) header(b *flatbuffer) error {
	root := b.root()
	f.kind = int(b.number(root, 2, 1, 0))
	f.count = b.number(root, 8, 8, 0)
	f.node = b.number(root, 9, 2, 16)
	var names []string
	list, length := b.list(root, 7, 4)
	for i := range length {
		at := list + 4*i
		column := at + b.uint32(at)
		names = append(names, b.text(column, 0))
		kind := int(b.number(column, 1, 1, 0))
		if kind >= len(flatColumns) {
			return fmt.Errorf("column %q has the unknown type %d", names[i], kind)
		}
		f.types = append(f.types, kind)
	}
	if err := b.err(); err != nil {
		return err
	}
	if err := f.system(b, root); err != nil {
		return err
	}
	var err error
	if f.at, err = f.rows.columns(names, false); err != nil {
		return err
	}
	if f.at.feature >= 0 && f.rows.shapes == nil {
		f.rows.in.Columns[2] = names[f.at.feature]
	}
	return nil
}

// system declares the reference system: by number, or else by well-known text.
func (f *flatReader) system(b *flatbuffer, root int) error {
	crs, ok := b.table(root, 10)
	if f.rows.opt.CRS != nil {
		return nil
	}
	code, text := 0, ""
	if ok {
		code, text = int(int32(b.number(crs, 1, 4, 0))), b.text(crs, 4)
	}
	if org := b.text(crs, 0); code > 0 && ok && (org == "" || org == "EPSG") {
		if c, err := epsg(code); err == nil || text == "" {
			f.rows.crs = c
			return err
		}
	}
	if err := b.err(); err != nil || text != "" {
		if err == nil {
			err = f.rows.declare(text)
		}
		return err
	}
	f.rows.guess("the FlatGeobuf names no reference system; positions are taken as numbers in a plane (points.ReadOptions.CRS=EPSG:n)")
	return nil
}

// passIndex skips the index: 40 bytes for each node of a tree over the features.
func (f *flatReader) passIndex(r *bufio.Reader) error {
	if f.node == 0 || f.count == 0 {
		return nil
	}
	if f.node < 2 || f.count > 1<<48 {
		return fmt.Errorf("an index of %d features with %d to a node", f.count, f.node)
	}
	nodes := f.count
	for n := f.count; ; {
		n = (n + f.node - 1) / f.node
		if nodes += n; n == 1 {
			break
		}
	}
	_, err := io.CopyN(io.Discard, r, int64(nodes)*40)
	return err
}

// feature adds the points or the polygons of a feature.
func (f *flatReader) feature(b *flatbuffer, where func() string) error {
	root := b.root()
	geometry, ok := b.table(root, 0)
	kind, when := f.properties(b, root)
	var shape shape
	err := errors.New("no geometry")
	if ok {
		shape, err = f.geometry(b, geometry, 0)
	}
	if damaged := b.err(); damaged != nil {
		return fmt.Errorf("%s: %w", where(), damaged)
	}
	if f.rows.shapes != nil {
		if err == nil && len(shape.polygons) == 0 {
			err = errors.New("want a polygon")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", where(), err)
		}
		f.rows.shapes.add(kind, shape.polygons)
		return nil
	}
	if err == nil && len(shape.points) == 0 {
		err = errors.New("the geometry is not a point")
	}
	if err != nil {
		return f.rows.bad(noPosition, err, where)
	}
	f.rows.when = []byte(when)
	for _, p := range shape.points {
		if err := f.rows.add(p[0], p[1], []byte(kind), where); err != nil {
			return err
		}
	}
	return nil
}

// geometry reads points or polygons. Parts of parts are not read.
func (f *flatReader) geometry(b *flatbuffer, at, depth int) (s shape, err error) {
	kind := int(b.number(at, 6, 1, 0))
	if depth == 0 && f.kind != 0 {
		kind = f.kind
	}
	if depth > 0 {
		kind = flatPolygon
	}
	positions, n := b.list(at, 1, 8)
	position := func(i int) [2]float64 {
		return [2]float64{b.float64(positions + 16*i), b.float64(positions + 16*i + 8)}
	}
	switch kind {
	case flatPoint, flatMultiPoint:
		if n < 2 || n%2 != 0 {
			return s, errors.New("the geometry is empty")
		}
		for i := range n / 2 {
			s.points = append(s.points, position(i))
		}
	case flatPolygon:
		ends, rings := b.list(at, 0, 4)
		var polygon [][][2]float64
		for k, from := 0, 0; k < max(1, rings); k++ {
			end := n / 2
			if rings > 0 {
				end = b.uint32(ends + 4*k)
			}
			if end < from || end > n/2 {
				return s, errors.New("the rings of a polygon are out of order")
			}
			var ring [][2]float64
			for ; from < end; from++ {
				ring = append(ring, position(from))
			}
			polygon = append(polygon, ring)
		}
		s.polygons = append(s.polygons, polygon)
	case flatMultiPolygon:
		list, parts := b.list(at, 7, 4)
		for i := range parts {
			at := list + 4*i
			part, err := f.geometry(b, at+b.uint32(at), depth+1)
			if err != nil || b.damaged {
				return s, err
			}
			s.polygons = append(s.polygons, part.polygons...)
		}
	default:
		return s, fmt.Errorf("the geometry is of type %d: want points or polygons", kind)
	}
	return s, nil
}

// properties returns the values of the columns of the feature and the time.
func (f *flatReader) properties(b *flatbuffer, root int) (kind, when string) {
	at, length := b.list(root, 1, 1)
	for end := at + length; at < end && !b.damaged; {
		column := b.uint16(at)
		at += 2
		if column >= len(f.types) {
			b.damaged = true
			return "", ""
		}
		size := flatColumns[f.types[column]]
		if size == 0 {
			size = b.uint32(at)
			at += 4
		}
		value := b.bytes(at, size)
		at += size
		if column == f.at.feature && value != nil {
			kind = flatText(value, f.types[column])
		}
		if column == f.at.time && value != nil {
			when = flatText(value, f.types[column])
		}
	}
	return kind, when
}

// flatText returns a value as text.
func flatText(value []byte, kind int) string {
	var all [8]byte
	copy(all[:], value)
	n := binary.LittleEndian.Uint64(all[:])
	switch kind {
	case 0:
		return strconv.Itoa(int(int8(n)))
	case 2:
		return strconv.FormatBool(n != 0)
	case 3:
		return strconv.Itoa(int(int16(n)))
	case 5:
		return strconv.Itoa(int(int32(n)))
	case 7:
		return strconv.FormatInt(int64(n), 10)
	case 1, 4, 6, 8:
		return strconv.FormatUint(n, 10)
	case 9:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(n))), 'f', -1, 32)
	case 10:
		return strconv.FormatFloat(math.Float64frombits(n), 'f', -1, 64)
	}
	return string(value)
}
