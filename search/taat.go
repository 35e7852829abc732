package search

// taat is term at a time: each list is added as a whole to an array of sums. The array is a
// window of documents, so that memory does not grow with the index: the lists take turns
// window by window.
func taat(q *query) error {
	w := &q.window
	and := q.mode == And
	for base := q.from; base < q.to; {
		end := uint32(min(uint64(base)+windowSize, uint64(q.to)))
		n := int(end - base)
		w.clear(n)
		clear(w.count[:n])
		for _, l := range q.lists {
			q.stats.Scored += int64(l.fill(base, end))
			w.add(&l.postings, base)
			if and {
				for _, d := range l.postings.docs[l.postings.lo:l.postings.hi] {
					w.count[d-base]++
				}
			}
		}
		for i, sum := range w.sums[:n] {
			if sum > q.theta && !isUntouched(sum) && (!and || int(w.count[i]) == len(q.lists)) {
				q.push(base+uint32(i), sum)
			}
		}
		if err := q.ctx.Err(); err != nil {
			return err
		}
		base = end
	}
	return nil
}
