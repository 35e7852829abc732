package eval

import "github.com/collocate/collocate/search/internal/ask"

// Measured on the eLife paragraphs, milliseconds of CPU a query, taat against bmm, words of the paragraphs themselves: 10 words at
// k = 10 2.3:0.5, at k = 1,000 2.7:3.0; 30 words at k = 30 2.5:2.1, at k = 100 2.5:2.7; 50 words at k = 100 3.8:4.5; 100 words at k = 10 9.8:8.4,
// at k = 30 9.4:10.0; 200 words, some of them more than once, at k = 10 20.6:16.5; 400 words 32:44 at any k. The more words and answers there are, the
// less can be skipped.
const (
	manyWords     = 144  // with so many nothing can be skipped
	wordsTimesK   = 3000 // with so many answers for so many words neither
	fewWordsToAdd = 8    // but with few words bmm skips at any k
)

// choose turns Auto into an algorithm.
func (q *Query) choose(a ask.Algorithm) ask.Algorithm {
	if a != ask.Auto {
		return a
	}
	n := len(q.Lists)
	if q.Mode == ask.And { // the more words the fewer documents have all: nothing needs to be added up
		return ask.BMM
	}
	if n > manyWords || n > fewWordsToAdd && n*q.Heap.K > wordsTimesK {
		return ask.TAAT
	}
	return ask.BMM
}

var algorithms = [...]struct {
	or  func(*Query) error
	and func(*Query) error
}{
	ask.Exhaustive: {exhaustive, exhaustive},
	ask.TAAT:       {taat, taat},
	ask.MaxScore:   {maxScore, blockMaxAnd},
	ask.WAND:       {wand, blockMaxAnd},
	ask.BMW:        {blockMaxWand, blockMaxAnd},
	ask.VBMW:       {variableBlockMaxWand, blockMaxAnd},
	ask.BMM:        {blockMaxMaxScore, blockMaxAnd},
}
