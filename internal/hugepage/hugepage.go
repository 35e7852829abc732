// Package hugepage makes large arrays in pages of 2 MB instead of 4 KB, where the system
// has them. Arrays that are used in random order then miss the TLB less, and first
// touching them takes fewer faults.
//
// Inverting text into weights on one core of a busy virtual machine, CPU time in
// turn: 100 MB 0.97 s with small pages and 0.85 s with huge ones, 500 MB 5.6 and 4.7 s.
// A vocabulary of 1M words was counted in 8% less time.
// Arrays that are used from front to back gain nothing.
package hugepage

import "unsafe"

const (
	small = 4 << 10
	huge  = 2 << 20
)

// Make is make([]T, n). T should hold no pointers: the garbage collector would read
// all pages.
func Make[T any](n int) []T {
	s := make([]T, n)
	var zero T
	size := uintptr(cap(s)) * unsafe.Sizeof(zero)
	if size < 2*huge { // less may hold no whole huge page
		return s
	}
	p := unsafe.Pointer(unsafe.SliceData(s))
	skip := -uintptr(p) & (small - 1)
	Advise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), (size-skip)&^(small-1)))
	return s
}
