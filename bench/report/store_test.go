package report

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A part is measured once; later runs read it from its file, with plots and their gaps.
func TestStore(t *testing.T) {
	s := &Store{Dir: filepath.Join(t.TempDir(), "new"), Settings: "two cores"}
	want := &Report{Name: "n", Title: "T", Intro: "I", Sections: []Section{{
		Title: "S", Text: "words", Tables: []Table{{Name: "t", Header: []string{"x"}, Rows: [][]string{{"1"}}}},
		Plots: []Plot{{Name: "p", X: "x", Y: "y", LogY: true,
			Series: []Series{{"line", []float64{1, 2}, []float64{3, math.NaN()}}}}},
	}}}
	measured := 0
	measure := func() (*Report, error) { measured++; return want, nil }
	for range 2 {
		got, err := s.Do("part", measure)
		if err != nil {
			t.Fatal(err)
		}
		line := got.Sections[0].Plots[0].Series[0]
		if line.Name != "line" || line.X[1] != 2 || line.Y[0] != 3 || !math.IsNaN(line.Y[1]) {
			t.Errorf("the line is %v", line)
		}
		if !got.Sections[0].Plots[0].LogY || !reflect.DeepEqual(got.Sections[0].Tables, want.Sections[0].Tables) ||
			got.Title != "T" || got.Intro != "I" || got.Sections[0].Text != "words" {
			t.Errorf("got %+v", got)
		}
	}
	if measured != 1 {
		t.Errorf("measured %d times, want once", measured)
	}
	failed := errors.New("failed")
	if _, err := s.Do("other", func() (*Report, error) { return want, failed }); !errors.Is(err, failed) {
		t.Errorf("error %v, want that of the measurement", err)
	}
	if r, err := s.Load("other"); r != nil || err != nil {
		t.Errorf("a failed part is kept: %v, %v", r, err)
	}
	if r, err := (*Store)(nil).Do("part", measure); r != want || err != nil || measured != 2 {
		t.Errorf("without a store: %v, %v, %d measurements", r, err, measured)
	}
	s.Machine, s.Memory = "here", 5
	if _, err := s.Do("part.2", measure); err != nil {
		t.Fatal(err)
	}
	s.Machine, s.Memory = "there", 0
	if _, err := s.Do("part.3", measure); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load("part.2"); err != nil { // of another machine
		t.Fatal(err)
	}
	// The part itself is made of the others, which name their machines.
	if on, err := s.Machines("part"); err != nil || !reflect.DeepEqual(on, []MeasuredOn{{"here", []string{"part.2"}}, {"there", []string{"part.3"}}}) {
		t.Errorf("the machines are %v, %v", on, err)
	}
	s.Memory = 6
	if _, err := s.Load("part.2"); err == nil || !strings.Contains(err.Error(), "5 bytes of memory, now 6") {
		t.Errorf("with more memory: error %v", err)
	}
	// A job is what its parts are, under its own head if it was measured in full.
	if r, whole, err := s.Job("new", &Report{Title: "stopped"}, "part.2", "part.4"); err == nil || r != nil || whole {
		t.Errorf("a job of a part with another memory: %v, %v, %v", r, whole, err)
	}
	s.Memory = 0
	if r, whole, err := s.Job("new", &Report{Title: "stopped"}, "part.2", "part.4"); err != nil || whole || r.Title != "stopped" || len(r.Sections) != 1 {
		t.Errorf("a job that was stopped: %v, %v, %v", r, whole, err)
	}
	if err := s.KeepHead("new", &Report{Title: "whole"}); err != nil {
		t.Fatal(err)
	}
	if r, whole, err := s.Job("new", &Report{Title: "stopped"}, "part.2", "part.3"); err != nil || !whole || r.Title != "whole" || len(r.Sections) != 2 {
		t.Errorf("a whole job: %v, %v, %v", r, whole, err)
	}
	s.Settings = "three cores"
	if _, err := s.Do("part", measure); err == nil || !strings.Contains(err.Error(), "other settings (two cores, now three cores)") {
		t.Errorf("other settings: error %v", err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "part.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Do("part", measure); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("a damaged file: error %v", err)
	}
}

// The page in HTML has the texts, tables and links to plots, escaped.
func TestHTML(t *testing.T) {
	dir := t.TempDir()
	r := &Report{Name: "n", Title: "A & B", Intro: "**Fast**, by `x<y`.\n\nMore.", Sections: []Section{{
		Title: "S", Tables: []Table{{Name: "t", Title: "Times", Header: []string{"a", "b"}, Rows: [][]string{{"<1", "2"}}, Prose: true}},
		Plots: []Plot{{Name: "p", Title: "P", Series: []Series{{"l", []float64{1}, []float64{1}}}}}}}}
	if err := r.WriteHTML(dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>A &amp; B</h1>", "<p><b>Fast</b>, by <code>x&lt;y</code>.</p>\n<p>More.</p>",
		`<table class="prose">`, "<tr><td>&lt;1</td><td>2</td></tr>", `<img src="p.svg" alt="P"`, `<a href="t.csv">CSV</a>`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page lacks %q:\n%s", want, data)
		}
	}
}
