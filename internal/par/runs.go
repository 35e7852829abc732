package par

// RunStarts returns the positions at which runs of equal neighbours start, followed by len(keys):
// run r is keys[starts[r]:starts[r+1]]. Without keys it returns the single position 0. I must be
// able to represent len(keys).
func RunStarts[I Integer, K comparable](threads int, keys []K) []I {
	n := len(keys)
	first := firstRuns(threads, keys)
	p := len(first) - 1
	runs := first[p]
	starts := make([]I, runs+1)
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		fillStarts(starts[first[w]:first[w+1]], keys, lo, hi)
	})
	starts[runs] = I(n)
	return starts
}

// CountRuns returns the key and the length of every run of equal neighbours. For sorted keys these
// are the distinct keys with their counts.
func CountRuns[I Integer, K comparable](threads int, keys []K) (unique []K, counts []I) {
	starts := RunStarts[I](threads, keys)
	runs := len(starts) - 1
	unique, counts = make([]K, runs), make([]I, runs)
	p := workers(threads, runs)
	Do(p, func(w int) {
		lo, hi := Block(runs, p, w)
		for r := lo; r < hi; r++ {
			unique[r] = keys[starts[r]]
			counts[r] = starts[r+1] - starts[r]
		}
	})
	return unique, counts
}

// firstRuns divides the keys into one block per worker. It returns the number of the first run that
// starts in each block, then the number of all runs.
func firstRuns[K comparable](threads int, keys []K) []int {
	n := len(keys)
	p := workers(threads, n)
	first := make([]int, p+1)
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		first[w] = countStarts(keys, lo, hi)
	})
	exclusiveBlock(first, first, 0)
	return first
}

func countStarts[K comparable](keys []K, lo, hi int) (n int) {
	if lo == hi {
		return 0
	}
	if lo == 0 {
		n, lo = 1, 1
	}
	prev := keys[lo-1]
	for _, k := range keys[lo:hi] {
		n += btoi(k != prev)
		prev = k
	}
	return n
}

// fillStarts stores every position, and advances only after a start. Without a branch it takes 1.3
// to 1.7 ns per key for any runs; with one it took 1.6 to 5.4, the most for runs of one to three in
// random order.
func fillStarts[I Integer, K comparable](dst []I, keys []K, lo, hi int) {
	if len(dst) == 0 {
		return
	}
	r := 0
	if lo == 0 {
		dst[0] = 0
		r, lo = 1, 1
	}
	prev := keys[lo-1]
	for i := lo; i < hi && r < len(dst); i++ {
		k := keys[i]
		dst[r] = I(i)
		r += btoi(k != prev)
		prev = k
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
