package batch

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collocate/collocate/search/internal/ask"
)

// numbered yields n requests whose texts are their numbers, with pauses as in a stream.
func numbered(n int) iter.Seq[ask.Request] {
	return func(yield func(ask.Request) bool) {
		for i := range n {
			if i%1999 == 0 {
				time.Sleep(time.Millisecond)
			}
			if !yield(ask.Request{Text: strconv.Itoa(i)}) {
				return
			}
		}
	}
}

// Results come in the order of the requests, with any number of workers and any durations.
func TestEachKeepsOrder(t *testing.T) {
	for _, threads := range []int{1, 2, 7} {
		for _, n := range []int{0, 1, 5, 3*Ahead*threads + 17} {
			var got []string
			Each(context.Background(), numbered(n), threads,
				func(_ context.Context, i int, r *ask.Request) (string, error) {
					if i%501 == 0 {
						time.Sleep(time.Millisecond) // other workers go on
					}
					return r.Text, nil
				},
				func(made string, err error) bool {
					if err != nil {
						t.Error(err)
					}
					got = append(got, made)
					return true
				})
			want := make([]string, n)
			for i := range want {
				want[i] = strconv.Itoa(i)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d requests on %d threads: %d results, want all in order", n, threads, len(got))
			}
		}
	}
}

// The first error, in the order of requests, takes the place of its result and ends the batch.
func TestEachEndsWithTheFirstError(t *testing.T) {
	bad := errors.New("bad")
	given, failed := 0, error(nil)
	Each(context.Background(), numbered(5000), 3,
		func(_ context.Context, i int, _ *ask.Request) (int, error) {
			if i == 700 || i == 701 || i == 4000 {
				return 0, bad
			}
			return i, nil
		},
		func(made int, err error) bool {
			if failed = err; err == nil {
				given++
			}
			return true
		})
	if given != 700 || failed != bad {
		t.Errorf("got %d results and %v, want 700 and an error", given, failed)
	}
}

// When the caller stops, no more results come, and no worker is running when Each returns.
func TestEachStops(t *testing.T) {
	var under atomic.Int32
	given := 0
	Each(context.Background(), numbered(1<<30), 3,
		func(ctx context.Context, i int, _ *ask.Request) (int, error) {
			under.Add(1)
			defer under.Add(-1)
			if i > 100 {
				time.Sleep(time.Millisecond)
			}
			return i, ctx.Err()
		},
		func(int, error) bool { given++; return given < 100 })
	if n := under.Load(); given != 100 || n != 0 {
		t.Errorf("%d results, %d requests still being answered; want 100, none", given, n)
	}
}

// A ring refuses a second result of a request, and the result of one that no worker has taken.
func TestRingChecksItsWorkers(t *testing.T) {
	fails := func(what string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s is not refused", what)
			}
		}()
		f()
	}
	c := &ring[int]{}
	c.init(1, func() bool { return false })
	c.fetched.Store(2)
	if i, ok := c.takeOne(&c.claims[0]); !ok || i != 0 {
		t.Fatalf("took request %d, %v", i, ok)
	}
	c.finish(0, 7, nil)
	fails("a second result", func() { c.finish(0, 8, nil) })
	fails("an untaken request", func() { c.finish(2, 8, nil) })
}
