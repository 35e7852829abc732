package index

import (
	"bytes"
	"cmp"
)

// compareIDs compares IDs in natural order: numbers inside them by value, so that doc.9 comes
// before doc.10, and other bytes one by one. IDs that differ only in leading zeros are in byte
// order.
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

// leadingNumber splits off the digits at the start, and returns them without leading zeros.
func leadingNumber(s []byte) (digits, rest []byte) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return bytes.TrimLeft(s[:end], "0"), s[end:]
}
