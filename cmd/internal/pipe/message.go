// Package pipe answers the question: how do a program and a worker that it started communicate?
//
// They share unnamed Unix sockets. The program makes a pair of sockets and starts the worker with
// one of them as a file descriptor, the control socket. It sends further sockets over that one.
// Each of those is a connection on which calls are answered one after the other. No port is opened
// and no path is created. When the program ends, in whatever way, the kernel closes its sockets,
// and the worker ends too. Closing a connection cancels the call on it.
//
// # Messages
//
// A message is a JSON header and arrays in their memory layout. All numbers are little-endian:
//
//	4 bytes  h, the length of the header, at most maxHeader
//	8 bytes  p, the length of the payload, at most MaxPayload
//	h bytes  header: a JSON object
//	p bytes  payload: the arrays of the header, one after the other, each at the next
//	         multiple of 8 bytes, with zeros between them
//
// The header of a call is
//
//	{"do": "search", "with": {...}, "arrays": [["texts", "u1", [11]], ["ends", "i8", [2]]]}
//
// where an array has a name, a type as in NumPy (u1, u4, i4, i8, f4, f8) and a shape. A call may
// continue with messages {"do": "more"}, which carry documents for example, and {"do": "end"}. An
// answer is any number of {"progress": [stage, done, total]} and then
//
//	{"result": {...}, "notes": ["..."], "arrays": [...]}  or  {"error": "...", "kind": "value"}
//
// For example a call without arrays, {"do":"ping"}, is the bytes
//
//	0d 00 00 00  00 00 00 00 00 00 00 00  7b 22 64 6f 22 3a 22 70 69 6e 67 22 7d
package pipe

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"unsafe"
)

const (
	// maxHeader is the longest header. Long lists are sent as arrays.
	maxHeader = 16 << 20
	// MaxPayload is the most bytes of a message's arrays. Callers split larger data into several
	// messages.
	MaxPayload = 1 << 30
	// maxArrays and maxDims are more than any call needs.
	maxArrays, maxDims = 64, 8

	prefix    = 12
	alignment = 8
)

// Array is an array in a message: row-major, little-endian.
type Array struct {
	Name  string
	Type  string
	Shape []int
	Data  []byte
}

// sizes has the bytes of an element, by type.
var sizes = map[string]int{"u1": 1, "u4": 4, "i4": 4, "i8": 8, "f4": 4, "f8": 8}

// Number is the type of an array's elements.
type Number interface {
	uint8 | uint32 | int32 | int64 | float32 | float64
}

// typeOf returns the name of a type in NumPy.
func typeOf[T Number]() string {
	switch any(*new(T)).(type) {
	case uint8:
		return "u1"
	case uint32:
		return "u4"
	case int32:
		return "i4"
	case int64:
		return "i8"
	case float32:
		return "f4"
	}
	return "f8"
}

// NewArray describes a slice without copying it. Without a shape it has one dimension.
func NewArray[T Number](name string, values []T, shape ...int) Array {
	if len(shape) == 0 {
		shape = []int{len(values)}
	}
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(*new(T))))
	return Array{Name: name, Type: typeOf[T](), Shape: shape, Data: data}
}

// Values returns the elements of an array, without copying them.
func Values[T Number](a Array) ([]T, error) {
	if want := typeOf[T](); a.Type != want {
		return nil, fmt.Errorf("array %q is of type %s: want %s", a.Name, a.Type, want)
	}
	size := int(unsafe.Sizeof(*new(T)))
	// Payloads are aligned for any type, and arrays begin at multiples of 8.
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(a.Data))), len(a.Data)/size), nil
}

// MarshalJSON writes an array as [name, type, shape].
func (a Array) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{a.Name, a.Type, a.Shape})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *Array) UnmarshalJSON(data []byte) error {
	parts := []any{&a.Name, &a.Type, &a.Shape}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) != len(parts) {
		return errors.New("description of an array: want a name, a type and a shape")
	}
	for i, part := range parts {
		if err := json.Unmarshal(list[i], part); err != nil {
			return err
		}
	}
	return nil
}

// bytes returns the size of an array in bytes, from its type and shape.
func (a *Array) bytes() (int, error) {
	size, ok := sizes[a.Type]
	if !ok {
		return 0, fmt.Errorf("array %q: unknown type %q", a.Name, a.Type)
	}
	if len(a.Shape) < 1 || len(a.Shape) > maxDims {
		return 0, fmt.Errorf("array %q has %d dimensions: want 1 to %d", a.Name, len(a.Shape), maxDims)
	}
	total := uint64(size)
	for _, n := range a.Shape {
		if n < 0 {
			return 0, fmt.Errorf("array %q has the shape %v: want no negative numbers", a.Name, a.Shape)
		}
		high, low := bits.Mul64(total, uint64(n))
		if high != 0 || low > MaxPayload {
			return 0, fmt.Errorf("array %q has the shape %v: want at most %d bytes", a.Name, a.Shape, MaxPayload)
		}
		total = low
	}
	return int(total), nil
}

// padding returns the number of zero bytes before the next array.
func padding(at int) int { return -at & (alignment - 1) }

// Write writes a message: the header, which has the arrays as a field, and the arrays.
func Write(w io.Writer, header any, arrays []Array) error {
	text, err := json.Marshal(header)
	if err != nil {
		return unsent{err}
	}
	payload := 0
	for i := range arrays {
		payload += padding(payload) + len(arrays[i].Data)
	}
	if len(text) > maxHeader || payload > MaxPayload {
		return unsent{tooLong(len(text), payload)}
	}
	// A short message is a single write.
	buf := make([]byte, prefix, prefix+len(text)+min(payload, 1<<16))
	binary.LittleEndian.PutUint32(buf, uint32(len(text)))
	binary.LittleEndian.PutUint64(buf[4:], uint64(payload))
	buf = append(buf, text...)
	at := 0
	for i := range arrays {
		n := padding(at)
		buf = append(buf, make([]byte, n)...)
		at += n + len(arrays[i].Data)
		if len(buf)+len(arrays[i].Data) <= cap(buf) {
			buf = append(buf, arrays[i].Data...)
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
		if _, err := w.Write(arrays[i].Data); err != nil {
			return err
		}
	}
	if len(buf) > 0 {
		_, err = w.Write(buf)
	}
	return err
}

// unsent is an error of Write before it has written anything.
type unsent struct{ error }

func (e unsent) Unwrap() error { return e.error }

func tooLong(header, payload any) error {
	return fmt.Errorf("a message with a header of %d bytes and arrays of %d is too long: want at most %d and %d",
		header, payload, maxHeader, MaxPayload)
}

// Message is a message as read.
type Message struct {
	Do     string          `json:"do"`
	With   json.RawMessage `json:"with"`
	Arrays []Array         `json:"arrays"`
}

// Read reads a message. Memory is allocated as data arrives, so that a wrong length allocates
// little. At the end of the connection the error is io.EOF; inside a message it is
// io.ErrUnexpectedEOF.
func Read(r io.Reader) (*Message, error) {
	var head [prefix]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	h, p := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint64(head[4:])
	if h > maxHeader || p > MaxPayload {
		return nil, tooLong(h, p)
	}
	text, err := readN(r, int(h))
	if err != nil {
		return nil, err
	}
	m := &Message{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("header of a message: %w", err)
	}
	if len(m.Arrays) > maxArrays {
		return nil, fmt.Errorf("a message of %d arrays: want at most %d", len(m.Arrays), maxArrays)
	}
	payload, err := readN(r, int(p))
	if err != nil {
		return nil, err
	}
	at := 0
	for i := range m.Arrays {
		a := &m.Arrays[i]
		n, err := a.bytes()
		if err != nil {
			return nil, err
		}
		if at += padding(at); n > len(payload)-at {
			return nil, fmt.Errorf("array %q extends beyond the %d bytes of the payload", a.Name, len(payload))
		}
		a.Data = payload[at : at+n : at+n]
		at += n
	}
	if at != len(payload) {
		return nil, fmt.Errorf("the arrays of a message have %d bytes, its payload has %d", at, len(payload))
	}
	return m, nil
}

// readN reads n bytes, aligned for any type.
func readN(r io.Reader, n int) ([]byte, error) {
	const step = 1 << 20
	room := func(n int) []byte { return make([]byte, n, max(n, 2*alignment)) } // else not aligned
	buf := room(min(n, step))
	for at := 0; ; {
		got, err := io.ReadFull(r, buf[at:])
		at += got
		if err == io.EOF && n > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || at == n {
			return buf, err
		}
		larger := room(min(n, 4*len(buf)))
		copy(larger, buf)
		buf = larger
	}
}

// Array returns an array by its name.
func (m *Message) Array(name string) (Array, bool) {
	for _, a := range m.Arrays {
		if a.Name == name {
			return a, true
		}
	}
	return Array{}, false
}

// Get returns the elements of an array by its name, or an error if there is none.
func Get[T Number](m *Message, name string) ([]T, error) {
	a, ok := m.Array(name)
	if !ok {
		return nil, fmt.Errorf("array %q is missing", name)
	}
	return Values[T](a)
}
