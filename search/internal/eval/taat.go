package eval

import "github.com/collocate/collocate/search/internal/ask"

// taat evaluates term at a time: each list is added as a whole to an array of sums. The array
// covers a window of documents, so that memory does not grow with the index; all lists are added
// for one window after the other.
func taat(q *Query) error {
	w := &q.window
	w.prepare()
	for base := q.from; base < q.to; {
		end := uint32(min(uint64(base)+windowSize, uint64(q.to)))
		for _, l := range q.Lists {
			l.fill(base, end, -1)
			w.add(&l.postings, base)
			if q.Mode == ask.And {
				for _, d := range l.postings.docs[l.postings.lo:l.postings.hi] {
					w.count[d-base]++
				}
			}
		}
		w.scan(base, int(end-base), float64(q.theta))
		for _, c := range w.found {
			if q.Mode == ask.Or || int(w.count[c.Doc()-base]) == len(q.Lists) {
				q.push(c.Doc(), c.Sum())
			}
		}
		if q.Mode == ask.And {
			clear(w.count[:end-base])
		}
		if err := q.pause(); err != nil {
			return err
		}
		base = end
	}
	return nil
}
