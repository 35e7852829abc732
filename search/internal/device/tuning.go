package device

// Tuning constants. Those that were measured say how. They affect only speed, never results.
// Constants that the kernels share are next to the code that launches them.

import "time"

// shortTurn is the number of words of a short text that are recorded without testing whether there
// are as many. Most queries have no more, and a branch on their number would be mispredicted.
const shortTurn = 4

// The cores retry requests whose cut was guessed wrong if these are at most one in retryShare of a
// launch, since another launch would cost more. They do not if one of them has more than
// retryPostings postings, for which a core takes longer than a lane. When retryPostings was two
// million, one query in 300, with half a million postings, did not fit and made a batch take 20 ms
// instead of 3.
const (
	retryShare    = 64
	retryPostings = 1 << 17
)

// maxGPUModels is the number of models whose codes are kept.
const maxGPUModels = 4

// spreadBy is the number of requests that a core takes at a time. Their results share a piece of
// memory. With 53 results this takes a sixth less time than with 32. The piece is then a little
// smaller than 9,472 bytes, a size class of which the allocator gets six pieces at once. Of 6,144
// bytes, the class of 32 results, it gets four.
const spreadBy = 53

// fewTakes is the number of parts that a job would have if all were as large as the first. Few
// parts are better, since all cores take from one counter, whose cache line moves between cores.
const fewTakes = 32

// spins is the number of times that an idle helper looks for work before it yields to the
// scheduler. Yielding takes a lock, for which all idle helpers would queue. If only one batch runs
// it is spinsAlone, which takes a fifth off the time of 50,000 ANDs.
const (
	spins      = 64
	spinsAlone = 4 * spins
)

// sleepAfter is how long an idle helper keeps looking before it sleeps. A lane takes less time.
const sleepAfter = time.Millisecond

// gpuSlots is the maximum number of single queries on the device at a time. More hardly help: three
// fill it.
const gpuSlots = 8

// publishEvery is the number of requests that are put into the ring before their number is
// published. pollsPerLook is the number of times that a waiting reader polls the published number
// before it looks for unpublished requests. Each look takes a cache line away from the core that
// fills the ring, which then waits for it ten times as long as a request takes.
const (
	publishEvery = 64
	pollsPerLook = 256
)

// maxChunks is the maximum number of chunks in progress, or waiting for their results to be
// yielded.
const maxChunks = 256

// worthwhile is the number of requests that are worth a launch while the device is busy.
const worthwhile = laneQueries / 8

// recheckAfter is how long a lane that waits for requests sleeps before it looks again. The
// goroutine that fills the ring nearly always wakes it: after each request it looks how many are
// wanted. But its stores are unfenced (see storeRelease), so a request may become visible only
// after the lane's last look.
const recheckAfter = 10 * time.Millisecond

// itemWork is the approximate work of an item, in the units of batch.cuh, of which reading a
// posting is a quarter. With smaller items, finding the next item would take longer than the item.
const itemWork = 1536

// smallPickAnswers is the largest mean number of answers for which small blocks pick them.
const smallPickAnswers = 256

// pairsFrom is the number of postings that two lists must have for batch_pairs to read them, if
// most of them are needed. Lists of that size come from memory, not from the cache. For shorter
// ones the window kernel, which raises its cut as it goes, is far faster: 1,044 queries with 1,000
// answers each took it 0.5 ms, against 1.3.
const pairsFrom = 1 << 22

// addCost is the cost of adding up a posting, in 64ths of the units of batch.cuh (see sums.cuh).
// Lists are added up where that costs less than searching them. With 32, 40, 48 and 56, 50,000 web
// queries with 1,000 answers took 8.3, 7.6, 7.4 and 7.5 ms in 110,000 documents, and 14.3, 13.3,
// 13.2 and 13.3 in 420,000. With 56 a sentence of twenty words had to be searched for again. A
// batch of 50,000 queries with ten answers waited for it: 4.5 ms instead of 3.8.
const addCost = 48

// laneQueries is the maximum number of queries per launch: 50,000 web queries took 4.7 ms with
// 4,096 and 5.1 with 2,048.
const laneQueries = 4096

// laneOut is the space for the answers of a launch, in answers of 8 bytes. With more, copying them
// to the host and yielding them takes long compared with the device's work.
const laneOut = 1 << 20

// batchLanes is the number of chunks of a batch that may be in progress: the device works on one
// lane's long lists while others are planned, copied or yielded. Times of 50,000 web queries, in
// milliseconds, by the number of answers of each; more lanes hardly help:
//
//	         1,000   100    10
//	six       15.4   5.5   3.3
//	eight     13.5   4.9   3.0
//	ten       12.8   4.8   2.8
const batchLanes = 10

// segmentWorkers is the number of chunks that may be in progress in each of several segments, which
// answer a batch at the same time.
const segmentWorkers = 2

// openTogether is the maximum number of segments that are loaded at the same time.
const openTogether = 8

// mapShare is the largest number of documents per posting of a list that gets a map, which then
// takes up to 16 bytes per posting.
const mapShare = 64

// evictShare: if there is no space for a list, one in so many of those that were not used for the
// longest time leave. Searching all for the oldest each time did not end in two minutes for 20,000
// queries over 8.8 million documents with 1 GB.
const evictShare = 8

// generalSlots is the maximum number of slots for many queries, for all batches: few requests need
// them, and each slot holds many.
const generalSlots = 2

// pairPatience is how long the host polls pinned memory for the result of one launch before it
// waits for the stream.
const pairPatience = 500 * time.Microsecond

// consecutive is the number of consecutive requests of a batch that one of several devices gets: a
// chunk's worth, so that all soon have work and results rarely wait for their turn. Not measured.
const consecutive = 1024

// paperMost is the maximum number of requests of a batch that are planned together.
const paperMost = 4096

// paperStreams is the maximum number of queries of an asynchronous batch on the device at a time.
const paperStreams = 32

// packedLeast is the least number of words in the buffer of compressed lists: 4 MB.
const packedLeast = 1 << 20

// maxGraphs is the maximum number of graphs that a slot keeps: some for each model and k in use.
const maxGraphs = 64

// densePostings is the mean number of postings per tile from which a list gets a row in the tables
// of tiles, 33 bytes per tile. Other lists keep full document numbers, 4 bytes per posting. From
// these every query makes its own table.
const densePostings = 8

// carryPostings is the number of postings that are decoded before they are uploaded.
const carryPostings = 1 << 20

// fewKept is the number of results that a batch may keep before it reserves part of the empty space
// (heap.go). muchKept is the number of bytes of answers before it reserves the rest. Callers with
// small batches, such as a server's clients, produce little garbage at once. For them memory
// matters more.
const (
	fewKept  = laneQueries
	muchKept = 1 << 26
)

// The empty space is at most 1/64 of the memory, and at most a gigabyte; if it would be small there
// is none. 50,000 web queries with a thousand answers each took 9 to 12 ms (16 cores, medians).
// Keeping their results took another 5 to 10 ms with 256 MB of empty space, 2 to 6 with 512, and
// less than one with a gigabyte. Besides memory, the space has a cost: until the heap has grown as
// large, results are written to pages that the system must provide first. With ten answers each,
// the first 45 batches took 4 to 5 ms, later ones 2.5.
const (
	emptyShare = 64
	emptySome  = 1 << 28
	emptyMost  = 1 << 30
	emptyLeast = 1 << 26
)

// planTerms is the largest mean number of words per query for which one block per query orders the
// tiles. With more words, several blocks share them.
const planTerms = 16

// The number of blocks that score the candidates of a query, by the multiprocessors of the device:
// the queries of a launch share pickersPerSM blocks for each of them; a single query gets one block
// for smsPerManyK of them if it has more than pickManyK answers, else one for smsPerFewK.
const (
	pickersPerSM = 2
	pickManyK    = 256
	smsPerManyK  = 2
	smsPerFewK   = 8
)

// pairK is the largest number of answers for strategy gpu-pair: with more, its last step takes
// longer than other strategies do. pairPolls is the number of times that the host polls for the
// result between looks at the clock.
const (
	pairK     = 512
	pairPolls = 64
)

// A guessed cut should be reached by k documents and guessDeviations standard deviations of that
// number more, if it were random, and by guessMore for small k. A wrong guess costs a second
// launch, more candidates a little time. guessSteps is the number of steps of the binary search for
// the cut, which find it to 1/1024 of the highest sum.
const (
	guessDeviations = 4
	guessMore       = 16
	guessSteps      = 10
)

// tableLines is the number of cache lines of the word table, 4 MB in total: enough for the words of
// web queries in a collection of 400,000 documents. tableWords is the number of words at which the
// table is replaced, three quarters of its entries, and tableProbes the number of lines in which a
// word may be.
const (
	tableLines  = 1 << 16
	tableWords  = tableLines * 3 / 2
	tableProbes = 4
)

// The excerpt of a filter is made once excerptAsked requests were within it, of which one that
// comes alone counts as askedAlone: it takes some milliseconds, the cores tens of microseconds a
// request if all of them work, and hundreds if one does. Deleted documents are left out of the
// answers unless fewer than excerptLive of all are left. An excerpt has lists for up to
// excerptWords words, which are cut into pieces of excerptPieceSize postings. There are up to
// mostExcerpts at a time, and up to excerptSets filters of which it is known how often they were
// asked.
const (
	excerptAsked     = 256
	askedAlone       = 16
	excerptLive      = 0.75
	excerptWords     = 1 << 18
	excerptPieceSize = 1 << 12
	mostExcerpts     = 8
	excerptSets      = 64
)

// yieldAhead is how many results before its turn a result is prefetched.
const yieldAhead = 8

// slowChunks is the number of consecutive chunks of only a few requests after which lanes sleep
// between requests instead of spinning.
const slowChunks = 2

// The estimate of the answers per request falls to recentKept eighths for each launch that has
// fewer; the space for them is one recentSpare-th more than the estimate.
const (
	recentKept  = 7
	recentSpare = 2
)

// denseEighths is the part of the device's output, in eighths, from which the output is copied as
// it is: up to an eighth of the memory is wasted, but append need not clear the memory first.
const denseEighths = 7

// paceShare is the weight, as a fraction, of a new time in the running means of share.go.
const paceShare = 8

// wakeBlocks is the number of blocks from which helpers are woken for a job: waking takes longer
// than a core needs for a few blocks.
const wakeBlocks = 4

// itemBlocks is the number of blocks of batch_items that fill a device, and maxItemColumns the
// largest number that share the items of one group of queries.
const (
	itemBlocks     = 4096
	maxItemColumns = 16
)

// windowPostings returns smallWindow for collections of fewer than smallTiles tiles, and
// largeWindow for larger ones.
const (
	smallTiles  = 512
	smallWindow = 1536
	largeWindow = 8192
)

// Sizes of partitions and partitions in a row that the thesis found to be good for most queries.
const (
	paperSize = 64
	paperRow  = 10
)

// profileFill is the size of a buffer that is zeroed to keep the device busy while a profile's
// steps are queued. So the time between two steps does not include their launches. Afterwards
// profileRead bytes of the buffer are read. Then the cache has no data of the batch, and none that
// must be written back first. Writing back would add a fifth to the time of reading 100 MB.
const (
	profileFill = 1 << 30
	profileRead = 1 << 28
)
