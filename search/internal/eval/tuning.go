package eval

// Numbers of this package that were chosen by measuring, each with what was measured. All else is
// structure: change a number here and results stay the same, only times differ.

import "github.com/collocate/collocate/index"

const (
	// guessMargin is how many more documents than k and an eighth are expected above the guess, in
	// standard deviations; guessAgain is it for the second try. With 2 and 3, and without the
	// eighth, 13 and one of 250 guesses on 5M documents were wrong for 10 answers, with 4 none, but
	// six for 1,000.
	guessMargin = 4
	guessAgain  = 16
	guessSteps  = 256 // of scores that are told apart
	// of words that are looked at, or nothing is guessed: many frequent words have too many, and
	guessSums  = 2048
	guessWords = 16 // this many words have more
)

// guessPostings is how many postings a query must have for each word so that a guess pays, which
// takes a microsecond a word; and guessPlain how many of them will be looked at with the floor that
// is known.
var guessPostings, guessPlain = 16_000.0, 2_000.0 // tests lower them

// worthEffort is the effort of a query from which on a second core helps. On the eLife paragraphs,
// web queries, microseconds with one core and with two: OR by postings at k = 100 and 1,000 from
// 2^15 on 161:145 and 278:240, from 2^17 on 251:215 and 655:456, from 2^19 on 580:423 and
// 1658:1064; AND by the postings of its shortest list at k = 10 and 1,000 from 2^11 on 45:59 and
// 59:69, from 2^12 on 80:84 and 170:151, from 2^13 on 114:98 and 177:156. Whatever else it has, an
// AND with a short list takes twice as long in partitions as in one piece. Waking another core
// costs 10 to 100 microseconds.
const worthEffort = 1 << 15

// With a guessed floor for few answers, or the levels of one word, few of the postings are looked
// at. In microseconds as above, at k = 10 from 2^15 postings on 101:102, from 2^17 on 125:122, from
// 2^18 on 110:110, from 2^19 on 240:204, but at k = 30 125:118, 166:152, 156:140 and 353:278; a
// word that half of the documents have 4:8 at k = 10 and 116:134 at k = 1,000.
const (
	effortSpared = 16
	guessAnswers = 20
)

// Sizes of windows and runs, measured on the eLife paragraphs with queries of three and more words.
// With first windows of windowSize the median at k = 10 is 94 instead of 84 microseconds (the mean,
// which a few queries make, is not better: 139 to 145). With block bounds instead of those of runs
// the mean is 8% higher. The best score of a sparse list instead of its block's bound takes a fifth
// off the slowest hundredth: a very frequent word with very rare ones. Windows of 32 blocks of the
// longest list instead of one take a seventh off the mean at k = 10 on 5M short documents, and a
// tenth off the slowest hundredth on the paragraphs: what is done once a window and list costs more
// than tighter bounds gain. 8 blocks gain half of that, 64 no more.
const (
	firstWindow    = 1 << 7
	firstPostings  = 256 // in the first window, and
	firstPerAnswer = 4   // this many for each of the k answers
	manyBlocks     = 8   // for which runs are asked for their bounds
	windowBlocks   = 32  // of the longest list, in a window that grew
	sparseWindow   = 32  // postings of a sparse list in a window; and
	sparseRatio    = 16  // the longest list has this many times more
)

// sparse is the share of a window's documents, one in this many, below which going through the
// postings again beats going through the window.
const sparse = 8

// What things cost, in postings that can be decoded, scored and added in the same time. If a
// document were kept at the cost of one posting, queries of 50 words on eLife paragraphs would take
// a quarter longer at k = 10: too many windows would be added up as a whole. With 8 or 16 documents
// for one they take as long.
const (
	askCost   = 12 // looking a document up in a list
	scoreCost = 4  // finding a score of a list again, for the sum in query order
	// postings of a list that are merged with what was found in the time of finding one of these
	mergeWorth = 24
	// documents for which is decided whether they stay, and that are merged with a list
	keptAtOne = 4
)

const (
	maxMarked = 8 // lists, a bit each
	// wipeAll is the share of a window's documents, one in this many, from which on all marks are
	// wiped out instead of those that were made.
	wipeAll = 32
)

// What things cost beside a posting that is decoded, scored and added up, which takes 6.5 ns where
// lengths are not in the second-level cache. With a lookCost of 4 or 8 queries of 5M documents take
// as long.
const (
	markCost   = 0.3 // decoding and marking a posting
	singleCost = 0.3 // bounding its score by levels, or
	pickCost   = 3   // scoring it and asking about it
	// a document that is expected to have enough words: most are dropped soon; and
	candidateCost = 9
	candidateEach = 3   // for each list
	foundCost     = 5   // a document that was found, and
	lookCost      = 6   // looking it up in a list
	spentSlack    = 800 // what may be spent more than expected
	// nearLengths is what a posting costs where lengths are in that cache.
	nearLengths = 0.4
	// plainAnswer is how many postings a query takes without marks, for each answer, so that marks
	// pay. With half of it queries of eLife paragraphs take a twentieth longer for 100 answers,
	// where this many documents can win.
	plainAnswer = 300
	// plainLeast is how many it takes in any case: with less, what is done for each window costs as
	// much as it spares.
	plainLeast = 8000
)

var (
	// plainWorth is what a posting costs without marks.
	plainWorth = 1.0 // tests raise it
	// denseMark is the share of all documents, one in this many, from which on a list is not
	// marked: such lists overlap everywhere, and only levels and small windows skip anything.
	denseMark uint64 = 8 // tests lower it
)

// A sample of one in 32 documents takes a twentieth of the time of a query of 20 words, in windows
// of 512 documents: with half of that most of the blocks that are decoded lie outside. On eLife
// paragraphs, 6 to 40 words of a paragraph, it takes 5% off the mean at k = 1,000 and, with whole
// windows, 19% at k = 10,000; at k = 300 it costs more than it gains. If windows count whatever
// they have, 8 of 100 guesses are wrong; with their share at most 2.
const (
	sampleLeast  = 32  // one in this many documents is looked at, or
	sampleMost   = 64  // in this many, if of these
	sampleFound  = 64  // are expected to be among the best
	sampleWindow = 512 // documents that are looked at together
	// wholeWorth is the share of the documents, one in this many, from which on so many are wanted
	// that dividing the lists spares nothing: at k = 10,000 it takes 14% longer than to add up
	// whole lists, at k = 3,000 the same, and at k = 1,000 30% less.
	wholeWorth = 150
)

var (
	sampleWords    = 6    // that a query must have,
	sampleAnswers  = 1000 // that it must want,
	samplePostings = 50   // and postings for each of these; tests lower them
)

const (
	seedBits  = 13
	seedSlots = 1 << seedBits
	mostSeeds = 512
)

// What seeds may cost, measured on eLife paragraphs with pieces of paragraphs and 10 answers.
// Queries of 20 words gain nothing, of 30 words 3%, of 50 words 10% on one core, which takes 2.6
// ms, of 100 words a fifth. 2 or 4 candidates for each answer, and half or twice the postings, are
// as good.
const (
	seedWords = 24
	seedsEach = 3   // candidates for each of the k answers
	seedAdds  = 512 // postings of the query for each that is added up
	seedLooks = 128 // and for each time that a candidate is looked up in a list
)

const (
	// At first this many documents are looked up together, so that there is soon a
	// threshold for the rest; then twice as many each time, up to enoughToMeet: then what is done
	// once for all of them costs little, and memory is asked for many lengths and blocks at a time.
	firstTogether  = 16
	enoughTogether = 96
	// maxWaiting is how many there can be: a block more than was not yet enough.
	maxWaiting = 2 * index.BlockSize
	// manyLeft is the share of a block's postings, one in this many, that must not be left for
	// scoring first to pay.
	manyLeft = 3
	// manyEach is how many documents a block of the second list may be asked for, on the average,
	// for levels to pay: intersecting does not fetch the lengths.
	manyEach = 4
	// alikeRatio is how much longer the second list may be so that intersecting pays at all: each
	// of its blocks is decoded then.
	alikeRatio = 32
)

// manyKept is the share of a block's documents, one in this many, from which on those at places
// that can win are intersected before they are scored: then nearly all blocks of the other list are
// decoded anyway, and few of these documents are in it.
const manyKept = 8

const (
	// mostBest is how many of them are kept at most: what they take is little beside the
	// second-level cache, and for more answers nearly everything is looked up anyway.
	mostBest = 4096
	// fewestLead is how many times more postings the leading list must have for it to pay.
	fewestLead = 4
	// firstBest is the part of them, one in this many, that is looked up first.
	firstBest = 4
)

// mostPlaces is how many of 64 places are most: at 16 and 48 "to be or not" takes longer on eLife
// paragraphs, for 10 answers or for 1,000.
const mostPlaces = 32

// With this many words and answers nothing can be skipped, and adding whole lists up is
// faster: on eLife paragraphs, 160 to 400 words, bmm takes 0.73, 0.87 and 1.14 of taat's time at k
// = 10, 100 and 1,000. With 20 to 60 words it takes 0.99, 0.53 and 0.97.
const (
	manyWords   = 144
	manyAnswers = 500
)

// maxRun ends runs, so that a look never costs much more than it can save.
const maxRun = 8

// windowSize is the number of documents whose sums are kept at once by taat and bmm: 16 KB,
// half of a first-level cache.
const windowSize = 1 << 12

// maxWindow is the size of bmm's windows for short lists, see query.chooseSpan.
const maxWindow = 1 << 15

// fewFound are sorted by comparing: that is cheaper than to move them about.
const fewFound = 12

// manyToKeep is from how many candidates on the kernel, which looks at 8 at a time, is worth the
// call.
const manyToKeep = 64

// worthBuckets is the length of lists from which on they are sifted.
var worthBuckets uint32 = 64 * index.BlockSize // tests lower it

// worthLead is how long the leading list must be so that looking at the levels of the others pays.
var worthLead uint32 = 8 * index.BlockSize // tests lower it

// Default sizes. Ranges of documents are whole windows; those that lose answers must not depend
// on the number of threads; the larger they are the less is lost.
const (
	partsEach    = 8
	minDocuments = 2 * windowSize
	minPostings  = 1024
	lossyParts   = 16
)

// pieceOf is the part of its share, one in this many, that a worker takes at once: the rest can be
// taken over. On eLife paragraphs two cores answered queries of 50 words 1.74 to 1.82 times as fast
// as one, three runs in turn with a quarter, which was 1.67 to 1.74 times and made short queries
// that are cut take up to a third longer, and with ranges that fall in size and that all take from
// the same front, 1.54 to 1.77 times. On a busier machine all are lower, down to 1.58. Now that
// such queries take a fifth less time, for which see window.keep, it is 1.54 to 1.68 times.
const pieceOf = 2

const (
	// worthCell is the number of postings in a cell from which on it is worth a look of its own.
	worthCell = 32
	// manyForGrid is how many words have something good in nearly every cell. Without it queries of
	// 100 words take a tenth longer, while those of 50 words are a twentieth faster with cells.
	manyForGrid = 64
)

// fewShare is when postings of documents that may not be answers are dropped before they are
// scored: if fewer than one in this many may be.
const fewShare = 3

// mostFromTop is when a word is no longer looked for in single documents: after one in this many of
// its postings. A look takes about as long as eight postings of blocks.
const mostFromTop = 8
