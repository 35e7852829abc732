package cooccur

import "math/bits"

// accumulator adds up one row of the matrix at a time: a dense array with a sum
// for every column, and the list of columns that are not zero. Columns are IDs + 1,
// because 0 marks the end of a document.
//
// The most frequent columns, which get most additions, are adjacent at the start of the array and
// so stay in the cache. Light rows, which are all but a few, use 32-bit sums, so that twice as many
// fit there.
type accumulator struct {
	small   []uint32 // sums of light rows
	large   []uint64 // sums of heavy rows, or the low words of wide sums
	high    []uint64 // high words of wide sums
	list    []uint32 // nonzero columns, in the order of their first addition
	n       int      // number of entries in list
	marks   []uint64 // a bit per column, for sort
	top     []uint64 // a bit per word of marks
	ahead   int      // end of the places that were read ahead
	touched uint32   // keeps the compiler from removing the reads ahead
}

// accumulatorBytes is the memory of an accumulator for each word of the vocabulary.
const accumulatorBytes = 4 + 8 + 8 + 4 + 1

func newAccumulator(j *job) *accumulator {
	words := j.vocab.Len()
	a := &accumulator{
		small: make([]uint32, words+1),
		large: make([]uint64, words+1),
		list:  make([]uint32, words+2),
		marks: make([]uint64, words/64+1),
		top:   make([]uint64, words/4096+1),
	}
	if j.wide {
		a.high = make([]uint64, words+1)
	}
	return a
}

// add adds to one column of a heavy or wide row.
func (a *accumulator) add(col uint32, lo, hi uint64) {
	if a.high == nil {
		if a.large[col] == 0 {
			a.list[a.n] = col
			a.n++
		}
		a.large[col] += lo
		return
	}
	if a.large[col]|a.high[col] == 0 {
		a.list[a.n] = col
		a.n++
	}
	var carry uint64
	a.large[col], carry = bits.Add64(a.large[col], lo, 0)
	a.high[col] += hi + carry
}

// take appends the row to out and clears it for the next.
func (a *accumulator) take(out *sumRows, light bool) {
	a.sort()
	out.reserve(a.n, a.high != nil)
	at := len(out.cols)
	out.cols, out.lo = out.cols[:at+a.n], out.lo[:at+a.n]
	cols, lo := out.cols[at:], out.lo[at:]
	lo = lo[:len(cols)]
	list := a.list[:len(cols)]
	switch {
	case light:
		for i, c := range list {
			cols[i] = c - 1
			lo[i] = uint64(a.small[c])
			a.small[c] = 0
		}
	default:
		for i, c := range list {
			cols[i] = c - 1
			lo[i] = a.large[c]
			a.large[c] = 0
		}
		if a.high != nil {
			for _, c := range list {
				out.hi = append(out.hi, a.high[c])
				a.high[c] = 0
			}
		}
	}
	a.n = 0
	out.endRow()
}

// sort sorts the list of columns. Long lists are sorted by a two-level bitmap.
func (a *accumulator) sort() {
	list := a.list[:a.n]
	if len(list) <= 24 {
		for i := 1; i < len(list); i++ {
			c, j := list[i], i
			for ; j > 0 && list[j-1] > c; j-- {
				list[j] = list[j-1]
			}
			list[j] = c
		}
		return
	}
	for _, c := range list {
		a.marks[c>>6] |= 1 << (c & 63)
		a.top[c>>12] |= 1 << (c >> 6 & 63)
	}
	n := 0
	for i, t := range a.top {
		for ; t != 0; t &= t - 1 {
			word := i<<6 | bits.TrailingZeros64(t)
			for m := a.marks[word]; m != 0; m &= m - 1 {
				list[n] = uint32(word<<6 | bits.TrailingZeros64(m))
				n++
			}
			a.marks[word] = 0
		}
		a.top[i] = 0
	}
}
