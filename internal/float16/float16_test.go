package float16

import (
	"math"
	"testing"
)

// Every float16 comes back, and a float32 becomes the nearest, of two equally near the even one.
func TestFloat16(t *testing.T) {
	for h := range 1 << 16 {
		x := To32(uint16(h))
		if h&0x7c00 == 0x7c00 {
			continue // infinities and NaN, which vectors do not have
		}
		if got := From32(x); got != uint16(h) {
			t.Fatalf("%#x is %v, which becomes %#x", h, x, got)
		}
		if h&0x7fff == 0x7bff || h&0x8000 != 0 {
			continue
		}
		next := To32(uint16(h + 1))
		middle := float32((float64(x) + float64(next)) / 2) // exact
		even := uint16(h + h&1)
		if got := From32(middle); got != even {
			t.Fatalf("%v, between %v and %v: %#x, want %#x", middle, x, next, got, even)
		}
		if got := From32(math.Nextafter32(middle, 0)); got != uint16(h) {
			t.Fatalf("below %v: %#x, want %#x", middle, got, h)
		}
		if got := From32(math.Nextafter32(middle, 1e9)); got != uint16(h+1) {
			t.Fatalf("above %v: %#x, want %#x", middle, got, h+1)
		}
	}
}
