package par

// InclusiveScan sets dst[i] = src[0] + ... + src[i] and returns the total. dst
// is as long as src and may be src itself. Sums wrap around as Go's do.
func InclusiveScan[T Integer](threads int, dst, src []T) T {
	return scan(threads, dst, src, inclusiveBlock[T])
}

// ExclusiveScan sets dst[i] = src[0] + ... + src[i-1], so dst[0] = 0, and
// returns the total. dst is as long as src and may be src itself.
func ExclusiveScan[T Integer](threads int, dst, src []T) T {
	return scan(threads, dst, src, exclusiveBlock[T])
}

// scan sums the blocks in parallel, scans these few sums, then scans each block from its start
// value: two reads and one write per item.
func scan[T Integer](threads int, dst, src []T, block func(dst, src []T, start T) T) T {
	n := len(src)
	p := workers(threads, n)
	if p == 1 {
		return block(dst, src, 0)
	}
	starts := make([]T, p)
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		starts[w] = sum(src[lo:hi])
	})
	total := exclusiveBlock(starts, starts, 0)
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		block(dst[lo:hi], src[lo:hi], starts[w])
	})
	return total
}

func sum[T Integer](src []T) T {
	var s T
	for _, v := range src {
		s += v
	}
	return s
}

func inclusiveBlock[T Integer](dst, src []T, s T) T {
	dst = dst[:len(src)]
	for i, v := range src {
		s += v
		dst[i] = s
	}
	return s
}

func exclusiveBlock[T Integer](dst, src []T, s T) T {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = s
		s += v
	}
	return s
}
