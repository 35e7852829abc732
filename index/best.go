package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/collocate/collocate/bm25"
)

// A Bound holds for any model. Most searches use BM25 with k1 = 1.2 and b = 0.75, so for this model
// the skip data also store the exact value of the best postings. That value is the x of package
// bm25: a word's weight in a document is Weight/(1+x), so a lower x is better. It does not depend
// on the idf variant.

// Ranks lists the ranks whose values Cursor.Ranked holds.
var Ranks = [numRanks]int{10, 100, 1000}

const numRanks = 3

// noPosting is the x at a rank beyond the end of the list. It corresponds to a weight of 0.
var noPosting = float32(math.Inf(1))

// StoredModel returns the model that the x of the skip data were computed with: BM25 with k1 = 1.2
// and b = 0.75. See bm25.Length for what x is.
func (r *Reader) StoredModel() bm25.Length { return r.coef }

// storedModel returns the model's constants for a collection, or zeros for an empty one.
func storedModel(docs, tokens uint64) bm25.Length {
	s, err := bm25.Params{}.Scorer(docs, tokens)
	if err != nil {
		return bm25.Length{}
	}
	return s.Length()
}

// xOf returns the x of a posting.
func xOf(c bm25.Length, tf, length uint32) float32 {
	return float32(c.K(length) * bm25.Reciprocal(tf))
}

// ranking finds the x at each of the Ranks among the postings of a list. It buffers candidates;
// when the buffer is full, all but the lowest of them, as many as the last rank, are dropped.
type ranking struct {
	keep  []uint32 // bits of x, which order like x: none is negative
	limit uint32   // only an x below it can still be a candidate; 0 before the first add
}

const rankingSize = 4 * 1000

// add adds the bits of up to BlockSize x.
func (r *ranking) add(xs []uint32) {
	if r.limit == 0 {
		r.keep, r.limit = slices.Grow(r.keep[:0], rankingSize+BlockSize), math.MaxUint32
	}
	// Which values are kept is unpredictable, so writing all of them is faster than branching.
	n, k, limit := len(r.keep), 0, r.limit
	keep := (*[BlockSize]uint32)(r.keep[n : n+BlockSize])
	for _, x := range xs {
		keep[k&(BlockSize-1)] = x
		k += below(x, limit)
	}
	if r.keep = r.keep[:n+k]; len(r.keep) >= rankingSize {
		last := Ranks[numRanks-1]
		selectLowest(r.keep, last)
		r.keep = r.keep[:last]
		r.limit = max(highest(r.keep), 1)
	}
}

// take returns the x at each rank of the postings added since the previous call.
func (r *ranking) take() (ranked [numRanks]float32) {
	for i := numRanks - 1; i >= 0; i-- {
		ranked[i] = noPosting
		if n := Ranks[i]; n <= len(r.keep) {
			selectLowest(r.keep, n)
			r.keep = r.keep[:n]
			ranked[i] = math.Float32frombits(highest(r.keep))
		}
	}
	r.limit = 0
	return ranked
}

// below returns 1 if x < limit and 0 otherwise, without a branch.
func below(x, limit uint32) int { return int((uint64(x) - uint64(limit)) >> 63) }

func highest(v []uint32) (top uint32) {
	for _, x := range v {
		top = max(top, x)
	}
	return top
}

// selectLowest moves the n lowest numbers to the front of v, in any order, by quickselect.
func selectLowest(v []uint32, n int) {
	for n > 0 && n < len(v) {
		// The median of three positions splits ascending and descending runs in half.
		a, b, c := v[0], v[len(v)/2], v[len(v)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		low := 0 // v[:low] < pivot; swapping unconditionally avoids mispredicted branches
		for i, x := range v {
			v[i], v[low] = v[low], x
			low += below(x, pivot)
		}
		if n <= low {
			v = v[:low]
			continue
		}
		same := low // v[low:same] == pivot
		for i := low; i < len(v); i++ {
			x := v[i]
			v[i], v[same] = v[same], x
			same += below(x, pivot+1)
		}
		if n <= same {
			return
		}
		v, n = v[same:], n-same
	}
}

// Best describes the best postings of a list by their x (see Reader.StoredModel): lower is better.
type Best struct {
	// X is the lowest x of the list, or the largest float32 if the list is empty.
	X float32
	// Known counts postings with at most some x. Both the x and the counts ascend.
	Known []AtMost
}

// AtMost states that at least N postings have an x of at most X.
type AtMost struct {
	X float32 // as in Best: lower is better
	N int     // at least 1
}

// knownSteps limits the entries of Best.Known. BestOf adds an entry for each count up to the
// smallest step, and beyond it only for these counts of best blocks (of postings, in a short list).
// Every commit makes searches call BestOf for their words again, so it must be fast: sorting all
// blocks of a frequent word would take 0.2 ms.
var knownSteps = [...]int{128, 64, 32, 16}

// BestOf finds the best postings of a list. It uses the cursor c and leaves it at an undefined
// position.
func (r *Reader) BestOf(t Term, c *Cursor) (Best, error) {
	if t.DF == 0 {
		return Best{X: math.MaxFloat32}, nil
	}
	if err := r.OpenBlocks(t, c); err != nil {
		return Best{}, err
	}
	var b Best
	var xs []uint32 // bits of the x of distinct postings; they order like the numbers
	if c.LowX != nil {
		xs = make([]uint32, len(c.LowX))
		for i, x := range c.LowX { // the best posting of each block
			xs[i] = math.Float32bits(x)
		}
		for i, x := range c.Ranked {
			if x < noPosting {
				b.Known = append(b.Known, AtMost{x, Ranks[i]})
			}
		}
	} else {
		docs, tfs := c.Loaded(), c.TFs()
		xs = make([]uint32, len(docs))
		for i, d := range docs {
			xs[i] = math.Float32bits(xOf(r.coef, tfs[i], r.Length(int(d))))
		}
	}
	at := func(i int, x uint32) { b.Known = append(b.Known, AtMost{math.Float32frombits(x), i}) }
	if c.LowX == nil {
		at(len(xs), highest(xs))
	}
	for _, n := range knownSteps {
		if n < len(xs) {
			selectLowest(xs, n)
			xs = xs[:n]
			at(n, highest(xs))
		}
	}
	slices.Sort(xs)
	for i, x := range xs {
		at(i+1, x)
	}
	b.X = math.Float32frombits(xs[0])
	slices.SortFunc(b.Known, func(a, b AtMost) int {
		return cmp.Or(cmp.Compare(a.X, b.X), b.N-a.N) // largest N first; others are dropped
	})
	most, kept := 0, b.Known[:0]
	for _, k := range b.Known {
		if k.N > most {
			most, kept = k.N, append(kept, k)
		}
	}
	b.Known = kept
	return b, nil
}
