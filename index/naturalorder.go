package index

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// compareIDs orders IDs as people do: numbers inside them by their value, so that
// doc.9 comes before doc.10, other bytes one by one. IDs that differ only in leading zeros are
// in byte order.
func compareIDs(a, b []byte) int {
	x, y := a, b
	for len(x) > 0 && len(y) > 0 {
		if !isDigit(x[0]) || !isDigit(y[0]) {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		var m, n []byte
		m, x = leadingNumber(x)
		n, y = leadingNumber(y)
		if c := cmp.Or(cmp.Compare(len(m), len(n)), bytes.Compare(m, n)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), bytes.Compare(a, b))
}

func isDigit(c byte) bool { return c-'0' < 10 }

// leadingNumber cuts the digits at the start off, and gives them without leading zeros.
func leadingNumber(s []byte) (digits, rest []byte) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return bytes.TrimLeft(s[:end], "0"), s[end:]
}

// numbered is an ID that ends with a number: those after it, in a run, are the same
// with the next numbers, in as many digits at least.
type numbered struct {
	stem   int // bytes before the number
	width  int // digits; 0 if there is no number
	number uint64
}

// maxNumberDigits keep all numbers of a run below 2^64.
const maxNumberDigits = 18

func numberOf(id []byte) numbered {
	n := numbered{stem: len(id)}
	for n.stem > 0 && isDigit(id[n.stem-1]) {
		n.stem--
	}
	if width := len(id) - n.stem; width <= maxNumberDigits {
		n.width = width
		for _, c := range id[n.stem:] {
			n.number = 10*n.number + uint64(c-'0')
		}
	}
	return n
}

// append appends the number that is this many after, to the stem.
func (n *numbered) append(stem []byte, after uint64) []byte {
	var buf [20]byte
	digits := strconv.AppendUint(buf[:0], n.number+after, 10)
	for range n.width - len(digits) {
		stem = append(stem, '0')
	}
	return append(stem, digits...)
}

// follower is the ID that is expected after a numbered one: the same with the next number, in as
// many digits at least. Nearly all IDs of lines and of rows are, and cost no more than a
// comparison of bytes.
type follower struct {
	id []byte
	ok bool // there is one
}

// after makes it follow an ID.
func (f *follower) after(id []byte) {
	f.id = append(f.id[:0], id...)
	n := len(id)
	for n > 0 && isDigit(id[n-1]) {
		n--
	}
	if width := len(id) - n; width == 0 || width > maxNumberDigits {
		f.ok = false
		return
	}
	f.ok = true
	f.step()
}

// is reports whether an ID is the expected one; then the next one is expected.
func (f *follower) is(id []byte) bool {
	if !f.ok || !bytes.Equal(f.id, id) {
		return false
	}
	f.step()
	return true
}

// step adds 1 to the number.
func (f *follower) step() {
	i := len(f.id) - 1
	for i >= 0 && f.id[i] == '9' {
		f.id[i] = '0'
		i--
	}
	if i >= 0 && isDigit(f.id[i]) {
		f.id[i]++
		return
	}
	f.id = slices.Insert(f.id, i+1, '1')
}
