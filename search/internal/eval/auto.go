package eval

import "github.com/collocate/collocate/search/internal/ask"

// choose turns Auto into an algorithm. In mode And, the more words there are the fewer documents
// have all of them: nothing needs to be added up.
func (q *Query) choose(a ask.Algorithm) ask.Algorithm {
	return chooseFor(a, q.Mode, len(q.Lists), q.Heap.K)
}

func chooseFor(a ask.Algorithm, mode ask.Mode, words, k int) ask.Algorithm {
	switch {
	case a != ask.Auto:
		return a
	case mode == ask.Or && words > manyWords && k >= manyAnswers:
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
