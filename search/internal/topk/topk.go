package topk

import (
	"math"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
)

// Heap keeps the k best answers. An answer is a single number: the bits of the score, which order
// like the score since no score is negative, then the complement of the document number. The better
// of two answers has the larger number, and no two are equal.
//
// If Many is set, answers are not kept in a heap, where each would pass ten levels in 20 ns, with
// unpredictable branches. They are collected until there are 1.5 k; then the worst are dropped
// (trim), so the threshold rises a little later. For k = 1,000 this saves a tenth of the time of
// mode And and of one-word queries. Mode Or skips by the threshold only; it would take up to a
// sixth longer, and so uses a heap.
type Heap struct {
	K    int
	Keys []uint64 // once there are k, a min-heap
	Many bool     // keys are unordered and may be more than k
	high uint64   // largest key, if Many
	bar  uint32   // bits of a score that k answers reach, if Many
	sort keySorter
}

// Reset empties the heap, for k answers.
//
// Precondition: k is positive.
func (t *Heap) Reset(k int) {
	if assert.On && k <= 0 {
		assert.Fail("a heap for no answers")
	}
	t.K = k
	t.Keys = t.Keys[:0]
	t.high, t.bar = 0, 0
}

// KeyOf returns the key of an answer.
//
// Precondition: the score is not negative, and a number. (eval checks it where answers enter.)
func KeyOf(doc uint32, score float32) uint64 {
	return uint64(math.Float32bits(score))<<32 | uint64(^doc)
}

// Swap exchanges the answers of two heaps.
func (t *Heap) Swap(o *Heap) {
	t.K, o.K = o.K, t.K
	t.Keys, o.Keys = o.Keys, t.Keys
	t.Many, o.Many = o.Many, t.Many
	t.high, o.high = o.high, t.high
	t.bar, o.bar = o.bar, t.bar
}

// Full reports whether there are k answers, so that the worst of them is a threshold.
func (t *Heap) Full() bool { return len(t.Keys) >= t.K }

// Worst returns the score of the worst answer of a full heap or, if Many is set, a lower bound on
// it.
func (t *Heap) Worst() float32 {
	if t.Many {
		return math.Float32frombits(t.bar)
	}
	return math.Float32frombits(uint32(t.Keys[0] >> 32))
}

// Add adds an answer if it is one of the k best so far, and says whether it did.
func (t *Heap) Add(doc uint32, score float32) bool {
	return t.AddKey(KeyOf(doc, score))
}

// AddKey is Add for a key.
func (t *Heap) AddKey(key uint64) bool {
	if t.Many {
		t.collect(key)
		return true
	}
	if len(t.Keys) < t.K {
		t.Keys = append(t.Keys, key)
		if len(t.Keys) == t.K {
			for i := t.K/2 - 1; i >= 0; i-- {
				t.down(i, t.Keys[i])
			}
		}
		return true
	}
	if key <= t.Keys[0] {
		return false
	}
	t.down(0, key)
	return true
}

// collect is AddKey if Many is set.
func (t *Heap) collect(key uint64) {
	t.Keys = append(t.Keys, key)
	t.high = max(t.high, key)
	switch len(t.Keys) {
	case t.K:
		low := key
		for _, key := range t.Keys {
			low = min(low, key)
		}
		t.bar = uint32(low >> 32)
	case t.K + t.K/collectMore:
		t.trim()
	}
}

// trim drops the worst answers if Many is set. It counts them in ranges between the bar and the
// best, and keeps all answers from the range with the k-th upwards.
//
// Postcondition: the k best are kept, and k answers reach the bar.
func (t *Heap) trim() {
	var count [trimRanges]uint32
	low := uint64(t.bar) << 32
	shift := max(bits.Len64(t.high-low)-bits.Len(trimRanges-1), 0)
	for _, key := range t.Keys {
		count[(key-low)>>shift&(trimRanges-1)]++
	}
	at := trimRanges
	for n := 0; n < t.K && at > 0; n += int(count[at&(trimRanges-1)]) {
		at--
	}
	edge, n := low+uint64(at)<<shift, 0
	for _, key := range t.Keys {
		t.Keys[n] = key
		_, less := bits.Sub64(key, edge, 0)
		n += 1 - int(less)
	}
	t.Keys, t.bar = t.Keys[:n], uint32(edge>>32)
	if n > t.K+t.K/trimMore { // too many in one range
		kept := t.Sorted()
		t.Keys = t.Keys[:copy(t.Keys, kept)]
		t.bar = uint32(t.Keys[0] >> 32)
	}
	if assert.On && !t.trimmed() {
		assert.Fail("fewer than k answers reach the bar")
	}
}

// Sorted returns the k best answers in increasing order.
func (t *Heap) Sorted() []uint64 {
	t.sort.sort(t.Keys)
	return t.Keys[max(len(t.Keys)-t.K, 0):]
}

// down puts key at i or below, moving smaller children up.
func (t *Heap) down(i int, key uint64) {
	keys := t.Keys
	for {
		child := 2*i + 1
		if child >= len(keys) {
			break
		}
		if child+1 < len(keys) { // the smaller child, without an unpredictable branch
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

func hitOf(key uint64) ask.Hit {
	return ask.Hit{Doc: ^uint32(key), Score: math.Float32frombits(uint32(key >> 32))}
}

// Hits returns the answers, best first, and empties the heap.
//
// Postcondition: they are in the order of results, no document is twice, and no more than k.
func (t *Heap) Hits() []ask.Hit {
	keys := t.Sorted()
	out := make([]ask.Hit, len(keys))
	for i, key := range keys {
		out[len(out)-1-i] = hitOf(key)
	}
	if assert.On && !Ordered(out, t.K) {
		assert.Fail("the answers of a heap are not a result")
	}
	t.Keys = t.Keys[:0]
	return out
}

// Take returns the answers of at least bar in decreasing order, and empties the heap.
//
// Postcondition: there are no more than k.
func (t *Heap) Take(bar uint64) []uint64 {
	var out []uint64
	for _, key := range t.Keys {
		if key >= bar {
			out = append(out, key)
		}
	}
	t.Keys = t.Keys[:0]
	t.sort.sort(out)
	slices.Reverse(out)
	if assert.On && !falling(out, t.K) {
		assert.Fail("the answers of a heap do not fall, or are more than k")
	}
	return out
}

// HitsOf turns answers into hits.
func HitsOf(keys []uint64) []ask.Hit {
	out := make([]ask.Hit, len(keys))
	for i, key := range keys {
		out[i] = hitOf(key)
	}
	return out
}

// MoveTo appends the answers to hits, best first, and empties the heap.
func (t *Heap) MoveTo(hits []ask.Hit) []ask.Hit {
	keys := t.Sorted()
	for i := len(keys) - 1; i >= 0; i-- {
		key := keys[i]
		hits = append(hits, hitOf(key))
	}
	t.Keys = t.Keys[:0]
	return hits
}
