package par

// Compact copies the items whose flag is set to the beginning of dst, in order, and returns that
// part of dst. dst must not overlap src; if it is nil, a slice of the exact length is allocated.
// There is no branch per item, so unpredictable flags cost nothing extra.
func Compact[T any](threads int, dst, src []T, flags []bool) []T {
	return compact(threads, dst, len(src),
		func(lo, hi int) (n int) {
			for _, f := range flags[lo:hi] {
				n += btoi(f)
			}
			return n
		},
		func(dst []T, lo, hi int) {
			k := 0
			flags := flags[lo:hi]
			for i, v := range src[lo:hi] {
				if k == len(dst) {
					return
				}
				dst[k] = v
				k += btoi(flags[i])
			}
		})
}

// Where lists, in order, the i in [0, n) for which holds(i) is true. It calls holds twice for each
// i.
func Where[I Integer](threads, n int, holds func(i int) bool) []I {
	return compact(threads, []I(nil), n,
		func(lo, hi int) (c int) {
			for i := lo; i < hi; i++ {
				if holds(i) {
					c++
				}
			}
			return c
		},
		func(dst []I, lo, hi int) {
			k := 0
			for i := lo; i < hi; i++ {
				if holds(i) {
					dst[k] = I(i)
					k++
				}
			}
		})
}

// compact counts each block, scans the counts and fills each block's part of dst.
func compact[T any](threads int, dst []T, n int, count func(lo, hi int) int, fill func(dst []T, lo, hi int)) []T {
	p := workers(threads, n)
	starts := make([]int, p+1)
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		starts[w] = count(lo, hi)
	})
	total := exclusiveBlock(starts, starts, 0)
	if dst == nil {
		dst = make([]T, total)
	}
	dst = dst[:total]
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		fill(dst[starts[w]:starts[w+1]], lo, hi)
	})
	return dst
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
