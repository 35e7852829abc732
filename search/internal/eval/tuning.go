package eval

// Tuning constants of this package, with the measurements that chose them. They affect only speed,
// never results. They are grouped like the files: guessed floors, OR, AND, one word, teams, sets of
// documents. Times are in microseconds on one core unless the comment says otherwise.

import "github.com/collocate/collocate/index"

// # Guessed floors: guess.go, sample.go, seeds.go, levels.go

const (
	// guessMargin is the number of standard deviations by which the documents expected above the
	// guess exceed k + k/8; guessAgain is the same for the second try. Without the eighth, 13 of
	// 250 guesses on 5M documents were wrong for 10 answers with a margin of 2, one with 3 and none
	// with 4; but six were wrong for 1,000 answers.
	guessMargin = 4
	guessAgain  = 16
	// rankMargin scales both for guesses by the rank in one list, which depend on chance alone: 0.7
	// leaves 2.8 and 11 standard deviations. Of 666 guesses for 301 unions within 1, 10 and 50% of
	// the eLife paragraphs, for 10 to 500 answers, three were wrong.
	rankMargin = 0.7
	// giveUp is the number of standard deviations by which answers may be fewer than expected
	// before a guess is given up, and a constant for the first few. AND tests this every
	// giveUpBlocks blocks.
	giveUp       = 3
	giveUpBlocks = 16
	// guessSteps is the number of intervals of scores in which expected documents are counted.
	guessSteps = 256
	// guessSums is the most combinations of words that are counted. If there are more, as with many
	// frequent words, nothing is guessed.
	guessSums = 2048
	// guessWords is the most words of a query for which a floor is guessed: with more, there are
	// more than guessSums combinations.
	guessWords = 16
)

// guessPostings is the number of postings per word from which on a guess pays, which takes a
// microsecond per word. guessPlain is the number of postings per word that must be left to read
// with the known floor.
var guessPostings, guessPlain = 16_000.0, 2_000.0 // tests lower them

// A sample of one in 32 documents takes a twentieth of the time of a query of 20 words. It is taken
// in windows of 512 documents: with 256, most of each decoded block is outside the window. If all
// documents of a window count, 8 of 100 guesses are wrong; if at most its share counts, 2 are.
const (
	sampleLeast  = 32  // one in this many documents is scored,
	sampleMost   = 64  // or one in this many, if
	sampleFound  = 64  // this many of those scored are expected among the k best
	sampleWindow = 512 // documents in a window of the sample
)

// Whole lists are added up if there are at most this many documents for each answer: above the
// floor of a sample if there are at most sampleDocs, without a floor up to wholeDocs.
// docs/experiments.md ("Many words, many answers") has the times of all ways.
var sampleDocs, wholeDocs uint64 = 150, 500 // tests change them

// A query takes a sample if it has this many words, wants this many answers, has this many postings
// for each answer, and this many for each that the sample decodes. With 5 million short documents
// and 6 to 10 words a sample would decode more than is left to read.
var sampleWords, sampleAnswers, samplePostings, sampleShare = 6, 1000, 50, 16 // tests lower them

// wholeWords is the number of words from which on whole lists are added up without a sample.
var wholeWords = 9 // tests lower it

const (
	seedBits  = 13 // of the number of slots for candidates
	seedSlots = 1 << seedBits
	mostSeeds = 512 // candidates
)

// What seeds may cost, measured on eLife paragraphs with pieces of paragraphs and 10 answers.
// Queries of 20 words gain nothing, of 30 words 3%, of 50 words 10% of 2.6 ms, of 100 words a
// fifth. 2 or 4 candidates for each answer, and half or twice the postings, are as good.
const (
	seedWords = 24  // words that a query must have
	seedsEach = 3   // candidates for each of the k answers
	seedAdds  = 512 // postings of the query for each posting that is added up
	seedLooks = 128 // and for each look-up of a candidate in a list
)

const (
	// placesAnAnswer is the number of places that are counted per answer, for each word but one:
	// see levels.guessFloor. For pairs of words in 5M documents the right number was 15 to 33. With
	// 24, some queries found only 9 of 10 answers, and had to be evaluated again.
	placesAnAnswer = 30
	// fewestSampled is the minimum number of places that are counted for an estimate.
	fewestSampled = 64
)

// Within a filter a list is read for a floor (worthReading) up to mostRead postings, if the longest
// list is shortBeside times as long. If it is longer, a guess is better, also beside the floor:
// when lists of up to 30,000 postings were read, whatever the stored ranks told, "books on cd"
// within half of the eLife paragraphs took 214 instead of 112 microseconds.
const (
	mostRead    = 2000
	shortBeside = 8
)

// # OR: bmm.go, window.go, cells.go

// windowSize is the number of documents whose sums are kept at once by taat and bmm: 16 KB,
// half of a first-level cache.
const windowSize = 1 << 12

// maxWindow is the size of bmm's windows for short lists, see Query.chooseSpan.
const maxWindow = 1 << 15

// Sizes of windows and runs, measured on eLife paragraphs with queries of three and more words.
//
// First windows of windowSize documents instead of firstWindow raise the median at k = 10 from 84
// to 94 (the mean, which a few slow queries dominate, from 139 to 145). The bounds of blocks
// instead of those of runs raise the mean by 8%. The best score of a sparse list instead of its
// block's bound takes a fifth off the slowest hundredth: queries of a very frequent word with very
// rare ones. Windows of 32 blocks of the longest list instead of one take a seventh off the mean at
// k = 10 on 5M short documents, and a tenth off the slowest hundredth on the paragraphs. The fixed
// cost per window and list exceeds the gain of tighter bounds. With 8 blocks the gain is half of
// that, with 64 no more.
const (
	firstWindow    = 1 << 7
	firstPostings  = 256 // postings in the first window,
	firstPerAnswer = 4   // and this many for each of the k answers
	manyBlocks     = 8   // blocks in a window from which on the bounds of runs are used
	windowBlocks   = 32  // blocks of the longest list in a window of full size
	sparseWindow   = 32  // most postings of a sparse list in a window,
	sparseRatio    = 16  // of which the longest list has at least this many times as many
)

// sparse is the ratio of a window's documents to its postings above which reading the postings
// again is faster than scanning the window.
const sparse = 8

// Costs of the steps of bmm, in postings that can be decoded, scored and added in the same time.
// If keeping a document cost as much as a posting, queries of 50 words on eLife paragraphs would
// take a quarter longer at k = 10: too many windows would be added up whole. With 8 or 16 instead
// of 4 they take as long.
const (
	askCost   = 12 // looking a document up in a list
	scoreCost = 4  // finding a score of a list again, for the sum in query order
	// mergeWorth is the number of postings of a list that can be merged with the candidates in the
	// time of looking up one candidate.
	mergeWorth = 24
	// keptAtOne is the number of candidates that can be kept or dropped, and merged with a list, at
	// the cost of one posting.
	keptAtOne = 4
)

// fewFound candidates or fewer are sorted by comparisons, which is cheaper than by bits.
const fewFound = 12

// manyToKeep is the number of candidates from which on calling the kernel, which processes 8 at a
// time, pays.
const manyToKeep = 64

const (
	// worthCell is the number of postings in a cell from which on cells are worth their bounds.
	worthCell = 32
	// manyForGrid is the number of words from which on nearly every cell has a good posting. With
	// cells, queries of 100 words take a tenth longer, those of 50 words a twentieth less.
	manyForGrid = 64
)

// From this many words and answers on, nothing can be skipped, and bmm adds up whole lists (taat).
// On eLife paragraphs, with 160 to 400 words, bmm takes 0.73, 0.87 and 1.14 of taat's time at k =
// 10, 100 and 1,000; with 20 to 60 words 0.99, 0.53 and 0.97.
const (
	manyWords   = 144
	manyAnswers = 500
)

// maxRun is the maximum number of blocks in a run of vbmw, so that finding its end does not cost
// much more than it can save.
const maxRun = 8

// # Marks: marks.go, marks_window.go, marks_score.go

const (
	maxMarked = 8 // maximum number of marked lists, which have a bit each
	// wipeAll is the ratio of a window's documents to its marks below which the whole window is
	// cleared, instead of single marks.
	wipeAll = 32
)

// Costs of the steps of marking, in postings that are decoded, scored and added up, each of which
// takes 6.5 ns if lengths are not in the second-level cache. With a lookCost of 4 or 8, queries of
// 5M documents take as long.
const (
	markCost   = 0.3 // decoding and marking a posting
	singleCost = 0.3 // bounding its score by levels, or
	pickCost   = 3   // scoring it and looking it up in the other lists
	// candidateCost is for a document that is expected to have enough words, of which most are soon
	// dropped; candidateEach is to be added for each list.
	candidateCost = 9
	candidateEach = 3
	foundCost     = 5   // a document that was found, and
	lookCost      = 6   // looking it up in a list
	spentSlack    = 800 // the most by which the cost may exceed the estimate
	// nearLengths is the cost of a posting if lengths are in the second-level cache.
	nearLengths = 0.4
	// plainAnswer is the cost without marks, per answer, from which on marks pay. With half of it,
	// queries of eLife paragraphs take a twentieth longer for 100 answers.
	plainAnswer = 300
	// plainLeast is the minimum cost without marks: below it, the fixed cost per window is as high
	// as what marks save.
	plainLeast = 8000
)

var (
	// plainWorth is the cost of a posting without marks.
	plainWorth = 1.0 // tests raise it
	// denseMark is the ratio of all documents to a list's postings below which the list is not
	// marked: such lists overlap everywhere, and only levels and small windows skip anything.
	denseMark uint64 = 8 // tests lower it
)

// # AND: and.go, and_best.go, and_levels.go

const (
	// firstTogether is the number of documents that are looked up together at first, so that there
	// soon is a threshold. The number then doubles up to enoughTogether: then the fixed cost is
	// small, and many lengths and blocks are prefetched at a time.
	firstTogether  = 16
	enoughTogether = 96
	// maxWaiting is the maximum number of waiting candidates: a block may be added to one less than
	// enough.
	maxWaiting = 2 * index.BlockSize
	// manyLeft is the ratio of a block's postings to the candidates that scoring leaves, from which
	// on scoring first pays.
	manyLeft = 3
	// manyEach is the mean number of documents looked up per block of the second list up to which
	// levels pay. With more, intersecting is better, which does not fetch lengths.
	manyEach = 4
	// alikeRatio is the ratio of the second list's length to the first's below which intersecting
	// pays at all: it decodes each block of the second list.
	alikeRatio = 32
)

// manyKept is a ratio of a block's documents to those at places that can win. Below it, the latter
// are intersected before they are scored: nearly all blocks of the other list are decoded anyway,
// and few of these documents are in it.
const manyKept = 8

// worthLead is the length of the leading list from which on using the levels of the others pays.
var worthLead uint32 = 8 * index.BlockSize // tests lower it

const (
	// mostBest is the maximum number of promising postings that are kept: they take little of the
	// second-level cache, and for more answers nearly all postings are looked up anyway.
	mostBest = 4096
	// fewestLead is the ratio of the leading list's postings to these from which on this pays.
	fewestLead = 4
	// firstBest is the ratio of these to the postings that are looked up first.
	firstBest = 4
	// bestMargin postings are kept for each that should have another word, and bestLeast more, so
	// that chance seldom leaves too few.
	bestLeast, bestMargin = 2, 3
	// bestSample is about the number of sums from which the k-th highest is estimated.
	bestSample = 256
)

// mostPlaces is the number of places, of 64, that counts as most: with 16 and with 48 "to be or
// not" takes longer on eLife paragraphs, for 10 answers and for 1,000.
const mostPlaces = 32

// # One word: one.go, one_levels.go, one_top.go

// worthBuckets is the length of lists from which on postings are sifted by coarse lengths.
var worthBuckets uint32 = 64 * index.BlockSize // tests lower it

// Without a floor, documents outside the filter are dropped before postings are scored. With one
// that is done up to dropShare of the documents, if the list has at least one in dropRatio: then
// their bits lie close together. 22 words of the game within 5, 10 and 12.4% of the eLife
// paragraphs take 0.70, 0.80 and 0.92 of the time. Shorter lists, and all
// within half of the documents, take up to 1.7 times as long.
const (
	dropShare = 1.0 / 8
	dropRatio = 64
)

// mostFromTop is the ratio of a word's postings to its lookups in single documents at which these
// stop. A lookup takes about as long as eight postings of a block.
const mostFromTop = 8

// topStep is the number of top postings that are processed between decisions.
const topStep = 16

const (
	// fewTogether is the number of documents that are looked up at once. With 64 and 128, the 10
	// best of 0.1% of the eLife paragraphs for "in" take 11% and 38% longer: more documents than
	// necessary are looked up.
	fewTogether = 32
	// Documents are sorted one by one if they are at most this many, or this many per answer. The
	// 10 best of 1% of the eLife paragraphs take longer so, the 100 best a quarter less.
	fewAnyway   = 2048
	fewAnAnswer = 64
)

// Documents with rare words are scored beside the top postings of a frequent word (or_top.go), on
// two conditions. The rare words have no more than mostRare postings, and no more than fewRare of
// these are expected among the documents that may be answers. With 2,048 instead of 256, the 17
// unions of the game that change within 10% and 50% of the eLife paragraphs take 0.74 of the time
// in the geometric mean, and 14 of the ACL abstracts 0.71. The worst one takes 35 instead of 23
// microseconds.
//
// With a known floor, windows may be faster, whose fixed cost is that of windowsCost postings:
// "the english restoration" takes 11 instead of 36 microseconds within 10% of the ACL abstracts.
const (
	mostRare    = 1 << 14
	fewRare     = 2048
	windowsCost = 8000
	rareStep    = 4 // see scoreRare
)

// rareAnAnswer is the number of documents with a rare word, per answer, up to which all of them are
// scored beside several frequent words. If there are more, a guessed floor is mostly right, and
// "lord of the rings" within 10% of the eLife paragraphs would take 84 instead of 58 microseconds.
const rareAnAnswer = 4

// If the frequent word has no map of levels, at most rareLooks documents with a rare word are
// scored, and one more for each rareLook of its postings: looking one up in it takes as long as
// windows take for so many postings, and rareLooks take as long as the fixed cost of windows.
const (
	rareLooks = 40
	rareLook  = 160
)

// If too few top postings of the frequent word pass the filter, documents of the filter are looked
// up instead: about looksAnAnswer that have the word for each answer, each in the time of reading
// lookPostings postings.
const (
	looksAnAnswer = 4
	lookPostings  = 20
)

// fewAtPlaces is the ratio of all documents to possible answers above which these are at so few
// places that other places are skipped.
const fewAtPlaces = 32

// # Teams and partitions: effort.go, partition.go, shares.go

// worthEffort is the effort of a query from which on a second core helps. On eLife paragraphs, with
// web queries, times with one core and with two are:
//
//	OR, k = 100 and 1,000, from 2^15 postings on 161:145 and 278:240, from 2^17 on 251:215 and
//	655:456, from 2^19 on 580:423 and 1658:1064
//	AND, k = 10 and 1,000, by the postings of the shortest list: from 2^11 on 45:59 and 59:69, from
//	2^12 on 80:84 and 170:151, from 2^13 on 114:98 and 177:156
//
// An AND with a short list takes twice as long in partitions as in one piece.
// Waking another core costs 10 to 100 microseconds.
const worthEffort = 1 << 15

// With a guessed floor for few answers, or the levels of one word, few of the postings are read:
// the effort is divided by effortSpared up to guessAnswers answers. Times as above, at k = 10
// from 2^15 postings on 101:102, from 2^17 on 125:122, from 2^18 on 110:110, from 2^19 on 240:204,
// but at k = 30 125:118, 166:152, 156:140 and 353:278. A word that half of the documents have takes
// 4:8 at k = 10 and 116:134 at k = 1,000.
const (
	effortSpared = 16
	guessAnswers = 20
)

// Default sizes of partitions. Ranges of documents are whole windows. Approximate partitions must
// not depend on the number of threads; the larger they are, the fewer answers are lost.
const (
	partsEach    = 8              // partitions for each worker
	minDocuments = 2 * windowSize // in a range of documents
	minPostings  = 1024           // of the longest list in another partition
	lossyParts   = 16             // approximate partitions
)

// A worker counts its scores in the tally of the team once it has k/pendingShare of them, but at
// most mostPending: seldom enough that workers do not wait for each other.
const (
	pendingShare = 8
	mostPending  = 32
)

// pieceOf is the ratio of a worker's share to the piece that it takes at once; others can take over
// the rest. On eLife paragraphs, with 50 words, two cores were 1.74 to 1.82 times as fast as one.
// With pieces of a quarter they were 1.67 to 1.74 times as fast, and short queries that are cut
// took up to a third longer. With ranges of falling size that all workers take from one front they
// were 1.54 to 1.77 times as fast. On a busier machine all are lower, down to 1.58. Since such
// queries take a fifth less time (see window.keep) it is 1.54 to 1.68 times.
const pieceOf = 2

// # Weighted tokens: impacts.go

// Whole tiles pay from tilePostings postings in each on average: adding up and clearing an empty
// one takes as long as windows take for so many.
const tilePostings = 256

// maxFactor is the highest weight in a query, since kernels multiply numbers of 16 bits.
const maxFactor = 1<<15 - 1

// fewInTiles is the ratio of all documents to those that may be answers up to which tiles pay.
const fewInTiles = 64

// If mostLive of a tile's 128 blocks can win, bounding them took longer than adding them up would
// have: some of the next tiles are added up without.
const mostLive = 85

// Up to fewLive blocks are searched for answers one by one.
const fewLive = 16

// A block's postings are found in a part of n by binary search if it has more than postingsSearched
// for each block that can win; otherwise the part is added up whole.
const postingsSearched = 16

// # Sets of documents and models: limits.go, engine.go

// fewShare is the share of all documents that may be answers below which postings of the others are
// dropped before they are scored. Without that, the 301 unions of the search benchmark game take
// 1.16 times as long within half of the eLife paragraphs for 10 answers, and 1.22 times for 1,000.
// Within three quarters they take as long, and within 90% a tenth less.
const fewShare = 2.0 / 3

// mostModels is the number of models whose tables are kept, so that a scan of parameters does not
// fill the heap with them.
const mostModels = 32
