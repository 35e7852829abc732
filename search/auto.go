package search

// Measured on the eLife paragraphs, milliseconds of CPU a query, taat against bmm, words of the paragraphs themselves: 10 words at
// k = 10 2.3:0.5, at k = 1,000 2.7:3.0; 30 words 5.8:2.3 and 5.4:8.3; 65 words 9.6:8.0 and 9.1:11.0; 80 words 11.6:12.7; 400 words
// 32:44 at any k. The more words and answers there are, the less can be skipped.
const (
	manyWords     = 72   // with so many nothing can be skipped
	wordsTimesK   = 5000 // with so many answers for so many words neither
	fewWordsToAdd = 8    // but with few words bmm skips at any k
)

// choose turns Auto into an algorithm.
func (q *query) choose(a Algorithm) Algorithm {
	if a != Auto {
		return a
	}
	n := len(q.lists)
	if q.mode == And { // the more words the fewer documents have all: nothing needs to be added up
		return BMM
	}
	if n > manyWords || n > fewWordsToAdd && n*q.heap.k > wordsTimesK {
		return TAAT
	}
	return BMM
}
