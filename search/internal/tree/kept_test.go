package tree

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/filters"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// twoSegments returns an index of two segments, of whose documents some are deleted.
func twoSegments(t *testing.T, rng *rand.Rand) []*eval.Engine {
	var engines []*eval.Engine
	for range 2 {
		var lines []string
		for range 200 + rng.IntN(200) {
			var words []string
			for range rng.IntN(14) + 1 {
				f := rng.Float64()
				words = append(words, searchtest.TreeWords[int(f*f*float64(len(searchtest.TreeWords)))])
			}
			lines = append(lines, strings.Join(words, " "))
		}
		e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
		if err != nil {
			t.Fatal(err)
		}
		e.Live = docset.Full(len(lines))
		for range 40 {
			e.Live.Remove(uint32(rng.IntN(len(lines))))
		}
		engines = append(engines, e)
	}
	return engines
}

// Filters that are asked again, by many at once and with too little room for all, give the answers
// that they give without a cache: in trees of all kinds, within other documents, and as sets.
func TestKeptFilters(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 1))
	engines := twoSegments(t, rng)
	many, err := eval.NewSegments(engines)
	if err != nil {
		t.Fatal(err)
	}
	kept, plain := Over(many), Over(many)
	kept.kept, plain.kept = filters.Sized(6000), nil
	var list []query.Node
	list = append(list, query.Filter{Part: query.Same{Words: []string{"a", "b"}}},
		query.Filter{Part: query.Term{Text: "a|b"}}) // both are written a|b
	for len(list) < 25 {
		list = append(list, query.Filter{Part: searchtest.RandomTree(rng, 2, nil)})
	}
	var mu sync.Mutex
	fixedParts := 0
	var all sync.WaitGroup
	for seed := range uint64(4) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 44))
			for range trials.Of(400) {
				f := list[int(rng.Float64()*rng.Float64()*float64(len(list)))]
				q := query.Within(searchtest.RandomTree(rng, 2, nil), f)
				if rng.IntN(3) == 0 {
					q = query.Or{Parts: []query.Node{searchtest.RandomTree(rng, 1, nil), f, q}}
				}
				r := ask.Request{Query: q, K: 1 + rng.IntN(30), From: rng.IntN(2) * rng.IntN(9), Count: rng.IntN(2) == 0,
					Model: searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]}
				if rng.IntN(4) == 0 {
					set := docset.New(engines[1].Index.Docs())
					set.AddRange(10, 150)
					r.Within = &ask.Within{Sets: []*docset.Set{nil, set}}
				}
				said := fmt.Sprintf("%v, %v, k %d from %d", q, r.Model, r.K, r.From)
				got, err := Search(t.Context(), kept, &r)
				if err != nil {
					t.Errorf("%s: %v", said, err)
					return
				}
				want, err := Search(t.Context(), plain, &r)
				if err != nil || !reflect.DeepEqual(got.Hits, want.Hits) || got.Total != want.Total {
					t.Errorf("%s: %v of %d, want %v of %d, %v", said, searchtest.Head(got.Hits), got.Total,
						searchtest.Head(want.Hits), want.Total, err)
					return
				}
				n, err := Count(t.Context(), kept, &r)
				if m, e := Count(t.Context(), plain, &r); n != m || err != nil || e != nil {
					t.Errorf("%s: %d documents, want %d; %v, %v", said, n, m, err, e)
				}
				r.Query = f
				admitted, err := Admitted(t.Context(), kept, &r)
				if err != nil {
					t.Errorf("%v: %v", f, err)
					return
				}
				wanted, err := Match(t.Context(), plain, &r)
				for i, s := range wanted {
					if err != nil || !reflect.DeepEqual(s.Words(), admitted[i].Words()) {
						t.Errorf("%v: segment %d has %d documents, want %d; %v", f, i, admitted[i].Count(), s.Count(), err)
					}
				}
				if again, err := Admitted(t.Context(), kept, &r); err == nil && r.Within == nil && again[0] == admitted[0] {
					mu.Lock()
					fixedParts++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if _, held := kept.kept.Held(); held > 6000 || fixedParts < trials.Of(400) {
		t.Errorf("%d bytes are held, of 6000; %d filters came from the cache", held, fixedParts)
	}
}

// A filter that is an error stays one, however often it is asked, and what a cancelled request left
// unfinished is not kept.
func TestBrokenFiltersAreNotKept(t *testing.T) {
	e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", "a b", "b c"))
	if err != nil {
		t.Fatal(err)
	}
	ix := Of(e)
	r := ask.Request{Query: query.Filter{Part: query.Phrase{Text: "a b"}}}
	for range 4 {
		if _, err := Search(t.Context(), ix, &r); err == nil {
			t.Error("a phrase is found without positions")
		}
	}
	if n, held := ix.kept.Held(); n != 0 || held != 0 {
		t.Errorf("%d filters are kept, %d bytes, want none", n, held)
	}
	r.Query = query.Within(query.Term{Text: "b"}, query.Filter{Part: query.Term{Text: " "}})
	for use := range 4 { // a filter without words leaves all documents
		if found, err := Search(t.Context(), ix, &r); err != nil || len(found.Hits) != 2 {
			t.Errorf("use %d of an empty filter: %v, %v; want both documents", use+1, found, err)
		}
	}
}

// A shard knows what a pattern matches only from its root: a request without that stays an error.
func TestKeptFiltersOfShards(t *testing.T) {
	whole := searchtest.OpenLines(t, "whitespace", "a b", "b c", "ab c")
	dir := filepath.Join(searchtest.Scratch(t), "shard")
	if err := index.WriteShard(t.Context(), whole, dir, 0, 2, index.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	part, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	e, err := eval.NewEngine(part)
	if err != nil {
		t.Fatal(err)
	}
	ix := Of(e)
	r := ask.Request{Query: query.Within(query.Term{Text: "b"}, query.Filter{Part: query.Prefix{Text: "a"}})}
	patterns := []ask.Pattern{{Text: "a*", DF: 1, CF: 2}}
	for use := range 4 {
		r.Patterns = &patterns
		if found, err := Search(t.Context(), ix, &r); err != nil || len(found.Hits) != 1 {
			t.Errorf("use %d: %v, %v; want one document", use+1, found, err)
		}
		r.Patterns = nil
		if _, err := Search(t.Context(), ix, &r); err == nil {
			t.Errorf("use %d: a pattern is answered by a shard alone", use+1)
		}
	}
}

// The explanation of an answer has the parts of a filter, however often that was asked.
func TestKeptFiltersAreExplained(t *testing.T) {
	e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", "a b", "b c"))
	if err != nil {
		t.Fatal(err)
	}
	ix := Of(e)
	q := query.Within(query.Term{Text: "b"}, query.Filter{Part: query.Or{Parts: []query.Node{
		query.Term{Text: "a"}, query.Term{Text: "x"}}}})
	r := ask.Request{Query: q}
	var first []*Part
	for i := range 4 {
		if _, err := Search(t.Context(), ix, &r); err != nil {
			t.Fatal(err)
		}
		parts, err := Explain(t.Context(), ix, &r, []uint32{0})
		if err != nil || i > 0 && !reflect.DeepEqual(parts, first) || len(parts[0].Parts) != 2 ||
			len(parts[0].Parts[1].Parts) != 2 {
			t.Fatalf("use %d: %+v, %v; first %+v", i+1, parts, err, first)
		}
		first = parts
	}
	if n, _ := ix.kept.Held(); n != 1 {
		t.Errorf("%d filters are kept, want 1", n)
	}
}

// Lists within documents that are asked again, by many at once and with too little room for all,
// give the answers of the whole lists, to the bit: for words in any mode, model and number, with
// weights and words that no document has, and as parts of trees, in pages and with counts.
func TestListsWithinFilters(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 3))
	const words = 30
	var engines []*eval.Engine
	for _, docs := range []int{3000, 200, 5000} {
		var lines []string
		for range docs {
			var line []string
			for range 1 + rng.IntN(30) {
				f := rng.Float64()
				line = append(line, fmt.Sprint("w", int(f*f*f*words)))
			}
			lines = append(lines, strings.Join(line, " "))
		}
		e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", lines...))
		if err != nil {
			t.Fatal(err)
		}
		e.Live = docset.Full(docs)
		for range docs / 10 {
			e.Live.Remove(uint32(rng.IntN(docs)))
		}
		engines = append(engines, e)
	}
	one, err := eval.NewEngine(engines[2].Index)
	if err != nil {
		t.Fatal(err)
	}
	one.Live = engines[2].Live
	many, err := eval.NewSegments(engines)
	if err != nil {
		t.Fatal(err)
	}
	const room = 150_000
	for name, ix := range map[string]*Index{"one segment": Of(one), "three segments": Over(many)} {
		ix.kept = filters.Sized(room)
		lookUp := one.LookUpWords
		if len(ix.engines) > 1 {
			lookUp = many.LookUpWords
		}
		ix.Lists = filters.NewLists(ix.kept, ix.engines, lookUp)
		ix.Lists.Afford(time.Hour)
		var list []*ask.Within
		for range 9 {
			w := &ask.Within{}
			for _, e := range ix.engines {
				set := docset.New(e.Index.Docs())
				for range rng.IntN(set.Len() / []int{5, 20, 200}[rng.IntN(3)]) {
					set.Add(uint32(rng.IntN(set.Len())))
				}
				w.Sets = append(w.Sets, set)
			}
			list = append(list, w)
		}
		var used atomic.Int64
		var all sync.WaitGroup
		for seed := range uint64(4) {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(seed, 45))
				for range trials.Of(500) {
					r := ask.Request{K: []int{1, 3, 10, 200}[rng.IntN(4)], Mode: ask.Mode(rng.IntN(2)),
						Model:  searchtest.TestModels[rng.IntN(len(searchtest.TestModels))],
						Within: list[int(rng.Float64()*rng.Float64()*float64(len(list)))]}
					var parts []query.Node
					for _, w := range rng.Perm(words + 1)[:1+rng.IntN(4)] { // the last is in no document
						word, weight := fmt.Sprint("w", w), 0.5+rng.Float64()
						parts = append(parts, query.Boost{Part: query.Term{Text: word}, By: weight})
						r.Words = append(r.Words, ask.Word{Text: word, Weight: weight})
					}
					switch rng.IntN(5) {
					case 4: // a filter in the query, beside the documents of the request
						filter := query.Filter{Part: query.Term{Text: fmt.Sprint("w", 5+rng.IntN(3))}}
						r.Query, r.Words = query.Within(query.Or{Parts: parts}, filter), nil
						if rng.IntN(2) == 0 {
							r.Within = nil
						}
					case 0:
						r.Query, r.Words = query.Or{Parts: parts}, nil
						r.From, r.Count = rng.IntN(5), true
					case 1:
						r.Query, r.Words = query.And{Parts: parts}, nil
					case 2:
						r.Parallel = &ask.Parallel{Threads: 3, Engine: engine.Multicore}
					}
					said := fmt.Sprintf("%s: %v%v, %v, %v, k %d from %d", name, r.Words, r.Query, r.Mode, r.Model, r.K, r.From)
					got, err := Search(t.Context(), ix, &r)
					if err != nil {
						t.Errorf("%s: %v", said, err)
						return
					}
					if got.Stats.Strategy&ask.FilterLists != 0 {
						used.Add(1)
					}
					r.Algorithm = ask.Exhaustive
					want, err := Search(t.Context(), ix, &r)
					if err != nil || !slices.Equal(got.Hits, want.Hits) || got.Total != want.Total ||
						len(got.Hits) > 0 && got.Stats.Words != want.Stats.Words {
						t.Errorf("%s, %v:\n got %v of %d\nwant %v of %d, %v", said, got.Stats.Strategy, searchtest.Head(got.Hits),
							got.Total, searchtest.Head(want.Hits), want.Total, err)
						return
					}
					if _, held := ix.kept.Held(); held > room {
						t.Errorf("%d bytes are held, want at most %d", held, room)
					}
				}
			})
		}
		all.Wait()
		if n := int(used.Load()); n < trials.Of(500) {
			t.Errorf("%s: %d requests were answered by the lists within their documents, want %d or more", name, n,
				trials.Of(500))
		}
	}
}
