// Package hugepage allocates large arrays in pages of 2 MB instead of 4 KB, where the system has
// them. Random accesses then cause fewer TLB misses, and first touching an array causes fewer page
// faults.
//
// Measured as CPU time, interleaved, on one core of a busy virtual machine. Inverting 100 MB of
// text into weights took 0.97 s with small pages and 0.85 s with huge ones, 500 MB 5.6 and 4.7 s.
// Counting a vocabulary of 1M words took 8% less. Arrays that are accessed sequentially gain
// nothing.
package hugepage

import "unsafe"

const (
	small = 4 << 10
	huge  = 2 << 20
)

// Make is make([]T, n). T should have no pointers: the garbage collector would read all pages.
func Make[T any](n int) []T {
	s := make([]T, n)
	var zero T
	size := uintptr(cap(s)) * unsafe.Sizeof(zero)
	if size < 2*huge { // a smaller array may contain no whole huge page
		return s
	}
	p := unsafe.Pointer(unsafe.SliceData(s))
	skip := -uintptr(p) & (small - 1)
	Advise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)&^(small-1)))
	return s
}
