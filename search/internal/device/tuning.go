package device

// The numbers of this package that were chosen by measuring, each with what was measured. Change
// one and results stay the same; only times differ. Numbers that the kernels share stand beside the
// code that launches them.

import "time"

// shortTurn is how many words of a short text are noted without testing whether there are as many.
// Most queries have no more, and a branch on their number would be mispredicted.
const shortTurn = 4

// The cores answer requests again whose cut was guessed wrong, if these are at most one in
// manyPerAgain of a launch: another launch would cost more. They do not if one of them has more
// than longAgain postings, for which a core takes longer than a lane. When longAgain was two
// million, one query in 300, with half a million postings, found no room and made a batch take 20
// ms instead of 3.
const (
	manyPerAgain = 64
	longAgain    = 1 << 17
)

// maxGPUModels is the number of models whose codes are kept.
const maxGPUModels = 4

// spreadBy is how many requests a core takes at a time. Their results share a piece of memory,
// which takes a sixth less time than for 32: of 53 results it is a little less than 9,472 bytes,
// and the allocator has six pieces of that size when it looks for room, but only four of 6,144.
const spreadBy = 53

// fewTakes is how many parts a job would have if all were as large as the first. Few parts are
// better: all cores take from one counter, whose cache line goes from core to core.
const fewTakes = 32

// restless is how often an idle helper looks for work before it yields to the scheduler. Yielding
// takes a lock, for which all idle helpers would queue. A batch that runs alone yields far less
// often, which takes a fifth off the time of 50,000 ANDs.
const (
	restless = 64
	alone    = 4 * restless
)

// awake is how long an idle helper keeps looking before it sleeps. A lane takes less time.
const awake = time.Millisecond

// gpuSlots is how many single queries may be on the device at a time. More hardly help: three fill
// it.
const gpuSlots = 8

// told is how many requests are put into the ring before their number is published; moments is how
// long a reader waits before it looks for requests that are not published yet. Each look takes the
// cache line of that number from the core that fills the ring, which then waits for it ten times as
// long as a request takes.
const (
	told    = 64
	moments = 256
)

// maxChunks is how many chunks may be running, or waiting for their results to be yielded.
const maxChunks = 256

// worthwhile is how many requests are worth a launch while the device is busy.
const worthwhile = manyQueries / 8

// doze is how long a lane that waits for requests sleeps before it looks again. The goroutine that
// fills the ring nearly always wakes it: after each request it looks how many are wanted. But its
// stores are unfenced (see publish), so a request may become visible only after the lane's last
// look.
const doze = 10 * time.Millisecond

// manyBytes is the length of Many in guess.cuh, a query as the device makes it.
const manyBytes = 64

// manyItem is about the work of an item, in the units of batch.cuh, of which reading a posting is a
// quarter. In smaller items, finding the next item would take longer than the item.
const manyItem = 1536

// manyAnswers is the most answers of a query that a small block picks.
const manyAnswers = 256

// manyThick is how many postings two lists must have so that batch_pairs reads them, if most of
// them are needed: so many that they come from memory and not from the cache. With shorter ones the
// windows' kernel, which learns what winners have, is faster by far (1,000 answers of 1,044
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

// manyOut is the room for answers of a launch, in answers of 8 bytes. With more, copying them to
// the host and handing them to the caller takes long beside the device's work.
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

// pairPatience is how long the host polls pinned memory for the result of one launch before it
// waits for the stream.
const pairPatience = 500 * time.Microsecond

// dealt is how many requests of a batch one of several devices gets before the next one does: a
// chunk's worth, so that both soon have work and results rarely wait for their turn. Not measured.
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

// fewKept is how many results a batch may keep before it takes some of the empty space (heap.go),
// and muchKept how many bytes of answers before it takes the rest. A caller that asks for some at a
// time, as a server's clients do, leaves little behind at once, and memory counts for more there.
const (
	fewKept  = manyQueries
	muchKept = 1 << 26
)

// The empty space is at most a 64th of the memory that there is, and a gigabyte; if it would be
// small there is none. To keep the results of 50,000 queries of the web with a thousand answers
// each took 5 to 10 ms beside the 9 to 12 of all else with 256 MB, 2 to 6 with 512, and less than
// one with a gigabyte (16 cores, medians). It has a price beside memory: until the heap has grown
// as large, results are written to pages that the system has to give first. With ten answers each,
// the first 45 batches took 4 to 5 ms, later ones 2.5.
const (
	emptyShare = 64
	emptySome  = 1 << 28
	emptyMost  = 1 << 30
	emptyLeast = 1 << 26
)
