package coloc

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
)

// The points and their places count against the bound. What is searched beside them gets the rest,
// and a search that needs more is refused: 100,000 crowded points take 10 MB, and their patterns of
// three features 4 MB more.
func TestPointsAndPlacesCountAgainstTheBound(t *testing.T) {
	pts := crowd(100_000, 4)
	opt := Options{Distance: 0.003, MinPrevalence: 0.1, Threads: 2, Engine: engine.Multicore}
	for memory, fits := range map[int64]bool{11e6: false, 20e6: true} {
		opt.Memory = memory
		s := mustSurvey(t, pts, opt)
		if most := memory - 96*100_000; s.job.budget > max(most, memory/8) {
			t.Errorf("%d bytes for lists and counts of %d in all", s.job.budget, memory)
		}
		_, err := s.Mine(t.Context())
		if fits && err != nil || !fits && (err == nil || !strings.Contains(err.Error(), "memory bound")) {
			t.Errorf("within %d bytes: %v", memory, err)
		}
	}
}

// Rounds hold the points once more on each core, so a small bound has fewer cores at work. The
// result is the same; where not even one core fits, the rounds are refused.
func TestRoundsKeepToTheBound(t *testing.T) {
	pts := crowd(5_000, 3)
	opt := Options{Distance: 0.004, MinPrevalence: 0.01, Threads: 8, Engine: engine.Multicore}
	var want []Significance
	for memory, fits := range map[int64]bool{2e9: true, 5.5e6: true, 4e6: false} {
		opt.Memory = memory
		s := mustSurvey(t, pts, opt)
		res, err := s.Mine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Significance(t.Context(), res.Patterns, SignificanceOptions{Rounds: 8, Seed: 1})
		if !fits {
			if err == nil || !strings.Contains(err.Error(), "memory bound") {
				t.Errorf("rounds within %d bytes: %v", memory, err)
			}
			continue
		}
		if err != nil || len(got) == 0 {
			t.Fatalf("rounds within %d bytes: %d tests, %v", memory, len(got), err)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d bytes change the rounds: %v, want %v", memory, got, want)
		}
	}
}

// stopped is a context that ends after it was asked some times: in the middle of a loop, not
// before.
type stopped struct {
	context.Context
	after int
}

func (s *stopped) Err() error {
	if s.after--; s.after < 0 {
		return context.Canceled
	}
	return nil
}

// One relabelling of millions of places takes seconds: it stops inside, and its part of the sums is
// not used.
func TestRelabellingsStopInside(t *testing.T) {
	pts := crowd(3000, 3)
	s := mustSurvey(t, pts, Options{Distance: 0.05, Threads: 1})
	g, err := s.graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := &quotients{s: s, g: g, kinds: 3, total: g.total, n: pts.Len()}
	q.wanted(QuotientOptions{Local: true})
	counted := func(ctx context.Context) (n int64, locals [2]int) {
		for _, c := range q.sums(ctx, pts.Feature, nil).points {
			n += c
		}
		for i, kernel := range []Kernel{Box, Gaussian} {
			q.kernel = kernel
			q.locals(ctx, pts.Feature, func(_ int, share float64) {
				if !math.IsNaN(share) {
					locals[i]++
				}
			})
		}
		return n, locals
	}
	all, locals := counted(t.Context())
	part, some := counted(&stopped{t.Context(), 2})
	if all != 3000 || part == 0 || part > all/2 || locals[0] == 0 || some != [2]int{} {
		t.Errorf("after the context ended: %d of %d points, %v of %v shares", part, all, some, locals)
	}
	for _, rounds := range []int{0, 2} {
		_, _, err = s.Quotients(&stopped{t.Context(), 3}, QuotientOptions{Rounds: rounds})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("sums that were stopped inside, before %d rounds: %v", rounds, err)
		}
	}
}
