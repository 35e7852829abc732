package model

// Tuning constants of this package, chosen by measurement. They affect only speed, never results.

import "github.com/collocate/collocate/search/internal/simd"

// ManyDocuments is the number of documents from which lengths no longer fit in the second-level
// cache. Then length classes are faster: they take a quarter of the space, but need a second table.
var ManyDocuments = 1 << 19 // tests lower it

// bucketEnds are the fractions of documents, in thousandths, at which buckets end. The shortest
// documents enter results most often, so their buckets are the smallest.
var bucketEnds = [simd.NumBuckets - 1]int{2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500,
	650, 800}

// Logarithms of lengths and frequencies below these limits are tabulated. Most documents and nearly
// all frequencies are below; the others cost about 10 ns more.
const (
	dirichletLengths = 1 << 14
	dirichletTFs     = 64
)

// guessSample is the number of documents sampled for the distribution of lengths.
const guessSample = 1 << 14

// farMean is the largest factor by which the mean length of all segments may differ from that of
// one segment for its stored best postings to be used. Beyond it index.Bound gives tighter bounds.
const farMean = 1.25
