package coloc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"
)

// Significance on the device is equal to that of the sequential engine, to the bit.
func TestSignificanceOnTheGPU(t *testing.T) {
	trials.Long(t, "thousands of points in the interpreter")
	gputest.Named(t) // pairs are counted on a device opened by its number
	d := testGPU(t, 0)
	rng := rand.New(rand.NewPCG(6, 1))
	larger := 0
	for i, c := range []struct {
		n, features int
		opt         Options
		test        SignificanceOptions
	}{
		{120, 4, Options{Distance: 1.5, MinPrevalence: 0.2, All: true}, SignificanceOptions{}},
		{120, 4, Options{Distance: 1.5, MinPrevalence: 0.3}, SignificanceOptions{Null: points.Relabel}},
		{90, 3, Options{Distance: 1.4, MinPrevalence: 0.2, All: true}, SignificanceOptions{Null: points.Cluster}},
		{90, 3, Options{Distance: 1.4, MinPrevalence: 0.2}, SignificanceOptions{Null: points.Inhomogeneous}},
		// Nearly all points are neighbours.
		{90, 3, Options{Distance: 9, MinPrevalence: 0.2, All: true}, SignificanceOptions{}},
		{90, 4, Options{Distance: 1.5, MinPrevalence: 0.2}, SignificanceOptions{Adjust: MaxT}},
		{90, 4, Options{KNN: 4, MinPrevalence: 0.3, All: true}, SignificanceOptions{}},
		{90, 4, Options{Distance: 0, KNN: 3, MinPrevalence: 0.3}, SignificanceOptions{Null: points.Relabel}},
		{90, 4, Options{Distance: 150_000, MinPrevalence: 0.2, All: true, Geographic: true}, SignificanceOptions{}},
		{80, 70, Options{Distance: 3, MinPrevalence: 0.5}, SignificanceOptions{}},
	} {
		pts := crowdedPoints(rng, c.n, c.features, 10)
		if c.opt.Geographic {
			pts.CRS = points.WGS84
		}
		c.test.Rounds, c.test.Seed = 3, uint64(i)
		c.opt.Engine = engine.Sequential
		s := mustSurvey(t, pts, c.opt)
		res, err := s.Mine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Patterns) == 0 {
			t.Fatalf("case %d has no patterns", i)
		}
		for _, p := range res.Patterns {
			if len(p.Features) > 2 {
				larger++
			}
		}
		want, err := s.Significance(t.Context(), res.Patterns, c.test)
		if err != nil {
			t.Fatal(err)
		}
		c.opt.Engine, c.opt.GPU, c.opt.Threads = engine.GPU, d, 2
		where := ""
		c.test.Tell = func(w string) { where = w }
		got, err := mustSurvey(t, pts, c.opt).Significance(t.Context(), res.Patterns, c.test)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if fmt.Sprintf("%b", got) != fmt.Sprintf("%b", want) {
			t.Errorf("case %d: on the GPU\n%v\non the CPU\n%v", i, got, want)
		}
		if where == "" {
			t.Errorf("case %d does not say where it ran", i)
		}
	}
	if larger == 0 {
		t.Error("no pattern of more than two features was tested")
	}
}

// CPU cores evaluate rounds that are too crowded for a warp, and Tell says so.
func TestSignificanceOfCrowdsOnTheGPU(t *testing.T) {
	gputest.Named(t)
	d := testGPU(t, 0)
	pts := crowdedPoints(rand.New(rand.NewPCG(7, 1)), 100, 4, 5)
	opt := Options{Distance: 1.5, MinPrevalence: 0.2, Engine: engine.Sequential}
	res := mustMine(t, pts, opt)
	test := SignificanceOptions{Rounds: 3}
	want, err := mustSurvey(t, pts, opt).Significance(t.Context(), res.Patterns, test)
	if err != nil {
		t.Fatal(err)
	}
	opt.Engine, opt.GPU, opt.evaluation = engine.GPU, d, &evaluation{steps: 1}
	where := ""
	test.Tell = func(w string) { where = w }
	got, err := mustSurvey(t, pts, opt).Significance(t.Context(), res.Patterns, test)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%b", got) != fmt.Sprintf("%b", want) {
		t.Errorf("on the GPU\n%v\non the CPU\n%v", got, want)
	}
	if want := "gpu; 3 rounds on the cores, too crowded for the GPU"; where != want {
		t.Errorf("Tell was called with %q, want %q", where, want)
	}
}
