package batch

// Tuning constants of this package, chosen by measurement. They affect only speed, never results.

import "time"

// Ahead is the number of requests per worker that may be fetched beyond the next result to be
// yielded. A slow request holds up the results behind it but, up to this limit, not the work. With
// 128, two workers waited 5% of the time when requests took 3 microseconds and a few a millisecond.
// With 512 they hardly ever waited, and 2,048 gained nothing more.
const Ahead = 512

// stretch is how long the caller's worker answers requests before it checks for results to yield.
// The results are in the caches of other cores, and each check costs as much as a tenth of a small
// query.
const stretch = 50 * time.Microsecond

// longEffort is the effort above which a request is always answered by a team that other workers
// can join. Otherwise the results behind it would wait long, and then so would the workers.
// Partitioning a request that no other worker joins costs 1 to 6% at this effort.
const longEffort = 1 << 21

// lookAhead is the number of requests whose words a worker looks up before it answers the first of
// them. While the words and lists of one are prefetched, the worker is busy with the others.
// Measured with 50,000 web queries as ANDs on eLife paragraphs, as the speed-up of two cores over
// one, which answers one request after the other. It was 1.60, 1.69 and 1.69 without look-ahead,
// 1.92, 2.13 and 2.24 with it (three alternating runs; one core has become a tenth faster since). A
// value of 4 gains less and 16 no more. A worker looks up at most half of its claim ahead, since
// other workers cannot steal that part.
const lookAhead = 8

const (
	// mostClaimed is the maximum number of requests that a worker claims at once.
	mostClaimed = 32
	claimBits   = 8
)
