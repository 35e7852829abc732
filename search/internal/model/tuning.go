package model

// Numbers of this package that were chosen by measuring, each with what was measured. All else is
// structure: change a number here and results stay the same, only times differ.

import "github.com/collocate/collocate/search/internal/simd"

// ManyDocuments is from when on lengths do not stay in the second-level cache, so that their
// classes, of a quarter the size and with a second table to ask, are faster.
var ManyDocuments = 1 << 19 // tests lower it

// bucketEnds are the shares of documents, in thousandths, where buckets end: the shortest documents
// win, so they are told apart best.
var bucketEnds = [simd.NumBuckets - 1]int{2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800}

// Lengths and frequencies below these have their logarithms in tables. Most documents
// and nearly all frequencies are below; the others cost some 10 ns more.
const (
	dirichletLengths = 1 << 14
	dirichletTFs     = 64
)

// guessSample is how many documents' lengths are looked at.
const guessSample = 1 << 14

// farMean is how many times another mean length may be that of a segment for the best postings
// that the segment knows to be of use: beyond it index.Bound tells more.
const farMean = 1.25
