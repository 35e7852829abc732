package tree

// Tuning constants of this package, chosen by measurement. They affect only speed, never results.
// [MaxExpansions], which is a limit and not a choice, is in plan.go.

// fewLed is the highest document frequency of the rarest mandatory word for which a query of words
// is evaluated as a conjunction. If that word is more frequent, the engines of package eval skip
// more, since they know its best postings.
const fewLed = 4096

// shorter is a ratio of the leading list's length to that of an excluded word. From it on, the
// excluded word's documents are looked up in blocks of the leading list. Below it, the leading
// list's documents are looked up in the excluded list.
const shorter = 2

// Costs of looking up any of some words in the documents of a set (sparse.go), in postings that the
// engines could read in the same time. The engines' bounds hold for all documents, of which few are
// in the set, so they skip little.
const (
	sparseDoc   = 10 // for each document
	sparseLevel = 4  // and for each document and word with a level map
	// And for each document and further word with a level map: the more they are, the less their
	// bounds together rule out. Five of the most frequent words within 10% of the eLife paragraphs
	// take 1.9 times as long as by the engines, and 0.8 times within 1%.
	sparseFurther = 25
	sparsePosting = 2  // for each posting of another word's list, if it is read
	sparseFind    = 90 // or for each document, if it is looked up in that list instead
)

// fewInBlock is the number of documents of a set, expected in a block, below which they are looked
// up in the block one by one. Otherwise each posting of the block is tested for being in the set.
// One look-up takes about as long as eight tests.
const fewInBlock = 16

// listShare is the largest ratio of a list's postings to the number of candidates for which the
// list is read completely. In longer lists the candidates are looked up.
const listShare = 8

// topLevels is the number of candidates, per answer of k, that are looked up before their threshold
// is used to rule out others. They are chosen by the highest of boundBuckets ranges of bounds.
const (
	topLevels    = 8
	boundBuckets = 256
)

// seekShare is the ratio of a list's postings to the documents of a set above which these are
// looked up in the list, instead of reading it. One lookup takes about as long as decoding and
// testing a dozen postings.
const seekShare = 12

// shortShare is the ratio of all documents to some documents above which these are kept as a list
// of numbers rather than as a bit set, since the list is then smaller.
const shortShare = 32

// Of a query of words and weighted tokens, besideFirst documents of each index are tried first, or
// besideEach for an answer, then besideMore times as many, up to one in besideShare documents:
// looking up that many takes as long as adding lists up.
const (
	besideFirst = 100
	besideEach  = 4
	besideMore  = 8
	besideShare = 128
)

// fewFound is the number of candidates in a block below which they are looked up one by one.
const fewFound = 3
