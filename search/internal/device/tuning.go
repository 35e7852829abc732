package device

// Numbers of this package that were chosen by measuring, each with what was measured. All else is
// structure: change a number here and results stay the same, only times differ.

import "time"

// shortTurn is how many words of a short text are looked at without asking whether they are there:
// most queries have no more, and how many nobody can guess.
const shortTurn = 4

// manyPerAgain is how many requests wait for one whose cut was guessed wrong if that is not worth
// another lane, and longAgain from how many postings on it is, however many wait: a core takes
// longer. When that was two million, one in 300 queries, with half a million, found no room and
// made a batch take 20 ms instead of 3.
const (
	manyPerAgain = 64
	longAgain    = 1 << 17
)

// maxGPUModels is how many models' codes are kept.
const maxGPUModels = 4

// spreadBy is how many requests a core takes at a time. Their results share a piece of memory,
// which takes a sixth less time than for 32: of 53 results it is a little less than 9,472 bytes,
// and the allocator has six pieces of that size when it looks for room, but only four of 6,144.
const spreadBy = 53

// fewTakes is how many parts there would be if all were as large as the first. Numbers that all
// cores take from are far away for each.
const fewTakes = 32

// restless is how often one looks for something to do before others may use the core. Asking the
// scheduler whether there are any takes a lock, for which all who have nothing to do would queue: a
// batch that is alone asks less often by far, which takes a fifth off the time of 50,000 ANDs.
const (
	restless = 64
	alone    = 4 * restless
)

// awake is how long a core without work stays awake. A lane takes less.
const awake = time.Millisecond

// gpuSlots is how many single queries may be on the device at a time. More hardly help: three fill
// it.
const gpuSlots = 8

// told is how many requests come before others know of them, unless they look, which they do when
// they have waited for this many moments. Each look takes the number away from the core that brings
// requests, which then waits for it ten times as long as for a request.
const (
	told    = 64
	moments = 256
)

// maxChunks are under way at a time, or wait to be handed out.
const maxChunks = 256

// worthwhile is how many requests are worth a launch while the device has something to do.
const worthwhile = manyQueries / 8

// doze is how long one who waits for requests sleeps before looking again. The one that brings them
// wakes a sleeper nearly always: after bringing one it looks how many are wanted, but what it
// brought may be seen a moment later (see publish), even after the last look.
const doze = 10 * time.Millisecond

// manyBytes is the length of Many in guess.cuh, a query as the device makes it.
const manyBytes = 64

// manyItem is what an item costs, about, in the units of batch.cuh, of which reading a posting
// costs a quarter: less, and finding the item takes longer than the item.
const manyItem = 1536

// manyAnswers is how many answers of a query are picked by a small block.
const manyAnswers = 256

// manyThick is how many postings two lists must have to be read by a kernel of their own, if most
// of them are needed: so many that they come from memory and not from the cache. With shorter ones
// the windows' kernel, which learns what winners have, is faster by far (1,000 answers of 1,044
// queries: 0.5 ms against 1.3).
const manyThick = 1 << 22

// manyAdding is what it costs to add a posting up, in 64ths of the units of batch.cuh (see
// sums.cuh). Where that is less than to search the lists it is done. 50,000 queries of the web with
// 1,000 answers took 8.3, 7.6, 7.4 and 7.5 ms with 32, 40, 48 and 56 (110,000 documents), and 14.3,
// 13.3, 13.2 and 13.3 (420,000). With 56 a sentence of twenty words was searched for again, for
// which 50,000 queries with ten answers waited: 4.5 ms instead of 3.8.
const manyAdding = 48

// manyQueries is the most queries of a launch: 50,000 queries of the web took 4.7 ms with 4,096 and
// 5.1 with 2,048.
const manyQueries = 4096

// manyOut is what there is room for in answers of a launch, which are 8 bytes each. With more at a
// time, their way back to the host and to the caller is long beside the device's work.
const manyOut = 1 << 20

// batchLanes is how many chunks of a batch may be on their way: the device works on one lane's long
// lists while others are planned, copied or handed out. With six, 50,000 queries of the web took
// 15.4 ms with 1,000 answers each, 5.5 with 100 and 3.3 with ten; with eight 13.5, 4.9 and 3.0;
// with ten 12.8, 4.8 and 2.8. More hardly help.
const batchLanes = 10

// mapShare is how many documents there may be for each posting of a list that gets a map, which
// then takes up to 16 bytes a posting.
const mapShare = 64

// generalSlots is how many slots for many queries there are at most, for all batches: few requests
// need them, and each slot has room for many.
const generalSlots = 2

// pairPatience is how long to look at the memory.
const pairPatience = 500 * time.Microsecond

// dealt is how many requests of a batch one of several devices gets before the next one does: a
// chunk's worth, so that both have work soon and results wait little for their turn. Not measured.
const dealt = 1024

// thesisMost is how many requests of a batch are planned together.
const thesisMost = 4096

// thesisStreams is how many queries of an asynchronous batch are on the device at a time.
const thesisStreams = 32

// maxGraphs is how many graphs a slot keeps: some for each model and k in use.
const maxGraphs = 64

// densePostings a tile, on average, give a list a row in the tables of tiles: 33 bytes a tile. The
// others keep whole document numbers, 4 bytes a posting, of which every query makes its own table.
const densePostings = 8

// carryPostings is how many postings are decoded before they are sent.
const carryPostings = 1 << 20
