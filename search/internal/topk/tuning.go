package topk

// Numbers of this package that were chosen by measuring, each with what was measured. All else is
// structure: change a number here and results stay the same, only times differ.

const (
	keyBuckets = 1 << 11
	fewKeys    = 64      // for which it is not worth the trouble
	manyKeys   = 1 << 14 // for which there should be more buckets
	fullBucket = 16      // more than this many are not sorted by insertion
)

// parallelMerge is the number of answers from which on merging is spread over cores too.
const parallelMerge = 1 << 15

// CollectFrom is how many answers no heap is kept of.
const CollectFrom = 512
