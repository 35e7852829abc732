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

// sequential times an algorithm on one core.
func (b *bench) sequential(class int, a search.Algorithm, mode search.Mode) (float64, error) {
	sum := 0.0
	for _, words := range b.queries[class] {
		best := time.Duration(math.MaxInt64)
		for range b.Runs {
			start := time.Now()
			if _, err := b.s.Search(b.ctx, search.Request{Words: words, K: b.K, Mode: mode, Algorithm: a}); err != nil {
				return 0, err
			}
			best = min(best, time.Since(start))
		}
		sum += best.Seconds() * 1e3
	}
	return sum / float64(len(b.queries[class])), nil
}

// parallel times an algorithm on the device. Exact ways must give the exact result.
func (b *bench) parallel(class int, a search.Algorithm, mode search.Mode, p search.Parallel) (f figure, err error) {
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
	return f, nil
}

var (
	partitions = []search.Partition{search.Homogeneous, search.Adjusted, search.Heterogeneous}
	policies   = []search.Policy{search.Local, search.SharedFull, search.SharedHalf}
	rows       = []int{1, 5, 10, 50, 100, 150, 200}
)

// single is a section of chapter 5: one algorithm, one mode.
func (b *bench) single(a search.Algorithm, mode search.Mode) error {
	name := fmt.Sprintf("%v-%v", a, mode)
	b.Say("%v, mode %v", a, mode)
	section := report.Section{Title: fmt.Sprintf("Parallel %v, queries with %v", a, mode)}
	one := report.Table{Name: name + "-sequential", Title: "One core, ms", Header: []string{"class", "postings a list", "ms"}}
	base := make([]float64, len(b.queries))
	for i := range b.queries {
		var err error
		if base[i], err = b.sequential(i, a, mode); err != nil {
			return err
		}
		one.Rows = append(one.Rows, []string{b.shape.Classes[i].Name, strconv.Itoa(b.shape.Classes[i].Length), format(base[i])})
	}
	header := []string{"partition", "policy", "size", "in a row"}
	for _, c := range b.shape.Classes {
		header = append(header, c.Name+" ms", c.Name+" speedup")
	}
	many := report.Table{Name: name + "-gpu", Title: "On the GPU, ms and speedup over one core", Header: header}
	lost := report.Table{Name: name + "-recall", Title: "Recall of the approximate ways (size 64, 10 in a row), with its standard deviation", Header: []string{"partition", "policy"}}
	for _, c := range b.shape.Classes {
		lost.Header = append(lost.Header, c.Name, "±")
	}
	for _, p := range partitions {
		for _, policy := range policies {
			for _, size := range []int{32, 64, 128} {
				for _, row := range []int{1, 10} {
					line := []string{p.String(), policy.String(), strconv.Itoa(size), strconv.Itoa(row)}
					recall := []string{p.String(), policy.String()}
					for i := range b.queries {
						f, err := b.parallel(i, a, mode, search.Parallel{Partition: p, Policy: policy, Size: size, Row: row})
						if err != nil {
							return err
						}
						line = append(line, format(f.ms), format(base[i]/f.ms))
						recall = append(recall, fmt.Sprintf("%.3f", f.recall), fmt.Sprintf("%.3f", f.spread))
					}
					many.Rows = append(many.Rows, line)
					if size == 64 && row == 10 && (p != search.Heterogeneous || policy == search.SharedHalf) {
						lost.Rows = append(lost.Rows, recall)
					}
				}
			}
		}
	}
	ours := []string{"tiles", "", "", ""}
	for i := range b.queries {
		f, err := b.parallel(i, search.Tiles, mode, search.Parallel{})
		if err != nil {
			return err
		}
		ours = append(ours, format(f.ms), format(base[i]/f.ms))
	}
	many.Rows = append(many.Rows, ours)
	section.Tables = []report.Table{one, many, lost}
	for _, p := range partitions {
		plot := report.Plot{Name: name + "-" + p.String(), Title: fmt.Sprintf("%v, %v, %v: speedup by partitions in a row (size 32, sh-r)", a, mode, p),
			X: "partitions in a row", Y: "speedup over one core", LogX: true, LogY: true}
		for i, c := range b.shape.Classes {
			s := report.Series{Name: c.Name}
			for _, row := range rows {
				f, err := b.parallel(i, a, mode, search.Parallel{Partition: p, Policy: search.SharedFull, Size: 32, Row: row})
				if err != nil {
					return err
				}
				s.X, s.Y = append(s.X, float64(row)), append(s.Y, base[i]/f.ms)
			}
			plot.Series = append(plot.Series, s)
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

// policyPlot compares the policies on the longest lists.
func (b *bench) policyPlot(name string, a search.Algorithm, mode search.Mode, base float64) (report.Plot, error) {
	class := len(b.queries) - 1
	plot := report.Plot{Name: name + "-policies", Title: fmt.Sprintf("%v, %v, heterogeneous, %s: policies", a, mode, b.shape.Classes[class].Name),
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
