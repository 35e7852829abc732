package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/batch"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// With all schedules and any number of threads, a batch gives the results of single searches, in
// order.
func TestBatchesGiveWhatSearchGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(111, 112))
	p := searchtest.RandomPlain(rng, 40000, 10)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	var requests []Request
	var want [][]Hit
	n := 1500
	if testing.Short() {
		n = 300
	}
	for range n {
		r := Request{Words: searchtest.RandomWords(rng, p), K: []int{1, 10, 500}[rng.IntN(3)],
			Mode: Mode(rng.IntN(2)), Model: searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]}
		found, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, found.Hits)
		switch rng.IntN(3) {
		case 0: // several workers may share it
			r.Parallel = &Parallel{Engine: engine.Multicore, Size: 1 + rng.IntN(9000)}
		case 1:
			r.Parallel = &Parallel{Engine: engine.Sequential}
		}
		requests = append(requests, r)
	}
	for _, threads := range []int{1, 2, 5} {
		for schedule := range Schedules() {
			i := 0
			for found, err := range s.SearchBatch(context.Background(), slices.Values(requests),
				Batch{Threads: threads, Schedule: Schedule(schedule)}) {
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(found.Hits, want[i]) {
					t.Fatalf("%v, %d threads, request %d %+v differs", Schedule(schedule), threads, i, requests[i])
				}
				i++
			}
			if i != n {
				t.Fatalf("%v, %d threads: %d results, want %d", Schedule(schedule), threads, i, n)
			}
		}
	}
}

// MapBatch yields the values of the caller's function in the order of the requests, although
// workers reuse the memory of results. An error of the function ends the batch.
func TestMapBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(113, 114))
	p := searchtest.RandomPlain(rng, 20000, 8)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	requests := make([]Request, 700)
	if testing.Short() {
		requests = requests[:310]
	}
	want := make([]string, len(requests))
	for i := range requests {
		requests[i] = Request{Words: searchtest.RandomWords(rng, p), K: 1 + rng.IntN(30), Mode: Mode(rng.IntN(2))}
		found, err := s.Search(context.Background(), requests[i])
		if err != nil {
			t.Fatal(err)
		}
		want[i] = fmt.Sprint(i, found.Hits)
	}
	describe := func(i int, found *Result) (string, error) { return fmt.Sprint(i, found.Hits), nil }
	for _, threads := range []int{1, 2, 5} {
		for schedule := range Schedules() {
			b := Batch{Threads: threads, Schedule: Schedule(schedule)}
			var got []string
			for made, err := range MapBatch(context.Background(), s, slices.Values(requests), b, describe) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, made)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: %d results differ from the expected %d, or in order", b, len(got), len(want))
			}
			n, wrong := 0, errors.New("wrong")
			for _, err := range MapBatch(context.Background(), s, slices.Values(requests), b,
				func(i int, _ *Result) (int, error) {
					if i == 300 {
						return 0, wrong
					}
					return i, nil
				}) {
				if n++; (n == 301) != errors.Is(err, wrong) {
					t.Errorf("%+v: result %d has error %v, want it at 301 only", b, n, err)
				}
			}
			if n != 301 {
				t.Errorf("%+v: %d results, want 301", b, n)
			}
		}
	}
}

// A request is answered even if no other follows: nothing waits until the ring is full.
func TestBatchesAnswerWhatHasCome(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "b c", "c d a")
	for schedule := range Schedules() {
		for _, threads := range []int{1, 2, 4} {
			more := make(chan bool, 1)
			more <- true
			oneAtATime := func(yield func(Request) bool) {
				for range more {
					if !yield(Request{Text: "a"}) {
						return
					}
				}
			}
			n := 0
			for _, err := range s.SearchBatch(context.Background(), oneAtATime,
				Batch{Threads: threads, Schedule: Schedule(schedule)}) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == 200 {
					close(more)
				} else {
					more <- true
				}
			}
			if n != 200 {
				t.Errorf("%v, %d threads: %d results, want 200", Schedule(schedule), threads, n)
			}
		}
	}
}

// The stream of requests may be endless: results come while requests come, until the caller stops.
func TestBatchesAreStreams(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "b c", "c d a")
	for schedule := range Schedules() {
		asked, got := 0, 0
		endless := func(yield func(Request) bool) {
			for ; yield(Request{Text: strings.Fields("a b c d")[asked%4]}); asked++ {
			}
		}
		for found, err := range s.SearchBatch(context.Background(), endless,
			Batch{Threads: 3, Schedule: Schedule(schedule)}) {
			if err != nil || len(found.Hits) == 0 {
				t.Fatal(found, err)
			}
			if got++; got == 1000 {
				break
			}
		}
		if asked > 1000+3*batch.Ahead+1 {
			t.Errorf("%v: %d requests were fetched for 1000 results", Schedule(schedule), asked)
		}
	}
}

// An error takes the place of a result, after all earlier results, and ends the batch.
func TestBatchesEndWithTheFirstError(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "b c")
	requests := []Request{{Text: "a"}, {Text: "b"}, {Text: "c", K: -2}, {Text: "a"}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for schedule := range Schedules() {
		b := Batch{Threads: 2, Schedule: Schedule(schedule)}
		n := 0
		var last error
		for _, err := range s.SearchBatch(context.Background(), slices.Values(requests), b) {
			n, last = n+1, err
		}
		if n != 3 || last == nil {
			t.Errorf("%v: %d results, the last with error %v; want 3 and an error", b.Schedule, n, last)
		}
		for _, err := range s.SearchBatch(ctx, slices.Values(requests), b) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v: error %v, want %v", b.Schedule, err, context.Canceled)
			}
		}
		if got, err := ParseSchedule(b.Schedule.String()); err != nil || got != b.Schedule {
			t.Errorf("%v: %v, %v", b.Schedule, got, err)
		}
	}
	for _, b := range []Batch{{Threads: -1}, {Schedule: 9}} {
		for _, err := range s.SearchBatch(context.Background(), slices.Values(requests), b) {
			if err == nil {
				t.Errorf("%+v: no error", b)
			}
		}
	}
}

// An iterator copies a request twice, 16 bytes at a time. If its size were not a multiple of 16,
// the last two steps would overlap, and the second copy would wait for the stores of the first:
// passing a request to a batch took 15 ns instead of 10.
func TestRequestSize(t *testing.T) {
	if n := unsafe.Sizeof(Request{}); n%16 != 0 {
		t.Errorf("a request has %d bytes, which is not a multiple of 16", n)
	}
}
