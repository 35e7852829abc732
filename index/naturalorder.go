package index

import (
	"bytes"
	"cmp"
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
