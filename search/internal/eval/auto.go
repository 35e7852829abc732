package eval

import "github.com/collocate/collocate/search/internal/ask"

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
