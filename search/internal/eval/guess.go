package eval

import (
	"math"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
)

// Mode Or starts from a floor, a score that k documents are known to reach by one word alone
// (floor.go). If words occur together, the final threshold is far above the floor. It is also
// reached late: after half of the documents, the threshold is about the score of the 2k-th best.
//
// So a higher floor is guessed. It is the score that rather more than k documents are expected to
// beat, if words are independent of each other, have the frequencies of their lists, and occur more
// often in longer documents. If k answers beat the guess, it is proved. Otherwise the query is
// evaluated again with a lower guess, and then without one. If words occur together more often than
// by chance, as they mostly do in queries, the guess is too low, but safe; if they occur together
// less often, it may be wrong.
//
// In 5 million generated documents, whose words are independent, a score that 10 documents were
// expected to beat was beaten by 4 to 19, mostly by 7 to 14.

// orAboveGuess searches for answers above a guessed floor. If the guess was wrong, it restores the
// state of the query.
func (q *Query) orAboveGuess() (proved bool, err error) {
	return guessing{
		guess:  q.guessOr,
		search: func(floor float32) error { return q.above(floor, q.allWindows) },
		enough: q.Heap.Full,
		again:  q.beginAgain,
	}.prove()
}

// guessOr returns the floor to try: first a likely one, then a safer one.
func (q *Query) guessOr(try int) (floor float32, ok bool) {
	margins := [...]float64{guessMargin, guessAgain}
	if try >= len(margins) {
		return 0, false
	}
	best := q.guessRank(margins[try])
	if best > 0 && !q.worthCounting() {
		return best, true
	}
	if floor, ok = q.guessFloor(margins[try]); best > 0 && (!ok || best > floor) {
		return best, true
	}
	return floor, ok
}

// guessRank guesses a floor for a query that is limited to some documents. It chooses a rank such
// that k of the better postings of a list should be in these documents, and returns the score of
// the posting at that rank. The number of postings in these documents is binomially distributed if
// the documents are independent of the word. 0 means no guess.
func (q *Query) guessRank(margin float64) float32 {
	if !q.limited || q.across != nil {
		return 0
	}
	best, rank := float32(0), q.rankWithin(margin)
	if rank > float64(q.c.Docs) {
		return 0
	}
	for _, l := range q.Lists {
		if l.lowX != nil && l.max > float64(best) {
			best = max(best, l.scoreAbout(rank))
		}
	}
	if best <= 0 || below(best) <= q.floor {
		return 0
	}
	return below(best)
}

// rankWithin returns a rank of a list such that k of the better postings should pass the filter.
func (q *Query) rankWithin(margin float64) float64 {
	k, share := float64(q.Heap.K), q.share()
	return (k + rankMargin*margin*math.Sqrt(k*(1-share))) / share
}

// scoreAbout estimates the score of the posting at a rank of the list; 0 means unknown. Between two
// stored ranks it interpolates: x grows about as the logarithm of the rank. With this and
// rankMargin, unions within 10% and 50% of the eLife paragraphs take 4% less time.
func (l *list) scoreAbout(rank float64) float32 {
	if l.LowX == nil || int(l.Term.DF) < int(rank) {
		return l.scoreAtRank(int(rank))
	}
	for i := 1; i < len(index.Ranks); i++ {
		low, high := float64(index.Ranks[i-1]), float64(index.Ranks[i])
		if rank < low || rank > high {
			continue
		}
		before, x := l.Ranked[i-1], l.Ranked[i]
		if x == math.MaxFloat32 {
			return 0
		}
		x = before + (x-before)*float32(math.Log(rank/low)/math.Log(high/low))
		return l.bm25.OfX(float32(x * l.bm25.W.HighX))
	}
	return l.scoreAtRank(int(rank))
}

// oneAboveGuess is orAboveGuess for a search of one word.
func (q *Query) oneAboveGuess(search func() error) (proved bool, err error) {
	return guessing{
		guess:  q.guessOne,
		search: func(floor float32) error { return q.above(floor, search) },
		enough: q.Heap.Full,
		again:  q.beginAgain,
	}.prove()
}

// guessOne is guessOr for a query of one word.
func (q *Query) guessOne(try int) (floor float32, ok bool) {
	if try > 0 {
		return 0, false
	}
	floor = q.guessRank(guessMargin)
	return floor, floor > 0
}

// guessing holds the functions by which a floor is guessed and proved.
type guessing struct {
	guess  func(try int) (floor float32, ok bool) // returns the floor to try, or false to give up
	search func(floor float32) error              // searches above the floor; may stop early
	enough func() bool                            // reports whether k answers prove the floor
	again  func()                                 // removes the answers of a wrong guess
}

// prove is the guess-and-prove loop: it searches above guessed floors until one is proved. OR, AND,
// one word, teams and several segments share it.
//
// Precondition: there are no answers yet. Postcondition: if a floor is proved, the k best answers
// are in the heap, or with the workers of a team. Otherwise there are no answers, and the floor is
// the known one.
func (g guessing) prove() (proved bool, err error) {
	for try := 0; ; try++ {
		floor, ok := g.guess(try)
		if !ok {
			return false, nil
		}
		if err := g.search(floor); err != nil || g.enough() {
			return true, err
		}
		g.again()
	}
}

// above searches with a guessed floor, and then restores the known one.
//
// Precondition: there are no answers yet, and the threshold is the known floor. Postcondition: all
// answers beat the guess.
func (q *Query) above(floor float32, search func() error) error {
	known, before := q.floor, q.guessed
	if assert.On && (len(q.Heap.Keys) > 0 || q.theta != known) {
		assert.Fail("the heap has answers of a wrong guess")
	}
	q.pushed = -1
	q.floor, q.guessed = floor, true
	q.rewind()
	err := search()
	if assert.On && !q.aboveFloor(floor) {
		assert.Fail("an answer does not beat the guess")
	}
	q.floor, q.guessed = known, before
	return err
}

// worthGuess reports whether guessing a floor pays.
func (q *Query) worthGuess() bool {
	return q.Mode == ask.Or && len(q.Lists) > 1 &&
		(q.guessRank(guessMargin) > 0 || q.worthCounting())
}

// worthCounting reports whether counting the expected documents (guessFloor) pays.
func (q *Query) worthCounting() bool {
	n, all := float64(len(q.Lists)), q.segments()
	return n <= guessWords && float64(q.Stats.Postings)*all >= guessPostings*n &&
		q.plainCost(q.shortestFirst())*all >= guessPlain*n
}

// segments returns the number of segments of this one's size that would make up the index.
func (q *Query) segments() float64 {
	if q.across == nil {
		return 1
	}
	return float64(q.c.All.Docs) / float64(q.c.Docs)
}

// beginAgain removes all answers and returns all lists to their beginning.
func (q *Query) beginAgain() {
	q.rewind()
	q.Heap.Reset(q.Heap.K)
	q.unlearn()
	q.Stats.Entered, q.Stats.Thresholds, q.traceAt = 0, nil, 0
	for _, l := range q.Lists {
		l.Load(0)
		l.restart()
	}
}

// mayGiveUp reports whether the floor is a guess of this query alone: then too few answers in the
// documents so far are a reason to stop.
func (q *Query) mayGiveUp() bool { return q.guessed && q.team == nil && !q.shared }

// fallsBehind reports whether the guess is likely to be wrong, because too few answers were found
// before a document.
func (q *Query) fallsBehind(doc uint32) bool {
	return q.tooFew(float64(doc) / float64(q.to))
}

// tooFew reports whether the answers so far are fewer than expected after the given share of the
// work, by more than chance explains.
func (q *Query) tooFew(share float64) bool {
	found := float64(len(q.Heap.Keys))
	return found+giveUp*math.Sqrt(found)+giveUp < float64(q.Heap.K)*share
}

// expected is a histogram of the expected number of documents by score.
type expected struct {
	words []expectedWord // the rarest first
	low   float64        // scores up to this one are not counted
	scale float64        // steps of the histogram per unit of score
	tiny  float64        // combinations of words with fewer documents are ignored
	left  int            // number of combinations that may still be counted
	steps [guessSteps]float64
}

// expectedWord is a word in documents of one length.
type expectedWord struct {
	rate           float64 // expected number of occurrences in a document of mean length
	again          float64 // share of documents with it that have it more than once: 1 - df/cf
	once, twice    float64 // shares of documents with one occurrence, and with more
	score1, score2 float64 // the word's scores in these
	most           float64 // highest sum of the scores of this word and the later ones
}

// guessFloor returns a score above the floor that rather more than k documents are expected to
// beat, if there is one.
func (q *Query) guessFloor(margin float64) (floor float32, ok bool) {
	e, total := &q.or.expected, 0.0
	e.words = e.words[:0]
	lists := q.shortestFirst()
	for _, l := range lists {
		total += l.max
		share := float64(l.Term.DF) / float64(q.c.Docs)
		again := 1 - float64(l.Term.FullDF())/float64(max(l.Term.CF, 1))
		e.words = append(e.words, expectedWord{rate: -math.Log1p(-min(share, 0.99)), again: again})
	}
	e.low = max(q.cut, 0)
	if total <= e.low {
		return 0, false
	}
	k := float64(q.Heap.K)
	docs := float64(q.c.Docs) * q.segments() * q.share() // as if all segments were like this one
	e.scale, e.tiny, e.left = guessSteps/(total-e.low), k/1000, guessSums
	clear(e.steps[:])
	for _, g := range q.c.Groups.Of(q.c.Lengths) {
		most := 0.0
		for i := len(e.words) - 1; i >= 0; i-- {
			l, w := lists[i], &e.words[i]
			y := w.rate * g.Relative
			has := y / (1 + y/2 + y*y/12) // about 1 - exp(-y)
			again := max(0, min(w.again*g.Relative, 0.9))
			w.once, w.twice = has*(1-again), has*again
			w.score1, w.score2 = float64(l.Score(1, g.Length)), float64(l.Score(2, g.Length))
			most += w.score2
			w.most = most
		}
		e.count(0, 0, docs*g.Share)
	}
	if e.left <= 0 {
		return 0, false
	}
	n := 0.0
	for step := guessSteps - 1; step > 0; step-- {
		if n += e.steps[step]; n >= k+k/8+margin*math.Sqrt(k) {
			return float32(e.low + float64(step)/e.scale), true
		}
	}
	return 0, false
}

// count adds docs documents to the histogram. sum is the sum of their scores for the words before
// word i; count divides them by how often they have the words from i on.
func (e *expected) count(i int, sum, docs float64) {
	if e.left--; e.left <= 0 {
		return
	}
	for ; i < len(e.words); i++ {
		w := &e.words[i]
		if sum+w.most <= e.low {
			return
		}
		if n := docs * w.once; n > e.tiny {
			e.count(i+1, sum+w.score1, n)
			if n := docs * w.twice; n > e.tiny {
				e.count(i+1, sum+w.score2, n)
			}
		}
		docs *= 1 - w.once - w.twice
	}
	if sum > e.low {
		e.steps[min(int((sum-e.low)*e.scale), guessSteps-1)] += docs
	}
}
