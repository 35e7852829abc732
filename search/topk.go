package search

import (
	"math"
	"math/bits"
)

// topK keeps the k best answers. An answer is one number: the score's bits, which order
// like the score since no score is negative, then the complement of the document number, so
// that of two answers the better has the larger number, and no two are equal.
type topK struct {
	k    int
	keys []uint64 // a heap with the smallest at the root, once there are k
	sort keySorter
}

func (t *topK) reset(k int) {
	t.k = k
	t.keys = t.keys[:0]
}

func answer(doc uint32, score float32) uint64 {
	return uint64(math.Float32bits(score))<<32 | uint64(^doc)
}

// full says whether there are k answers, so that the worst of them is a threshold.
func (t *topK) full() bool { return len(t.keys) == t.k }

// worst is the score of the worst answer of a full heap.
func (t *topK) worst() float32 { return math.Float32frombits(uint32(t.keys[0] >> 32)) }

// add takes an answer if it is one of the k best so far, and says whether it did.
func (t *topK) add(doc uint32, score float32) bool {
	key := answer(doc, score)
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
	t.sort.sort(t.keys)
	out := make([]Hit, len(t.keys))
	for i, key := range t.keys {
		out[len(out)-1-i] = Hit{Doc: ^uint32(key), Score: math.Float32frombits(uint32(key >> 32))}
	}
	t.keys = t.keys[:0]
	return out
}
