package index

import (
	"encoding/binary"
	"errors"
)

// What CIFF needs of the encoding of protocol buffers: a field is a tag, which is its number and
// its kind, and a value.

// kind is how a value is written.
type kind byte

const (
	varint  kind = 0
	fixed64 kind = 1 // eight bytes
	lengthy kind = 2 // a length and as many bytes: strings and messages
	fixed32 kind = 5 // four bytes
)

var (
	errCutShort = errors.New("the file ends early")
	errNoWire   = errors.New("corrupted: not a CIFF message")
)

// appendTag appends the tag of a field.
func appendTag(b []byte, field int, k kind) []byte {
	return binary.AppendUvarint(b, uint64(field)<<3|uint64(k))
}

// takeVarint returns the number at the beginning of b, and the rest.
func takeVarint(b []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	switch {
	case n == 0:
		return 0, nil, errCutShort
	case n < 0:
		return 0, nil, errNoWire
	}
	return v, b[n:], nil
}

// takeBytes returns the bytes at the beginning of b, as a view of it, and the rest.
func takeBytes(b []byte) (value, rest []byte, err error) {
	size, b, err := takeVarint(b)
	if err != nil {
		return nil, nil, err
	}
	if size > uint64(len(b)) {
		return nil, nil, errCutShort
	}
	return b[:size], b[size:], nil
}

// eachField calls fn with each field of a message: v holds integers and the bits of doubles, b
// strings and nested messages. Values of other kinds are skipped.
func eachField(m []byte, fn func(field int, v uint64, b []byte) error) error {
	for len(m) > 0 {
		tag, rest, err := takeVarint(m)
		if err != nil {
			return err
		}
		if tag>>3 == 0 || tag>>3 >= 1<<29 {
			return errNoWire
		}
		var v uint64
		var b []byte
		switch kind(tag & 7) {
		case varint:
			v, rest, err = takeVarint(rest)
		case lengthy:
			b, rest, err = takeBytes(rest)
		case fixed64:
			if len(rest) < 8 {
				return errCutShort
			}
			v, rest = binary.LittleEndian.Uint64(rest), rest[8:]
		case fixed32:
			if len(rest) < 4 {
				return errCutShort
			}
			rest = rest[4:]
		default: // groups, which CIFF does not have
			return errNoWire
		}
		if err == nil {
			err = fn(int(tag>>3), v, b)
		}
		if err != nil {
			return err
		}
		m = rest
	}
	return nil
}
