package cooccur

import (
	"slices"
	"unsafe"
)

// sumRows holds consecutive rows as sums of units, before they are converted to values. Without
// wide units hi is not used.
type sumRows struct {
	first  int
	ends   []int
	cols   []uint32
	lo, hi []uint64

	encoded []byte // the rows as a part of a run, if they are spilled
	rows    Rows   // the rows as values, otherwise
}

func (s *sumRows) reset(first int) {
	s.first = first
	s.ends, s.cols, s.lo, s.hi = s.ends[:0], s.cols[:0], s.lo[:0], s.hi[:0]
}

// endRow ends the current row.
func (s *sumRows) endRow() { s.ends = append(s.ends, len(s.cols)) }

// reserve makes room for n more entries.
func (s *sumRows) reserve(n int, wide bool) {
	s.cols = slices.Grow(s.cols, n)
	s.lo = slices.Grow(s.lo, n)
	if wide {
		s.hi = slices.Grow(s.hi, n)
	}
}

// finish turns sums into values, in place: the words of lo become float64.
func (s *sumRows) finish(u *units) {
	values := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(s.lo))), len(s.lo))
	if u.wide {
		for i, lo := range s.lo {
			values[i] = u.value(lo, s.hi[i])
		}
	} else {
		for i, lo := range s.lo {
			values[i] = float64(lo) / u.one
		}
	}
	s.rows = Rows{First: s.first, Ends: s.ends, Cols: s.cols, Values: values}
}
