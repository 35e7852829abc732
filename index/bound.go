package index

import (
	"math"
	"slices"
	"sort"
)

// Bound limits how good the postings of a block (or of SuperBlocks blocks, or of a whole list) can
// be. It holds for every score that grows with the term frequency and shrinks with the document
// length, whatever its parameters. It consists of four pairs of a frequency and a length class. For
// every posting, one of the pairs has at least its frequency and at most its length class. So the
// largest score of the four pairs is an upper bound. Pairs are ordered by descending frequency;
// unused ones repeat the last.
type Bound uint64

// BoundPairs is the number of pairs in a Bound. Four fit into a machine word. On eLife paragraphs,
// the BM25 bound of four pairs is on average 1.1% above the largest score of the block. With a
// single pair, the largest frequency and the shortest length, it would be 17.6% above.
const BoundPairs = 4

// Pair returns the i-th pair: an index into TFOfCode and one into Reader.ClassLengths.
func (b Bound) Pair(i int) (tf, class uint8) {
	p := b >> (16 * uint(i))
	return uint8(p), uint8(p >> 8)
}

func makeBound(pairs []pairCode) (b Bound) {
	for i := range BoundPairs {
		p := pairs[min(i, len(pairs)-1)]
		b |= Bound(uint64(p.tf)|uint64(p.class)<<8) << (16 * uint(i))
	}
	return b
}

type pairCode struct{ tf, class uint8 }

// exactTFs is the largest frequency with a code of its own. The frequencies of higher codes grow
// by a fifth each, so that 256 codes reach 2^32.
const exactTFs = 160

var tfOfCode = makeTFCodes()

func makeTFCodes() (t [256]uint32) {
	at := uint64(0)
	for c := range t {
		if at < exactTFs {
			at++
		} else {
			at += at/5 + 1 // whole numbers only: the same on every machine
		}
		t[c] = uint32(min(at, math.MaxUint32))
	}
	t[255] = math.MaxUint32
	return t
}

// TFOfCode returns the largest frequency that each code of a Bound stands for.
func TFOfCode() *[256]uint32 { t := tfOfCode; return &t }

// codeOfTF returns the lowest code that stands for tf or more.
func codeOfTF(tf uint32) uint8 {
	if tf <= exactTFs {
		return uint8(max(tf, 1) - 1)
	}
	return uint8(sort.Search(255, func(c int) bool { return tfOfCode[c] >= tf }))
}

// frontier collects the Pareto front of a block's postings: the pairs that no other pair beats in
// both frequency and length.
type frontier struct {
	shortest [256]uint16 // lowest length class by frequency code; 256 where there is none
	top      int         // highest code seen, -1 if none
	pairs    []pairCode
	lengths  *lengthTable
}

func newFrontier(l *lengthTable) *frontier {
	f := &frontier{top: -1, lengths: l}
	for i := range f.shortest {
		f.shortest[i] = 256
	}
	return f
}

func (f *frontier) add(tf, class uint8) {
	if uint16(class) < f.shortest[tf] {
		f.shortest[tf] = uint16(class)
		f.top = max(f.top, int(tf))
	}
}

func (f *frontier) addBound(b Bound) {
	for i := range BoundPairs {
		f.add(b.Pair(i))
	}
}

// take returns the bound of all pairs added since the last take.
func (f *frontier) take() Bound {
	f.pairs = f.pairs[:0]
	low := uint16(256)
	for c := f.top; c >= 0; c-- {
		if f.shortest[c] < low {
			low = f.shortest[c]
			f.pairs = append(f.pairs, pairCode{uint8(c), uint8(low)})
		}
		f.shortest[c] = 256
	}
	f.top = -1
	if len(f.pairs) == 0 {
		return 0
	}
	// Merging neighbours takes the higher frequency and the shorter length. Where
	// the merged pair scores least it raises the bound least.
	for len(f.pairs) > BoundPairs {
		best, bestScore := 0, math.Inf(1)
		for i := range len(f.pairs) - 1 {
			if s := f.score(f.pairs[i].tf, f.pairs[i+1].class); s < bestScore {
				best, bestScore = i, s
			}
		}
		f.pairs[best].class = f.pairs[best+1].class
		f.pairs = slices.Delete(f.pairs, best+1, best+2)
	}
	return makeBound(f.pairs)
}

func (f *frontier) score(tf, class uint8) float64 {
	t := float64(tfOfCode[tf])
	return t / (t + f.lengths.norm[class])
}

// ClassesIn returns, for each length class of an index, the class of another whose documents may be
// as short: the last one that does not begin after it. It is false if there is none for some class.
func (r *Reader) ClassesIn(of *Reader) (classes *[256]uint8, ok bool) {
	classes = new([256]uint8)
	for c, at := 0, 0; c < r.numLow; c++ {
		for at+1 < of.numLow && of.classLow[at+1] <= r.classLow[c] {
			at++
		}
		if of.numLow == 0 || of.classLow[at] > r.classLow[c] {
			return nil, false
		}
		classes[c] = uint8(at)
	}
	return classes, true
}

// In returns a bound with other length classes: the given one for each of its own.
func (b Bound) In(classes *[256]uint8) Bound {
	var pairs [BoundPairs]pairCode
	for i := range pairs {
		tf, class := b.Pair(i)
		pairs[i] = pairCode{tf, classes[class]}
	}
	return makeBound(pairs[:])
}

// JoinBounds returns a bound on the postings that any of the bounds holds for, with the length
// classes of this index.
func (r *Reader) JoinBounds(bounds []Bound) Bound {
	if len(bounds) == 1 {
		return bounds[0]
	}
	var l lengthTable
	mean := float64(max(r.meta.tokens, 1)) / float64(max(r.meta.docs, 1))
	for i := range l.norm {
		l.norm[i] = 0.3 + 0.9*float64(r.classLow[i])/mean
	}
	f := newFrontier(&l)
	for _, b := range bounds {
		f.addBound(b)
	}
	return f.take()
}
