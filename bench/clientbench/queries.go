package clientbench

import (
	"math"
	"math/rand/v2"

	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/search"
)

// Generated draws requests for a collection whose classes are words, the most frequent first. Most
// have one to five words, one in fifty has 20 to 39; frequent words are drawn more often. Most ask
// for ten answers, some for a hundred or a thousand. One in five requires all words.
func Generated(shape *thesisbench.Shape) func(*rand.Rand) search.Request {
	return func(rng *rand.Rand) search.Request {
		r := search.Request{K: 10}
		switch v := rng.IntN(20); {
		case v == 0:
			r.K = 1000
		case v < 4:
			r.K = 100
		}
		if rng.IntN(5) == 0 {
			r.Mode = search.And
		}
		n := 1 + rng.IntN(5)
		if rng.IntN(50) == 0 {
			n = 20 + rng.IntN(20)
		}
		for range n {
			rank := int(math.Exp(rng.Float64()*math.Log(float64(len(shape.Classes))))) - 1
			r.Words = append(r.Words, search.Word{Text: shape.Classes[rank].Word(0)})
		}
		return r
	}
}

// Asked draws from given queries; one in five requires all words.
func Asked(texts []string, k int) func(*rand.Rand) search.Request {
	return func(rng *rand.Rand) search.Request {
		r := search.Request{Text: texts[rng.IntN(len(texts))], K: k}
		if rng.IntN(5) == 0 {
			r.Mode = search.And
		}
		return r
	}
}
