package par

import "sort"

// Segments is the load-balancing search. Segment s holds the items from offsets[s] up to
// offsets[s+1], the last one up to len(dst); offsets is the exclusive scan of the segments'
// lengths. Segments sets dst[i] to the segment that holds item i. Each worker fills an equal part
// of dst, however uneven the segments are: it finds its first segment by binary search and then
// advances. Empty segments are skipped. Without offsets there must be no items.
func Segments[I Integer](threads int, dst, offsets []I) {
	forSegments(threads, len(dst), offsets, func(_, segment, lo, hi int) {
		part, s := dst[lo:hi], I(segment)
		for i := range part {
			part[i] = s
		}
	})
}

// forSegments goes through n items in segments as in Segments. It calls fn(worker, segment, lo, hi)
// for every non-empty segment with its items [lo, hi), in parts where a segment spans workers.
// Workers get equal numbers of items.
func forSegments[I Integer](threads, n int, offsets []I, fn func(worker, segment, lo, hi int)) {
	p := workers(threads, n)
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		if lo == hi {
			return
		}
		// The last segment that starts at or before lo holds lo.
		s := sort.Search(len(offsets), func(s int) bool { return int(offsets[s]) > lo }) - 1
		for lo < hi {
			end := hi
			if s+1 < len(offsets) {
				end = min(hi, int(offsets[s+1]))
			}
			if lo < end {
				fn(w, s, lo, end)
			}
			lo = end
			s++
		}
	})
}
