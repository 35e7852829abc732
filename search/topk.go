package search

import (
	"math"
	"math/bits"
)

// topK keeps the k best answers. An answer is one number: the score's bits, which order
// like the score since no score is negative, then the complement of the document number, so
// that of two answers the better has the larger number, and no two are equal.
//
// Of many answers no heap is kept: each goes through ten levels of it, at 20 ns, and where it will stop nobody can foresee. They are collected until there are half more than are wanted;
// then the worst are dropped (trim). So the threshold comes a little late. For 1,000 answers mode And and queries of one word take a tenth less with it; others, mode Or, which skip by the threshold only, up to a sixth more:
// they keep a heap.
type topK struct {
	k    int
	keys []uint64 // a heap with the smallest at the root, once there are k
	many bool     // or in any order, and some more than k
	high uint64   // the best of many
	bar  uint32   // the bits of a score that k of many reach
	sort keySorter
}

// collectFrom is how many answers no heap is kept of.
const collectFrom = 512

func (t *topK) reset(k int) {
	t.k = k
	t.keys = t.keys[:0]
	t.high, t.bar = 0, 0
}

func answer(doc uint32, score float32) uint64 {
	return uint64(math.Float32bits(score))<<32 | uint64(^doc)
}

// full says whether there are k answers, so that the worst of them is a threshold.
func (t *topK) full() bool { return len(t.keys) >= t.k }

// worst is the score of the worst answer of a full heap, or one that is not above it.
func (t *topK) worst() float32 {
	if t.many {
		return math.Float32frombits(t.bar)
	}
	return math.Float32frombits(uint32(t.keys[0] >> 32))
}

// add takes an answer if it is one of the k best so far, and says whether it did.
func (t *topK) add(doc uint32, score float32) bool {
	key := answer(doc, score)
	if t.many {
		t.collect(key)
		return true
	}
	if len(t.keys) < t.k {
		t.keys = append(t.keys, key)
		if len(t.keys) == t.k {
			for i := t.k/2 - 1; i >= 0; i-- {
				t.down(i, t.keys[i])
			}
		}
		return true
	}
	if key <= t.keys[0] {
		return false
	}
	t.down(0, key)
	return true
}

// collect is add for many answers.
func (t *topK) collect(key uint64) {
	t.keys = append(t.keys, key)
	t.high = max(t.high, key)
	switch len(t.keys) {
	case t.k:
		low := key
		for _, key := range t.keys {
			low = min(low, key)
		}
		t.bar = uint32(low >> 32)
	case t.k + t.k/2:
		t.trim()
	}
}

// trim drops the worst of many answers. They are counted by ranges between the bar and the best; all of the range with the k-th are kept.
func (t *topK) trim() {
	const ranges = 1 << 9
	var count [ranges]uint32
	low := uint64(t.bar) << 32
	shift := max(bits.Len64(t.high-low)-bits.Len(ranges-1), 0)
	for _, key := range t.keys {
		count[(key-low)>>shift&(ranges-1)]++
	}
	at := ranges
	for n := 0; n < t.k && at > 0; n += int(count[at&(ranges-1)]) {
		at--
	}
	edge, n := low+uint64(at)<<shift, 0
	for _, key := range t.keys {
		t.keys[n] = key
		_, less := bits.Sub64(key, edge, 0)
		n += 1 - int(less)
	}
	t.keys, t.bar = t.keys[:n], uint32(edge>>32)
	if n > t.k+t.k/4 { // many in one range
		kept := t.sorted()
		t.keys = t.keys[:copy(t.keys, kept)]
		t.bar = uint32(t.keys[0] >> 32)
	}
}

// sorted is the answers, rising.
func (t *topK) sorted() []uint64 {
	t.sort.sort(t.keys)
	return t.keys[max(len(t.keys)-t.k, 0):]
}

// down puts key at i or below, moving smaller children up.
func (t *topK) down(i int, key uint64) {
	keys := t.keys
	for {
		child := 2*i + 1
		if child >= len(keys) {
			break
		}
		if child+1 < len(keys) { // the smaller one, without a branch that nobody can predict
			_, less := bits.Sub64(keys[child+1], keys[child], 0)
			child += int(less)
		}
		if keys[child] >= key {
			break
		}
		keys[i] = keys[child]
		i = child
	}
	keys[i] = key
}

// hits returns the answers, best first, and empties the heap.
func (t *topK) hits() []Hit {
	keys := t.sorted()
	out := make([]Hit, len(keys))
	for i, key := range keys {
		out[len(out)-1-i] = Hit{Doc: ^uint32(key), Score: math.Float32frombits(uint32(key >> 32))}
	}
	t.keys = t.keys[:0]
	return out
}
