package eval

import "github.com/collocate/collocate/docset"

// limits says which documents of an index may be answers: those that live, and of these those that
// the request wants. A document that may not never enters the answers (Query.push), and whatever
// is known of lists counts it: so a floor that is known of a list is taken further down its ranks
// (Query.findFloor), and guesses expect fewer answers.
type limits struct {
	limited bool
	sets    [2]*docset.Set
	outside int // at most so many documents may not
}

// limit makes the limits those of two sets, of which either may be nil, over so many documents.
func (l *limits) limit(docs int, live, within *docset.Set) {
	*l = limits{sets: [2]*docset.Set{live, within}}
	for _, s := range l.sets {
		if s != nil {
			l.limited = true
			l.outside = min(docs, l.outside+docs-s.Count())
		}
	}
}

// admits says whether a document may be an answer.
func (l *limits) admits(doc uint32) bool {
	for _, s := range l.sets {
		if s != nil && !s.Has(doc) {
			return false
		}
	}
	return true
}

// Limited says whether not all documents may be answers.
func (l *limits) Limited() bool { return l.limited }

// most is the number of documents that may be answers, or more.
func (l *limits) most(docs int) int {
	for _, s := range l.sets {
		if s != nil {
			docs = min(docs, s.Count())
		}
	}
	return docs
}

// share is the part of the documents that may be answers, for guesses.
func (q *Query) share() float64 {
	if !q.limited {
		return 1
	}
	docs := float64(q.c.Docs)
	share := 1.0
	for _, s := range q.sets {
		if s != nil {
			share *= float64(s.Count()) / docs
		}
	}
	return share
}
