package points

import (
	"encoding/binary"
	"errors"
	"math"
)

// flatbuffer reads tables of the FlatBuffers format. A table is at a position and begins with the
// distance back to its vtable: its own length, the table's, and for each field the distance from
// the table, or 0 if the field is missing, all in 16 bits. Strings, lists and other tables are at a
// distance from where it is stored, and begin with their length. Numbers are little endian.
//
// A read beyond the end returns 0 and sets damaged.
type flatbuffer struct {
	data    []byte
	damaged bool
}

var errFlatBuffer = errors.New("damaged FlatBuffer: a value lies outside of it")

// err returns an error if a read was outside of the data.
func (b *flatbuffer) err() error {
	if b.damaged {
		return errFlatBuffer
	}
	return nil
}

// bytes returns n bytes at a position.
func (b *flatbuffer) bytes(at, n int) []byte {
	if at < 0 || n < 0 || at > len(b.data) || n > len(b.data)-at {
		b.damaged = true
		return nil
	}
	return b.data[at:][:n]
}

func (b *flatbuffer) uint16(at int) int {
	if v := b.bytes(at, 2); v != nil {
		return int(binary.LittleEndian.Uint16(v))
	}
	return 0
}

func (b *flatbuffer) uint32(at int) int {
	if v := b.bytes(at, 4); v != nil {
		return int(binary.LittleEndian.Uint32(v))
	}
	return 0
}

func (b *flatbuffer) float64(at int) float64 {
	if v := b.bytes(at, 8); v != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(v))
	}
	return 0
}

// root returns the position of the root table.
func (b *flatbuffer) root() int { return b.uint32(0) }

// field returns the position of a table's field; ok is false if it is missing.
func (b *flatbuffer) field(table, n int) (at int, ok bool) {
	vtable := table - int(int32(b.uint32(table)))
	if 6+2*n > b.uint16(vtable) {
		return 0, false
	}
	off := b.uint16(vtable + 4 + 2*n)
	return table + off, off != 0 && !b.damaged
}

// number returns a field of a byte, or of 2, 4 or 8 bytes; missing fields have a default.
func (b *flatbuffer) number(table, n, size int, missing uint64) uint64 {
	at, ok := b.field(table, n)
	if !ok {
		return missing
	}
	var all [8]byte
	copy(all[:], b.bytes(at, size))
	return binary.LittleEndian.Uint64(all[:])
}

// table returns the position of a field that is a table.
func (b *flatbuffer) table(table, n int) (at int, ok bool) {
	if at, ok = b.field(table, n); !ok {
		return 0, false
	}
	return at + b.uint32(at), !b.damaged
}

// list returns the position and the length of a field that is a list of elements of a size.
func (b *flatbuffer) list(table, n, size int) (at, length int) {
	at, ok := b.table(table, n)
	if !ok {
		return 0, 0
	}
	if length = b.uint32(at); length < 0 || length > len(b.data)/size {
		b.damaged = true
	}
	if b.damaged || b.bytes(at+4, length*size) == nil {
		return 0, 0
	}
	return at + 4, length
}

// text returns a field that is a string.
func (b *flatbuffer) text(table, n int) string {
	at, length := b.list(table, n, 1)
	return string(b.bytes(at, length))
}
