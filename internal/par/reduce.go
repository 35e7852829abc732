package par

// SumByKey sums the values of each run of equal neighbouring keys. Integer sums do not depend on
// the order, so a long run is shared among workers.
func SumByKey[K comparable, V Integer](threads int, keys []K, vals []V) (unique []K, totals []V) {
	n := len(keys)
	first := firstRuns(threads, keys)
	p := len(first) - 1
	runs := first[p]
	unique, totals = make([]K, runs), make([]V, runs)
	carry := make([]V, p) // the part of each block that belongs to a run of an earlier block
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		carry[w] = sumRuns(unique[first[w]:first[w+1]], totals[first[w]:first[w+1]], keys, vals, lo, hi)
	})
	for w := 1; w < p; w++ {
		if first[w] > 0 {
			totals[first[w]-1] += carry[w]
		}
	}
	return unique, totals
}

// sumRuns sums the runs that start in [lo, hi), up to hi, and returns the sum of the values before
// the first start.
func sumRuns[K comparable, V Integer](unique []K, totals []V, keys []K, vals []V, lo, hi int) (carry V) {
	i := lo
	for ; i < hi && i > 0 && keys[i] == keys[i-1]; i++ {
		carry += vals[i]
	}
	for r := 0; i < hi; r++ {
		key, acc := keys[i], vals[i]
		for i++; i < hi && keys[i] == key; i++ {
			acc += vals[i]
		}
		unique[r], totals[r] = key, acc
	}
	return carry
}
