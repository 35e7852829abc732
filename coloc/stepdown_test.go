package coloc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"
)

// q of MaxT is the step-down maximum over all sets of a pattern's size, found or not: here those of
// all sets, mined in each round by brute force.
func TestMaxIsTheStepDownMaximum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for trial := range trials.Cases(12) {
		pts := crowdedPoints(rng, 80, 5, 10)
		pts.CRS = points.Plane
		opt := Options{Distance: 1.2, MinPrevalence: 0.25, Threads: 2}
		o := SignificanceOptions{Rounds: 19, Seed: uint64(trial), Adjust: MaxT}
		s := mustSurvey(t, pts, opt)
		res, err := s.Mine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Significance(t.Context(), res.Patterns, o)
		if err != nil {
			t.Fatal(err)
		}
		model, err := points.NewNullModel(t.Context(), pts, points.NullOptions{Distance: opt.Distance})
		if err != nil {
			t.Fatal(err)
		}
		var rounds []map[string]float64 // index of each set
		for round := range o.Rounds {
			every := opt
			every.MinPrevalence, every.All = 1e-9, true
			moved, err := model.Draw(t.Context(), o.Seed, round)
			if err != nil {
				t.Fatal(err)
			}
			drawn, err := mustSurvey(t, moved, every).Mine(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			of := make(map[string]float64)
			for _, p := range drawn.Patterns {
				of[fmt.Sprint(p.Features)] = p.Index
			}
			rounds = append(rounds, of)
		}
		above := func(a, b Pattern) bool { return len(a.Features) == len(b.Features) && a.Index >= b.Index }
		for i, p := range res.Patterns {
			want := 0.0
			for _, top := range res.Patterns {
				if !above(top, p) {
					continue
				}
				larger := make(map[string]bool) // left out
				for _, other := range res.Patterns {
					larger[fmt.Sprint(other.Features)] = above(other, top) && other.Index > top.Index
				}
				beaten := 1
				for _, of := range rounds {
					for set, index := range of {
						if len(strings.Fields(set)) == len(p.Features) && index >= top.Index && !larger[set] {
							beaten++
							break
						}
					}
				}
				want = max(want, float64(beaten)/float64(1+o.Rounds))
			}
			want = min(1, want*float64(sizesOf(res.Patterns)))
			if math.Abs(got[i].Q-want) > 1e-12 {
				t.Errorf("trial %d: q of %v is %v, want %v", trial, p.Features, got[i].Q, want)
			}
		}
	}
}

// One pair of seven features attracts. 99 relabellings find it by the maximum of all pairs, and
// cannot find it by the false discovery rate, which is said.
func TestQuotientsAreCorrectedForAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var b points.Builder
	for f := range 7 {
		for range 60 {
			b.Add(1000*rng.Float64(), 1000*rng.Float64(), string(rune('A'+f)))
		}
	}
	pts := b.Set()
	for i := range 30 { // of A, beside one of B
		pts.X[i], pts.Y[i] = pts.X[60+i]+2, pts.Y[60+i]
	}
	quotients := func(o QuotientOptions) (found []string, notes []string) {
		o.Rounds, o.Seed = 99, 3
		o.Tell = func(note string) { notes = append(notes, note) }
		all, _, err := mustSurvey(t, pts, Options{KNN: 4, MinPrevalence: 1, Threads: 2}).Quotients(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range all {
			asked := (o.From == nil || o.From[0] == q.From) && (o.To == nil || o.To[0] == q.To)
			if asked == math.IsNaN(q.Q) {
				t.Errorf("q of %d and %d is %v", q.From, q.To, q.Q)
			}
			if q.Q < q.P && o.Adjust == FDR {
				t.Errorf("q of %d and %d is %v, less than p, %v", q.From, q.To, q.Q, q.P)
			}
			if q.Q <= 0.05 {
				found = append(found, pts.Features[q.From]+pts.Features[q.To])
			}
		}
		return found, notes
	}
	if found, notes := quotients(QuotientOptions{Adjust: MaxT}); fmt.Sprint(found) != "[AB BA]" || len(notes) != 0 {
		t.Errorf("by the maximum %v are found, %q", found, notes)
	}
	found, notes := quotients(QuotientOptions{})
	if len(found) != 0 || len(notes) != 1 || !strings.Contains(notes[0], "1959 rounds") {
		t.Errorf("by the rate %v are found, %q", found, notes)
	}
	if found, notes := quotients(QuotientOptions{From: []int32{0}, To: []int32{1}}); fmt.Sprint(found) != "[AB]" || len(notes) != 0 {
		t.Errorf("of the pair alone %v are found, %q", found, notes)
	}
}
