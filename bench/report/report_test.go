package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func sample() *Report {
	r := &Report{Name: "demo", Title: "Demo", Intro: "On a small machine."}
	r.Add(Section{
		Title: "Time by points",
		Text:  "The GPU wins from 20,000 points up.",
		Tables: []Table{{Name: "time", Title: "Seconds.", Header: []string{"points", "cpu", "gpu | best"},
			Rows: [][]string{{"1,000", "0.1", "0.2"}, {"100,000", "10", "1"}}}},
		Plots: []Plot{{Name: "time", Title: "Time < by points", X: "points", Y: "s", LogX: true, LogY: true,
			Series: []Series{{"cpu", []float64{1e3, 1e4, 1e5}, []float64{.1, math.NaN(), 10}},
				{"gpu", []float64{1e3, 1e5}, []float64{.2, 1}}}}},
	})
	return r
}

func TestAPageWithItsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	if err := sample().Write(dir); err != nil {
		t.Fatal(err)
	}
	want := `# Demo

On a small machine.

## Time by points

The GPU wins from 20,000 points up.

Seconds.

| points  | cpu | gpu \| best |
| ------- | --: | ----------: |
| 1,000   | 0.1 |         0.2 |
| 100,000 |  10 |           1 |

![Time < by points](time.svg)
`
	if got := read(t, dir, "README.md"); got != want {
		t.Errorf("README.md:\n%s\nwant:\n%s", got, want)
	}
	if got, want := read(t, dir, "time.csv"),
		"points,cpu,gpu | best\n\"1,000\",0.1,0.2\n\"100,000\",10,1\n"; got != want {
		t.Errorf("time.csv: %q, want %q", got, want)
	}
	svg := read(t, dir, "time.svg")
	wellFormed(t, svg)
	// The first series has a gap between its two points: two moves and no line.
	if !strings.Contains(svg, `d="M80.0 344.0M560.0 44.0"`) {
		t.Errorf("the point that was not measured leaves no gap:\n%s", svg)
	}
	var terminal strings.Builder
	if err := sample().Markdown(&terminal); err != nil {
		t.Fatal(err)
	}
	if got := terminal.String(); got != strings.Split(want, "\n![")[0] {
		t.Errorf("on a terminal:\n%s", got)
	}
}

func TestReportsThatAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Report){
		"two tables of one name": func(r *Report) { r.Add(r.Sections[0]) },
		"no file's name":         func(r *Report) { r.Sections[0].Tables[0].Name = "../x" },
		"a row too short":        func(r *Report) { r.Sections[0].Tables[0].Rows[1] = []string{"1"} },
		"log of nothing":         func(r *Report) { r.Sections[0].Plots[0].Series[0].Y[0] = 0 },
		"infinite":               func(r *Report) { r.Sections[0].Plots[0].Series[0].Y[0] = math.Inf(1) },
		"x without y":            func(r *Report) { r.Sections[0].Plots[0].Series[0].Y = nil },
	} {
		r := sample()
		spoil(r)
		if err := r.Write(t.TempDir()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		log    bool
		values []float64
		want   string
	}{
		{false, []float64{0, 9.3}, "0 2 4 6 8 10"},
		{false, []float64{120, 150_000}, "0 50,000 100,000 150,000"},
		{false, []float64{-0.2, 0.5}, "-0.2 0 0.2 0.4 0.6"},
		{false, nil, "0 0.2 0.4 0.6 0.8 1"},
		{false, []float64{0, 0}, "0 0.2 0.4 0.6 0.8 1"},
		{true, []float64{0.03, 250}, "0.01 0.1 1 10 100 1,000"},
		{true, []float64{10, math.NaN()}, "10 100"},
	} {
		a := newAxis(c.log, func(yield func(float64)) {
			for _, v := range c.values {
				yield(v)
			}
		})
		var labels []string
		for _, v := range a.ticks() {
			labels = append(labels, tickLabel(v))
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("log %v, %v: %s, want %s", c.log, c.values, got, c.want)
		}
		for _, v := range c.values {
			if at := a.at(v); at < 0 || at > 1 {
				t.Errorf("%v lies outside its axis, at %v", v, at)
			}
		}
	}
}

func TestManySeriesStayTellable(t *testing.T) {
	p := Plot{Name: "many"}
	for i := range 12 {
		p.Series = append(p.Series,
			Series{Name: string(rune('a' + i)), X: []float64{1, 2}, Y: []float64{float64(i), 2}})
	}
	var b strings.Builder
	if err := p.writeSVG(&b); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.String())
	if slices.Contains([]int{0, 1}, strings.Count(b.String(), plotColours[3])) {
		t.Error("the fourth series has no colour of its own")
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
