// Package numberedid answers: which ID comes after this one?
//
// Nearly all IDs of lines and of rows are a stem and a number, and count on from one document to
// the next: corpus.txt:9, corpus.txt:10. So a run of them is its first one and their count.
package numberedid

import (
	"bytes"
	"slices"
	"strconv"
)

// ID is an ID that ends with a number: those after it, in a run, are the same
// with the next numbers, in as many digits at least.
type ID struct {
	Stem   int // bytes before the number
	width  int // digits; 0 if there is no number
	number uint64
}

// maxDigits keep all numbers of a run below 2^64.
const maxDigits = 18

func isDigit(c byte) bool { return c-'0' < 10 }

// Of finds the number of an ID.
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

// Append appends the number that is this many after, to the stem.
func (n *ID) Append(stem []byte, after uint64) []byte {
	var buf [20]byte
	digits := strconv.AppendUint(buf[:0], n.number+after, 10)
	for range n.width - len(digits) {
		stem = append(stem, '0')
	}
	return append(stem, digits...)
}

// To returns how much higher the number of another ID is that begins with the same stem, whatever
// stands behind that number: 0 if it is not higher, and not ok if there is none.
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

// Follower is the ID that is expected after a numbered one: the same with the next number, in as
// many digits at least. To look whether it comes costs no more than a comparison of bytes.
type Follower struct {
	id []byte
	ok bool // there is one
}

// After makes it follow an ID, and reports whether that has a number.
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

// Is reports whether an ID is the expected one; then the next one is expected.
func (f *Follower) Is(id []byte) bool {
	if !f.ok || !bytes.Equal(f.id, id) {
		return false
	}
	f.id = Step(f.id)
	return true
}

// IsString is Is.
func (f *Follower) IsString(id string) bool {
	if !f.ok || string(f.id) != id {
		return false
	}
	f.id = Step(f.id)
	return true
}

// Skip expects the ID that comes n later. It reports whether that could be found.
func (f *Follower) Skip(n uint64) bool {
	id := Of(f.id)
	if !f.ok || id.width == 0 {
		return false
	}
	f.id = id.Append(f.id[:id.Stem], n)
	return true
}

// Step adds 1 to the number of an ID, in place if that has as many digits.
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
