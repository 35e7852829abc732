package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
)

// All strategies, any number of threads: the results of one search after the other, in order.
func TestBatchesGiveWhatSearchGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(111, 112))
	p := randomPlain(rng, 40000, 10)
	s := p.write(t, indexDir(scratch(t), 0))
	var requests []Request
	var want [][]Hit
	n := 1500
	if testing.Short() {
		n = 300
	}
	for range n {
		r := Request{Words: randomWords(rng, p), K: []int{1, 10, 500}[rng.IntN(3)], Mode: Mode(rng.IntN(2)), Model: testModels[rng.IntN(len(testModels))]}
		found, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, found.Hits)
		switch rng.IntN(3) {
		case 0: // worth helping with
			r.Parallel = &Parallel{Engine: engine.Multicore, Size: 1 + rng.IntN(9000)}
		case 1:
			r.Parallel = &Parallel{Engine: engine.Sequential}
		}
		requests = append(requests, r)
	}
	for _, threads := range []int{1, 2, 5} {
		for strategy := range strategyNames {
			i := 0
			for found, err := range s.SearchBatch(context.Background(), slices.Values(requests), Batch{Threads: threads, Strategy: Strategy(strategy)}) {
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(found.Hits, want[i]) {
					t.Fatalf("%v, %d threads, request %d %+v differs", Strategy(strategy), threads, i, requests[i])
				}
				i++
			}
			if i != n {
				t.Fatalf("%v, %d threads: %d results", Strategy(strategy), threads, i)
			}
		}
	}
}

// A stream of requests need not have an end: results come while requests come, and who has enough stops.
func TestBatchesAreStreams(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "b c", "c d a")
	for strategy := range strategyNames {
		asked, got := 0, 0
		endless := func(yield func(Request) bool) {
			for ; yield(Request{Text: strings.Fields("a b c d")[asked%4]}); asked++ {
			}
		}
		for found, err := range s.SearchBatch(context.Background(), endless, Batch{Threads: 3, Strategy: Strategy(strategy)}) {
			if err != nil || len(found.Hits) == 0 {
				t.Fatal(found, err)
			}
			if got++; got == 1000 {
				break
			}
		}
		if asked > 1000+3*ahead+3 {
			t.Errorf("%v: %d requests were fetched for 1000 results", Strategy(strategy), asked)
		}
	}
}

// An error stands where the result would, after all results before it, and ends the batch.
func TestBatchesEndWithTheFirstError(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "b c")
	requests := []Request{{Text: "a"}, {Text: "b"}, {Text: "c", K: -1}, {Text: "a"}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for strategy := range strategyNames {
		b := Batch{Threads: 2, Strategy: Strategy(strategy)}
		n := 0
		var last error
		for _, err := range s.SearchBatch(context.Background(), slices.Values(requests), b) {
			n, last = n+1, err
		}
		if n != 3 || last == nil {
			t.Errorf("%v: %d results, then %v", b.Strategy, n, last)
		}
		for _, err := range s.SearchBatch(ctx, slices.Values(requests), b) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v: %v", b.Strategy, err)
			}
		}
		if got, err := ParseStrategy(b.Strategy.String()); err != nil || got != b.Strategy {
			t.Errorf("%v: %v, %v", b.Strategy, got, err)
		}
	}
	for _, b := range []Batch{{Threads: -1}, {Strategy: 9}} {
		for _, err := range s.SearchBatch(context.Background(), slices.Values(requests), b) {
			if err == nil {
				t.Errorf("%+v was taken", b)
			}
		}
	}
}
