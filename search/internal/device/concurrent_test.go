package device

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/emu"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// What several goroutines of the host do at once, for the race detector (.ci/race). The ring, the
// helpers and batches over devices have their own tests.

// Goroutines look up words while others add them and the table is replaced. Each gets the word that
// it asks for.
func TestConcurrentLookups(t *testing.T) {
	table := newWordTable()
	table.used = tableWords - 500 // is soon replaced
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 2000 {
				w := fmt.Sprint("word", (i*7+g*13)%1500)
				key := keyOf(w)
				e := table.find(key, key.hash(), w)
				if e == nil {
					e = table.add(key, key.hash(), &gpuWord{text: w})
				}
				if e.key != key || e.word.Load().text != w {
					t.Errorf("%q was found for %q", e.word.Load().text, w)
					return
				}
			}
		})
	}
	wg.Wait()
}

// Goroutines write blocks of requests to one plan. Each request has its own words and its own space
// for answers, and requests for which there is no space are left out as whole blocks.
func TestConcurrentPlan(t *testing.T) {
	s := buildLines(t, "whitespace", "a")
	w, err := s.e.Weigher(nil)
	if err != nil {
		t.Fatal(err)
	}
	st := &gpuStore{resident: &resident{tiles: 1}, g: &Index{}}
	st.lists = make([]gpuList, 1)
	st.known.there, st.known.w = true, usualBM25(w)
	l := newLaneLimits(1, 1<<40)
	l.queries = 1000
	var p lanePlan
	p.begin(l.queries, &gpuModel{st: st}, w, false, make([]byte, lanePlanBytes(l.queries, l.terms)), nil, &l)

	resolved, terms := make([]resolvedRequest, 1200), make([]resolvedTerm, 3*1200)
	for i := range resolved {
		for j := range 3 {
			terms[3*i+j] = resolvedTerm{&wordEntry{id: uint32(3*i + j)}, 1}
		}
		resolved[i] = resolvedRequest{first: &terms[3*i], words: uint8(1 + i%3), k: int16(1 + i%9),
			out: noPlace, byWarp: i%2 == 0, lead: int8(i % 2)}
	}
	const by = 10
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for from := g * by; from < len(resolved); from += 4 * by {
				at := make([]int32, by)
				for i := range at {
					at[i] = int32(from + i)
				}
				p.place(resolved, at, &l)
			}
		})
	}
	wg.Wait()

	asked := map[uint32]gpuAsked{} // by space
	for i, q := range p.queries {
		if i < p.used.longs || i >= p.room && i < p.room+p.used.warps || i >= 2*p.room-p.used.blocks {
			asked[q.Out] = q
		}
	}
	placed, taken := 0, make([]bool, p.used.out)
	for i := range resolved {
		a := &resolved[i]
		if a.late() != resolved[i/by*by].late() {
			t.Fatalf("a part of the block of request %d was left out", i)
		}
		if a.late() {
			continue
		}
		placed++
		q, ok := asked[a.out]
		if !ok || q.K != uint16(a.k) || q.Terms != a.words {
			t.Fatalf("request %d: %+v, want k %d and %d words", i, q, a.k, a.words)
		}
		for j, word := range p.words[q.First : q.First+uint32(q.Terms)] {
			if word&(1<<twiceBits-1) != a.terms()[j].id {
				t.Fatalf("request %d: word %d is %d, want %d", i, j, word, a.terms()[j].id)
			}
		}
		for at := range laneRoom(int(a.k)) {
			if taken[int(a.out)+at] {
				t.Fatalf("request %d has space of another", i)
			}
			taken[int(a.out)+at] = true
		}
	}
	if placed != l.queries || slices.Contains(taken, false) {
		t.Errorf("%d requests in the plan, want %d without gaps", placed, l.queries)
	}
}

// Goroutines open, search and close generations that share the postings of a segment on a device.
// The last one to leave frees them.
func TestConcurrentGenerations(t *testing.T) {
	dev := gpu.New(emu.New(emu.Options{}))
	dir := searchtest.IndexLines(t, "whitespace", "a b c", "b c d", "c d e", "e a")
	first := open(t, dir)
	x, err := openOn(t.Context(), first.e, dev, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := ask.Request{Text: "b e", K: 3}
	want, err := first.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Parallel = onDevice
	kept := groupOf(x).Keep()
	var wg sync.WaitGroup
	for range 3 {
		mine, e := kept.Again(), open(t, dir).e
		wg.Go(func() {
			g, err := OpenGroup(t.Context(), e, mine, Options{})
			if err = errors.Join(err, mine.Release()); err != nil {
				t.Error(err)
				return
			}
			found, err := g.Answer(t.Context(), r)
			if err != nil || !slices.Equal(found.Hits, want.Hits) {
				t.Errorf("got %v (%v), want %v", found, err, want.Hits)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if err := errors.Join(kept.Release(), x.Close()); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if err := dev.Close(); err != nil { // reports memory that was not freed
		t.Error(err)
	}
}
