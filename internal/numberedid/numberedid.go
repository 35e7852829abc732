// Package numberedid answers: which ID comes after this one?
//
// Most IDs of lines and rows are a stem and a number that increases by 1 from one document to the
// next: corpus.txt:9, corpus.txt:10. So a run of such IDs is represented by the first and the
// length.
package numberedid

import (
	"bytes"
	"slices"
	"strconv"
)

// ID is an ID that ends with a number. The next IDs of its run have the same stem and the next
// numbers, padded with zeros to at least as many digits.
type ID struct {
	Stem   int // bytes before the number
	width  int // digits; 0 if there is no number
	number uint64
}

// maxDigits keeps all numbers of a run below 2^64.
const maxDigits = 18

func isDigit(c byte) bool { return c-'0' < 10 }

// Of returns the stem and the number of an ID.
func Of(id []byte) ID {
	n := ID{Stem: len(id)}
	for n.Stem > 0 && isDigit(id[n.Stem-1]) {
		n.Stem--
	}
	if width := len(id) - n.Stem; width <= maxDigits {
		n.width = width
		for _, c := range id[n.Stem:] {
			n.number = 10*n.number + uint64(c-'0')
		}
	}
	return n
}

// Append appends to stem the number of the ID that comes `after` places later.
func (n *ID) Append(stem []byte, after uint64) []byte {
	var buf [20]byte
	digits := strconv.AppendUint(buf[:0], n.number+after, 10)
	for range n.width - len(digits) {
		stem = append(stem, '0')
	}
	return append(stem, digits...)
}

// To returns by how much the number of another ID with the same stem is higher, or 0 if it is not
// higher. Bytes after that number are ignored. ok is false if there is no such number.
func (n *ID) To(stem, id []byte) (after uint64, ok bool) {
	rest, ok := bytes.CutPrefix(id, stem)
	if !ok {
		return 0, false
	}
	number, width := uint64(0), 0
	for width < len(rest) && isDigit(rest[width]) {
		if width++; width > maxDigits {
			return 0, false
		}
		number = 10*number + uint64(rest[width-1]-'0')
	}
	return max(number, n.number) - n.number, width > 0
}

// Follower is the ID that is expected after a numbered one: the same stem with the next number, in
// at least as many digits. Comparing an ID with it costs no more than comparing bytes.
type Follower struct {
	id []byte
	ok bool // an ID is expected
}

// After makes f expect the ID that follows id, and reports whether id has a number.
func (f *Follower) After(id []byte) bool {
	f.id = append(f.id[:0], id...)
	n := len(id)
	for n > 0 && isDigit(id[n-1]) {
		n--
	}
	width := len(id) - n
	if f.ok = width > 0 && width <= maxDigits; f.ok {
		f.id = Step(f.id)
	}
	return f.ok
}

// Is reports whether id is the expected one; if so, f expects the next one.
func (f *Follower) Is(id []byte) bool {
	if !f.ok || !bytes.Equal(f.id, id) {
		return false
	}
	f.id = Step(f.id)
	return true
}

// IsString is Is for a string.
func (f *Follower) IsString(id string) bool {
	if !f.ok || string(f.id) != id {
		return false
	}
	f.id = Step(f.id)
	return true
}

// Skip makes f expect the ID n places later. It returns false if no ID is expected or its number is
// too long.
func (f *Follower) Skip(n uint64) bool {
	id := Of(f.id)
	if !f.ok || id.width == 0 {
		return false
	}
	f.id = id.Append(f.id[:id.Stem], n)
	return true
}

// Step adds 1 to the number at the end of an ID, in place if the number of digits stays the same.
func Step(id []byte) []byte {
	i := len(id) - 1
	for i >= 0 && id[i] == '9' {
		id[i] = '0'
		i--
	}
	if i >= 0 && isDigit(id[i]) {
		id[i]++
		return id
	}
	return slices.Insert(id, i+1, '1')
}
