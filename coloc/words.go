package coloc

import "math/bits"

// words is a set of up to 64, 128, 256 or 4096 features. The search is generic over it and compiled
// for each width. The compiler decides the branches on the width, so that the narrow set costs no
// more than a uint64.
type words interface {
	[1]uint64 | [2]uint64 | [4]uint64 | [64]uint64
}

func subset[M words](a, b M) bool {
	if len(a) == 1 {
		return a[0]&^b[0] == 0
	}
	for i := 0; i < len(a); i++ {
		if a[i]&^b[i] != 0 {
			return false
		}
	}
	return true
}

func or[M words](a, b M) (c M) {
	if len(a) == 1 {
		c[0] = a[0] | b[0]
		return c
	}
	for i := 0; i < len(a); i++ {
		c[i] = a[i] | b[i]
	}
	return c
}

func and[M words](a, b M) (c M) {
	if len(a) == 1 {
		c[0] = a[0] & b[0]
		return c
	}
	for i := 0; i < len(a); i++ {
		c[i] = a[i] & b[i]
	}
	return c
}

func andNot[M words](a, b M) (c M) {
	if len(a) == 1 {
		c[0] = a[0] &^ b[0]
		return c
	}
	for i := 0; i < len(a); i++ {
		c[i] = a[i] &^ b[i]
	}
	return c
}

func overlap[M words](a, b M) bool {
	if len(a) == 1 {
		return a[0]&b[0] != 0
	}
	for i := 0; i < len(a); i++ {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

func empty[M words](a M) bool {
	if len(a) == 1 {
		return a[0] == 0
	}
	for i := 0; i < len(a); i++ {
		if a[i] != 0 {
			return false
		}
	}
	return true
}

func size[M words](a M) int {
	n := 0
	for i := 0; i < len(a); i++ {
		n += bits.OnesCount64(a[i])
	}
	return n
}

func has[M words](a M, bit int) bool {
	if len(a) == 1 {
		return a[0]>>uint(bit)&1 != 0
	}
	return a[bit>>6]>>uint(bit&63)&1 != 0
}

func with[M words](a M, bit int) (c M) {
	c = a
	if len(a) == 1 {
		c[0] |= 1 << uint(bit)
	} else {
		c[bit>>6] |= 1 << uint(bit&63)
	}
	return c
}

func without[M words](a M, bit int) (c M) {
	c = a
	if len(a) == 1 {
		c[0] &^= 1 << uint(bit)
	} else {
		c[bit>>6] &^= 1 << uint(bit&63)
	}
	return c
}

// members lists the bits of a set, ascending, into buf.
func members[M words](a M, buf []int) []int {
	buf = buf[:0]
	for i := 0; i < len(a); i++ {
		for w := a[i]; w != 0; w &= w - 1 {
			buf = append(buf, i<<6+bits.TrailingZeros64(w))
		}
	}
	return buf
}
