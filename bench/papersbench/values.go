package papersbench

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/bench/report"
)

// pages are the reports of the benchmarks, with their tables and plots by their new names.
type pages struct {
	tables   map[string]*report.Table
	plots    map[string]*report.Plot
	sections []report.Section
	device   bool
	missing  []string // jobs that were not measured
}

// adopt adds a report; the names of its tables and plots get the prefix.
func (p *pages) adopt(prefix string, r *report.Report) {
	p.sections = append(p.sections, report.Section{Title: r.Title, Text: r.Intro})
	for _, s := range r.Sections {
		s.Tables, s.Plots = slices.Clone(s.Tables), slices.Clone(s.Plots)
		for i := range s.Tables {
			s.Tables[i].Name = prefix + "-" + s.Tables[i].Name
			p.tables[s.Tables[i].Name] = &s.Tables[i]
		}
		for i := range s.Plots {
			s.Plots[i].Name = prefix + "-" + s.Plots[i].Name
			p.plots[s.Plots[i].Name] = &s.Plots[i]
		}
		p.sections = append(p.sections, s)
	}
}

var (
	errNoGPU  = errors.New("needs a GPU")
	errNotYet = errors.New("not measured yet")
)

// notYet reports whether the job of a table or plot was not measured.
func (p *pages) notYet(name string) bool {
	return slices.ContainsFunc(p.missing, func(job string) bool { return strings.HasPrefix(name, job+"-") })
}

// plot returns a plot.
func (p *pages) plot(name string) (*report.Plot, error) {
	switch plot := p.plots[name]; {
	case plot != nil:
		return plot, nil
	case p.notYet(name):
		return nil, errNotYet
	}
	return nil, fmt.Errorf("there is no plot %s", name)
}

// table returns a table. If it is missing and there was no GPU, the error is errNoGPU.
func (p *pages) table(name string) (*report.Table, error) {
	switch t := p.tables[name]; {
	case t != nil && len(t.Rows) > 0:
		return t, nil
	case p.notYet(name):
		return nil, errNotYet
	case !p.device:
		return nil, errNoGPU
	}
	return nil, fmt.Errorf("there is no table %s", name)
}

func at(t *report.Table, header string) (int, error) {
	i := slices.Index(t.Header, header)
	if i < 0 {
		return 0, fmt.Errorf("table %s has no column %q", t.Name, header)
	}
	return i, nil
}

// column returns a column of a table, each value after that of the column key.
func column(name, key, header, unit string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table(name)
		if err != nil {
			return "", err
		}
		k, err := at(t, key)
		if err != nil {
			return "", err
		}
		c, err := at(t, header)
		if err != nil {
			return "", err
		}
		var out []string
		for _, row := range t.Rows {
			if number, note, noted := strings.Cut(row[c], " ("); noted {
				out = append(out, row[k]+" "+number+unit+" ("+note)
			} else if row[c] != "" {
				out = append(out, row[k]+" "+row[c]+unit)
			}
		}
		return strings.Join(out, ", "), nil
	}
}

// lastRow returns the last row of a table, each value with its heading and unit. The first cell has
// the unit of, or its heading if of is empty.
func lastRow(name, of, unit string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table(name)
		if err != nil {
			return "", err
		}
		row := t.Rows[len(t.Rows)-1]
		head := row[0] + " " + of
		if of == "" {
			head = t.Header[0] + " " + row[0]
		}
		var out []string
		for i, v := range row[1:] {
			switch v {
			case "":
			case "-":
				out = append(out, t.Header[i+1]+" "+givenUp)
			default:
				out = append(out, t.Header[i+1]+" "+v+unit)
			}
		}
		return head + ": " + strings.Join(out, ", "), nil
	}
}

// deviceOnly returns the last row of a table that needs a GPU.
func deviceOnly(name string) func(*pages) (string, error) { return lastRow(name, "", "") }

// lengths returns table 3 of the paper on dictionaries: means, and variances in parentheses.
func lengths(p *pages) (string, error) {
	t, err := p.table("dict-lengths")
	if err != nil {
		return "", err
	}
	var out []string
	for _, row := range t.Rows {
		out = append(out, fmt.Sprintf("%s words: by frequency %s (%s), uniform %s (%s)",
			row[0], row[1], row[2], row[3], row[4]))
	}
	return strings.Join(out, "; "), nil
}

// steps returns the three longest steps of a method on the GPU.
func steps(method string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table("weigh-steps-" + method)
		if err != nil {
			return "", err
		}
		ms := func(row []string) float64 { x, _ := strconv.ParseFloat(row[1], 64); return x }
		rows := slices.Clone(t.Rows)
		slices.SortStableFunc(rows, func(a, b []string) int { return int(1e3 * (ms(b) - ms(a))) })
		var out []string
		for _, row := range rows[:min(3, len(rows))] {
			out = append(out, fmt.Sprintf("%s %s ms", row[0], row[1]))
		}
		return strings.ToUpper(method) + ": " + strings.Join(out, ", "), nil
	}
}

// both returns two values, or only the first if the second needs a GPU.
func both(first, second func(*pages) (string, error)) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		a, err := first(p)
		if err != nil {
			return "", err
		}
		b, err := second(p)
		if errors.Is(err, errNoGPU) {
			return a, nil
		}
		return a + "; " + b, err
	}
}

// line returns the row of a table that begins with the given cells, without these.
func line(t *report.Table, cells ...string) ([]string, error) {
	for _, row := range t.Rows {
		if slices.Equal(row[:len(cells)], cells) {
			return row[len(cells):], nil
		}
	}
	return nil, fmt.Errorf("table %s has no row %q", t.Name, cells)
}

// bestSingle returns the best times of both partitions, and their speedups.
func bestSingle(part string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table("thesis-" + part + "-best")
		if err != nil {
			return "", err
		}
		base, err := line(t, "one core", "", "here")
		if err != nil {
			return "", err
		}
		var out []string
		err = eachCut(func(cut string) error {
			ms, err := line(t, cut, "the thesis'", "here")
			if err != nil {
				return err
			}
			kept, err := line(t, cut, "the thesis'", "recall here")
			out = append(out, fmt.Sprintf("%s %s ms (%s), recall %s", cut, strings.Join(ms, ", "),
				speedups(base, ms), strings.Join(kept, ", ")))
			return err
		})
		return strings.Join(out, "; "), err
	}
}

// eachCut calls fn for both partitions that the thesis compares.
func eachCut(fn func(cut string) error) error {
	return errors.Join(fn("adjusted"), fn("heterogeneous"))
}

func speedups(base, times []string) string {
	var out []string
	for i := range times {
		b, _ := strconv.ParseFloat(base[i], 64)
		x, _ := strconv.ParseFloat(times[i], 64)
		out = append(out, fmt.Sprintf("%.3gx", b/x))
	}
	return strings.Join(out, ", ")
}

// recallOf returns the recall of partitions of size 64: adjusted and plain ones with policy sh-r,
// and adjusted ones of the algorithm as written.
func recallOf(name string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table(name)
		if err != nil {
			return "", err
		}
		var parts []string
		add := func(t *report.Table, what string, from, step int, cells ...string) error {
			row, err := line(t, cells...)
			var values []string
			for i := from; i < len(row); i += step {
				values = append(values, row[i])
			}
			parts = append(parts, what+" "+strings.Join(values, ", "))
			return err
		}
		if err := errors.Join(add(t, "adjusted", 0, 4, "adjusted", "sh-r", "64"),
			add(t, "plain homogeneous", 0, 4, "homogeneous", "sh-r", "64")); err != nil {
			return "", err
		}
		if t, err = p.table(name + "-as-written"); err != nil {
			return "", err
		}
		err = add(t, "adjusted, as written, of one core's result as written", 1, 3, "64")
		return strings.Join(parts, "; "), err
	}
}

// bestBatch returns the best times of an algorithm's batches with both partitions.
func bestBatch(algorithm, settings string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table("thesis-batch-best")
		if err != nil {
			return "", err
		}
		c, err := at(t, algorithm+", here")
		if err != nil {
			return "", err
		}
		base, err := line(t, "one core", "")
		if err != nil {
			return "", err
		}
		var out []string
		err = eachCut(func(cut string) error {
			row, err := line(t, "async, "+cut, settings)
			if err != nil {
				return err
			}
			kept := "1"
			if cut == "adjusted" {
				lost, err := line(t, "async, "+cut+": recall", settings)
				if err != nil {
					return err
				}
				kept = lost[c-2]
			}
			out = append(out, fmt.Sprintf("%s %s s (%s), recall %s", cut, row[c-2],
				speedups(base[c-2:c-1], row[c-2:c-1]), kept))
			return nil
		})
		return strings.Join(out, ", "), err
	}
}

func syncBatch(p *pages) (string, error) {
	t, err := p.table("thesis-table-7.4")
	if err != nil {
		return "", err
	}
	var out []string
	for _, row := range t.Rows {
		if row[2] != "" {
			on := row[1]
			if p.device {
				on += " threads"
			}
			out = append(out, fmt.Sprintf("%s, %s: %s s (%sx)", row[0], on, row[2], row[3]))
		}
	}
	return strings.Join(out, "; "), nil
}

// peaks returns the best point of each line of a plot.
func peaks(name, unit string, least bool) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		plot, err := p.plot(name)
		if err != nil {
			return "", err
		}
		var out []string
		for _, s := range plot.Series {
			best := 0
			for i := range s.Y {
				if s.Y[i] > s.Y[best] != least && s.Y[i] != s.Y[best] {
					best = i
				}
			}
			out = append(out, fmt.Sprintf("%s %.3g%s at %g", s.Name, s.Y[best], unit, s.X[best]))
		}
		return strings.Join(out, ", "), nil
	}
}

// classes returns all points of each line of a plot: the four classes by length of lists.
func classes(name string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		plot, err := p.plot(name)
		if err != nil {
			return "", err
		}
		var out []string
		for _, s := range plot.Series {
			var ys []string
			for _, y := range s.Y {
				ys = append(ys, fmt.Sprintf("%.3g", y))
			}
			out = append(out, s.Name+" "+strings.Join(ys, ", ")+"x")
		}
		return strings.Join(out, "; "), nil
	}
}
