package eval

import "github.com/collocate/collocate/search/internal/ask"

// choose turns Auto into an algorithm: bmm, whose plan (orPlan) adds up whole lists where nothing
// can be skipped.
func choose(a ask.Algorithm) ask.Algorithm {
	if a == ask.Auto {
		return ask.BMM
	}
	return a
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
