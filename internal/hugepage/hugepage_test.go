package hugepage

import "testing"

// Make returns what make does, for any size: an array of that length, all zero.
func TestMakeIsMake(t *testing.T) {
	type three [3]byte // for sizes that are not multiples of a page
	for _, n := range []int{0, 1, 1000, huge / 3, 2*huge/3 + 1, 3*huge + 12345} {
		s := Make[three](n)
		if len(s) != n {
			t.Fatalf("%d items, want %d", len(s), n)
		}
		for i := range s {
			if s[i] != (three{}) {
				t.Fatalf("item %d of %d is %v, want zeros", i, n, s[i])
			}
			s[i] = three{1, 2, 3}
		}
	}
}
