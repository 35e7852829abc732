package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// engineOf returns an engine for documents, a line each, with positions.
func engineOf(t *testing.T, analyzer string, lines ...string) *eval.Engine {
	t.Helper()
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, analyzer, lines...))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// found returns the numbers of the documents that a query matches, in increasing order.
func found(t *testing.T, e *eval.Engine, q query.Node) (docs []uint32) {
	t.Helper()
	s := docset.New(e.Index.Docs())
	r, err := Search(t.Context(), Of(e), &ask.Request{Query: q, K: e.Index.Docs() + 1})
	if err != nil {
		t.Fatalf("%v: %v", q, err)
	}
	for _, h := range r.Hits {
		s.Add(h.Doc)
	}
	for doc := range s.All() {
		docs = append(docs, doc)
	}
	return docs
}

// An excluded word that is rarer than the leading one, but has several blocks, is dropped from all
// blocks of the leading list.
func TestExcludedWordOfSeveralBlocks(t *testing.T) {
	var lines []string
	for doc := range 1500 {
		line := "a c"
		if doc%5 == 2 {
			line += " b"
		}
		lines = append(lines, line)
	}
	e := engineOf(t, "whitespace", lines...)
	q := query.And{Parts: []query.Node{query.Term{Text: "a"}, query.Term{Text: "c"}, query.Not{Part: query.Term{Text: "b"}}}}
	docs := found(t, e, q)
	if len(docs) != 1200 {
		t.Errorf("%d documents without b, want 1200", len(docs))
	}
	for _, doc := range docs {
		if doc%5 == 2 {
			t.Errorf("document %d has b", doc)
		}
	}
}

// Rare words together end where the longer list does.
func TestRareWordsAfterTheLastOfAnother(t *testing.T) {
	lines := make([]string, 1000)
	for doc := range lines {
		lines[doc] = "x"
	}
	for _, doc := range []int{3, 8, 990} {
		lines[doc] += " rare"
	}
	for _, doc := range []int{1, 3, 5, 7, 9} {
		lines[doc] += " other"
	}
	e := engineOf(t, "whitespace", lines...)
	q := query.Not{Part: query.And{Parts: []query.Node{query.Term{Text: "rare"}, query.Term{Text: "other"}}}}
	tree := query.And{Parts: []query.Node{query.Term{Text: "x"}, q}}
	if n, err := Count(t.Context(), Of(e), &ask.Request{Query: tree}); err != nil || n != 999 {
		t.Errorf("%d documents, %v; want all but one", n, err)
	}
}

// Words that an analyzer takes apart: those of an optional part are optional, each of them; where
// one word is needed, two are refused.
func TestTermsOfSeveralWords(t *testing.T) {
	e := engineOf(t, "unicode", "alpha", "beta", "gamma", "delta")
	q := query.Or{Parts: []query.Node{query.Term{Text: "alpha-beta"}, query.Term{Text: "gamma"}}}
	if docs := found(t, e, q); len(docs) != 3 {
		t.Errorf("%v: documents %v, want the first three", q, docs)
	}
	same := query.Same{Words: []string{"alpha-beta", "gamma"}}
	_, err := Search(t.Context(), Of(e), &ask.Request{Query: same})
	if err == nil || !strings.Contains(err.Error(), `"alpha-beta" is 2 words to the analyzer: want one`) {
		t.Errorf("%v: error %v, want that it is two words", same, err)
	}
}

// A phrase of one word needs no positions.
func TestPhrasesOfOneWord(t *testing.T) {
	e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", "a b", "b"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []query.Node{query.Phrase{Text: "a"}, query.Near{Words: []string{"a"}, Within: 2}} {
		if docs := found(t, e, q); len(docs) != 1 || docs[0] != 0 {
			t.Errorf("%v: documents %v, want the first", q, docs)
		}
	}
}

// The words of a phrase keep their places where several are at one, whatever phrase comes after it.
func TestPlacesOfTwoPhrases(t *testing.T) {
	e := engineOf(t, "words | lower | ngrams(2-3)", "abc de vwxy", "vwxy abc", "de abc vwxy")
	q := query.And{Parts: []query.Node{query.Phrase{Text: "abc de"}, query.Phrase{Text: "vwxy"}}}
	if docs := found(t, e, q); len(docs) != 1 || docs[0] != 0 {
		t.Errorf("%v: documents %v, want the first", q, docs)
	}
}

// Of a name with parts only the parts are lacking: the whole name could not be found without them.
func TestLackingParts(t *testing.T) {
	e := engineOf(t, "code | parts | lower", "fooBar", "x")
	list, _, err := Lacks(t.Context(), Of(e), &ask.Request{Text: "fooBaz"})
	if err != nil || len(list) != 1 || list[0].Word != "baz" {
		t.Errorf("lacking: %+v, %v; want baz alone", list, err)
	}
}

// What goes through many words or documents ends with the context.
func TestLongLoopsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var line strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&line, "w%d ", i)
	}
	e := engineOf(t, "whitespace", line.String())
	x := &exec{ctx: ctx, e: e, src: e, docs: 1, most: 1}
	err := x.begins("w", func([]byte) bool { return false }, func(index.Word) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("words of a pattern: error %v, want that of the context", err)
	}

	records := buildRecords(t, []record{{ID: "a", Tags: []string{"x"}, Size: new(float64), Seen: "2020-02-02"}, {ID: "b"}})
	column := func(name string) (list []*columns.Column) {
		c, err := records.Index.Column(name)
		if err != nil || c == nil {
			t.Fatal(name, err)
		}
		return []*columns.Column{c}
	}
	docs := docset.Full(2)
	size := &fields.Field{Name: "size", Type: fields.Number}
	seen := &fields.Field{Name: "seen", Type: fields.Date}
	for name, add := range map[string]func(s *steps) error{
		"numbers": func(s *steps) error {
			return (&tally{field: size, step: 1, numbers: map[float64]int{}}).add(s, column("size")[0], docs)
		},
		"dates": func(s *steps) error {
			return (&tally{field: seen, dates: map[date]int{}}).add(s, column("seen")[0], docs)
		},
		"an order": func(s *steps) error {
			return (&ordering{field: size, k: 1}).add(s, column("size")[0], docs, 0)
		},
		"orders": func(s *steps) error {
			o := &orderings{levels: []*ordering{{field: size, k: 1}}, k: 1}
			return o.add(s, column("size"), docs, 0)
		},
	} {
		if err := add(&steps{ctx: ctx, since: lookEvery - 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want that of the context", name, err)
		}
		if err := add(&steps{ctx: t.Context(), since: lookEvery - 1}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where the postings of a word are damaged, though their checksums fit, every query of the word is
// an error, even if the lists of its other words are good.
func TestDamagedListBesideGoodOnes(t *testing.T) {
	const docs = 6000
	rng := rand.New(rand.NewPCG(44, 1))
	var lines []string
	for range docs {
		line := "a "
		// The last four are rare, but have several blocks.
		for i, every := range []int{2, 3, 40, 24, 30, 36} {
			if rng.IntN(every) == 0 {
				line += string(rune('b'+i)) + " "
			}
		}
		lines = append(lines, line)
	}
	dir := searchtest.IndexLines(t, "whitespace", lines...)
	few := docset.New(docs)
	for doc := uint32(0); doc < docs; doc += 20 {
		few.Add(doc)
	}
	for _, part := range []struct {
		from, to  float64
		bad, good []string // some of the words with damaged lists and with good ones
	}{
		{0.51, 0.76, []string{"c"}, []string{"a", "e", "g"}},
		{0.80, 0.85, []string{"e"}, []string{"a", "c", "d", "g"}},
	} {
		damaged := filepath.Join(t.TempDir(), "ix")
		if err := os.CopyFS(damaged, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		damageAt(t, damaged, part.from, part.to)
		r, err := index.Open(damaged)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, word := range part.bad {
			checkBlocks(t, r, word, true)
		}
		for _, word := range part.good {
			checkBlocks(t, r, word, false)
		}
		e, err := eval.NewEngine(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range part.bad {
			for _, other := range part.good {
				failsWith(t, e, word, other, few)
				if found, err := sparsely(t, e, few, word, other); err == nil {
					t.Errorf("%s or %s, sparse: %v and no error", word, other, found.Hits)
				}
			}
		}
	}
}

// checkBlocks checks that all blocks of a word are damaged, or none.
func checkBlocks(t *testing.T, r *index.Reader, word string, damaged bool) {
	t.Helper()
	info, err := r.Lookup([]byte(word))
	if err != nil {
		t.Fatal(err)
	}
	var c index.Cursor
	if err := r.OpenBlocks(info, &c); err != nil {
		t.Fatal(err)
	}
	for b := range c.Blocks() {
		if (c.Load(b) == nil) != damaged {
			t.Fatalf("block %d of %q: want that it is damaged: %v", b, word, damaged)
		}
	}
}

// failsWith checks that queries of a damaged word and a good one are errors.
func failsWith(t *testing.T, e *eval.Engine, word, other string, few *docset.Set) {
	t.Helper()
	w, o, third := query.Term{Text: word}, query.Term{Text: other}, query.Term{Text: "f"}
	for _, q := range []query.Node{
		query.And{Parts: []query.Node{w, o}},
		query.And{Parts: []query.Node{o, query.Term{Text: "a"}, query.Not{Part: w}}},
		query.Or{Parts: []query.Node{w, o}},
		query.Or{Parts: []query.Node{o, query.And{Parts: []query.Node{w, o}}}},
		query.Or{Parts: []query.Node{o, query.And{Parts: []query.Node{third, w}}}},
	} {
		for _, sets := range [][]*docset.Set{nil, {few}} {
			for _, count := range []bool{false, true} {
				request := &ask.Request{Query: q, K: e.Index.Docs(), Count: count, Within: &ask.Within{Sets: sets}}
				found, err := Search(t.Context(), Of(e), request)
				if err == nil {
					t.Errorf("%v, %d sets, count %v: %d hits and no error, though %s is damaged",
						q, len(sets), count, len(found.Hits), word)
				}
			}
		}
	}
}

// sparsely answers a query of optional words within a set by the strategy sparse.
func sparsely(t *testing.T, e *eval.Engine, set *docset.Set, words ...string) (*ask.Result, error) {
	t.Helper()
	var q query.Or
	for _, w := range words {
		q.Parts = append(q.Parts, query.Term{Text: w})
	}
	r := &ask.Request{Query: q, K: 3, Within: &ask.Within{Sets: []*docset.Set{set}}}
	p, err := prepare(t.Context(), Of(e), r)
	if err != nil {
		t.Fatal(err)
	}
	p.task = task{r: r, k: r.K, live: p.live(r)}
	if only, err := p.onlyWords(); err != nil || !only {
		t.Fatalf("%v: only words: %v, %v", q, only, err)
	}
	return p.rankEach(ask.TreeSparse, (*exec).rankSparse, p.task.within)
}

// Where a segment has none of the words, none of its documents is an answer.
func TestSparseWithoutLists(t *testing.T) {
	e := engineOf(t, "whitespace", "a", "b", "c")
	found, err := sparsely(t, e, docset.Full(3), "x", "y")
	if err != nil || len(found.Hits) > 0 {
		t.Errorf("words that are in no document: %+v, %v; want no hits", found, err)
	}
}

// damageAt overwrites a part of an index's postings, and makes the checksums fit.
func damageAt(t *testing.T, dir string, from, to float64) {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	write := func(name string, data []byte) {
		if !sections.Repair(data) {
			t.Fatalf("%s: cannot repair the checksums", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	postings, meta := read("postings"), read("index")
	for i := int(from * float64(len(postings))); i < int(to*float64(len(postings))); i++ {
		postings[i] = 0xff
	}
	write("postings", postings)
	at := bytes.Index(meta, append([]byte("postings"), make([]byte, 8)...))
	if at < 0 {
		t.Fatal("the file index does not name the postings")
	}
	copy(meta[at+24:], postings[len(postings)-20:][:4])
	write("index", meta)
}
