package filters

import "time"

// Tuning constants of this package, chosen by measurement. They affect only speed, never results.

const (
	// leastShare is the share of all documents from which on the documents of a filter get no lists
	// of their own: one in so many.
	leastShare = 4
	// postingTime is what it takes to make a list within a filter, for each posting of the whole
	// list: 3 ns within 0.1% of the documents, 5 to 9 within 10%, 7 to 12 within 25%. docTime is
	// what it takes to begin such lists, for each document of the filter.
	postingTime = 6 * time.Nanosecond
	docTime     = 15 * time.Nanosecond
)
