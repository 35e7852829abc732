package eval

import (
	"math"
	"math/bits"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// levels uses the maps of levels that the index has of long lists, in mode And and for queries of
// one word (one_levels.go). A place is the LevelDocs documents that share a level; a stretch is
// what a kernel looks at in one step. The level of a list at a place bounds its scores there.
//
// If the leading list has a map, too, the bounds of all lists are added up for every place. Blocks
// without a place whose sum can beat the threshold are not decoded, and documents at other places
// are dropped. If only the other lists have maps, the score of each posting of the leading list is
// added to their bounds at its place.
//
// Two words of 330,000 and 510,000 of 5M documents take 160 microseconds for 10 answers, 690 for
// 100 and 1,850 for 1,000. By the bounds of blocks and the lengths of documents they took 1,100,
// 2,090 and 2,460, since nearly every block can win.
type levels struct {
	maps   [][]uint8 // of the lists that have one, the shortest first
	starts []*uint8  // of the maps
	// bound of each of these lists at each level; minus infinity for level 0, without postings
	scores [][simd.NumLevels]float32
	units  [][simd.NumLevels]int8 // the same as integers, rounded up, so that bytes can be added
	scale  float64                // units for a score of 1
	lead   bool                   // the leading list has a map

	bits      []uint64 // a bit for each place: set if the units there add up to need
	need      int8
	until     int // stretches whose bits are computed
	stretches int // of the index

	sieve simd.LevelSieve // what choose passes to the kernel
	best  [32]float32     // bound of the leading list's score for each frequency; 31: and above
	sift  sifter          // of the leading list
}

const (
	placeShift    = 4 // documents to places; the kernels know it
	stretchPlaces = 2 * index.StretchBytes
	maxLeveled    = 16 // lists whose maps are added: sums are below 128
)

// prepare collects the maps of the lists, the leading list first, and reports whether to use them.
func (v *levels) prepare(lists []*list, docs uint64) bool {
	lead := lists[0]
	if len(lists) > maxLeveled || lists[1].Levels == nil || lead.Term.DF < worthLead {
		return false
	}
	total := lead.max
	for _, l := range lists[1:] {
		if l.Levels == nil || l.lowX == nil {
			return false // an index without them, or another model than theirs
		}
		total += l.max
	}
	v.maps, v.starts, v.scores, v.units = v.maps[:0], v.starts[:0], v.scores[:0], v.units[:0]
	v.scale, v.lead = (126-float64(len(lists)))/total, lead.Levels != nil
	for _, l := range lists {
		if l.Levels == nil {
			continue
		}
		scores, units := [simd.NumLevels]float32{float32(math.Inf(-1))}, [simd.NumLevels]int8{-128}
		for i := 1; i < simd.NumLevels; i++ {
			scores[i] = l.ofX(l.LevelX[i])
			units[i] = v.unitsOf(min(float64(scores[i]), l.max))
		}
		v.maps, v.starts = append(v.maps, l.Levels), append(v.starts, &l.Levels[0])
		v.scores, v.units = append(v.scores, scores), append(v.units, units)
	}
	v.makeRoom(docs)
	v.rewind()
	v.prepareSieve(lead)
	return true
}

// makeRoom makes room for the bits of all places.
func (v *levels) makeRoom(docs uint64) {
	v.stretches = int((docs + index.StretchDocs - 1) / index.StretchDocs)
	if len(v.bits) < 2*v.stretches {
		v.bits = make([]uint64, 2*v.stretches)
	}
}

// rewind begins with the first document again.
func (v *levels) rewind() { v.need, v.until = 0, 0 }

func (v *levels) unitsOf(score float64) int8 { return int8(math.Ceil(score * v.scale)) }

// needOf is what the units at a place must add up to so that a document there can be above the cut.
func (v *levels) needOf(cut float64) int8 {
	return int8(max(1, min(127, math.Floor(cut*v.scale)+1)))
}

func (v *levels) prepareSieve(lead *list) {
	v.sift.make(lead)
	for tf := range v.best {
		v.best[tf] = lead.bm25.OfX(float32(v.sift.k[0] * simd.SmallReciprocals[tf]))
	}
	v.best[0], v.best[31] = float32(lead.max), float32(lead.max)
	others := 0
	if v.lead {
		others = 1
	}
	v.sieve = simd.LevelSieve{
		Maps: &v.starts[others], Scores: &v.scores[others], N: len(v.maps) - others,
		Halves: &v.sift.halves[0], K: &v.sift.k, Reciprocals: &simd.SmallReciprocals, Best: &v.best,
		Weight: lead.bm25.Weight, Plus: lead.bm25.Plus,
	}
}

// guessFloor guesses a score that k documents will beat. Answers are at places with high sums,
// which are known without decoding anything. But a sum is also high where the lists' best postings
// belong to different documents of the place. With two independent words about one such place in
// LevelDocs has an answer, and each further word divides that by LevelDocs again. So the floor is
// the sum that the corresponding multiple of k places exceed (placesToGuess). It is estimated from
// a sample of the stretches, by binary search over sums. The search itself proves the guess or not.
// (To visit the best places first, and then what their answers leave of the others, decodes most
// blocks twice.)
func (v *levels) guessFloor(k, lists int, times float64) (floor float32, ok bool) {
	places := placesToGuess(k, lists, times)
	if places > float64(v.stretches*stretchPlaces/3) {
		return 0, false
	}
	n := int(places)
	step := max(n/fewestSampled, 1)
	want := n / step
	lo, hi := 0, 127 // more than that many places have lo, not more have hi
	for hi-lo > 1 {
		mid, count := (lo+hi)/2, 0
		for s := 0; s < v.stretches; s += step {
			var out [2]uint64
			v.findPlaces(s, 1, int8(mid), out[:])
			count += bits.OnesCount64(out[0]) + bits.OnesCount64(out[1])
		}
		if count > want {
			lo = mid
		} else {
			hi = mid
		}
	}
	return float32(float64(hi-1) / v.scale), hi > 1
}

// placesToGuess is the number of best places that should have k answers, for a query of the given
// number of lists. times is the factor of safety.
func placesToGuess(k, lists int, times float64) float64 {
	return times * math.Pow(placesAnAnswer, float64(lists-1)) * (float64(k) + 2*math.Sqrt(float64(k)))
}

// reach computes v.bits for the documents from one to another, and for some more, unless that is
// done. Calls come with rising documents. It uses the threshold of the time, so later bits may let
// less pass than earlier ones.
func (v *levels) reach(from, last uint32, cut float64) {
	end := int(last/index.StretchDocs) + 1
	if end <= v.until {
		return
	}
	v.need = max(v.need, v.needOf(cut))
	start := max(v.until, int(from/index.StretchDocs))
	v.until = min(max(end, start+8), v.stretches)
	v.findPlaces(start, v.until-start, v.need, v.bits[2*start:])
}

// skips reports whether no document from one to another can be above the cut.
func (v *levels) skips(from, last uint32, cut float64) bool {
	v.reach(from, last, cut)
	p, end := from>>placeShift, last>>placeShift
	if word := v.bits[p/64] >> (p % 64); p/64 == end/64 {
		return word<<(63-end%64+p%64) == 0
	} else if word != 0 {
		return false
	}
	for w := p/64 + 1; w < end/64; w++ {
		if v.bits[w] != 0 {
			return false
		}
	}
	return v.bits[end/64]<<(63-end%64) == 0
}

// findPlaces sets the bits of the places, in n stretches from one on, where the units of all lists
// add up to at least need. A stretch has two words of bits.
func (v *levels) findPlaces(from, n int, need int8, out []uint64) {
	if n <= 0 {
		return
	}
	if simd.HasKernels {
		simd.FindPlaces(&v.starts[0], &v.units[0], len(v.maps), from, n, need, &out[:2*n][0])
		return
	}
	v.plainFindPlaces(from, n, need, out)
}

func (v *levels) plainFindPlaces(from, n int, need int8, out []uint64) {
	for s := range n {
		var low, high uint64
		for i := range index.StretchBytes {
			a, b := 0, 0
			for l, m := range v.maps {
				two := m[(from+s)*index.StretchBytes+i]
				a += int(v.units[l][two%simd.NumLevels])
				b += int(v.units[l][two/simd.NumLevels])
			}
			if a >= int(need) {
				low |= 1 << i
			}
			if b >= int(need) {
				high |= 1 << i
			}
		}
		out[2*s], out[2*s+1] = low, high
	}
}

// keep keeps the documents at places whose bit is set (see reach), with their positions in the
// block (at). The outs must have room for simd.KernelSlack more.
func (v *levels) keep(docs, at, outDocs, outAt []uint32) int {
	return simd.KeepBits(docs, at, v.bits, placeShift, outDocs, outAt)
}

// choose keeps the postings of the leading list that can be above the cut. A posting's sum bounds
// its document's score: it is the posting's score for the shortest length of the document's bucket,
// plus the best that the other lists have at its place. The outs get what is kept and may be the
// front of docs and tfs; they must have room for simd.KernelSlack more.
func (v *levels) choose(docs, tfs []uint32, cut float64, outDocs, outTFs []uint32,
	outSums []float32) int {
	if len(docs) == 0 {
		return 0
	}
	tfs = tfs[:len(docs)]
	v.sieve.Cut = float32(cut)
	if simd.HasWideKernels {
		return simd.SiftLevels(&docs[0], &tfs[0], len(docs), &v.sieve, &outDocs[0], &outTFs[0],
			&outSums[0])
	}
	return v.plainChoose(docs, tfs, outDocs, outTFs, outSums)
}

func (v *levels) plainChoose(docs, tfs, outDocs, outTFs []uint32, outSums []float32) (n int) {
	s := &v.sieve
	first := len(v.maps) - s.N
	for i, d := range docs {
		p := int(d >> placeShift)
		byteOf, half := p/stretchPlaces*index.StretchBytes+p%index.StretchBytes, p/index.StretchBytes%2
		others := float32(0)
		for l, m := range v.maps[first:] {
			others += v.scores[first+l][m[byteOf]>>(4*half)%simd.NumLevels]
		}
		tf := min(tfs[i], 31)
		if !(others+v.best[tf] > s.Cut) {
			continue
		}
		score := v.best[31]
		if tf < 31 {
			k := v.sift.k[v.sift.halves[d/2]>>(d%2*4)%simd.NumBuckets]
			x := float32(k * simd.SmallReciprocals[tf])
			score = s.Weight/(1+x) + s.Plus
		}
		if sum := others + score; sum > s.Cut {
			outDocs[n], outTFs[n], outSums[n] = d, tfs[i], sum
			n++
		}
	}
	return n
}
