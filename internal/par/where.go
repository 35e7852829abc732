package par

// Where lists, in order, the i in [0, n) for which holds(i) is true. It calls holds twice for each
// i.
func Where[I Integer](threads, n int, holds func(i int) bool) []I {
	p := workers(threads, n)
	starts := make([]int, p+1)
	Do(p, func(w int) {
		count := 0
		for i, hi := Block(n, p, w); i < hi; i++ {
			if holds(i) {
				count++
			}
		}
		starts[w] = count
	})
	list := make([]I, exclusiveBlock(starts, starts, 0))
	Do(p, func(w int) {
		at := starts[w]
		for i, hi := Block(n, p, w); i < hi; i++ {
			if holds(i) {
				list[at] = I(i)
				at++
			}
		}
	})
	return list
}
