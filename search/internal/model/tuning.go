package model

// The numbers of this package that were chosen by measuring. Change one and results stay the same;
// only times differ.

import "github.com/collocate/collocate/search/internal/simd"

// ManyDocuments is the number of documents from which on lengths do not stay in the second-level
// cache. Then length classes, of a quarter the size but with a second table, are faster.
var ManyDocuments = 1 << 19 // tests lower it

// bucketEnds are the shares of documents, in thousandths, where buckets end. The shortest documents
// win most often, so their buckets are the smallest.
var bucketEnds = [simd.NumBuckets - 1]int{2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800}

// Lengths and frequencies below these have their logarithms in tables. Most documents
// and nearly all frequencies are below; the others cost some 10 ns more.
const (
	dirichletLengths = 1 << 14
	dirichletTFs     = 64
)

// guessSample is how many documents are sampled for the distribution of lengths.
const guessSample = 1 << 14

// farMean is by what factor the mean length of all segments may differ from that of one segment so
// that the best postings stored there are of use: beyond it index.Bound gives tighter bounds.
const farMean = 1.25
