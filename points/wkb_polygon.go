package points

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// wkbReader reads geometries as well-known binary; see parseWKBPoint. A polygon is its number of
// rings, and for each the number of positions and these, with as many coordinates as the type says.
// A multipolygon is the number of polygons and these, each with byte order and type.
type wkbReader struct {
	b     []byte
	order binary.ByteOrder
	axes  int // coordinates of a position
}

var errWKB = errors.New("truncated WKB")

func (r *wkbReader) number() (uint32, error) {
	if len(r.b) < 4 {
		return 0, errWKB
	}
	n := r.order.Uint32(r.b)
	r.b = r.b[4:]
	return n, nil
}

// head reads byte order and type, without flags.
func (r *wkbReader) head() (uint32, error) {
	if len(r.b) < 5 || r.b[0] > 1 {
		return 0, errors.New("no WKB geometry")
	}
	r.order = binary.BigEndian
	if r.b[0] == 1 {
		r.order = binary.LittleEndian
	}
	r.b = r.b[1:]
	kind, err := r.number()
	if err == nil && kind&0x20000000 != 0 { // a reference system
		_, err = r.number()
	}
	r.axes = 2 + int(kind>>31&1) + int(kind>>30&1)
	if kind &= 0x0fffffff; kind > 1000 {
		r.axes += [4]int{0, 1, 1, 2}[kind/1000&3]
	}
	return kind % 1000, err
}

// polygon reads the rings of a polygon.
func (r *wkbReader) polygon() (rings [][][2]float64, err error) {
	n, err := r.number()
	for i := uint32(0); i < n && err == nil; i++ {
		var size uint32
		if size, err = r.number(); err != nil {
			break
		}
		if uint64(size) > uint64(len(r.b)/(8*r.axes)) {
			return nil, errWKB
		}
		ring := make([][2]float64, size)
		for k := range ring {
			ring[k] = [2]float64{math.Float64frombits(r.order.Uint64(r.b)), math.Float64frombits(r.order.Uint64(r.b[8:]))}
			r.b = r.b[8*r.axes:]
		}
		rings = append(rings, ring)
	}
	return rings, err
}

// parseWKBPolygons parses a polygon or a multipolygon.
func parseWKBPolygons(b []byte) (out [][][][2]float64, err error) {
	r := &wkbReader{b: b}
	kind, err := r.head()
	if err != nil {
		return nil, err
	}
	n := uint32(1)
	switch kind {
	case 3:
	case 6:
		if n, err = r.number(); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("geometry is WKB of type %d: want a polygon", kind)
	}
	for range n {
		if kind == 6 {
			if part, err := r.head(); err != nil || part != 3 {
				return nil, errors.Join(errors.New("a part of a multipolygon is no polygon"), err)
			}
		}
		rings, err := r.polygon()
		if err != nil {
			return nil, err
		}
		out = append(out, rings)
	}
	return out, nil
}
