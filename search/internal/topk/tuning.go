package topk

// Tuning constants of this package, chosen by measurement. They affect only speed, never results.

const (
	keyBuckets = 1 << 11
	fewKeys    = 64      // fewer are sorted by comparisons
	manyKeys   = 1 << 14 // more are, too, since there are too few buckets for them
	fullBucket = 16      // larger buckets are sorted by comparisons
)

// parallelMerge is the number of answers from which merging uses several cores.
const parallelMerge = 1 << 15

// CollectFrom is the smallest k for which answers are collected and trimmed instead of kept in a
// heap.
const CollectFrom = 512

// Answers are collected until there are k + k/collectMore, then trimmed by counting them in
// trimRanges ranges. If one range has so many that k + k/trimMore stay, they are sorted instead.
const (
	collectMore = 2
	trimRanges  = 1 << 9
	trimMore    = 4
)
