package plan

// What was measured, as docs/cluster.md says, on two cores of 2.1 GHz with AVX-512, most
// of it by bench/cluster/plan. Real text is that of eLife; queries have 1 to 10 words
// and find 10 documents.
const (
	// A document of w words has w × (1 + w/67)^-.38 distinct ones: 18.1, 79 and 347 of 20,
	// 120 and 1,000. Real text has 18.3, 80 and 354.
	distinctWords, distinctPower = 67.0, .38

	// Bytes of the index for each posting: 1.99 in real text, 1.75 to 1.87 in sentences made
	// of a Zipf-Mandelbrot law, 1M to 50M of them. IDs took 5.6 for each document.
	postingBytes, idBytes = 1.9, 6.0
	// ... and for each word: positions took 1.14, and stored text 2.02 where a word has 6.5
	// letters with its blank; they took .86 and 2.77 in the made sentences.
	positionBytes, textBytes = 1.1, 2.2

	// CPU time to index a word: .107 to .15 µs in made sentences, .14 to .17 in real text,
	// and how many times as much with positions (1.14 and 1.5) and stored text (1.8 and
	// 2.6).
	buildSeconds, buildPositions, buildText = .12e-6, 1.3, 2.2

	// A query takes 100 µs × r^.6 + 25 µs × r, where the index has r × 25.3M postings:
	// measured were 31, 124, 517 and 2,480 µs with r .1, 1, 8 and 50. 99 of 100 took at most
	// 4.7 to 6.4 times the mean.
	queryPostings                         = 25.3e6
	queryBlocks, queryPower, queryScanned = 100e-6, .6, 25e-6
	p99Of                                 = 6.0

	// What a server takes besides: CPU time of an HTTP request (122 to 138 µs), of a root
	// for a request and for each part of it (365 µs with 2, 468 with 5), and memory that is
	// not the index's (102 to 140 MB).
	httpSeconds                  = 125e-6
	rootSeconds, rootPartSeconds = 300e-6, 35e-6
	ownBytes                     = 130e6

	// What a client waits besides, on machines without other work: estimates for a network.
	httpLatency, rootLatency = .2e-3, .3e-3

	// Requests to the store: those that write a segment and the first generation, that read
	// a segment, that a searcher makes each second to see a new generation, and of a commit:
	// those that write, and those of its writer and of each searcher that read. All were
	// counted in moto's log.
	segmentPuts, segmentGets, followGets       = 10.0, 8.0, 2.0
	commitPuts, commitGets, commitSearcherGets = 8.0, 12.0, 7.0

	// A plan of more parts for the sake of time is refused, since a root waits for all of
	// them.
	mostParts = 1000
)
