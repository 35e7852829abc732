package eval

import (
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
)

// WorthSpreading says whether to answer the query in partitions. Approximate ways are taken if
// they are asked for: the result must not depend on the number of cores.
func WorthSpreading(p *ask.Parallel, q *Query) bool {
	switch {
	case p == nil || len(q.Lists) == 0 || p.Engine == engine.Sequential:
		return false
	case p.Engine == engine.Multicore || !p.Exact():
		return true
	}
	return ask.ThreadsOf(p) > 1 && q.Effort() >= worthEffort
}

// worthEffort is the effort of a query from which on a second core helps. On the eLife paragraphs, web queries, microseconds with one core and
// with two: OR by postings at k = 100 and 1,000 from 2^15 on 161:145 and 278:240, from 2^17 on 251:215 and 655:456, from 2^19 on 580:423 and 1658:1064; AND by the
// postings of its shortest list at k = 10 and 1,000 from 2^11 on 45:59 and 59:69, from 2^12 on 80:84 and 170:151, from 2^13 on 114:98 and 177:156. Whatever else it has, an AND with a
// short list takes twice as long in partitions as in one piece. Waking another core costs 10 to 100 microseconds.
const worthEffort = 1 << 15

// Effort is about how many postings may have to be looked at. Mode And goes by its shortest list.
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
	if shortest.Levels != nil && shortest.lowX != nil && placesToGuess(q.Heap.K, len(q.Lists), 1) < float64(q.c.Docs/index.LevelDocs/3) {
		return 0 // one core guesses a floor, which takes it less time than two without: 190 and 350 microseconds, 660 and 980
	}
	if _, ok := q.wantBest(shortest); ok && shortest.Levels == nil && maps == len(q.Lists)-1 {
		return 0 // one core looks up the best first: 80 and 160 microseconds
	}
	return 4 * int64(shortest.Term.DF)
}

// With a guessed floor for few answers, or the levels of one word, few of the postings are looked at. In microseconds as above, at k = 10 from 2^15 postings on 101:102, from 2^17 on 125:122, from 2^18
// on 110:110, from 2^19 on 240:204, but at k = 30 125:118, 166:152, 156:140 and 353:278; a word that half of the documents have 4:8 at k = 10 and 116:134 at k = 1,000.
const (
	effortSpared = 16
	guessAnswers = 20
)
