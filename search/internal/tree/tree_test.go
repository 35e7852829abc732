package tree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// oracle searches documents, which are lists of words, by the definition in doc.go.
type oracle struct {
	docs    [][]string
	ids     []string
	weigher model.Weigher
	norm    float64

	infos map[string]index.Term // caches of info
	fits  map[string][]string   // and of fitting
}

func (o *oracle) info(word string) index.Term {
	t, known := o.infos[word]
	if !known {
		t = o.countWord(word)
		o.infos[word] = t
	}
	return t
}

func (o *oracle) countWord(word string) (t index.Term) {
	for _, d := range o.docs {
		n := 0
		for _, w := range d {
			if w == word {
				n++
			}
		}
		if n > 0 {
			t.DF++
			t.CF += uint64(n)
		}
	}
	return t
}

func (o *oracle) tf(doc int, word string) (n uint32) {
	for _, w := range o.docs[doc] {
		if w == word {
			n++
		}
	}
	return n
}

// fitting returns the words of all documents that a pattern matches.
func (o *oracle) fitting(q query.Node) []string {
	list, known := o.fits[q.String()]
	if !known {
		list = o.listFitting(q)
		o.fits[q.String()] = list
	}
	return list
}

func (o *oracle) listFitting(q query.Node) (list []string) {
	seen := map[string]bool{}
	for _, d := range o.docs {
		for _, w := range d {
			if seen[w] {
				continue
			}
			seen[w] = true
			fits := false
			switch q := q.(type) {
			case query.Prefix:
				fits = strings.HasPrefix(w, q.Text)
			case query.Wildcard:
				fits, _ = filepath.Match(q.Pattern, w)
			case query.Same:
				fits = slices.Contains(q.Words, w)
			case query.Fuzzy:
				fits = distance(w, q.Text) <= q.Edits
			}
			if fits {
				list = append(list, w)
			}
		}
	}
	return list
}

// distance is the optimal string alignment distance, computed recursively.
func distance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	change := 1
	if a[len(a)-1] == b[len(b)-1] {
		change = 0
	}
	d := min(distance(a[:len(a)-1], b)+1, distance(a, b[:len(b)-1])+1, distance(a[:len(a)-1], b[:len(b)-1])+change)
	if len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-2] && a[len(a)-2] == b[len(b)-1] {
		d = min(d, distance(a[:len(a)-2], b[:len(b)-2])+1)
	}
	return d
}

// occurrences counts the occurrences of words by trying all combinations of positions.
func (o *oracle) occurrences(doc int, words []string, fits func(places []int) bool, exact bool) (n uint32) {
	var all [][]int
	var choose func(places []int)
	choose = func(places []int) {
		if len(places) == len(words) {
			if fits(places) {
				all = append(all, slices.Clone(places))
			}
			return
		}
		for p, w := range o.docs[doc] {
			if w == words[len(places)] && !slices.Contains(places, p) {
				choose(append(places, p))
			}
		}
	}
	choose(nil)
	if exact {
		return uint32(len(all))
	}
	for after := -1; ; n++ {
		end := -1
		for _, places := range all {
			if slices.Min(places) > after && (end < 0 || slices.Max(places) < end) {
				end = slices.Max(places)
			}
		}
		if end < 0 {
			return n
		}
		after = end
	}
}

// match returns whether a document matches, and the scores of the matching leaves in order.
func (o *oracle) match(q query.Node, doc int, weight float64) (bool, []float32) {
	length := uint32(len(o.docs[doc]))
	score := func(t index.Term, tf uint32) float32 {
		return o.weigher.ScorerOf(&model.Term{Weight: weight, Info: t}, o.norm).Score(tf, length)
	}
	of := func(words []string, tf uint32) (bool, []float32) {
		sum := float32(0)
		for _, w := range words {
			if tf > 0 {
				sum += score(o.info(w), tf)
			}
		}
		return tf > 0, []float32{sum}
	}
	switch q := q.(type) {
	case query.Term:
		return of([]string{q.Text}, o.tf(doc, q.Text))
	case query.Phrase:
		words := strings.Fields(q.Text)
		if len(words) == 1 {
			return of(words, o.tf(doc, words[0]))
		}
		tf := o.occurrences(doc, words, func(places []int) bool {
			var moved []int
			for i, p := range places {
				moved = append(moved, p-i)
			}
			return slices.Max(moved)-slices.Min(moved) <= q.Slop
		}, q.Slop == 0)
		return of(words, tf)
	case query.Near:
		tf := o.occurrences(doc, q.Words, func(places []int) bool {
			return slices.Max(places)-slices.Min(places) <= q.Within && (!q.Ordered || slices.IsSorted(places))
		}, false)
		return of(q.Words, tf)
	case query.Prefix, query.Wildcard, query.Fuzzy, query.Same:
		var t index.Term
		tf := uint32(0)
		for _, w := range o.fitting(q) {
			info := o.info(w)
			t.DF, t.CF = max(t.DF, info.DF), t.CF+info.CF
			tf += o.tf(doc, w)
		}
		if tf == 0 {
			return false, nil
		}
		return true, []float32{score(t, tf)}
	case query.IDs:
		return slices.Contains(q.IDs, o.ids[doc]), nil
	case query.All:
		return true, nil
	case query.Boost:
		return o.match(q.Part, doc, weight*q.By)
	case query.Must:
		return o.match(q.Part, doc, weight)
	case query.Filter:
		ok, _ := o.match(q.Part, doc, weight)
		return ok, nil
	case query.Not:
		ok, _ := o.match(q.Part, doc, weight)
		return !ok, nil
	case query.And:
		return o.parts(q.Parts, doc, weight, true)
	case query.Or:
		return o.parts(q.Parts, doc, weight, false)
	}
	panic(fmt.Sprintf("%T", q))
}

// parts is match for And and Or. Equal words in the same role are one word.
func (o *oracle) parts(parts []query.Node, doc int, weight float64, all bool) (bool, []float32) {
	wanted, any, others := false, false, false
	ok := true
	var scores []float32
	type word struct {
		text string
		must bool
	}
	weights := map[word]float64{}
	role := func(p query.Node) (query.Node, float64, word, bool) {
		by, w := 1.0, word{must: all}
		if m, is := p.(query.Must); is {
			p, w.must = m.Part, true
		}
		inner := p
		for {
			b, is := inner.(query.Boost)
			if !is {
				break
			}
			by *= b.By
			inner = b.Part
		}
		t, is := inner.(query.Term)
		w.text = t.Text
		return p, by, w, is
	}
	for _, p := range parts {
		if _, by, w, is := role(p); is {
			weights[w] += by
		}
	}
	for _, p := range parts {
		part, _, w, isWord := role(p)
		var found bool
		var sum []float32
		if by, is := weights[w]; isWord && is {
			found, sum = o.match(query.Term{Text: w.text}, doc, weight*by)
			delete(weights, w)
		} else if isWord {
			continue // a repeated word
		} else {
			found, sum = o.match(part, doc, weight)
		}
		switch p.(type) {
		case query.Not:
			ok = ok && found
			continue
		case query.Filter:
			ok = ok && found
			continue
		}
		if w.must {
			wanted = true
			ok = ok && found
		} else {
			others = true
			any = any || found
		}
		if found {
			scores = append(scores, sum...)
		}
	}
	return ok && (wanted || any || !others), scores
}

func (o *oracle) search(q query.Node) (hits []ask.Hit) {
	for doc := range o.docs {
		ok, scores := o.match(q, doc, 1)
		if !ok {
			continue
		}
		sum := float32(0)
		for _, s := range scores {
			sum += s
		}
		hits = append(hits, ask.Hit{Doc: uint32(doc), Score: sum})
	}
	slices.SortStableFunc(hits, func(a, b ask.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// Every tree gives the results of the definition, to the bit, for any k and page, with and without
// deleted documents.
func TestTreesGiveTheDefinition(t *testing.T) {
	rounds, trees := 12, 150
	if testing.Short() {
		rounds, trees = 3, 100
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 28))
		o := &oracle{infos: map[string]index.Term{}, fits: map[string][]string{}}
		var lines []string
		for d := range rng.IntN(300) + 1 {
			var words []string
			for range rng.IntN(14) + 1 {
				f := rng.Float64()
				words = append(words, searchtest.TreeWords[int(f*f*float64(len(searchtest.TreeWords)))])
			}
			o.docs = append(o.docs, words)
			o.ids = append(o.ids, fmt.Sprint("corpus.txt:", d+1))
			lines = append(lines, strings.Join(words, " "))
		}
		r := searchtest.IndexWithPositions(t, "whitespace", lines...)
		e, err := eval.NewEngine(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range trees {
			m := searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]
			if o.weigher, err = model.WeigherOf(m, &e.Collection); err != nil {
				t.Fatal(err)
			}
			q := searchtest.RandomTree(rng, 3, nil)
			if rng.IntN(4) == 0 {
				q = query.Within(q, query.Filter{Part: searchtest.RandomTree(rng, 1, nil)})
			}
			e.Live = nil
			if rng.IntN(4) == 0 {
				e.Live = docset.New(len(o.docs))
				for d := range o.docs {
					if rng.IntN(3) > 0 {
						e.Live.Add(uint32(d))
					}
				}
			}
			request := ask.Request{Query: q, K: 1 + rng.IntN(12), From: rng.IntN(3) * rng.IntN(5),
				Count: rng.IntN(2) == 0, Model: m}
			if rng.IntN(5) == 0 {
				request.K = 1000
			}
			p, err := prepare(context.Background(), Of(e), &request)
			if err != nil {
				t.Fatal(err)
			}
			o.norm = 1
			if root := p.roots[0]; root != nil { // the norm of Cosine is over all words
				var terms []model.Term
				root.each(func(n *node) { terms = append(terms, n.scoring()...) })
				o.norm = o.weigher.QueryNorm(terms)
			}
			want := o.search(q)
			want = slices.DeleteFunc(want, func(h ask.Hit) bool { return e.Live != nil && !e.Live.Has(h.Doc) })
			total := int64(len(want))
			want = want[min(request.From, len(want)):]
			want = want[:min(request.K, len(want))]
			got, err := Search(context.Background(), Of(e), &request)
			if err != nil {
				t.Fatalf("%v: %v", q, err)
			}
			if !slices.Equal(got.Hits, want) && len(got.Hits)+len(want) > 0 || request.Count && got.Total != total {
				t.Fatalf("seed %d, tree %d: %v, %v, k %d from %d, %v:\n got %v of %d\nwant %v of %d", seed, i, q, m, request.K,
					request.From, got.Stats.Strategy, searchtest.Head(got.Hits), got.Total, searchtest.Head(want), total)
			}
			if n, err := Count(context.Background(), Of(e), &request); n != total || err != nil {
				t.Fatalf("seed %d, tree %d: %v: %d documents, want %d, %v", seed, i, q, n, total, err)
			}
		}
	}
}

// Proximity gives the results of the tree of words, phrases and Near that defines it.
func TestProximity(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 28))
	words := searchtest.TreeWords
	var lines []string
	for range 200 {
		var line []string
		for range 2 + rng.IntN(20) {
			line = append(line, words[rng.IntN(len(words))])
		}
		lines = append(lines, strings.Join(line, " "))
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		p := &ask.Proximity{Words: 0.5 + rng.Float64(), Ordered: rng.Float64(), Unordered: 0.1,
			Window: 2 + rng.IntN(8)}
		var text []string
		for range 1 + rng.IntN(4) {
			text = append(text, words[rng.IntN(len(words))])
		}
		want := query.Or{}
		for _, w := range text {
			want.Parts = append(want.Parts, query.Boost{Part: query.Term{Text: w}, By: p.Words})
		}
		for i := range text[1:] {
			pair := text[i : i+2]
			want.Parts = append(want.Parts,
				query.Boost{Part: query.Phrase{Text: strings.Join(pair, " ")}, By: p.Ordered},
				query.Boost{Part: query.Near{Words: pair, Within: p.Window - 1}, By: p.Unordered})
		}
		for _, k := range []int{5, 300} {
			r := ask.Request{Text: strings.Join(text, " "), Proximity: p, K: k}
			got, err := Search(t.Context(), Of(e), &r)
			if err != nil {
				t.Fatal(err)
			}
			by, err := Search(t.Context(), Of(e), &ask.Request{Query: want, K: k})
			if err != nil || !slices.Equal(got.Hits, by.Hits) {
				t.Fatalf("%v: %v, want %v, %v", want, searchtest.Head(got.Hits), searchtest.Head(by.Hits), err)
			}
		}
	}
	without := ask.Request{Text: "a b", Proximity: &ask.Proximity{Ordered: 0.1}}
	if _, err := Search(t.Context(), Of(e), &without); err == nil {
		t.Error("proximity with weight 0 of words: no error")
	}
}

func TestTooManyWordsForAPattern(t *testing.T) {
	r := searchtest.IndexWithPositions(t, "whitespace", "aa ab ac ad", "b")
	e, err := eval.NewEngine(r)
	if err != nil {
		t.Fatal(err)
	}
	x := &exec{ctx: t.Context(), e: e, src: e, docs: 2, most: 3}
	if _, err := x.compile(query.Prefix{Text: "a"}, 1); err == nil ||
		!strings.Contains(err.Error(), "a* matches more than 3 words") {
		t.Errorf("error %v, want that a* matches more than 3 words", err)
	}
}

func TestPhrasesNeedPositions(t *testing.T) {
	e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", "a b"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Search(t.Context(), Of(e), &ask.Request{Query: query.Phrase{Text: "a b"}})
	if !errors.Is(err, index.ErrNoPositions) {
		t.Errorf("error %v, want one that says that there are no positions", err)
	}
}
