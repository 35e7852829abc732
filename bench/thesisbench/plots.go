package thesisbench

import (
	"fmt"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/search"
)

// singleRows are the numbers of partitions in a row in the thesis' curves of single queries.
var singleRows = []int{1, 5, 10, 100, 150, 200}

const (
	inARow  = "partitions in a row"
	speedup = "speedup over one core"
)

// singlePlots makes the figures of a section of chapter 5.
func (b *bench) singlePlots(s section, base []float64) (plots []report.Plot, err error) {
	add := func(p report.Plot, e error) {
		plots = append(plots, p)
		if err == nil {
			err = e
		}
	}
	add(b.classPlot("figure-"+s.one, s, base, 1, thesisCuts...))
	if s.ten[0] == s.ten[1] {
		add(b.classPlot("figure-"+s.ten[0], s, base, 10, thesisCuts...))
	} else {
		for i, p := range thesisCuts {
			add(b.classPlot("figure-"+s.ten[i], s, base, 10, p))
		}
	}
	for i, p := range thesisCuts {
		for _, policy := range thesisPolicies {
			add(b.rowsPlot(s.curves[i], s, base, p, policy))
		}
	}
	if s.policies != "" {
		add(b.policyPlot(s, base))
	}
	return plots, err
}

// classPlot plots speedup by length of the lists, a line for each policy.
func (b *bench) classPlot(name string, s section, base []float64, row int,
	cuts ...search.Partition) (report.Plot, error) {
	plot := report.Plot{Name: name,
		Title: fmt.Sprintf("%s: %v, %v, partitions of 32, %d in a row", figureTitle(name), s.algorithm,
			s.mode, row), X: "postings a list", Y: speedup, LogX: true, LogY: true}
	for _, p := range cuts {
		for _, policy := range thesisPolicies {
			line := report.Series{Name: fmt.Sprintf("%v, %v", p, policy)}
			for i, c := range b.classes {
				f, err := b.parallel(i, s.part, search.Parallel{Partition: p, Policy: policy, Size: 32, Row: row})
				if err != nil {
					return plot, err
				}
				line.X, line.Y = append(line.X, float64(max(1, c.length))), append(line.Y, base[i]/f.ms)
			}
			plot.Series = append(plot.Series, line)
		}
	}
	return plot, nil
}

// figureTitle returns "Figure 5.1" for "figure-5.1".
func figureTitle(name string) string { return "Figure " + name[len("figure-"):] }

// rowsPlot plots speedup by partitions in a row, a line for each class.
func (b *bench) rowsPlot(number string, s section, base []float64, p search.Partition,
	policy search.Policy) (report.Plot, error) {
	plot := report.Plot{Name: fmt.Sprintf("figure-%s-%v", number, policy),
		Title: fmt.Sprintf("Figure %s: %v, %v, %v, %v, partitions of 32", number, s.algorithm,
			s.mode, p, policy),
		X: inARow, Y: speedup, LogX: true, LogY: true}
	for i, c := range b.classes {
		line := report.Series{Name: c.name}
		for _, row := range singleRows {
			f, err := b.parallel(i, s.part, search.Parallel{Partition: p, Policy: policy, Size: 32, Row: row})
			if err != nil {
				return plot, err
			}
			line.X, line.Y = append(line.X, float64(row)), append(line.Y, base[i]/f.ms)
		}
		plot.Series = append(plot.Series, line)
	}
	return plot, nil
}

// policyPlot compares the policies on the longest lists, as figures 5.15 and 5.20.
func (b *bench) policyPlot(s section, base []float64) (report.Plot, error) {
	last := len(b.classes) - 1
	plot := report.Plot{Name: "figure-" + s.policies,
		Title: fmt.Sprintf("Figure %s: %v, %v, heterogeneous, %s, partitions of 32", s.policies,
			s.algorithm, s.mode, b.classes[last].name),
		X: inARow, Y: speedup, LogX: true}
	for _, policy := range thesisPolicies {
		line := report.Series{Name: policy.String()}
		for _, row := range singleRows {
			f, err := b.parallel(last, s.part,
				search.Parallel{Partition: search.Heterogeneous, Policy: policy, Size: 32,
					Row: row})
			if err != nil {
				return plot, err
			}
			line.X, line.Y = append(line.X, float64(row)), append(line.Y, base[last]/f.ms)
		}
		plot.Series = append(plot.Series, line)
	}
	return plot, nil
}

// curve describes two figures of chapter 7: times by size and policy, and speedups of one size.
type curve struct {
	algorithm      search.Algorithm
	partition      search.Partition
	times, speedup string
	size           int
}

var batchCurves = []curve{
	{search.WAND, search.Adjusted, "7.1", "7.2", 128},
	{search.WAND, search.Heterogeneous, "7.3", "7.4", 32},
	{search.MaxScore, search.Adjusted, "7.5", "7.6", 32},
	{search.MaxScore, search.Heterogeneous, "7.7", "7.8", 32},
}

// batchRows are the numbers of partitions in a row in the thesis' curves of batches.
var batchRows = []int{1, 5, 10, 50, 100, 150, 200, 250}

// batchPlots makes two figures of chapter 7.
func (b *bench) batchPlots(c curve, base float64) (plots []report.Plot, err error) {
	faster := report.Plot{Name: "figure-" + c.speedup,
		Title: fmt.Sprintf("Figure %s: batch, %v, %v, partitions of %d", c.speedup, c.algorithm,
			c.partition, c.size),
		X: inARow, Y: speedup, LogX: true}
	for _, policy := range thesisPolicies {
		times := report.Plot{Name: fmt.Sprintf("figure-%s-%v", c.times, policy),
			Title: fmt.Sprintf("Figure %s: batch, %v, %v, %v", c.times, c.algorithm, c.partition,
				policy),
			X: inARow, Y: "seconds", LogX: true, LogY: true}
		for _, size := range batchSizes {
			line := report.Series{Name: fmt.Sprintf("partitions of %d", size)}
			quick := report.Series{Name: policy.String()}
			for _, row := range batchRows {
				f, err := b.batchOf(c.algorithm, search.Asynchronous,
					search.Parallel{Partition: c.partition, Policy: policy, Size: size, Row: row})
				if err != nil {
					return nil, err
				}
				line.X, line.Y = append(line.X, float64(row)), append(line.Y, f.seconds)
				quick.X, quick.Y = append(quick.X, float64(row)), append(quick.Y, base/f.seconds)
			}
			times.Series = append(times.Series, line)
			if size == c.size {
				faster.Series = append(faster.Series, quick)
			}
		}
		plots = append(plots, times)
	}
	return append(plots, faster), nil
}
