package thesisbench

import (
	"fmt"
	"math"
	"strconv"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/search"
)

// section is a section of chapter 5 with the numbers of its tables and figures.
type section struct {
	part
	title                     string
	sequential, times, recall string    // tables
	one                       string    // figure: speedup by class, one partition in a row
	ten                       [2]string // ten in a row: adjusted, heterogeneous
	curves                    [2]string // speedup by partitions in a row
	policies                  string    // policies on the longest lists
}

var sections = []section{
	{part{search.WAND, search.Or}, "5.2.1 WAND, queries with OR", "5.3", "5.4", "5.5", "5.1",
		[2]string{"5.2", "5.3"}, [2]string{"5.4", "5.5"}, ""},
	{part{search.WAND, search.And}, "5.2.2 WAND, queries with AND", "5.6", "5.7", "5.8", "5.6",
		[2]string{"5.7", "5.8"}, [2]string{"5.9", "5.10"}, ""},
	{part{search.MaxScore, search.Or}, "5.3.1 MaxScore, queries with OR", "5.9", "5.10", "5.11",
		"5.11", [2]string{"5.12", "5.12"}, [2]string{"5.13", "5.14"}, "5.15"},
	{part{search.MaxScore, search.And}, "5.3.2 MaxScore, queries with AND", "5.12", "5.13", "5.14",
		"5.16", [2]string{"5.17", "5.17"}, [2]string{"5.18", "5.19"}, "5.20"},
}

// single measures a section of chapter 5.
func (b *bench) single(s section) error {
	b.Say("%s", s.title)
	base := make([]float64, len(b.classes))
	for i := range b.classes {
		var err error
		if base[i], err = b.sequential(i, s.part); err != nil {
			return err
		}
	}
	written, err := b.asWritten(s.part)
	if err != nil {
		return err
	}
	out := report.Section{Title: s.title, Text: changedHere,
		Tables: []report.Table{b.sequentialTable(s, base, written)}}
	if s.mode == search.And {
		out.Text += "\n\nWith AND, our one core intersects the lists and takes the same time for every algorithm, and so do several cores. On a GPU the algorithms begin, as in the thesis, with a " +
			"threshold that is the sum of the words' bounds. Heterogeneous partitions are exact; adjusted ones lose documents whose postings are in different partitions: see the recall."
	}
	for _, table := range []func(section, []float64) (report.Table, error){b.timesTable, b.recallTable, b.bestTable} {
		t, err := table(s, base)
		if err != nil {
			return err
		}
		out.Tables = append(out.Tables, t)
	}
	out.Tables = append(out.Tables, b.writtenRecall(s, written))
	if out.Plots, err = b.singlePlots(s, base); err != nil {
		return err
	}
	b.report.Add(out)
	return nil
}

// sequentialTable makes table 5.3, 5.6, 5.9 or 5.12.
func (b *bench) sequentialTable(s section, base []float64, written []asWritten) report.Table {
	had := thesisSingle[s.part]
	t := report.Table{Name: "table-" + s.sequential,
		Title: fmt.Sprintf("Table %s: %v with %v on one core. As written is the thesis' pseudocode on uncompressed lists, with its recall of the exact result.",
			s.sequential, s.algorithm, s.mode),
		Header: []string{"queries", "postings a list", "ms", "as written: ms", "as written: recall",
			"thesis: postings a list", "thesis: ms"}}
	for i, c := range b.classes {
		t.Rows = append(t.Rows, []string{c.name, strconv.Itoa(c.length), format(base[i]),
			cell(written, i, func(w asWritten) string { return format(w.ms) }),
			cell(written, i, func(w asWritten) string { return recall(w.exact) }), strconv.Itoa(thesisClasses[i].Length), printed(had.sequential[i], 2)})
	}
	return t
}

// timesTable makes table 5.4, 5.7, 5.10 or 5.13, with all its cells.
func (b *bench) timesTable(s section, base []float64) (report.Table, error) {
	had := thesisSingle[s.part]
	t := report.Table{Name: "table-" + s.times,
		Title:  fmt.Sprintf("Table %s: parallel %v with %v", s.times, s.algorithm, s.mode),
		Header: []string{"partition", "policy", "size", "in a row"}}
	for _, c := range b.classes {
		t.Header = append(t.Header, c.name+" ms", "speedup", "recall", "thesis: ms", "speedup")
	}
	for cut := range settings(thesisSizes) {
		line := []string{cut.Partition.String(), cut.Policy.String(), strconv.Itoa(cut.Size), strconv.Itoa(cut.Row)}
		at, _ := singleRow(cut)
		for i := range b.classes {
			f, err := b.parallel(i, s.part, cut)
			if err != nil {
				return t, err
			}
			line = append(line, format(f.ms), format(base[i]/f.ms), recall(f.recall),
				printed(had.parallel[at][i], 2), printed(singleSpeedups[s.part][at][i], 2))
		}
		t.Rows = append(t.Rows, line)
	}
	return t, nil
}

// settings are the rows of the thesis' tables of times.
func settings(sizes []int) func(yield func(search.Parallel) bool) {
	return func(yield func(search.Parallel) bool) {
		for _, p := range thesisCuts {
			for _, policy := range thesisPolicies {
				for _, size := range sizes {
					for _, row := range thesisRows {
						if !yield(search.Parallel{Partition: p, Policy: policy, Size: size, Row: row}) {
							return
						}
					}
				}
			}
		}
	}
}

// recallTable makes table 5.5, 5.8, 5.11 or 5.14. The thesis does not give their sizes of
// partitions.
func (b *bench) recallTable(s section, _ []float64) (report.Table, error) {
	had := thesisSingle[s.part]
	t := report.Table{Name: "table-" + s.recall,
		Title:  fmt.Sprintf("Table %s: recall of %v with %v, ten partitions in a row, and its standard deviation", s.recall, s.algorithm, s.mode),
		Header: []string{"partition", "policy", "size"}}
	for _, c := range b.classes {
		t.Header = append(t.Header, c.name, "±", "thesis", "±")
	}
	for _, p := range []search.Partition{search.Adjusted, search.Homogeneous} {
		for j, policy := range thesisPolicies {
			for _, size := range thesisSizes {
				line := []string{p.String(), policy.String(), strconv.Itoa(size)}
				for i := range b.classes {
					f, err := b.parallel(i, s.part, search.Parallel{Partition: p, Policy: policy, Size: size, Row: 10})
					if err != nil {
						return t, err
					}
					line = append(line, recall(f.recall), recall(f.spread))
					if p == search.Adjusted {
						line = append(line, recall(had.recall[j][i][0]), recall(had.recall[j][i][1]))
					} else {
						line = append(line, "", "")
					}
				}
				t.Rows = append(t.Rows, line)
			}
		}
	}
	return t, nil
}

// bestTable compares the best times with the thesis': over its settings, then over all.
func (b *bench) bestTable(s section, base []float64) (report.Table, error) {
	t := report.Table{Name: fmt.Sprintf("%v-%v-best", s.algorithm, s.mode),
		Title:  "The best of each, ms. Partitions of 32 and 64, 1 and 10 in a row, are the thesis' settings.",
		Header: []string{"", "settings", "whose"}}
	for _, c := range b.classes {
		t.Header = append(t.Header, c.name)
	}
	add := func(name, settings, whose string, of func(class int) (float64, error)) error {
		line := []string{name, settings, whose}
		for i := range b.classes {
			ms, err := of(i)
			if err != nil {
				return err
			}
			line = append(line, format(ms))
		}
		t.Rows = append(t.Rows, line)
		return nil
	}
	had := thesisSingle[s.part]
	if err := add("one core", "", "thesis",
		func(i int) (float64, error) { return had.sequential[i], nil }); err != nil {
		return t, err
	}
	if err := add("one core", "", "here", func(i int) (float64, error) { return base[i], nil }); err != nil {
		return t, err
	}
	for _, p := range thesisCuts {
		for _, x := range []struct {
			settings, whose string
			of              func(i int) (float64, error)
		}{
			{"the thesis'", "thesis", func(i int) (float64, error) { return had.best(p, i), nil }},
			{"the thesis'", "here", func(i int) (float64, error) { return b.best(i, s.part, p, true).ms, nil }},
			{"the thesis'", "recall here", func(i int) (float64, error) { return b.best(i, s.part, p, true).recall, nil }},
			{"all measured", "here", func(i int) (float64, error) { return b.best(i, s.part, p, false).ms, nil }},
			{"all measured", "recall here", func(i int) (float64, error) { return b.best(i, s.part, p, false).recall, nil }},
		} {
			if err := add(p.String(), x.settings, x.whose, x.of); err != nil {
				return t, err
			}
		}
	}
	name, algorithm := "our own way on the cores", search.Auto
	if b.Device != nil {
		name, algorithm = "our own way on the GPU (tiles)", search.Tiles
		if s.algorithm == search.WAND {
			err := add("heterogeneous, Block-Max WAND", "sh-r, 64, 10 in a row", "here", func(i int) (float64, error) {
				f, err := b.parallel(i, part{search.BMW, s.mode},
					search.Parallel{Partition: search.Heterogeneous, Policy: search.SharedFull,
						Size: 64, Row: 10})
				return f.ms, err
			})
			if err != nil {
				return t, err
			}
		}
	}
	return t, add(name, "", "here", func(i int) (float64, error) {
		f, err := b.parallel(i, part{algorithm, s.mode}, search.Parallel{})
		return f.ms, err
	})
}

// best returns the figure with the least time of a partition in a class, over the thesis' settings
// or over all that were measured so far.
func (b *bench) best(class int, p part, cut search.Partition, thesis bool) figure {
	least := figure{ms: math.Inf(1)}
	for key, f := range b.figures {
		if key.class != class || key.part != p || key.cut.Partition != cut {
			continue
		}
		if _, same := singleRow(key.cut); (same && key.cut.Blocks == (search.Blocks{}) || !thesis) && f.ms < least.ms {
			least = f
		}
	}
	return least
}
