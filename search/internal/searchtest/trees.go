package searchtest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/collocate/collocate/search/query"
)

// TreeWords are the words of RandomTree.
var TreeWords = []string{"a", "b", "c", "ab", "ba", "abc", "acb", "bca", "cab", "abca"}

// RandomTree returns a random query over TreeWords. If leaf is not nil, it makes a third of the
// leaves.
func RandomTree(rng *rand.Rand, depth int, leaf func() query.Node) query.Node {
	word := func() string {
		if rng.IntN(20) == 0 {
			return "unknown"
		}
		f := rng.Float64()
		return TreeWords[int(f*f*float64(len(TreeWords)))]
	}
	words := func() (list []string) {
		for range rng.IntN(3) + 2 {
			list = append(list, word())
		}
		return list
	}
	kind := rng.IntN(10)
	if depth > 0 {
		kind = rng.IntN(18)
	}
	if kind < 10 && leaf != nil && rng.IntN(3) == 0 {
		return leaf()
	}
	switch kind {
	case 0, 1, 2:
		return query.Term{Text: word()}
	case 3:
		return query.Phrase{Text: strings.Join(words(), " ")}
	case 4:
		return query.Phrase{Text: strings.Join(words(), " "), Slop: rng.IntN(4)}
	case 5:
		return query.Near{Words: words(), Within: rng.IntN(5) + 1, Ordered: rng.IntN(2) == 0}
	case 6:
		return query.Prefix{Text: word()[:1]}
	case 7:
		return query.Wildcard{Pattern: []string{"a*b", "a?", "?b*", "*"}[rng.IntN(4)]}
	case 8:
		if rng.IntN(2) == 0 {
			return query.Same{Words: words()}
		}
		return query.Fuzzy{Text: word(), Edits: rng.IntN(2) + 1}
	case 9:
		if rng.IntN(2) == 0 {
			return query.All{}
		}
		return query.IDs{IDs: []string{fmt.Sprint("corpus.txt:", rng.IntN(60)), "corpus.txt:3", "nobody"}}
	case 10:
		part := RandomTree(rng, depth-1, leaf)
		if f, ok := part.(query.Field); ok && f.Name != "title" && f.Name != "body" {
			return part // values take no weight
		}
		return query.Boost{Part: part, By: float64(rng.IntN(5)+1) / 2}
	}
	var parts []query.Node
	for range rng.IntN(4) + 1 {
		p := RandomTree(rng, depth-1, leaf)
		switch rng.IntN(7) {
		case 0:
			p = query.Not{Part: p}
		case 1:
			p = query.Must{Part: p}
		case 2:
			p = query.Filter{Part: p}
		}
		parts = append(parts, p)
	}
	if kind%2 == 0 {
		return query.And{Parts: parts}
	}
	return query.Or{Parts: parts}
}
