package points

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// sqlite reads the tables of an SQLite database file (version 3, UTF-8) in row order, which is all
// that a GeoPackage needs. The format, as sqlite.org describes it:
//
// The file consists of pages of one size, which stands at byte 16, big endian; 1 means 65,536. A
// table is a B-tree of pages. A page has a header, then the offsets of its cells. The header has
// the type at 0 (13 leaf, 5 inner), the number of cells at 3 and, in inner pages, the last child at
// 8. An inner cell is the page of a child and a key. A leaf cell is the length of the record, the
// row's number and the record, whose end may be in a chain of overflow pages.
//
// A record is the length of its header, a type for each column, and the values. Types are 0 (NULL),
// 1 to 6 (integers of 1, 2, 3, 4, 6 and 8 bytes), 7 (float64), 8 and 9 (the numbers 0 and 1), even
// numbers from 12 on (bytes) and odd ones from 13 on (text). Page 1 starts after the file's header
// of 100 bytes. Its table lists all tables.
type sqlite struct {
	r        io.ReaderAt
	pages    uint32
	size     int // bytes of a page
	usable   int // bytes of a page without the reserved ones at its end
	tables   map[string]sqliteTable
	visited  uint32 // number of pages that the current scan has visited
	overflow []byte // a record gathered from overflow pages
}

type sqliteTable struct {
	name    string
	root    uint32
	columns []string // lower case
	rowid   int      // the column that is the row's number, or -1
}

const sqliteMagic = "SQLite format 3\x00"

var errSQLite = errors.New("SQLite: damaged file")

func openSQLite(r io.ReaderAt, size int64) (*sqlite, error) {
	var head [100]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("SQLite: %w", noEOF(err))
	}
	d := &sqlite{r: r, size: int(binary.BigEndian.Uint16(head[16:])), tables: make(map[string]sqliteTable)}
	if d.size == 1 {
		d.size = 1 << 16
	}
	if d.size < 512 || d.size&(d.size-1) != 0 {
		return nil, errSQLite
	}
	d.usable = d.size - int(head[20])
	if d.usable < 480 {
		return nil, errSQLite
	}
	if e := binary.BigEndian.Uint32(head[56:]); e > 1 {
		return nil, errors.New("SQLite: text is UTF-16: want UTF-8")
	}
	d.pages = uint32(min(size/int64(d.size), math.MaxUint32))
	err := d.scan(1, func(_ int64, v []any) error {
		if len(v) < 5 {
			return errSQLite
		}
		kind, _ := v[0].(string)
		name, _ := v[1].(string)
		root, _ := v[3].(int64)
		sql, _ := v[4].(string)
		if kind == "table" && root > 0 && root <= int64(d.pages) {
			columns, rowid := columnsOf(sql)
			d.tables[strings.ToLower(name)] = sqliteTable{name, uint32(root), columns, rowid}
		}
		return nil
	})
	return d, err
}

// rows calls do with the values of every row of a table, by lower-case column.
func (d *sqlite) rows(name string, do func(get func(column string) any) error) error {
	t, ok := d.tables[strings.ToLower(name)]
	if !ok {
		return fmt.Errorf("SQLite: no table %q", name)
	}
	at := make(map[string]int)
	for i, c := range t.columns {
		at[c] = i
	}
	return d.scan(t.root, func(rowid int64, v []any) error {
		return do(func(column string) any {
			i, ok := at[column]
			switch {
			case !ok || i >= len(v):
				return nil
			case i == t.rowid && v[i] == nil:
				return rowid
			}
			return v[i]
		})
	})
}

// scan walks a table's tree.
func (d *sqlite) scan(root uint32, do func(rowid int64, values []any) error) error {
	d.visited = 0
	return d.walk(root, 0, do)
}

func (d *sqlite) page(n uint32) ([]byte, error) {
	if n == 0 || n > d.pages {
		return nil, errSQLite
	}
	p := make([]byte, d.size)
	if _, err := d.r.ReadAt(p, int64(n-1)*int64(d.size)); err != nil {
		return nil, fmt.Errorf("SQLite: %w", noEOF(err))
	}
	return p, nil
}

func (d *sqlite) walk(n uint32, depth int, do func(int64, []any) error) error {
	if d.visited++; d.visited > d.pages || depth > 40 {
		return errSQLite // a cycle
	}
	p, err := d.page(n)
	if err != nil {
		return err
	}
	head := p
	if n == 1 {
		head = p[100:]
	}
	kind, cells := head[0], int(binary.BigEndian.Uint16(head[3:]))
	offsets := 8
	if kind == 5 {
		offsets = 12
	}
	if kind != 5 && kind != 13 || offsets+2*cells > len(head) {
		return errSQLite
	}
	for i := range cells {
		at := int(binary.BigEndian.Uint16(head[offsets+2*i:]))
		if at+4 > d.usable {
			return errSQLite
		}
		cell := p[at:d.usable]
		if kind == 5 {
			if err := d.walk(binary.BigEndian.Uint32(cell), depth+1, do); err != nil {
				return err
			}
			continue
		}
		rowid, record, err := d.record(cell)
		if err != nil {
			return err
		}
		values, err := parseRecord(record)
		if err != nil {
			return err
		}
		if err := do(rowid, values); err != nil {
			return err
		}
	}
	if kind == 5 {
		return d.walk(binary.BigEndian.Uint32(head[8:]), depth+1, do)
	}
	return nil
}

// record returns a leaf cell's row number and record, the rest of which it reads from overflow
// pages.
func (d *sqlite) record(cell []byte) (rowid int64, record []byte, err error) {
	length, n := uvarint(cell)
	id, m := uvarint(cell[n:])
	if n == 0 || m == 0 || length > uint64(d.pages)*uint64(d.size) {
		return 0, nil, errSQLite
	}
	body := cell[n+m:]
	most := d.usable - 35
	local := int(length)
	if local > most {
		least := (d.usable-12)*32/255 - 23
		local = least + (int(length)-least)%(d.usable-4)
		if local > most {
			local = least
		}
	}
	if local > len(body) {
		return 0, nil, errSQLite
	}
	if local == int(length) {
		return int64(id), body[:local], nil
	}
	if local+4 > len(body) {
		return 0, nil, errSQLite
	}
	d.overflow = append(d.overflow[:0], body[:local]...)
	next := binary.BigEndian.Uint32(body[local:])
	for len(d.overflow) < int(length) {
		p, err := d.page(next)
		if err != nil {
			return 0, nil, err
		}
		next = binary.BigEndian.Uint32(p)
		d.overflow = append(d.overflow, p[4:4+min(d.usable-4, int(length)-len(d.overflow))]...)
	}
	return int64(id), d.overflow, nil
}

// uvarint decodes SQLite's variable-length integer: big endian, seven bits in each of up to eight
// bytes, eight in the ninth. n is the number of bytes, or 0 if b ends too early.
func uvarint(b []byte) (v uint64, n int) {
	for i := range min(9, len(b)) {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// parseRecord returns a record's values: nil, int64, float64, string or []byte. A []byte is valid
// until the next record.
func parseRecord(b []byte) ([]any, error) {
	size, n := uvarint(b)
	if n == 0 || size > uint64(len(b)) || size < uint64(n) {
		return nil, errSQLite
	}
	types, body := b[n:size], b[size:]
	var out []any
	for len(types) > 0 {
		kind, n := uvarint(types)
		if n == 0 {
			return nil, errSQLite
		}
		types = types[n:]
		width := 0
		switch {
		case kind >= 1 && kind <= 4:
			width = int(kind)
		case kind == 5:
			width = 6
		case kind == 6 || kind == 7:
			width = 8
		case kind >= 12:
			width = int(min((kind-12)/2, math.MaxInt32))
		case kind == 10 || kind == 11:
			return nil, errSQLite
		}
		if width > len(body) {
			return nil, errSQLite
		}
		v := body[:width]
		body = body[width:]
		switch {
		case kind == 0:
			out = append(out, nil)
		case kind == 8 || kind == 9:
			out = append(out, int64(kind-8))
		case kind == 7:
			out = append(out, math.Float64frombits(binary.BigEndian.Uint64(v)))
		case kind < 7:
			i := int64(int8(v[0]))
			for _, c := range v[1:] {
				i = i<<8 | int64(c)
			}
			out = append(out, i)
		case kind%2 == 0:
			out = append(out, v)
		default:
			out = append(out, string(v))
		}
	}
	return out, nil
}

// columnsOf returns the names of the columns in a CREATE TABLE statement. rowid is the column that
// is the row's number, declared INTEGER PRIMARY KEY, or -1.
func columnsOf(sql string) (names []string, rowid int) {
	rowid = -1
	open := strings.IndexByte(sql, '(')
	if open < 0 {
		return nil, rowid
	}
	depth, start := 0, open+1
	quote := byte(0)
	add := func(part string) {
		part = strings.TrimSpace(part)
		if part == "" {
			return
		}
		name, rest := part, ""
		if closing, ok := map[byte]byte{'"': '"', '`': '`', '[': ']', '\'': '\''}[part[0]]; ok {
			if end := strings.IndexByte(part[1:], closing); end >= 0 {
				name, rest = part[1:1+end], part[2+end:]
			}
		} else if i := strings.IndexAny(part, " \t\r\n"); i >= 0 {
			name, rest = part[:i], part[i:]
			switch strings.ToUpper(name) {
			case "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN":
				return
			}
		}
		rest = strings.Join(strings.Fields(strings.ToUpper(rest)), " ")
		if strings.HasPrefix(rest, "INTEGER") && strings.Contains(rest, "PRIMARY KEY") {
			rowid = len(names)
		}
		names = append(names, strings.ToLower(name))
	}
	for i := open + 1; i < len(sql); i++ {
		c := sql[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ')':
			add(sql[start:i])
			return names, rowid
		case c == ',' && depth == 0:
			add(sql[start:i])
			start = i + 1
		}
	}
	return names, rowid
}
