package par

import "sort"

// mergeMin is the longest block that is sorted by insertion instead of merging.
const mergeMin = 12

// MergeSort sorts items stably by less. scratch is as long as items and is overwritten; nil
// allocates it. Each worker sorts a block. Then pairs of sorted blocks are merged; in every round
// all workers merge equal parts, whose beginnings they find by binary search on the merge path.
func MergeSort[T any](threads int, items, scratch []T, less func(a, b T) bool) {
	n := len(items)
	if scratch == nil && n > mergeMin {
		scratch = make([]T, n)
	}
	p := workers(threads, n)
	if p == 1 {
		mergeSort(items, scratch, less)
		return
	}
	bounds := make([]int, p+1)
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		bounds[w+1] = hi
		mergeSort(items[lo:hi], scratch[lo:hi], less)
	})
	src, dst := items, scratch[:n]
	for len(bounds) > 2 {
		mergeRound(p, dst, src, bounds, less)
		bounds = everySecond(bounds)
		src, dst = dst, src
	}
	if &src[0] != &items[0] {
		Do(p, func(w int) {
			lo, hi := Block(n, p, w)
			copy(items[lo:hi], src[lo:hi])
		})
	}
}

// mergeSort is the sequential sort. It does not merge blocks that are already in order.
func mergeSort[T any](a, scratch []T, less func(a, b T) bool) {
	if len(a) <= mergeMin {
		for i := 1; i < len(a); i++ {
			v := a[i]
			j := i
			for ; j > 0 && less(v, a[j-1]); j-- {
				a[j] = a[j-1]
			}
			a[j] = v
		}
		return
	}
	m := len(a) / 2
	mergeSort(a[:m], scratch, less)
	mergeSort(a[m:], scratch, less)
	if !less(a[m], a[m-1]) {
		return
	}
	head := scratch[:copy(scratch, a[:m])]
	merge(a, head, a[m:], less)
}

// merge merges x and y, both sorted, into dst; among equal items those of x come first. y may be
// the tail of dst.
func merge[T any](dst, x, y []T, less func(a, b T) bool) {
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		if less(y[j], x[i]) {
			dst[i+j] = y[j]
			j++
		} else {
			dst[i+j] = x[i]
			i++
		}
	}
	copy(dst[i+j:], x[i:])
	copy(dst[len(x)+j:], y[j:])
}

// mergeRound merges src's blocks 0 and 1, 2 and 3, ... into dst.
func mergeRound[T any](p int, dst, src []T, bounds []int, less func(a, b T) bool) {
	pairs := everySecond(bounds)
	middles := make([]int, len(pairs)-1)
	for i := range middles {
		middles[i] = bounds[min(2*i+1, len(bounds)-1)]
	}
	forSegments(p, len(src), pairs[:len(pairs)-1], func(_, pair, lo, hi int) {
		start, mid, end := pairs[pair], middles[pair], pairs[pair+1]
		x, y := src[start:mid], src[mid:end]
		x0 := mergePath(x, y, lo-start, less)
		x1 := mergePath(x, y, hi-start, less)
		merge(dst[lo:hi], x[x0:x1], y[lo-start-x0:hi-start-x1], less)
	})
}

// mergePath returns how many of the first d items of x and y merged are from x.
func mergePath[T any](x, y []T, d int, less func(a, b T) bool) int {
	lo, hi := max(0, d-len(y)), min(d, len(x))
	return lo + sort.Search(hi-lo, func(i int) bool { return less(y[d-1-lo-i], x[lo+i]) })
}

// everySecond keeps bounds 0, 2, 4, ... and the last.
func everySecond(bounds []int) []int {
	var out []int
	for i := 0; i < len(bounds)-1; i += 2 {
		out = append(out, bounds[i])
	}
	return append(out, bounds[len(bounds)-1])
}
