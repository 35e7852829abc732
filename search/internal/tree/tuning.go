package tree

// Numbers of this package that were chosen by measuring. Change one and results stay the same; only
// times differ. [MaxExpansions], which is a limit and not a choice, is in plan.go.

// fewLed is the highest document frequency of the rarest obligatory word with which a query of
// words is a conjunction. If that word is more frequent, the engines of package eval skip more, by
// what they know of the best postings.
const fewLed = 4096

// shorter is how many times as long as the list of an excluded word the leading list must be so
// that the former's documents are looked up in blocks of the latter, and not the other way round.
const shorter = 2

// What looking up any of some words in the documents of a set (sparse.go) costs, in postings that
// the engines could read in the same time. The engines' bounds are those of all documents, of which
// few may be answers, so they skip little.
const (
	sparseDoc     = 10 // for each document,
	sparseLevel   = 4  // and for each document and word with a map of levels
	sparsePosting = 2  // for each posting of another word's list, if that is read,
	sparseFind    = 40 // or for each document, if that is looked up in the list instead
)

// fewInBlock is the number of documents of a set, expected in a block, below which they are looked
// up in the block one by one. Otherwise each posting of the block is tested for being in the set.
// One look-up takes about as long as eight tests.
const fewInBlock = 16

// listShare is how many times as many postings as there are candidates a list may have to be read
// from end to end. The candidates are looked up in longer lists.
const listShare = 8

// topLevels is how many candidates, for each of the k answers, are looked up before the threshold
// that they give rules others out.
const topLevels = 16

// seekShare is the share of a list's postings, one in this many, below which the documents of a set
// are looked up in the list, instead of reading it. One look-up takes about as long as decoding and
// testing a dozen postings.
const seekShare = 12

// shortShare is the share of all documents, one in this many, below which documents are kept as a
// list of numbers rather than as a set of bits: then the list is the shorter of the two.
const shortShare = 32

// fewFound is the number of candidates in a block below which they are looked up one by one.
const fewFound = 3
