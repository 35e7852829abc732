// Command calibration measures how often tests of places find dependence where there is none, and
// how often they find it where it was planted. For each study area and process it simulates
// features that are independent of each other, and counts the pairs with a p-value of at most 0.05:
// by `collocate places` (participation index, coloc.Survey.Significance) and by `places curve`
// (points.Curves). A test that can be believed has a share of about 5%, or less.
//
//	go run ./bench/calibration -sims 1000 > results.tsv
//	go run ./bench/calibration -table results.tsv
//
// It is no test, as it takes an hour of a core: TestNullsAreCalibrated in package points repeats a
// part of it. The second line writes the results as the tables of docs/places.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/points"
)

// areas are the study areas, in the order of the table. The coast is drawn by hand: a bay, an inlet
// and an island. New York is real.
var areas = []struct{ name, text string }{
	{"rectangle", "POLYGON ((0 0, 1000 0, 1000 1000, 0 1000))"},
	{"L", "POLYGON ((0 0, 1000 0, 1000 500, 500 500, 500 1000, 0 1000))"},
	{"strip", "POLYGON ((0 0, 200 0, 1000 800, 1000 1000, 800 1000, 0 200))"},
	{"coast", "MULTIPOLYGON (((0 0, 1000 0, 1000 160, 930 240, 960 330, 850 390, 700 350, 560 300, 470 330, " +
		"520 420, 640 470, 780 540, 800 640, 720 700, 600 680, 540 760, 420 820, 390 930, 260 1000, 200 900, " +
		"240 780, 120 640, 160 520, 60 420, 90 250)), ((850 760, 960 720, 1000 840, 900 930, 820 870)))"},
	{"New York", newYork},
}

// processes are the ways in which a feature's points are drawn, independently of the others:
// evenly, in clusters of its own, by a density that all features share, or both.
var processes = []string{"uniform", "clustered", "shared", "both"}

const (
	kinds    = 3
	distance = 40 // of neighbours, for places
	most     = 100
)

// world draws points in a study area.
type world struct {
	w   *points.Window
	rng *rand.Rand
	hot [][2]float64 // centres of the density that all features share
}

func (s *world) anywhere() [2]float64 {
	for {
		if p := [2]float64{1000 * s.rng.Float64(), 1000 * s.rng.Float64()}; s.w.Contains(p[0], p[1]) {
			return p
		}
	}
}

// around draws from a normal distribution around a position.
func (s *world) around(c [2]float64, sigma float64) [2]float64 {
	for {
		p := [2]float64{c[0] + sigma*s.rng.NormFloat64(), c[1] + sigma*s.rng.NormFloat64()}
		if s.w.Contains(p[0], p[1]) {
			return p
		}
	}
}

func (s *world) dense() [2]float64 {
	if s.rng.Float64() < 0.2 {
		return s.anywhere()
	}
	return s.around(s.hot[s.rng.IntN(len(s.hot))], 120)
}

// draw returns n points of each feature. The given share of the second feature's points lie 8 from
// a point of the first.
func draw(w *points.Window, process string, n int, planted float64, seed uint64) *points.Set {
	s := &world{w: w, rng: rand.New(rand.NewPCG(seed, 5))}
	for range 3 {
		s.hot = append(s.hot, s.anywhere())
	}
	p := &points.Set{CRS: points.Plane}
	for f := range kinds {
		p.Features = append(p.Features, string(rune('a'+f)))
		var centres [][2]float64
		for range 8 {
			if process == "both" {
				centres = append(centres, s.dense())
			} else {
				centres = append(centres, s.anywhere())
			}
		}
		for i := range n {
			at := [2]float64{}
			switch process {
			case "uniform":
				at = s.anywhere()
			case "shared":
				at = s.dense()
			default:
				at = s.around(centres[s.rng.IntN(len(centres))], 25)
			}
			for f == 1 && float64(i) < planted*float64(n) {
				sin, cos := math.Sincos(2 * math.Pi * s.rng.Float64())
				if at = [2]float64{p.X[i] + 8*cos, p.Y[i] + 8*sin}; w.Contains(at[0], at[1]) {
					break
				}
			}
			p.X, p.Y, p.Feature = append(p.X, at[0]), append(p.Y, at[1]), append(p.Feature, int32(f))
		}
	}
	return p
}

// tests returns the p-values of all pairs of features, by places and by curves.
func tests(ctx context.Context, p *points.Set, null points.Null, envelope points.Envelope, rounds int,
	seed uint64) (places, curve map[[2]int32]float64, err error) {
	places, curve = make(map[[2]int32]float64), make(map[[2]int32]float64)
	s, err := coloc.NewSurvey(p, coloc.Options{Distance: distance, MinPrevalence: 1e-9, All: true,
		Engine: engine.Sequential})
	if err != nil {
		return nil, nil, err
	}
	found, err := s.Mine(ctx)
	if err != nil {
		return nil, nil, err
	}
	pairs := slices.DeleteFunc(found.Patterns, func(p coloc.Pattern) bool { return len(p.Features) != 2 })
	tested, err := s.Significance(ctx, pairs, coloc.SignificanceOptions{Rounds: rounds, Null: null, Seed: seed})
	if err != nil {
		return nil, nil, err
	}
	for i, t := range tested {
		places[[2]int32(pairs[i].Features)] = t.P
	}
	// Tests have the translation correction, whatever that of the curves to show, which takes time.
	curves, err := points.Curves(ctx, p, points.CurveOptions{Most: most, Bins: 8, Rounds: rounds, Null: null, Envelope: envelope,
		Seed: seed, Correction: points.Uncorrected, Engine: points.Engine{Kind: engine.Sequential}})
	if err != nil {
		return nil, nil, err
	}
	for _, c := range curves {
		curve[[2]int32{c.A, c.B}] = c.P
	}
	return places, curve, nil
}

func main() {
	log.SetFlags(0)
	sims := flag.Int("sims", 1000, "simulations of each cell of the table")
	first := flag.Int("first", 0, "number of the first simulation, to do them in pieces")
	rounds := flag.Int("rounds", 39, "rounds of the null model; 39 make a p-value of 0.05 exact")
	n := flag.Int("points", 80, "points of each of three features")
	nulls := flag.String("nulls", "inhomogeneous", "null models")
	windows := flag.String("windows", "given,estimated,none",
		"given: that of the simulation; estimated: from the points; none: the rectangle around them")
	planted := flag.String("planted", "0,0.35,0.15", "shares of planted attraction between two features")
	only := flag.String("only", "", "only these areas and processes")
	threads := flag.Int("threads", 2, "simulations at a time")
	envelope := flag.String("envelope", "deviation", "envelope of curves")
	table := flag.String("table", "", "only write the results in this file as tables")
	flag.Parse()
	if *table != "" {
		data, err := os.ReadFile(*table)
		if err != nil {
			log.Fatal(err)
		}
		text, err := tables(string(data))
		if err != nil {
			log.Fatalf("%s: %v", *table, err)
		}
		fmt.Print(text)
		return
	}
	by, err := points.ParseEnvelope(*envelope)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Println(head)
	for _, process := range processes {
		for _, area := range areas {
			if *only != "" && (!strings.Contains(*only, process) || !strings.Contains(*only, area.name)) {
				continue
			}
			w, err := points.ParseWindow([]byte(area.text), points.Plane)
			if err != nil {
				log.Fatal(err)
			}
			for _, name := range strings.Split(*nulls, ",") {
				null, err := points.ParseNull(name)
				if err != nil {
					log.Fatal(err)
				}
				for _, window := range strings.Split(*windows, ",") {
					for _, share := range strings.Split(*planted, ",") {
						var plant float64
						fmt.Sscan(share, &plant)
						places, curve, err := count(ctx, w, process, *n, plant, window, null, by, *first, *sims, *rounds, *threads)
						if err != nil {
							log.Fatal(err)
						}
						fmt.Printf("%s\t%s\t%s\t%s\t%s\t%d\t%.1f\t%.1f\n", process, area.name, name, window,
							share, *sims, 100*places, 100*curve)
					}
				}
			}
		}
	}
}

// count returns the shares of pairs with a p-value of at most 0.05: of all pairs, or of the one in
// which attraction was planted.
func count(ctx context.Context, w *points.Window, process string, n int, planted float64, window string,
	null points.Null, envelope points.Envelope, first, sims, rounds, threads int) (places, curve float64, err error) {
	var mu sync.Mutex
	var next atomic.Int64
	var wait sync.WaitGroup
	low, all := [2]float64{}, 0.0
	for range threads {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(sims); i = next.Add(1) - 1 {
				sim := int64(first) + i
				p := draw(w, process, n, planted, uint64(sim))
				switch window {
				case "given":
					p.Window = w
				case "none":
					p.Window, _ = points.ParseWindow(fmt.Appendf(nil, "POLYGON ((%v %[2]v, %[3]v %[2]v, %[3]v %[4]v, %[1]v %[4]v))",
						slices.Min(p.X), slices.Min(p.Y), slices.Max(p.X), slices.Max(p.Y)), points.Plane)
				}
				a, b, e := tests(ctx, p, null, envelope, rounds, uint64(sim)+1)
				mu.Lock()
				if e != nil {
					err = e
				}
				for pair, p := range b {
					if planted > 0 && pair != [2]int32{0, 1} {
						continue
					}
					all++
					if p <= 0.05 {
						low[1]++
					}
					if q, ok := a[pair]; ok && q <= 0.05 {
						low[0]++
					}
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return low[0] / all, low[1] / all, err
}
