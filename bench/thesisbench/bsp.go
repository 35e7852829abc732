package thesisbench

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/search"
)

// bspModel is the cost of a query in the BSP model, fitted to measured times. A query is a
// superstep that matches the partitions, and further ones that merge the answers of blocks two by
// two. Its cost is that of the work, which grows with the postings, of the communication, which
// grows with the blocks, as each sends its k answers, and of the barriers:
//
//	ms = Posting*postings + Block*blocks + Step*supersteps
type bspModel struct{ Posting, Block, Step float64 }

// bspQuery has what the model knows of a query.
type bspQuery struct{ postings, blocks, steps float64 }

// bspOf describes a query of two lists.
func bspOf(length int, cut search.Parallel) bspQuery {
	parts := (length + cut.Size - 1) / cut.Size
	blocks := max(1, (parts+cut.Row-1)/cut.Row)
	return bspQuery{2 * float64(length), float64(blocks), 1 + math.Ceil(math.Log2(float64(blocks)))}
}

func (m bspModel) ms(q bspQuery) float64 {
	return m.Posting*q.postings + m.Block*q.blocks + m.Step*q.steps
}

// fitBSP returns the model with the least sum of squares of relative errors. No cost is negative:
// one that would be is left out.
func fitBSP(queries []bspQuery, ms []float64) (m bspModel) {
	use := []int{0, 1, 2}
	for {
		n := len(use)
		a := make([][]float64, n) // normal equations, with the right-hand side as last column
		for i := range a {
			a[i] = make([]float64, n+1)
		}
		for q, x := range queries {
			all := [3]float64{x.postings / ms[q], x.blocks / ms[q], x.steps / ms[q]}
			for i, u := range use {
				for j, v := range use {
					a[i][j] += all[u] * all[v]
				}
				a[i][n] += all[u]
			}
		}
		cost, least := solve(a), -1
		for i := range cost {
			if cost[i] < 0 && (least < 0 || cost[i]*a[i][i] < cost[least]*a[least][least]) {
				least = i
			}
		}
		if least < 0 {
			for i, u := range use {
				*[]*float64{&m.Posting, &m.Block, &m.Step}[u] = cost[i]
			}
			return m
		}
		use = append(use[:least:least], use[least+1:]...)
	}
}

// solve solves linear equations by Gaussian elimination with pivots. It changes a.
func solve(a [][]float64) []float64 {
	n := len(a)
	for i := range n {
		best := i
		for j := i; j < n; j++ {
			if math.Abs(a[j][i]) > math.Abs(a[best][i]) {
				best = j
			}
		}
		a[i], a[best] = a[best], a[i]
		if a[i][i] == 0 {
			continue
		}
		for j := range n {
			if j == i {
				continue
			}
			f := a[j][i] / a[i][i]
			for k := i; k <= n; k++ {
				a[j][k] -= f * a[i][k]
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		if a[i][i] != 0 {
			x[i] = a[i][n] / a[i][i]
		}
	}
	return x
}

// addBSP adds the model to the sections of chapter 5 that have their tables of times. The times are
// read from these, so that it is there for those that were measured before, too.
func addBSP(r *report.Report) error {
	for _, s := range sections {
		for i := range r.Sections {
			of := &r.Sections[i]
			lists, times := of.Table("table-"+s.sequential), of.Table("table-"+s.times)
			if lists == nil || times == nil || of.Table(s.bsp()) != nil {
				continue
			}
			model, err := bspTables(s, lists, times)
			if err != nil {
				return err
			}
			of.Tables = append(of.Tables, model...)
		}
	}
	return nil
}

// bsp is the name of the table of costs.
func (s section) bsp() string { return fmt.Sprintf("bsp-%v-%v", s.algorithm, s.mode) }

// bspTables fits the model to the times of a section, ours and the thesis', and prints its times
// beside ours. It reads the lengths of lists and the times from the section's tables.
func bspTables(s section, lists, times *report.Table) ([]report.Table, error) {
	costs := report.Table{Name: s.bsp(),
		Title:  "The BSP model fitted to the times of the table above, all classes and settings: ms = work of the postings + communication of the blocks + barriers of the supersteps",
		Header: []string{"partition", "whose", "ms a million postings", "ms a thousand blocks", "ms a superstep", "mean relative error"}}
	beside := report.Table{Name: s.bsp() + "-times",
		Title:  "Times of the model beside ours, ms, policy sh-r",
		Header: []string{"partition", "size", "in a row"}}
	var lengths []int
	for _, list := range lists.Rows {
		n, err := strconv.Atoi(list[1])
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", s.sequential, err)
		}
		lengths = append(lengths, n)
		beside.Header = append(beside.Header, list[0], "model")
	}
	for _, p := range thesisCuts {
		var queries, theirs []bspQuery
		var ours, published []float64
		var lines [][]string
		var cuts []search.Parallel
		at := -1
		for cut := range settings(thesisSizes) {
			if at++; cut.Partition != p {
				continue
			}
			row, _ := singleRow(cut)
			if at >= len(times.Rows) {
				return nil, fmt.Errorf("table %s has %d rows", s.times, len(times.Rows))
			}
			line := []string{p.String(), strconv.Itoa(cut.Size), strconv.Itoa(cut.Row)}
			for i, n := range lengths {
				ms, err := strconv.ParseFloat(times.Rows[at][4+5*i], 64)
				if err != nil {
					return nil, fmt.Errorf("table %s: %w", s.times, err)
				}
				queries, ours = append(queries, bspOf(n, cut)), append(ours, ms)
				theirs = append(theirs, bspOf(thesisClasses[i].Length, cut))
				published = append(published, thesisSingle[s.part].parallel[row][i])
				line = append(line, format(ms))
			}
			if cut.Policy == search.SharedFull {
				lines, cuts = append(lines, line), append(cuts, cut)
			}
		}
		here := fitBSP(queries, ours)
		costs.Rows = append(costs.Rows, here.row(p, "here", queries, ours),
			fitBSP(theirs, published).row(p, "thesis", theirs, published))
		for j, line := range lines {
			for i, n := range lengths {
				line = slices.Insert(line, 4+2*i, format(here.ms(bspOf(n, cuts[j]))))
			}
			beside.Rows = append(beside.Rows, line)
		}
	}
	return []report.Table{costs, beside}, nil
}

// row returns the costs and how far the model is from the times in the mean.
func (m bspModel) row(p search.Partition, whose string, queries []bspQuery, ms []float64) []string {
	wrong := 0.0
	for i, q := range queries {
		wrong += math.Abs(m.ms(q)-ms[i]) / ms[i] / float64(len(ms))
	}
	return []string{p.String(), whose, format(1e6 * m.Posting), format(1e3 * m.Block), format(m.Step),
		fmt.Sprintf("%.0f%%", 100*wrong)}
}
