package batch

// The numbers of this package that were chosen by measuring. Change one and results stay the same;
// only times differ.

import "time"

// Ahead is how many requests for each worker may be fetched before the first result that is not
// there yet. A slow request holds up the results behind it but, up to here, not the work. With 128
// two workers waited a twentieth of their time when requests took 3 microseconds and some a
// millisecond, with 512 hardly ever, and 2,048 gained no more.
const Ahead = 512

// stretch is how long the caller's worker answers requests before it looks for results to hand out.
// These lie in the caches of other cores, and each look costs as much as a tenth of a small query.
const stretch = 50 * time.Microsecond

// longEffort is the effort from which on a request is always answered by a team that others can
// join: the results behind it would wait long, and then so would the work. Cutting a request that
// no other worker joins costs 1 to 6% there.
const longEffort = 1 << 21

// lookAhead is how many requests a worker looks up the words of before it answers the first of
// them: while memory is asked for the words and lists of one, the worker is busy with the others.
// 50,000 web queries as ANDs on eLife paragraphs, times as fast with two cores as with one, which
// answers one request after the other: 1.60, 1.69 and 1.69 without, 1.92, 2.13 and 2.24 with it
// (three runs in turn; one core has become a tenth faster since); 4 gain less and 16 no more. Only
// half of what a worker holds is looked up ahead, since others cannot take that over.
const lookAhead = 8

const (
	// mostClaimed is how many requests a worker takes at once at most.
	mostClaimed = 32
	claimBits   = 8
)
