package device

import (
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// A special kernel reads two long lists. They share no document, all or some, and have different
// frequencies or equal ones, so that more documents can win than can be kept.
func TestGPUBatchLongPairs(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	rng := rand.New(rand.NewPCG(8, 6))
	p := &searchtest.Plain{Words: []string{"a", "b", "c", "d", "e"}, Docs: make([][]uint32, 5),
		TFs: make([][]uint32, 5)}
	add := func(w, d, tf int) { p.Docs[w], p.TFs[w] = append(p.Docs[w], uint32(d)), append(p.TFs[w], uint32(tf)) }
	for d := range 2*gpuTile + 777 {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(300)+1))
		add(d%2, d, int(rng.ExpFloat64()*3)+1)
		if d%3 > 0 {
			add(2, d, 1)
			add(3, d, 1+rng.IntN(2))
		}
		if rng.IntN(5) == 0 {
			add(4, d, int(rng.ExpFloat64()*3)+1)
		}
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	s.gpu.pairsFrom = 1000
	var requests []ask.Request
	for _, pair := range []string{"ab", "ac", "cd", "ae", "ce", "abe", "be"} {
		for _, k := range []int{1, 400, 2000} {
			r := ask.Request{K: k}
			for _, w := range pair {
				r.Words = append(r.Words, ask.Word{Text: string(w), Weight: 1 + float64(w%2)})
			}
			requests = append(requests, r)
		}
	}
	equalBatches(t, s, requests)
}
