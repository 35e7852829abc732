package eval

import (
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
)

// WorthSpreading reports whether to answer the query in partitions. Approximate partitions are
// always used if they are asked for: the result must not depend on the number of cores.
func WorthSpreading(p *ask.Parallel, q *Query) bool {
	switch {
	case p == nil || len(q.Lists) == 0 || p.Engine == engine.Sequential:
		return false
	case p.Engine == engine.Multicore || !p.Exact():
		return true
	}
	return ask.ThreadsOf(p) > 1 && q.Effort() >= worthEffort
}

// Effort estimates how many postings will be looked at. In mode And it follows from the shortest
// list; it is 0 for strategies with which one core is faster than two.
func (q *Query) Effort() int64 {
	switch n := len(q.Lists); {
	case n == 1 || q.Mode == ask.Or && n <= guessWords && q.Heap.K < guessAnswers:
		return q.Stats.Postings / effortSpared
	case q.Mode == ask.Or || n == 0:
		return q.Stats.Postings
	}
	shortest, maps := q.Lists[0], 0
	for _, l := range q.Lists {
		if l.Term.DF < shortest.Term.DF {
			shortest = l
		}
		if l.Levels != nil && l.lowX != nil {
			maps++
		}
	}
	if shortest.Levels != nil && shortest.lowX != nil &&
		placesToGuess(q.Heap.K, len(q.Lists), 1) < float64(q.c.Docs/index.LevelDocs/3) {
		// one core guesses a floor, which takes it less time than two without: 190 and 350
		// microseconds, 660 and 980
		return 0
	}
	if _, ok := q.wantBest(shortest); ok && shortest.Levels == nil && maps == len(q.Lists)-1 {
		return 0 // one core looks up the best first: 80 and 160 microseconds
	}
	return 4 * int64(shortest.Term.DF)
}
