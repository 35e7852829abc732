// Package gpkg writes GeoPackages: tables of points, lines and attributes in one SQLite
// file that GIS programs open.
//
// About 200 lines here write the file, without a database driver; points/sqlite.go reads such files
// and describes the format. Rows come in the order of their numbers, so each table's tree of pages
// is built from its leaves up while they are written. Only page 1, with the roots of all tables, is
// written last.
package gpkg

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math"
)

// pageSize is the size of the file's pages, all of it usable.
const pageSize = 4096

// Kinds of pages.
const (
	indexLeaf = 10
	tableLeaf = 13
	tableNode = 5
)

// database is an SQLite file being written.
type database struct {
	w      io.Writer // from page 2 on
	pages  uint32    // written so far, including page 1
	master [][]any   // rows of sqlite_master
	err    error
}

// page is a page being filled with cells.
type page struct {
	kind  byte
	head  int // bytes before the page's header: 100 on page 1
	cells [][]byte
	used  int
	right uint32 // last child of an interior page
}

func newPage(kind byte, head int) *page {
	p := &page{kind: kind, head: head, used: head + 8}
	if kind == tableNode {
		p.used += 4
	}
	return p
}

// add adds a cell, and reports whether there was room.
func (p *page) add(cell []byte) bool {
	if p.used+len(cell)+2 > pageSize {
		return false
	}
	p.used += len(cell) + 2
	p.cells = append(p.cells, cell)
	return true
}

func (p *page) bytes() []byte {
	b := make([]byte, pageSize)
	h := b[p.head:]
	end := pageSize
	at := p.head + 8
	if p.kind == tableNode {
		binary.BigEndian.PutUint32(h[8:], p.right)
		at += 4
	}
	for _, c := range p.cells {
		end -= len(c)
		copy(b[end:], c)
		binary.BigEndian.PutUint16(b[at:], uint16(end))
		at += 2
	}
	h[0] = p.kind
	binary.BigEndian.PutUint16(h[3:], uint16(len(p.cells)))
	binary.BigEndian.PutUint16(h[5:], uint16(end))
	return b
}

// emit writes a page and returns its number.
func (d *database) emit(b []byte) uint32 {
	if d.err == nil {
		_, d.err = d.w.Write(b)
	}
	d.pages++
	return d.pages
}

// child is a page with its highest row number.
type child struct {
	page uint32
	last int64
}

// table writes a table with rows numbered from 1; columns that are the row number are nil.
func (d *database) table(name, sql string, rows iter.Seq[[]any]) {
	var level []child
	leaf, number := newPage(tableLeaf, 0), int64(0)
	for values := range rows {
		cell := d.cell(number+1, record(values))
		if !leaf.add(cell) {
			level = append(level, child{d.emit(leaf.bytes()), number})
			leaf = newPage(tableLeaf, 0)
			leaf.add(cell)
		}
		number++
		if d.err != nil { // the disk may be full: more rows would be encoded for nothing
			break
		}
	}
	level = append(level, child{d.emit(leaf.bytes()), number})
	for len(level) > 1 {
		level = d.nodes(level)
	}
	d.master = append(d.master, []any{"table", name, name, int64(level[0].page), sql})
}

// nodes writes the interior pages above a level of pages.
func (d *database) nodes(below []child) (level []child) {
	node := newPage(tableNode, 0)
	for i, c := range below {
		cell := append(binary.BigEndian.AppendUint32(nil, c.page), varint(uint64(c.last))...)
		last := i == len(below)-1
		// The last child of an interior page has no cell. A page keeps room for one more cell, so
		// that the last page never has a single child.
		if last || node.used+2*(len(cell)+2) > pageSize && i < len(below)-2 {
			node.right = c.page
			level = append(level, child{d.emit(node.bytes()), c.last})
			node = newPage(tableNode, 0)
			continue
		}
		node.add(cell)
	}
	return level
}

// index writes the index that the declaration of a small table implies: entries are the values of
// the key and the row number, in order.
func (d *database) index(name, table string, entries ...[]any) {
	p := newPage(indexLeaf, 0)
	for _, e := range entries {
		r := record(e)
		if len(r) > 900 || !p.add(append(varint(uint64(len(r))), r...)) {
			d.err = errors.Join(d.err, errors.New("GeoPackage: names of layers are too long"))
		}
	}
	d.master = append(d.master, []any{"index", name, table, int64(d.emit(p.bytes())), nil})
}

// cell returns the cell of a row. The part that does not fit goes to a chain of overflow pages.
func (d *database) cell(number int64, payload []byte) []byte {
	const most, least = pageSize - 35, (pageSize-12)*32/255 - 23
	c := append(varint(uint64(len(payload))), varint(uint64(number))...)
	if len(payload) <= most {
		return append(c, payload...)
	}
	local := least + (len(payload)-least)%(pageSize-4)
	if local > most {
		local = least
	}
	c = append(c, payload[:local]...)
	c = binary.BigEndian.AppendUint32(c, d.pages+1)
	for rest := payload[local:]; len(rest) > 0; {
		b := make([]byte, pageSize)
		n := copy(b[4:], rest)
		if rest = rest[n:]; len(rest) > 0 {
			binary.BigEndian.PutUint32(b, d.pages+2)
		}
		d.emit(b)
	}
	return c
}

// record encodes the values of a row: nil, int64, float64, string or []byte.
func record(values []any) []byte {
	var types, body []byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			types = append(types, 0)
		case int64:
			kind, size := byte(6), 8
			switch {
			case v == int64(int8(v)):
				kind, size = 1, 1
			case v == int64(int16(v)):
				kind, size = 2, 2
			case v == int64(int32(v)):
				kind, size = 4, 4
			}
			types = append(types, kind)
			body = append(body, binary.BigEndian.AppendUint64(nil, uint64(v))[8-size:]...)
		case float64:
			types = append(types, 7)
			body = binary.BigEndian.AppendUint64(body, math.Float64bits(v))
		case string:
			types = append(types, varint(uint64(13+2*len(v)))...)
			body = append(body, v...)
		case []byte:
			types = append(types, varint(uint64(12+2*len(v)))...)
			body = append(body, v...)
		}
	}
	size := len(types) + 1
	if size > 127 {
		size++ // the length itself takes two bytes, for up to 16 KB of types
	}
	return append(append(varint(uint64(size)), types...), body...)
}

// varint encodes a number as SQLite does: seven bits per byte, the highest first; the ninth byte
// has eight.
func varint(v uint64) []byte {
	if v >= 1<<56 {
		b := make([]byte, 9)
		b[8] = byte(v)
		v >>= 8
		for i := 7; i >= 0; i-- {
			b[i], v = byte(v)|0x80, v>>7
		}
		return b
	}
	b := []byte{byte(v & 0x7f)}
	for v >>= 7; v > 0; v >>= 7 {
		b = append([]byte{byte(v) | 0x80}, b...)
	}
	return b
}

// firstPage returns the page with the file's header and sqlite_master.
func (d *database) firstPage(application, version uint32) ([]byte, error) {
	p := newPage(tableLeaf, 100)
	for i, row := range d.master {
		if !p.add(d.cell(int64(i)+1, record(row))) {
			return nil, errors.New("GeoPackage: too many layers")
		}
	}
	b := p.bytes()
	copy(b, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(b[16:], pageSize)
	copy(b[18:], []byte{1, 1, 0, 64, 32, 32})
	for at, v := range map[int]uint32{
		24: 1, 28: d.pages, // changes, pages
		40: 1, 44: 4, // schema's changes and format
		56: 1, // UTF-8
		60: version, 68: application,
		92: 1, 96: 3_045_000, // valid for that change, by that version of SQLite
	} {
		binary.BigEndian.PutUint32(b[at:], v)
	}
	return b, nil
}
