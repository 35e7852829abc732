package par

import (
	"math/bits"
	"sync"
)

// Unsigned is what RadixSort takes as a key.
type Unsigned interface{ ~uint32 | ~uint64 }

const (
	// digitBits is the width of a radix digit.
	digitBits = 8
	radixSize = 1 << digitBits
	// insertionMax is the longest run sorted by insertion.
	insertionMax = 24
	// sharedRun is the shortest run of equal leading bits for which all workers
	// come together.
	sharedRun = 1 << 17
)

// RadixSort sorts keys by their bits [lo, hi), stably: bits outside that range
// stay with their key and do not count. scratch is as long as keys, its content
// is lost; nil allocates it.
//
// The sort goes from the least to the most significant digit, on digits that lie
// on bits in which keys differ at all. Where keys differ in many more bits
// than it takes to tell len(keys) of them apart, only the leading digits are
// sorted that way, and the few keys that still agree are put in order where they
// lie.
func RadixSort[K Unsigned](threads int, keys, scratch []K, lo, hi int) {
	if scratch == nil && len(keys) > insertionMax {
		scratch = make([]K, len(keys))
	}
	radixSort(threads, records[K, struct{}]{keys: keys}, records[K, struct{}]{keys: scratch}, lo, hi)
}

// RadixSortPairs is RadixSort with a value that moves with each key. Both
// scratch slices are given or both are nil.
func RadixSortPairs[K Unsigned, V any](threads int, keys []K, vals []V, keyScratch []K, valScratch []V, lo, hi int) {
	if keyScratch == nil && len(keys) > insertionMax {
		keyScratch, valScratch = make([]K, len(keys)), make([]V, len(keys))
	}
	radixSort(threads, records[K, V]{keys, vals}, records[K, V]{keyScratch, valScratch}, lo, hi)
}

// records are keys with their values, or keys alone where vals is nil.
type records[K Unsigned, V any] struct {
	keys []K
	vals []V
}

func (r records[K, V]) slice(lo, hi int) records[K, V] {
	if r.vals == nil {
		return records[K, V]{keys: r.keys[lo:hi]}
	}
	return records[K, V]{r.keys[lo:hi], r.vals[lo:hi]}
}

// digit is a window of at most digitBits bits of a key.
type digit struct{ shift, width int }

func radixSort[K Unsigned, V any](threads int, a, b records[K, V], lo, hi int) {
	n := len(a.keys)
	mask := bitRange[K](lo, hi)
	if n <= insertionMax {
		insertionSort(a, mask)
		return
	}
	digits := digitsOf(uint64(differing(threads, a.keys)&mask), lo)
	// n random keys of log2(n)+3 bits are nearly all different.
	lead := (bits.Len(uint(n)) + 2 + digitBits) / digitBits
	rest := 0 // bits of [lo, hi) below the sorted digits
	if len(digits) > lead+1 {
		digits = digits[:lead]
		rest = digits[lead-1].shift
	}
	src, dst := a, b.slice(0, n)
	for i := len(digits) - 1; i >= 0; i-- {
		radixPass(threads, dst, src, digits[i])
		src, dst = dst, src
	}
	if len(digits)%2 == 1 {
		copyRecords(threads, a, src)
	}
	if rest > 0 {
		finishRuns(threads, a, b.slice(0, n), lo, rest, hi)
	}
}

// bitRange has the bits [lo, hi) set.
func bitRange[K Unsigned](lo, hi int) K {
	return K(uint64(1)<<hi-1) &^ K(uint64(1)<<lo-1)
}

// digitsOf covers the set bits of diff with digits, the most significant first.
func digitsOf(diff uint64, lo int) []digit {
	var ds []digit
	for diff != 0 {
		top := bits.Len64(diff)
		shift := max(top-digitBits, lo)
		ds = append(ds, digit{shift, top - shift})
		diff &= uint64(1)<<shift - 1
	}
	return ds
}

// differing has a bit set where keys differ.
func differing[K Unsigned](threads int, keys []K) K {
	p := workers(threads, len(keys))
	diffs := make([]K, p)
	Do(p, func(w int) {
		lo, hi := Block(len(keys), p, w)
		var d K
		first := keys[0]
		for _, k := range keys[lo:hi] {
			d |= k ^ first
		}
		diffs[w] = d
	})
	var all K
	for _, d := range diffs {
		all |= d
	}
	return all
}

// radixPass moves src to dst in the stable order of one digit: each worker counts
// the digits of its block; the scan over (digit, worker) gives each worker
// its own places for each digit; each worker moves its block.
func radixPass[K Unsigned, V any](threads int, dst, src records[K, V], d digit) {
	n := len(src.keys)
	p := workers(threads, n)
	if p == 1 {
		var places [radixSize]int
		countDigits(&places, src.keys, d)
		exclusiveBlock(places[:], places[:], 0)
		scatter(dst, src, &places, d)
		return
	}
	places := make([][radixSize]int, p)
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		countDigits(&places[w], src.keys[lo:hi], d)
	})
	at := 0
	for v := range radixSize {
		for w := range places {
			c := places[w][v]
			places[w][v] = at
			at += c
		}
	}
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		scatter(dst, src.slice(lo, hi), &places[w], d)
	})
}

func countDigits[K Unsigned](counts *[radixSize]int, keys []K, d digit) {
	shift, mask := d.shift&63, uint8(1<<d.width-1)
	for _, k := range keys {
		counts[uint8(k>>shift)&mask]++
	}
}

func scatter[K Unsigned, V any](dst, src records[K, V], places *[radixSize]int, d digit) {
	shift, mask := d.shift&63, uint8(1<<d.width-1)
	if src.vals == nil {
		out := dst.keys
		for _, k := range src.keys {
			at := &places[uint8(k>>shift)&mask]
			out[*at] = k
			*at++
		}
		return
	}
	out, outVals, vals := dst.keys, dst.vals[:len(dst.keys)], src.vals[:len(src.keys)]
	for i, k := range src.keys {
		at := &places[uint8(k>>shift)&mask]
		p := *at
		*at = p + 1
		out[p] = k
		outVals[p] = vals[i]
	}
}

// finishRuns sorts each run of keys that agree in the bits [rest, hi) by the
// bits [lo, rest).
func finishRuns[K Unsigned, V any](threads int, a, b records[K, V], lo, rest, hi int) {
	keys, head, tail := a.keys, bitRange[K](rest, hi), bitRange[K](lo, rest)
	var mu sync.Mutex
	var shared [][2]int
	For(threads, len(keys), 1<<16, func(_, from, to int) {
		i := from
		for i > 0 && i < to && (keys[i]^keys[i-1])&head == 0 {
			i++ // the run belongs to the chunk in which it starts
		}
		for i < to {
			start, k := i, keys[i]
			for i++; i < len(keys) && (keys[i]^k)&head == 0; i++ {
			}
			switch run := i - start; {
			case run == 1:
			case run <= insertionMax:
				insertionSort(a.slice(start, i), tail)
			case run >= sharedRun && threads > 1:
				mu.Lock()
				shared = append(shared, [2]int{start, i})
				mu.Unlock()
			default:
				radixSort(1, a.slice(start, i), b.slice(start, i), lo, rest)
			}
		}
	})
	for _, r := range shared {
		radixSort(threads, a.slice(r[0], r[1]), b.slice(r[0], r[1]), lo, rest)
	}
}

func insertionSort[K Unsigned, V any](a records[K, V], mask K) {
	keys := a.keys
	for i := 1; i < len(keys); i++ {
		k := keys[i]
		j := i
		for ; j > 0 && keys[j-1]&mask > k&mask; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
		if a.vals != nil && j < i {
			v := a.vals[i]
			copy(a.vals[j+1:i+1], a.vals[j:i])
			a.vals[j] = v
		}
	}
}

func copyRecords[K Unsigned, V any](threads int, dst, src records[K, V]) {
	n := len(src.keys)
	p := workers(threads, n)
	Do(p, func(w int) {
		lo, hi := Block(n, p, w)
		copy(dst.keys[lo:hi], src.keys[lo:hi])
		if src.vals != nil {
			copy(dst.vals[lo:hi], src.vals[lo:hi])
		}
	})
}
