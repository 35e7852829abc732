package search

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// plain is an index as plain slices, and search by the definition: the oracle.
type plain struct {
	lengths []uint32
	words   []string
	docs    [][]uint32
	tfs     [][]uint32
}

// randomPlain makes an index of up to maxDocs documents whose lists are of all kinds: one
// posting to every document, clustered, with huge frequencies, with many equal scores.
func randomPlain(rng *rand.Rand, maxDocs, words int) *plain {
	p := &plain{}
	n := rng.IntN(maxDocs) + 1
	kinds := []int{1, 3, 60, 2000}[rng.IntN(4)] // few different lengths make ties
	for range n {
		p.lengths = append(p.lengths, uint32(rng.IntN(kinds)*(1+rng.IntN(3))+1))
	}
	for w := range words {
		density := rng.Float64()
		density *= density
		switch rng.IntN(8) {
		case 0:
			density = 1
		case 1:
			density = 2 / float64(n)
		}
		maxTF := []int{1, 2, 8, 300}[rng.IntN(4)]
		var docs, tfs []uint32
		inside := true
		for d := range n {
			if rng.IntN(200) == 0 {
				inside = !inside
			}
			if inside && rng.Float64() < density || d == n-1 && docs == nil {
				docs = append(docs, uint32(d))
				tf := uint32(rng.ExpFloat64()*float64(maxTF)/4) + 1
				if rng.IntN(500) == 0 {
					tf = rng.Uint32N(1<<uint(rng.IntN(30)+1)) + 1
				}
				tfs = append(tfs, tf)
			}
		}
		p.words = append(p.words, fmt.Sprintf("w%03d", w))
		p.docs = append(p.docs, docs)
		p.tfs = append(p.tfs, tfs)
	}
	return p
}

// scratch is a folder in memory where there is one: thousands of indexes are written there.
func scratch(t testing.TB) string {
	if dir, err := os.MkdirTemp("/dev/shm", "search"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

func (p *plain) write(t testing.TB, dir string) *Searcher {
	t.Helper()
	w, err := index.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	id := func(d int) string { return fmt.Sprintf("doc%d", d) }
	if err := w.SetDocuments(index.Documents{Analyzer: "whitespace", Lengths: p.lengths, ID: id}); err != nil {
		t.Fatal(err)
	}
	for i, word := range p.words {
		if err := w.Add([]byte(word), p.docs[i], p.tfs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// search is the definition: score everything, sort, cut.
func (p *plain) search(t testing.TB, s *Searcher, words []Word, k int, mode Mode, m Model) []Hit {
	t.Helper()
	type known struct {
		Word
		list int
	}
	var query []known
	var missing bool
	for _, w := range words {
		if i := slices.IndexFunc(query, func(o known) bool { return o.Text == w.Text }); i >= 0 {
			query[i].Weight += w.Weight
			continue
		}
		list := slices.Index(p.words, w.Text)
		if list < 0 {
			missing = true
			continue
		}
		query = append(query, known{w, list})
	}
	if mode == And && missing {
		return nil
	}
	weigher, err := m.weigher(&s.c)
	if err != nil {
		t.Fatal(err)
	}
	var terms []queryTerm
	for _, w := range query {
		info := index.Term{DF: uint32(len(p.docs[w.list]))}
		for _, tf := range p.tfs[w.list] {
			info.CF += uint64(tf)
		}
		terms = append(terms, queryTerm{weight: w.Weight, info: info})
	}
	sums := map[uint32]float32{}
	has := map[uint32]int{}
	for i, w := range query {
		sc := weigher.scorer(&terms[i], weigher.queryNorm(terms))
		for j, d := range p.docs[w.list] {
			sums[d] += sc.score(p.tfs[w.list][j], p.lengths[d])
			has[d]++
		}
	}
	var hits []Hit
	for d, score := range sums {
		if mode == Or || has[d] == len(query) {
			hits = append(hits, Hit{d, score})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	return hits[:min(k, len(hits))]
}

var testModels = []Model{
	BM25{}, BM25{K1: 0.9, B: 0.4, Variant: bm25.Lucene}, BM25{K1: 1.2, B: 0, Variant: bm25.Lucene7},
	BM25{K1: 2, B: 1, Variant: bm25.Plus}, BM25{K1: 1.5, B: 0.75, Variant: bm25.L}, BM25{K1: 0, B: 1},
	Cosine{}, Dirichlet{}, Dirichlet{Mu: 50}, DPH{},
}

func randomWords(rng *rand.Rand, p *plain) []Word {
	n := 1 + rng.IntN(4)
	if rng.IntN(6) == 0 {
		n = 1 + rng.IntN(2*len(p.words))
	}
	var words []Word
	for range n {
		w := Word{Weight: 1}
		if rng.IntN(12) == 0 {
			w.Text = "unknown"
		} else {
			w.Text = p.words[rng.IntN(len(p.words))]
		}
		if rng.IntN(10) == 0 {
			w.Weight = float64(rng.IntN(5)) + 0.5
		}
		words = append(words, w)
	}
	return words
}

func indexDir(root string, i int) string { return filepath.Join(root, fmt.Sprint(i)) }
