package eval

import "github.com/collocate/collocate/search/internal/ask"

// choose turns Auto into an algorithm: bmm, or taat for very many words and answers, where nothing
// can be skipped. In mode And that never pays: the more words, the fewer documents have all of
// them.
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
