package model

import (
	"sync"

	"github.com/collocate/collocate/search/internal/simd"
)

// Buckets sorts documents by length into 16 buckets, half a byte each. Frequency and bucket bound a
// posting's score, and most postings cannot win: so few lengths are fetched. With 5M documents
// lengths, and even their classes, are more than the second-level cache holds, and fetching them
// took 40% of the time of two frequent words, mode And.
type Buckets struct {
	once    sync.Once
	Classes []uint8      // of each document
	Lengths *[256]uint32 // shortest length of each class
	Low     [simd.NumBuckets]uint32
	// document d is in the lower half of byte d/2 if d is even; a few bytes more may be fetched
	Halves []uint8
}

// Ready makes the buckets when they are asked for first: 1 ns a document.
func (b *Buckets) Ready() *Buckets {
	b.once.Do(b.fill)
	return b
}

func (b *Buckets) fill() {
	var count [256]int
	for _, c := range b.Classes {
		count[c]++
	}
	var of [256]uint8
	bucket, sum := 0, 0
	for c, n := range count {
		if n == 0 {
			continue
		}
		if sum == 0 {
			b.Low[0] = b.Lengths[c]
		}
		for bucket < simd.NumBuckets-1 && sum > 0 && sum*1000 >= bucketEnds[bucket]*len(b.Classes) {
			bucket++
			b.Low[bucket] = b.Lengths[c]
		}
		of[c] = uint8(bucket)
		sum += n
	}
	b.Halves = make([]uint8, len(b.Classes)/2+4)
	for d, c := range b.Classes {
		b.Halves[d/2] |= of[c] << (d % 2 * 4)
	}
}
