package papersbench

import (
	"cmp"
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
	missing  []string // jobs that were not measured, or only in part
	begun    []string // jobs of which some parts were measured
	machines []report.MeasuredOn
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
		return rowOf(t, len(t.Rows)-1, of, unit), nil
	}
}

func rowOf(t *report.Table, at int, of, unit string) string {
	row := t.Rows[at]
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
	return head + ": " + strings.Join(out, ", ")
}

// ends returns the first and the last row of a table, as lastRow does.
func ends(name, unit string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table(name)
		if err != nil {
			return "", err
		}
		return rowOf(t, 0, "", unit) + "; " + rowOf(t, len(t.Rows)-1, "", unit), nil
	}
}

// onDevice returns the value of a GPU if there was one, and otherwise that of cores.
func onDevice(device, cores func(*pages) (string, error)) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		if p.device {
			return device(p)
		}
		return cores(p)
	}
}

// curves returns the lines of a figure: the values of a column of all rows that begin with the same
// keys, after those of the axis. Columns whose headings are not unique have the text before them
// as well: the "ns/char" after "uniform ms" is "uniform ns/char".
func curves(name string, keys int, axis, column, unit string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table(name)
		if err != nil {
			return "", err
		}
		x, err := at(t, axis)
		if err != nil {
			return "", err
		}
		from := 0
		if group, rest, ok := strings.Cut(column, " "); ok && !slices.Contains(t.Header, column) {
			if from, err = at(t, group+" ms"); err != nil {
				return "", err
			}
			column = rest
		}
		c := slices.Index(t.Header[from:], column)
		if c < 0 {
			return "", fmt.Errorf("table %s has no column %q", t.Name, column)
		}
		var lines, xs []string
		for rows := t.Rows; len(rows) > 0; {
			n := slices.IndexFunc(rows, func(row []string) bool { return !slices.Equal(row[:keys], rows[0][:keys]) })
			if n < 0 {
				n = len(rows)
			}
			var values []string
			xs = xs[:0]
			for _, row := range rows[:n] {
				xs, values = append(xs, row[x]), append(values, cmp.Or(row[from+c], "not measured"))
			}
			lines = append(lines, strings.Join(rows[0][:keys], " of ")+" "+strings.Join(values, ", ")+unit)
			rows = rows[n:]
		}
		return fmt.Sprintf("%s %s: %s", axis, strings.Join(xs, ", "), strings.Join(lines, "; ")), nil
	}
}

// lengths returns table 3 of the paper on dictionaries: means, and variances in parentheses. A
// table with a step of 2 has the paper's values beside ours.
func lengths(name string, step int) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table(name)
		if err != nil {
			return "", err
		}
		var out []string
		for _, row := range t.Rows {
			out = append(out, fmt.Sprintf("%s words: by frequency %s (%s), uniform %s (%s)",
				row[0], row[1], row[1+step], row[1+2*step], row[1+3*step]))
		}
		return strings.Join(out, "; "), nil
	}
}

// steps returns the three longest steps of a method, without those beside others, for a size of the
// text; "" is the largest, as is a size that was not measured. Of a method with a dictionary it
// also returns the share of that in the time without copies.
func steps(method, size string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table("weigh-steps-" + method)
		if err != nil {
			return "", err
		}
		all, err := p.table("weigh-steps-" + method + "-by-size") // has the same rows
		if err != nil {
			return "", err
		}
		c := slices.Index(all.Header, size)
		if c < 0 {
			c = len(all.Header) - 1
		}
		ms := func(row []string) float64 { x, _ := strconv.ParseFloat(row[c], 64); return x }
		var rows [][]string
		computed, lookup := 0.0, 0.0
		for i, row := range all.Rows {
			if len(t.Rows[i]) > 2 && t.Rows[i][2] != "" {
				continue
			}
			rows = append(rows, row)
			if !strings.HasPrefix(row[0], "copy") {
				computed += ms(row)
			}
			if row[0] == "dictionary" {
				lookup = ms(row)
			}
		}
		slices.SortStableFunc(rows, func(a, b []string) int { return cmp.Compare(ms(b), ms(a)) })
		var out []string
		for _, row := range rows[:min(3, len(rows))] {
			out = append(out, fmt.Sprintf("%s %s ms", row[0], row[c]))
		}
		if lookup > 0 {
			out = append(out, fmt.Sprintf("of the time without copies the dictionary takes %.0f%%", 100*lookup/computed))
		}
		return fmt.Sprintf("%s, %s MB: %s", strings.ToUpper(method), all.Header[c], strings.Join(out, ", ")), nil
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

// bestSingle returns the best times of both partitions, and their speedups. If written is not "",
// they are also over one core as written, in the table of this name.
func bestSingle(part, written string) func(*pages) (string, error) {
	return func(p *pages) (string, error) {
		t, err := p.table("thesis-" + part + "-best")
		if err != nil {
			return "", err
		}
		base, err := line(t, "one core", "", "here")
		if err != nil {
			return "", err
		}
		over, err := asWritten(p, written)
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
			faster := speedups(base, ms)
			if over != nil {
				faster += "; over one core as written " + speedups(over, ms)
			}
			out = append(out, fmt.Sprintf("%s %s ms (%s), recall %s", cut, strings.Join(ms, ", "),
				faster, strings.Join(kept, ", ")))
			return err
		})
		return strings.Join(out, "; "), err
	}
}

// asWritten returns the times of one core as written in a table, or nil if there are none.
func asWritten(p *pages, name string) (ms []string, err error) {
	if name == "" {
		return nil, nil
	}
	t, err := p.table(name)
	if err != nil {
		return nil, err
	}
	c, err := at(t, "as written: ms")
	if err != nil {
		return nil, err
	}
	for _, row := range t.Rows {
		if row[c] == "" {
			return nil, nil
		}
		ms = append(ms, row[c])
	}
	return ms, nil
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
