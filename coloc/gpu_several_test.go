package coloc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"
)

// severalGPUs opens n devices that share jobs.
func severalGPUs(t *testing.T, n int) *GPU {
	t.Helper()
	gputest.Named(t)
	device := engine.Device{Memory: 64 << 20}
	g, err := OpenGPU(device, slices.Repeat([]engine.Device{device}, n-1)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// Several devices give what the definition says: for ties, crowds, the antimeridian and nearest
// neighbours, feature by feature, and with room for one node a round.
func TestSeveralGPUsGiveWhatTheDefinitionSays(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 8))
	for n := 2; n <= 3; n++ {
		d := severalGPUs(t, n)
		for c := range 40 / trials.Every(5) {
			pts, opt := randomCase(r)
			opt.Within = 0 // not supported on a GPU
			want := showOracle(pts, opt)
			opt.Engine, opt.GPU = engine.GPU, d
			opt.evaluation = &evaluation{steps: profileSteps, byFeature: c%5 == 0,
				room: &latticeRoom{stack: 4096, round: 1 + c%3, found: 4096}}
			res, err := Mine(t.Context(), pts, opt)
			if err != nil {
				t.Fatalf("case %d on %d devices: %v\n%s", c, n, err, describe(pts, opt))
			}
			if got := show(pts, res.Patterns); got != want {
				t.Fatalf("case %d on %d devices:\n%s\ngot\n%s\nwant\n%s", c, n, describe(pts, opt), got, want)
			}
		}
	}
}

// Devices that share places, nodes and patterns give what one core gives: all patterns and maximal
// ones, if the host makes long profiles, if there are more features than a mask has bits, and if
// there are fewer places or pairs than devices.
func TestSeveralGPUsFindWhatTheCPUFinds(t *testing.T) {
	d := severalGPUs(t, 3)
	rng := rand.New(rand.NewPCG(12, 2))
	for i, c := range []struct {
		points, features int
		opt              Options
		stage            string // of the devices
		long             bool
	}{
		{150, 8, Options{Distance: 1.6, MinPrevalence: 0.2}, "share profiles", false},
		{150, 8, Options{Distance: 1.6, MinPrevalence: 0.2, All: true}, "share profiles", false},
		{2, 2, Options{Distance: 20, MinPrevalence: 0.5}, "", false},
		{4, 3, Options{Distance: 20, MinPrevalence: 0.3}, "", false},
		{1, 1, Options{Distance: 1, MinPrevalence: 0.5}, "", false},
		{0, 1, Options{Distance: 1, MinPrevalence: 0.5}, "", false},
		{200, 7, Options{Distance: 1.5, MinPrevalence: 0.3, evaluation: &evaluation{steps: 4}}, "host profiles", true},
		{300, 70, Options{Distance: 2.4, MinPrevalence: 0.7}, "copy places", true},
		{60, 5, Options{KNN: 4, MinPrevalence: 0.3}, "copy places", false},
	} {
		if c.long && testing.Short() {
			continue
		}
		pts := crowdedPoints(rng, c.points, c.features, 10)
		var said strings.Builder
		stages := map[string]bool{}
		c.opt.GPU = d
		c.opt.Log = slog.New(slog.NewTextHandler(&said, nil))
		c.opt.Trace = func(s string, _ time.Duration) { stages[s] = true }
		sameAsCPU(t, pts, c.opt)
		if c.stage != "" && !stages[c.stage] {
			t.Errorf("case %d: no stage %q in %v", i, c.stage, stages)
		}
		if i == 0 && (strings.Count(said.String(), `GPUs" device=0 places=`) != 3 || strings.Count(said.String(), " patterns=") != 3) {
			t.Errorf("the log is %s: want the places and the patterns of each device", said.String())
		}
	}
}

// Several devices share the rounds of null models, with the same bits as one core.
func TestSeveralGPUsTestSignificance(t *testing.T) {
	gputest.Named(t)
	rng := rand.New(rand.NewPCG(6, 2))
	device := engine.Device{Memory: 64 << 20}
	for i, c := range []struct {
		opt  Options
		test SignificanceOptions
		long bool
	}{
		{Options{Distance: 1.7, MinPrevalence: 0.2, All: true}, SignificanceOptions{Rounds: 3}, false},
		{Options{KNN: 4, MinPrevalence: 0.3, All: true}, SignificanceOptions{Rounds: 1}, false}, // one gets no round
		{Options{Distance: 1.6, MinPrevalence: 0.2}, SignificanceOptions{Rounds: 3, Adjust: MaxT, Null: points.Relabel}, true},
		// Too crowded for the devices, so that the cores evaluate the rounds.
		{Options{Distance: 1.7, MinPrevalence: 0.2, evaluation: &evaluation{steps: 1}}, SignificanceOptions{Rounds: 3}, true},
	} {
		if c.long && testing.Short() {
			continue
		}
		pts := crowdedPoints(rng, 90, 4, 10)
		c.opt.Engine = engine.Sequential
		s := mustSurvey(t, pts, c.opt)
		res, err := s.Mine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(res.Patterns, func(p Pattern) bool { return len(p.Features) > 2 }) {
			t.Fatalf("case %d has no pattern of three features", i)
		}
		want, err := s.Significance(t.Context(), res.Patterns, c.test)
		if err != nil {
			t.Fatal(err)
		}
		c.opt.Engine, c.opt.Threads, c.opt.Device, c.opt.Also = engine.GPU, 3, device, []engine.Device{device}
		got, err := mustSurvey(t, pts, c.opt).Significance(t.Context(), res.Patterns, c.test)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if fmt.Sprintf("%b", got) != fmt.Sprintf("%b", want) {
			t.Errorf("case %d: on two devices\n%v\non the CPU\n%v", i, got, want)
		}
	}
}

// The error of one device ends the job and names it. What several devices cannot do is refused.
func TestSeveralGPUsFail(t *testing.T) {
	gputest.Named(t)
	pts := crowdedPoints(rand.New(rand.NewPCG(5, 6)), 200, 8, 10)
	opt := Options{Distance: 0.9, MinPrevalence: 0.3, Engine: engine.GPU, Device: engine.Device{Memory: 64 << 20}}
	for text, also := range map[string]engine.Device{
		"GPU 0: joining points needs": {Memory: 1 << 20},
		"no GPU: device 3":            {Ordinal: 3},
	} {
		opt.Also = []engine.Device{also}
		if _, err := Mine(t.Context(), pts, opt); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want an error with %q", err, text)
		}
	}
	opt.Also = []engine.Device{{Memory: 64 << 20}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Mine(ctx, pts, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	opt.Algorithm = SGCT
	if _, err := Mine(t.Context(), pts, opt); err == nil || !strings.Contains(err.Error(), "sgct works on one GPU") {
		t.Errorf("SGCT: %v", err)
	}
	opt.Algorithm, opt.Engine = Auto, engine.Auto
	if _, err := Mine(t.Context(), pts, opt); err == nil || !strings.Contains(err.Error(), "several devices need engine gpu") {
		t.Errorf("auto: %v", err)
	}
}

// Sets that another one contains are not maximal.
func TestMaximalSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range trials.Cases(100) {
		var sets, want []uint64
		for range rng.IntN(60) {
			if s := rng.Uint64() & rng.Uint64() & 0xff; s != 0 && !slices.Contains(sets, s) {
				sets = append(sets, s<<(56*uint(rng.IntN(2))))
			}
		}
		slices.Sort(sets)
		sets = slices.Compact(sets)
		for _, s := range sets {
			if !slices.ContainsFunc(sets, func(o uint64) bool { return o != s && s&^o == 0 }) {
				want = append(want, s)
			}
		}
		rng.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
		got := maximalSets(sets)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d sets of up to %d bits: %x, want %x", len(sets), bits.Len64(slices.Max(append(sets, 0))), got, want)
		}
	}
}
