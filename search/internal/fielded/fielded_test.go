package fielded

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/text"
)

// collection holds documents as lists of words, with their index.
type collection struct {
	docs [][3][]string // the words of title, body and note
	r    *index.Reader
}

var fieldNames = []string{"title", "body", "note"}

func newCollection(t testing.TB, rng *rand.Rand, n int) *collection {
	t.Helper()
	c := &collection{}
	var lines bytes.Buffer
	for i := range n {
		var d [3][]string
		record := map[string]string{"id": fmt.Sprint("d", i)}
		for f, longest := range []int{6, 60, 3} {
			for range rng.IntN(longest) {
				d[f] = append(d[f], fmt.Sprintf("w%d", int(rng.ExpFloat64()*12)))
			}
			record[fieldNames[f]] = strings.Join(d[f], " ")
		}
		c.docs = append(c.docs, d)
		b, _ := json.Marshal(record)
		lines.Write(append(b, '\n'))
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(path, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text:weight=2.5", "body:text", "note:text:weight=0.3"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	a, _ := text.ParseAnalyzer("unicode")
	corpus := &text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}
	if err := index.Build(context.Background(), dir, corpus, index.BuildOptions{Analyzer: a}); err != nil {
		t.Fatal(err)
	}
	if c.r, err = index.Open(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.r.Close() })
	return c
}

// search is the oracle: the definition of BM25F.
func (c *collection) search(words []string, weights [3]float64, p bm25.Params, mode ask.Mode, k int,
	within *docset.Set) []ask.Hit {
	count := func(list []string, word string) (n int) {
		for _, w := range list {
			if w == word {
				n++
			}
		}
		return n
	}
	lengthOf := func(d [3][]string) (l float32) {
		for f := range d {
			if weights[f] > 0 {
				l += float32(weights[f]) * float32(len(d[f]))
			}
		}
		return l
	}
	n, total := float64(len(c.docs)), 0.0
	for f := range fieldNames {
		tokens := 0
		for _, d := range c.docs {
			tokens += len(d[f])
		}
		total += float64(float32(weights[f])) * float64(tokens)
	}
	a, b := float32(p.K1*(1-p.B)), float32(p.K1*(float64(p.B*n)/total))
	s, _ := p.Scorer(uint64(len(c.docs)), uint64(total))
	var distinct []string
	for _, w := range words {
		if !slices.Contains(distinct, w) {
			distinct = append(distinct, w)
		}
	}
	var hits []ask.Hit
	sums, met := make([]float32, len(c.docs)), make([]int, len(c.docs))
	for _, w := range distinct {
		df := 0
		for f := range fieldNames {
			m := 0
			for _, d := range c.docs {
				if weights[f] > 0 && count(d[f], w) > 0 {
					m++
				}
			}
			df = max(df, m)
		}
		term := s.Term(uint64(df), float64(count(words, w)))
		for i, d := range c.docs {
			tf := float32(0)
			for f := range d {
				if weights[f] > 0 {
					tf += float32(weights[f]) * float32(count(d[f], w))
				}
			}
			if tf > 0 {
				x := float32((a + float32(b*lengthOf(d))) * (1 / tf))
				sums[i] += term.Weight/(1+x) + term.Plus
				met[i]++
			}
		}
	}
	for i, m := range met {
		if m > 0 && (mode == ask.Or || m == len(distinct)) && (within == nil || within.Has(uint32(i))) {
			hits = append(hits, ask.Hit{Doc: uint32(i), Score: sums[i]})
		}
	}
	slices.SortFunc(hits, func(a, b ask.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	return hits[:min(k, len(hits))]
}

// All algorithms give the results of the definition, to the bit, on one core and on three.
func TestBM25FIsItsDefinition(t *testing.T) {
	defer func(was int) { minPart = was }(minPart)
	minPart = 1200 // so that three cores share 3,000 documents
	rng := rand.New(rand.NewPCG(3, 4))
	for _, docs := range []int{1, 40, 3000} {
		c := newCollection(t, rng, docs)
		e := NewEngine(nil, c.r)
		for range 60 / trials.Every(4) {
			var words []string
			for range 1 + rng.IntN(5) {
				words = append(words, fmt.Sprintf("w%d", int(rng.ExpFloat64()*14)))
			}
			weights, list := [3]float64{2.5, 1, 0.3}, ""
			if rng.IntN(2) == 0 {
				weights = [3]float64{float64(rng.IntN(4)), 0.5 + rng.Float64(), 0}
				list = fmt.Sprintf("title=%v,body=%v", weights[0], weights[1])
			}
			p := bm25.Params{K1: []float64{0.01, 0.9, 1.2, 8}[rng.IntN(4)],
				B:       []float64{0.01, 0.4, 0.75, 1}[rng.IntN(4)],
				Variant: []bm25.Variant{bm25.Papers, bm25.Lucene, bm25.Plus}[rng.IntN(3)]}
			mode, k := ask.Mode(rng.IntN(2)), 1+rng.IntN(20)
			var within *docset.Set
			if rng.IntN(3) == 0 {
				within = docset.New(docs)
				for d := range docs {
					if rng.IntN(3) > 0 {
						within.Add(uint32(d))
					}
				}
			}
			want := c.search(words, weights, p, mode, k, within)
			for _, how := range []ask.Request{{}, {Algorithm: ask.Exhaustive}, {Parallel: &ask.Parallel{Threads: 3}}} {
				r := how
				r.Text, r.K, r.Mode = strings.Join(words, " "), k, mode
				r.Model = model.BM25F{K1: p.K1, B: p.B, Variant: p.Variant, Weights: list}
				got, err := e.Search(context.Background(), &r,
					func(int) []*docset.Set { return []*docset.Set{nil, within} })
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Hits, want) {
					t.Fatalf("%d documents, %q, %v, %v, %v:\n%v\nwant\n%v", docs, words, mode,
						r.Model, r.Algorithm, got.Hits, want)
				}
				for _, h := range got.Hits[:min(2, len(got.Hits))] {
					list, err := e.Explain(&r, h.Doc)
					sum := float32(0)
					for _, x := range list {
						sum += x.Score
					}
					if err != nil || sum != h.Score {
						t.Fatalf("explained score %v, want %v: %v", sum, h.Score, err)
					}
				}
			}
		}
	}
}

// Most documents are not scored.
func TestBM25FPrunes(t *testing.T) {
	docs := 20000 / trials.Every(4)
	c := newCollection(t, rand.New(rand.NewPCG(8, 8)), docs)
	r := ask.Request{Text: "w50 w3", K: 5, Model: model.BM25F{}}
	got, err := NewEngine(nil, c.r).Search(context.Background(), &r, nil)
	if err != nil || got.Stats.Scored > int64(docs/4) {
		t.Errorf("%d of %d documents scored, want at most a quarter; %v", got.Stats.Scored, docs, err)
	}
}

func TestBM25FErrors(t *testing.T) {
	c := newCollection(t, rand.New(rand.NewPCG(9, 9)), 10)
	e := NewEngine(nil, c.r)
	for want, r := range map[string]ask.Request{
		`unknown text field "head": want one of title, body, note`: {Model: model.BM25F{Weights: "head=1"}},
		"all are 0":                              {Model: model.BM25F{Weights: "title=0"}},
		"such as title=3,body=1":                 {Model: model.BM25F{Weights: "title"}},
		"is given twice":                         {Model: model.BM25F{Weights: "title=1,title=2"}},
		"algorithm wand does not support fields": {Model: model.BM25F{}, Algorithm: ask.WAND},
		"bm25l":                                  {Model: model.BM25F{Variant: bm25.L}},
		"K = -1":                                 {Model: model.BM25F{}, K: -1},
	} {
		r.Text = "w1"
		if _, err := e.Search(context.Background(), &r, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	sub := NewEngine(nil, c.r.Field("title"))
	if _, err := sub.Search(context.Background(), &ask.Request{Text: "w1", Model: model.BM25F{}},
		nil); err == nil || !strings.Contains(err.Error(), "has no fields") {
		t.Errorf("an index without fields: error %v, want that it has no fields", err)
	}
}
