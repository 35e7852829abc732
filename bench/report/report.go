// Package report writes the results of a benchmark: a Markdown page with tables and plots, each
// table also as CSV and each plot as SVG.
//
//	r := &report.Report{Name: "places", Title: "Co-location, the thesis' figures again"}
//	r.Add(report.Section{Title: "Time by points", Tables: ..., Plots: ...})
//	err := r.Write("out") // out/README.md, out/time-by-points.csv, out/time-by-points.svg
package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/collocate/collocate/internal/atomicfile"
)

// Report is one page.
type Report struct {
	Name     string    `json:"name"` // a short name, such as "places"
	Title    string    `json:"title"`
	Intro    string    `json:"intro"` // Markdown: what was measured, on which machine
	Sections []Section `json:"sections"`
}

// Section is a heading with text, tables and plots, such as a figure of a paper repeated.
type Section struct {
	Title  string  `json:"title"`
	Text   string  `json:"text,omitempty"` // Markdown: explains the tables and plots
	Tables []Table `json:"tables,omitempty"`
	Plots  []Plot  `json:"-"` // of the values in the tables
}

// Table is rows under a header. Its CSV file has its name.
type Table struct {
	Name   string     `json:"name"`
	Title  string     `json:"title"`
	Header []string   `json:"header"`
	Rows   [][]string `json:"rows"`
	Prose  bool       `json:"-"` // cells are sentences: aligned to the left, without padding
}

// Count formats a number with its noun: "1 round", "20 rounds".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Add appends a section.
func (r *Report) Add(s Section) { r.Sections = append(r.Sections, s) }

// Table returns the table of a name, or nil.
func (s *Section) Table(name string) *Table {
	for i := range s.Tables {
		if s.Tables[i].Name == name {
			return &s.Tables[i]
		}
	}
	return nil
}

var fileName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// check returns an error if two files would have the same name, or if rows do not fit their header.
func (r *Report) check() error {
	seen := map[string]bool{}
	name := func(kind, n string) error {
		if !fileName.MatchString(n) {
			return fmt.Errorf("report: %s %q: want a file's name in lower case without extension", kind, n)
		}
		if seen[kind+n] {
			return fmt.Errorf("report: two %ss are named %q", kind, n)
		}
		seen[kind+n] = true
		return nil
	}
	for _, s := range r.Sections {
		for _, t := range s.Tables {
			if err := name("table", t.Name); err != nil {
				return err
			}
			for i, row := range t.Rows {
				if len(row) != len(t.Header) {
					return fmt.Errorf("report: table %s, row %d: %d cells under %d headings",
						t.Name, i+1, len(row), len(t.Header))
				}
			}
		}
		for _, p := range s.Plots {
			if err := name("plot", p.Name); err != nil {
				return err
			}
			if err := p.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write creates the folder if necessary, and writes README.md, a CSV per table and an SVG per plot
// into it. It leaves other files alone.
func (r *Report) Write(dir string) error {
	if err := r.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make the report's folder: %w", err)
	}
	put := func(name string, write func(io.Writer) error) error {
		path := filepath.Join(dir, name)
		if err := atomicfile.WriteFile(path, func(f *atomicfile.File) error { return write(f) }); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		return nil
	}
	for _, s := range r.Sections {
		for _, t := range s.Tables {
			if err := put(t.Name+".csv", t.writeCSV); err != nil {
				return err
			}
		}
		for _, p := range s.Plots {
			if err := put(p.Name+".svg", p.writeSVG); err != nil {
				return err
			}
		}
	}
	return put("README.md", func(w io.Writer) error { return r.markdown(w, true) })
}

// Markdown writes the page without its plots, for a terminal.
func (r *Report) Markdown(w io.Writer) error {
	if err := r.check(); err != nil {
		return err
	}
	return r.markdown(w, false)
}

func (r *Report) markdown(w io.Writer, pictures bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", r.Title)
	paragraph(&b, r.Intro)
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "\n## %s\n", s.Title)
		paragraph(&b, s.Text)
		for _, t := range s.Tables {
			t.markdown(&b)
		}
		if !pictures {
			continue
		}
		for _, p := range s.Plots {
			fmt.Fprintf(&b, "\n![%s](%s.svg)\n", escapeCell(p.Title), p.Name)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func paragraph(b *strings.Builder, text string) {
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(b, "\n%s\n", text)
	}
}

// markdown pads the cells so that the table is also readable as plain text: the first column is
// aligned to the left, the others, mostly numbers, to the right.
func (t *Table) markdown(b *strings.Builder) {
	if t.Title != "" {
		fmt.Fprintf(b, "\n%s\n", t.Title)
	}
	width := make([]int, len(t.Header))
	rows := append([][]string{t.Header}, t.Rows...)
	for _, row := range rows {
		for i, cell := range row {
			if width[i] = max(width[i], 3); !t.Prose {
				width[i] = max(width[i], utf8.RuneCountInString(escapeCell(cell)))
			}
		}
	}
	b.WriteByte('\n')
	for n, row := range rows {
		for i, cell := range row {
			cell = escapeCell(cell)
			pad := strings.Repeat(" ", max(0, width[i]-utf8.RuneCountInString(cell)))
			if i == 0 || t.Prose {
				cell += pad
			} else {
				cell = pad + cell
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
		if n > 0 {
			continue
		}
		for i, w := range width {
			rule := strings.Repeat("-", w)
			if i > 0 && !t.Prose {
				rule = rule[1:] + ":"
			}
			b.WriteString("| " + rule + " ")
		}
		b.WriteString("|\n")
	}
}

func escapeCell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
}

func (t *Table) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(t.Header); err != nil {
		return err
	}
	return c.WriteAll(t.Rows)
}
