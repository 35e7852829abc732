package topk

import (
	"math/bits"
	"slices"
)

// keySorter sorts the answers of a query in increasing order: 1,000 of them in 6 microseconds
// instead of 16 to 40 with a comparison sort. It distributes them into buckets of equal ranges
// between the lowest and the highest key, then finishes with an insertion sort. Buckets with many
// keys, as with many equal scores, are sorted by comparisons.
type keySorter struct {
	spare []uint64
	ends  [keyBuckets]uint16 // end of each bucket
}

func (s *keySorter) sort(keys []uint64) {
	if len(keys) < fewKeys || len(keys) > manyKeys {
		slices.Sort(keys)
		return
	}
	low, high := keys[0], keys[0]
	for _, k := range keys {
		low, high = min(low, k), max(high, k)
	}
	shift := max(bits.Len64(high-low)-bits.Len(keyBuckets-1), 0)
	s.spare = append(s.spare[:0], keys...)
	clear(s.ends[:])
	for _, k := range keys {
		s.ends[(k-low)>>shift&(keyBuckets-1)]++
	}
	at, fullest := uint16(0), uint16(0)
	for i, n := range &s.ends {
		fullest = max(fullest, n)
		s.ends[i] = at // start of the bucket; its end after distribution
		at += n
	}
	for _, k := range s.spare {
		b := (k - low) >> shift & (keyBuckets - 1)
		keys[s.ends[b]] = k
		s.ends[b]++
	}
	if fullest > fullBucket {
		from := uint16(0)
		for _, to := range &s.ends {
			if to-from > fullBucket {
				slices.Sort(keys[from:to])
			}
			from = to
		}
	}
	for i := 1; i < len(keys); i++ {
		k := keys[i]
		j := i
		for ; j > 0 && keys[j-1] > k; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}
