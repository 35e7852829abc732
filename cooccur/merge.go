package cooccur

import (
	"context"
	"slices"
)

// mergeUnit is the size of a unit of merging: the bytes of its rows in all runs together.
const mergeUnit = 1 << 20

// merge adds up the runs row by row and passes the sums to sink as values. Each worker reads its
// own rows from all runs. Rows are added up in the accumulator, so that merging many runs costs no
// more per entry than merging two.
//
// The argument room is the number of bytes for read buffers.
func (s *spill) merge(ctx context.Context, accs []*accumulator, buffers []*sumRows, room int64, sink Sink) error {
	cuts, bytes := s.cuts()
	size := int(room) / len(accs) / len(s.runs) &^ 7
	size = min(max(size, 4<<10), 256<<10)
	space, err := newOffheap(size / 4 * len(accs) * len(s.runs))
	if err != nil {
		return err
	}
	defer space.free()
	cursors := make([][]cursor, len(accs))
	for w := range cursors {
		cursors[w] = make([]cursor, len(s.runs))
		for i := range cursors[w] {
			at := size * (w*len(s.runs) + i)
			cursors[w][i] = cursor{s: s, run: &s.runs[i], space: space.raw[at : at+size]}
		}
	}
	return ordered(ctx, len(cuts)-1, len(accs), buffers, func(worker, unit int, b *sumRows) error {
		first, last := cuts[unit], cuts[unit+1]
		b.reset(first)
		for i := range cursors[worker] {
			c := &cursors[worker][i]
			if err := c.seek(first); err != nil {
				return err
			}
		}
		for row := first; row < last; row++ {
			for i := range cursors[worker] {
				c := &cursors[worker][i]
				if c.row != row {
					continue
				}
				if err := c.addTo(accs[worker]); err != nil {
					return err
				}
				if err := c.next(); err != nil {
					return err
				}
			}
			accs[worker].take(b, false)
		}
		b.finish(&s.units)
		return nil
	}, func(unit int, b *sumRows) error {
		s.progress("merging", bytes[unit+1], s.size)
		return s.emit(b, sink)
	})
}

// cuts divides the rows into units of about mergeUnit bytes. It returns the first row of each unit
// and the end, and for each the number of bytes of the runs before it.
func (s *spill) cuts() (cuts []int, before []int64) {
	var parts []part
	for _, r := range s.runs {
		parts = append(parts, r.parts...)
	}
	slices.SortFunc(parts, func(a, b part) int { return a.row - b.row })
	cuts, before = []int{0}, []int64{0}
	bytes := int64(0)
	for _, p := range parts {
		if bytes-before[len(before)-1] >= mergeUnit && p.row > cuts[len(cuts)-1] {
			cuts = append(cuts, p.row)
			before = append(before, bytes)
		}
		bytes += p.end - p.start
	}
	if n := s.vocab.Len(); cuts[len(cuts)-1] < n {
		cuts = append(cuts, n)
		before = append(before, bytes)
	}
	return cuts, before
}
