package search

// Measured on the eLife paragraphs, microseconds of CPU a query, taat against bmm: web
// queries at k = 10 800:110, at k = 1,000 920:590; 20 words at k = 1,000 7900:9400; 50 words at k = 10
// 14000:11600, at k = 1,000 15500:18400; 400 words 47000:55000 at any k. The more words and
// answers there are, the less can be skipped.
const (
	manyWords     = 100     // with so many nothing can be skipped
	wordsTimesK   = 1 << 14 // with so many answers for so many words neither
	fewWordsToAdd = 8       // but with few words bmm skips at any k
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
