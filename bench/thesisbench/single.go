package thesisbench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/search"
)

// figure is the mean of a class's queries.
type figure struct {
	ms     float64
	recall float64
	spread float64 // standard deviation of the recall
}

type figureKey struct {
	class     int
	algorithm search.Algorithm
	mode      search.Mode
	parallel  search.Parallel
}

type aloneKey struct {
	asked
	algorithm search.Algorithm
	mode      search.Mode
}

// one is the seconds of a query on one core.
func (b *bench) one(key aloneKey) (float64, error) {
	if s, ok := b.alone[key]; ok {
		return s, nil
	}
	best := time.Duration(math.MaxInt64)
	for range b.Runs {
		start := time.Now()
		if _, err := b.s.Search(b.ctx, search.Request{Words: b.queries[key.class][key.query], K: b.K, Mode: key.mode, Algorithm: key.algorithm}); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	b.alone[key] = best.Seconds()
	return best.Seconds(), nil
}

// sequential is the milliseconds of a class's queries on one core.
func (b *bench) sequential(class int, a search.Algorithm, mode search.Mode) (float64, error) {
	sum := 0.0
	for q := range b.queries[class] {
		s, err := b.one(aloneKey{asked{class, q}, a, mode})
		if err != nil {
			return 0, err
		}
		sum += s * 1e3
	}
	return sum / float64(len(b.queries[class])), nil
}

// parallel times an algorithm on the device. Exact ways must give the exact result.
func (b *bench) parallel(class int, a search.Algorithm, mode search.Mode, p search.Parallel) (f figure, err error) {
	key := figureKey{class, a, mode, p}
	if f, ok := b.figures[key]; ok {
		return f, nil
	}
	var recalls []float64
	for _, words := range b.queries[class] {
		want, err := b.exactOf(words, mode)
		if err != nil {
			return f, err
		}
		best := time.Duration(math.MaxInt64)
		var got *search.Result
		for range b.Runs {
			if got, err = b.s.Search(b.ctx, b.request(words, a, mode, p)); err != nil {
				return f, err
			}
			best = min(best, got.Stats.GPU.Time)
		}
		if p.Exact() && !slices.Equal(got.Hits, want.Hits) {
			return f, fmt.Errorf("thesis: %v, %v, %v: not the exact result", a, mode, p.Partition)
		}
		f.ms += best.Seconds() * 1e3
		recalls = append(recalls, search.Recall(got.Hits, want.Hits))
	}
	n := float64(len(recalls))
	f.ms /= n
	for _, r := range recalls {
		f.recall += r / n
	}
	for _, r := range recalls {
		f.spread += (r - f.recall) * (r - f.recall) / n
	}
	f.spread = math.Sqrt(f.spread)
	b.figures[key] = f
	return f, nil
}

var (
	partitions = []search.Partition{search.Homogeneous, search.Adjusted, search.Heterogeneous}
	policies   = []search.Policy{search.Local, search.SharedFull, search.SharedHalf}
	sizes      = []int{32, 64, 128}
	rows       = []int{1, 5, 10, 50, 100, 150, 200}
)

// single is a section of chapter 5: one algorithm, one mode.
func (b *bench) single(a search.Algorithm, mode search.Mode) error {
	name := fmt.Sprintf("%v-%v", a, mode)
	b.Say("%v, mode %v", a, mode)
	base := make([]float64, len(b.queries))
	for i := range b.queries {
		var err error
		if base[i], err = b.sequential(i, a, mode); err != nil {
			return err
		}
	}
	all, lost, err := b.variants(name, a, mode, base)
	if err != nil {
		return err
	}
	best, err := b.bestOf(name, a, mode, base)
	if err != nil {
		return err
	}
	section := report.Section{Title: fmt.Sprintf("Parallel %v, queries with %v", a, mode), Tables: []report.Table{best, lost, all}}
	if mode == search.And {
		section.Text = "All words: here every algorithm intersects the lists first, so that nothing is lost, and one core takes the same time whatever it is asked for. The thesis began with a " +
			"score to beat that is the sum of the words' best."
	}
	for _, p := range partitions {
		plot, err := b.rowsPlot(name, a, mode, p, base)
		if err != nil {
			return err
		}
		section.Plots = append(section.Plots, plot)
	}
	plot, err := b.policyPlot(name, a, mode, base[len(base)-1])
	if err != nil {
		return err
	}
	section.Plots = append(section.Plots, plot)
	b.report.Sections = append(b.report.Sections, section)
	return nil
}

// variants is the large table, and the recall of what is approximate.
func (b *bench) variants(name string, a search.Algorithm, mode search.Mode, base []float64) (all, lost report.Table, err error) {
	all = report.Table{Name: name + "-gpu", Title: "All variants on the GPU: ms, and speedup over one core", Header: []string{"partition", "policy", "size", "in a row"}}
	lost = report.Table{Name: name + "-recall", Title: "Recall of the approximate ways, 10 partitions in a row, with its standard deviation", Header: []string{"partition", "policy", "size"}}
	for _, c := range b.shape.Classes {
		all.Header = append(all.Header, c.Name+" ms", c.Name+" speedup")
		lost.Header = append(lost.Header, c.Name, "±")
	}
	for _, p := range partitions {
		for _, policy := range policies {
			for _, size := range sizes {
				for _, row := range []int{1, 10} {
					line := []string{p.String(), policy.String(), strconv.Itoa(size), strconv.Itoa(row)}
					recall := line[:3:3]
					for i := range b.queries {
						f, err := b.parallel(i, a, mode, search.Parallel{Partition: p, Policy: policy, Size: size, Row: row})
						if err != nil {
							return all, lost, err
						}
						line = append(line, format(f.ms), format(base[i]/f.ms))
						recall = append(recall, fmt.Sprintf("%.3f", f.recall), fmt.Sprintf("%.3f", f.spread))
					}
					all.Rows = append(all.Rows, line)
					if row == 10 && (p != search.Heterogeneous || policy == search.SharedHalf) {
						lost.Rows = append(lost.Rows, recall)
					}
				}
			}
		}
	}
	return all, lost, nil
}

// bestOf sets the best of all variants beside what the thesis had.
func (b *bench) bestOf(name string, a search.Algorithm, mode search.Mode, base []float64) (report.Table, error) {
	t := report.Table{Name: name + "-best", Title: "The best of each, ms", Header: []string{"", ""}}
	core, tiles := []string{"one core", "here"}, []string{"GPU, tiles", "here"}
	ways := make([][]string, len(partitions))
	for j, p := range partitions {
		ways[j] = []string{"GPU, " + p.String(), "here"}
	}
	for i, c := range b.shape.Classes {
		t.Header = append(t.Header, c.Name)
		core = append(core, format(base[i]))
		for j, p := range partitions {
			best := math.Inf(1)
			for key, f := range b.figures {
				if key.class == i && key.algorithm == a && key.mode == mode && key.parallel.Partition == p && key.parallel.Policy != search.SharedHalf {
					best = min(best, f.ms)
				}
			}
			ways[j] = append(ways[j], format(best))
		}
		f, err := b.parallel(i, search.Tiles, mode, search.Parallel{})
		if err != nil {
			return t, err
		}
		tiles = append(tiles, format(f.ms))
	}
	postings := []string{"postings a list", ""}
	for _, c := range b.shape.Classes {
		postings = append(postings, strconv.Itoa(c.Length))
	}
	t.Rows = append(t.Rows, postings)
	had := thesis[a][mode]
	add := func(of []float64, what string, here ...[]string) {
		if b.Share == 1 && of != nil {
			line := []string{what, "thesis"}
			for _, ms := range of {
				line = append(line, format(ms))
			}
			t.Rows = append(t.Rows, line)
		}
		t.Rows = append(t.Rows, here...)
	}
	add(had.core[:], "one core", core)
	add(had.homogeneous[:], "GPU, homogeneous", ways[0], ways[1])
	add(had.heterogeneous[:], "GPU, heterogeneous", ways[2])
	add(nil, "", tiles)
	if b.Share == 1 {
		line := []string{"recall of homogeneous", "thesis"}
		for _, r := range had.recall {
			line = append(line, format(r))
		}
		t.Rows = append(t.Rows, line)
	}
	return t, nil
}

// rowsPlot is how the number of partitions in a row matters.
func (b *bench) rowsPlot(name string, a search.Algorithm, mode search.Mode, p search.Partition, base []float64) (report.Plot, error) {
	plot := report.Plot{Name: name + "-" + p.String(), Title: fmt.Sprintf("%v, %v, %v: speedup by partitions in a row (size 32, sh-r)", a, mode, p),
		X: "partitions in a row", Y: "speedup over one core", LogX: true, LogY: true}
	for i, c := range b.shape.Classes {
		s := report.Series{Name: c.Name}
		for _, row := range rows {
			f, err := b.parallel(i, a, mode, search.Parallel{Partition: p, Policy: search.SharedFull, Size: 32, Row: row})
			if err != nil {
				return plot, err
			}
			s.X, s.Y = append(s.X, float64(row)), append(s.Y, base[i]/f.ms)
		}
		plot.Series = append(plot.Series, s)
	}
	return plot, nil
}

// policyPlot compares the policies on the longest lists.
func (b *bench) policyPlot(name string, a search.Algorithm, mode search.Mode, base float64) (report.Plot, error) {
	class := len(b.queries) - 1
	plot := report.Plot{Name: name + "-policies", Title: fmt.Sprintf("%v, %v, heterogeneous, %s: policies (size 32)", a, mode, b.shape.Classes[class].Name),
		X: "partitions in a row", Y: "speedup over one core", LogX: true}
	for _, policy := range policies {
		s := report.Series{Name: policy.String()}
		for _, row := range rows {
			f, err := b.parallel(class, a, mode, search.Parallel{Partition: search.Heterogeneous, Policy: policy, Size: 32, Row: row})
			if err != nil {
				return plot, err
			}
			s.X, s.Y = append(s.X, float64(row)), append(s.Y, base/f.ms)
		}
		plot.Series = append(plot.Series, s)
	}
	return plot, nil
}

func format(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
