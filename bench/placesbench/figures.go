package placesbench

import (
	"context"
	"fmt"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
)

// side is the side of the thesis' square.
const side = 1000

// sizes are about the sizes of the thesis' eight data sets.
var sizes = []float64{3000, 10_000, 20_000, 40_000, 65_000, 100_000, 150_000, 200_000}

// bySize makes figure 4.
func (b *bench) bySize() (report.Section, error) {
	tables, p, err := b.lines("figure-4-by-points", "Whole job by number of points", "points",
		b.sizes(sizes), b.all(), func(w way, x float64) (cost, error) {
			return b.mine(planted(int(x), side, false), b.options(w, 3, 0.2))
		})
	return report.Section{
		Title:  "Figure 4: time by number of points",
		Text:   "Points on 1000x1000 with planted patterns, distance 3, prevalence 0.2.",
		Tables: tables, Plots: []report.Plot{p},
	}, err
}

// join measures finding neighbours; which selects the part of the time that counts.
func (b *bench) join(pts *coloc.Points, o coloc.Options, which func(coloc.JoinStats) time.Duration) (cost, error) {
	return b.mean(o, func(ctx context.Context) (time.Duration, error) {
		s, err := coloc.NewSurvey(pts, o)
		if err != nil {
			return 0, err
		}
		stats, err := s.Join(ctx)
		return which(stats), err
	})
}

// joinBySize makes figure 5.
func (b *bench) joinBySize() (report.Section, error) {
	tables, p, err := b.lines("figure-5-neighbours", "Finding neighbours by number of points",
		"points", b.sizes(sizes), b.ways, func(w way, x float64) (cost, error) {
			return b.join(planted(int(x), side, false), b.options(w, 3, 0.2),
				func(s coloc.JoinStats) time.Duration { return s.Find })
		})
	return report.Section{
		Title:  "Figure 5: finding neighbours",
		Text:   "The same points, without the time of copying them to the GPU. SGCT sweeps along x; our algorithm sorts points into cells.",
		Tables: tables, Plots: []report.Plot{p},
	}, err
}

// preparation makes figure 6.
func (b *bench) preparation() (report.Section, error) {
	s := report.Section{Title: "Figure 6: finding neighbours with preparation",
		Text: "On the GPU, with and without copying the points there."}
	if b.GPU == nil {
		s.Text = "No GPU, nothing to prepare."
		return s, nil
	}
	var ways []way
	for _, w := range b.ways {
		if w.engine == engine.GPU {
			with := w
			with.name += " with preparation"
			ways = append(ways, w, with)
		}
	}
	plain := map[string]bool{}
	for i, w := range ways {
		plain[w.name] = i%2 == 0
	}
	tables, p, err := b.lines("figure-6-preparation", "Finding neighbours on the GPU", "points",
		b.sizes(sizes), ways, func(w way, x float64) (cost, error) {
			return b.join(planted(int(x), side, false), b.options(w, 3, 0.2), func(s coloc.JoinStats) time.Duration {
				if plain[w.name] {
					return s.Find
				}
				return s.Find + s.Prepare
			})
		})
	s.Tables, s.Plots = tables, []report.Plot{p}
	return s, err
}

// byDistance makes figures 7 to 10.
func (b *bench) byDistance() (report.Section, error) {
	s := report.Section{Title: "Figures 7 to 10: time by distance",
		Text: fmt.Sprintf("Prevalence 0.2, since the 5 of the thesis' table 1 cannot be one; %d points are sparse, %d and %d dense; two clusters hold a fifth of the points.", b.size(30_000), b.size(65_000), b.size(80_000))}
	for _, f := range []struct {
		number int
		name   string
		points *coloc.Points
	}{
		{7, "sparse, even", b.planted(30_000, false)},
		{8, "dense, even", b.planted(65_000, false)},
		{9, "sparse, two clusters", b.planted(30_000, true)},
		{10, "dense, two clusters", b.planted(80_000, true)},
	} {
		tables, p, err := b.lines(fmt.Sprintf("figure-%d-by-distance", f.number),
			fmt.Sprintf("Figure %d: %s", f.number, f.name), "distance", []float64{2, 3, 4, 5, 6},
			b.all(), func(w way, x float64) (cost, error) {
				return b.mine(f.points, b.options(w, x, 0.2))
			})
		if err != nil {
			return s, err
		}
		s.Tables, s.Plots = append(s.Tables, tables...), append(s.Plots, p)
	}
	return s, nil
}

// byPrevalence makes figure 11.
func (b *bench) byPrevalence() (report.Section, error) {
	pts := b.planted(65_000, false)
	tables, p, err := b.lines("figure-11-by-prevalence", "Whole job by prevalence", "prevalence",
		[]float64{0.5, 0.4, 0.3, 0.2, 0.1}, b.all(), func(w way, x float64) (cost, error) {
			return b.mine(pts, b.options(w, 5, x))
		})
	return report.Section{
		Title:  "Figure 11: time by prevalence",
		Text:   fmt.Sprintf("%d points with planted patterns, distance 5.", b.size(65_000)),
		Tables: tables, Plots: []report.Plot{p},
	}, err
}

// figureNames are the names of the tables of the thesis' figures. For each, except figures 5 and 6,
// there is also a table of memory, named with "-memory" appended.
var figureNames = []string{
	"figure-4-by-points", "figure-5-neighbours", "figure-6-preparation", "figure-7-by-distance",
	"figure-8-by-distance", "figure-9-by-distance", "figure-10-by-distance", "figure-11-by-prevalence",
}

// planted returns the points of a figure.
func (b *bench) planted(n int, clustered bool) *coloc.Points {
	return planted(b.size(n), side, clustered)
}

// beyond measures larger data than the thesis has.
func (b *bench) beyond() (report.Section, error) {
	var ways []way
	for _, w := range b.ways {
		if w.algorithm == coloc.Auto && w.engine != engine.Sequential {
			ways = append(ways, w)
		}
	}
	s := report.Section{Title: "Beyond: up to 10 million points, and many patterns"}
	tables, p, err := b.lines("beyond-by-points",
		"50 features, 10 neighbours per point, prevalence 0.1", "points",
		b.sizes([]float64{1e6, 2e6, 5e6, 1e7}), ways, func(w way, x float64) (cost, error) {
			n := int(x)
			return b.mine(Even(n, 50, SideFor(n, 10, 1.785)), b.options(w, 1.785, 0.1))
		})
	if err != nil {
		return s, err
	}
	s.Tables, s.Plots = append(s.Tables, tables...), append(s.Plots, p)
	dense := Clustered(b.size(200_000), features, side)
	tables, p, err = b.lines("beyond-by-distance",
		fmt.Sprintf("%d points, two clusters, prevalence 0.1", dense.Len()), "distance",
		[]float64{2, 3, 4, 5, 6}, ways, func(w way, x float64) (cost, error) {
			return b.mine(dense, b.options(w, x, 0.1))
		})
	s.Tables, s.Plots = append(s.Tables, tables...), append(s.Plots, p)
	return s, err
}
