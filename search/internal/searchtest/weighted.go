package searchtest

import (
	"fmt"
	"math/rand/v2"

	"github.com/collocate/collocate/search/internal/ask"
)

// Weighted returns an index of weighted tokens with lists of all forms: without a copy, and with
// short, medium and long parts. Tokens occur together in runs of documents, so that blocks differ.
func Weighted(rng *rand.Rand, docs, words int) *Plain {
	p := &Plain{Lengths: make([]uint32, docs), Analyzer: "impact"}
	for d := range p.Lengths {
		p.Lengths[d] = 1 + rng.Uint32N(500)
	}
	shares := []float64{0.0005, 0.004, 0.012, 0.04, 0.1, 0.2, 0.6, 1}
	for w := range words {
		share := shares[rng.IntN(len(shares))]
		most := []uint32{1, 20, 255}[rng.IntN(3)]
		if share < 0.001 {
			most = 60_000 // no copy, so any weight
		}
		var list, tfs []uint32
		for d := 0; d < docs; d++ {
			topical := d/700%words == w
			if rng.Float64() < share || topical && share >= 0.004 && rng.Float64() < 0.3 {
				list, tfs = append(list, uint32(d)), append(tfs, 1+rng.Uint32N(most))
			}
		}
		if len(list) == 0 {
			list, tfs = []uint32{rng.Uint32N(uint32(docs))}, []uint32{most}
		}
		p.Words = append(p.Words, fmt.Sprintf("w%03d", w))
		p.Docs, p.TFs = append(p.Docs, list), append(p.TFs, tfs)
	}
	return p
}

// SomeWeights gives words of an index whole weights.
func SomeWeights(rng *rand.Rand, p *Plain) (words []ask.Word) {
	for _, w := range p.Words {
		if rng.IntN(4) > 0 {
			words = append(words, ask.Word{Text: w, Weight: float64(1 + rng.IntN(300))})
		}
	}
	return words
}
