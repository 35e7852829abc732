package model

import (
	"sync"

	"github.com/collocate/collocate/bm25"
)

// logs holds ln of the whole numbers below its length, which are nearly all term frequencies and
// document lengths: a look-up instead of some 10 ns. 512 KB.
var logs = sync.OnceValue(func() []float64 {
	t := make([]float64, 1<<16)
	for i := range t {
		t[i] = bm25.Log(float64(i))
	}
	return t
})

func logOf(table []float64, n uint32) float64 {
	if int(n) < len(table) {
		return table[n]
	}
	return bm25.Log(float64(n))
}
