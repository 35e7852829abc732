package topk

// The numbers of this package that were chosen by measuring. Change one and results stay the same;
// only times differ.

const (
	keyBuckets = 1 << 11
	fewKeys    = 64      // fewer are sorted by comparisons
	manyKeys   = 1 << 14 // more are, too: there should be more buckets for them
	fullBucket = 16      // buckets of more are not sorted by insertion
)

// parallelMerge is the number of answers from which on merging is spread over cores too.
const parallelMerge = 1 << 15

// CollectFrom is the k from which on answers are collected and trimmed instead of kept in a heap.
const CollectFrom = 512
