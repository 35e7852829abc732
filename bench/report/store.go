package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/atomicfile"
)

// Store keeps the parts of a long benchmark in files of a folder, one for each part, so that a run
// that was stopped can go on. A nil Store keeps nothing.
type Store struct {
	Dir string
	// Settings describe what is measured. A part with others is an error.
	Settings string
	// Machine describes what it is measured on. Parts of other machines are taken: Machines names
	// them.
	Machine string
	// Memory bounds the measured jobs. A part with another bound is an error; 0 is not known.
	Memory int64
	// Say, if not nil, is called with messages on what is kept.
	Say func(format string, args ...any)
	// Only, if not nil, says which parts are measured.
	Only func(part string) bool
}

// ErrLeftOut is the error of a part that was not kept and is not to be measured.
var ErrLeftOut = errors.New("some parts were not to be measured")

// Wants reports whether a part is to be measured if it was not kept.
func (s *Store) Wants(part string) bool { return s == nil || s.Only == nil || s.Only(part) }

// stored is the content of a file: JSON, with the plots, and null for gaps in these.
type stored struct {
	Machine  string          `json:"machine"`
	Settings string          `json:"settings"`
	Memory   int64           `json:"memory,omitempty"`
	Name     string          `json:"name,omitempty"`
	Title    string          `json:"title,omitempty"`
	Intro    string          `json:"intro,omitempty"`
	Sections []storedSection `json:"sections"`
}

type storedSection struct {
	Section
	Plots []storedPlot `json:"plots,omitempty"`
}

type storedPlot struct {
	Plot
	Series []storedSeries
}

type storedSeries struct {
	Name string
	X, Y []*float64
}

// Has reports whether a part was kept, or a part of it.
func (s *Store) Has(part string) (bool, error) {
	if s == nil {
		return false, nil
	}
	paths, err := filepath.Glob(filepath.Join(s.Dir, "*.json"))
	return slices.ContainsFunc(paths, func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), part+".")
	}), err
}

// Do returns a part: that of an earlier run, or what measure returns, which it keeps. A nil report
// of measure is not kept. The error is ErrLeftOut if the part is not wanted.
func (s *Store) Do(part string, measure func() (*Report, error)) (*Report, error) {
	wanted := s.Wants(part)
	if r, err := s.Load(part); r != nil || err != nil {
		return r, err
	}
	if !wanted {
		return nil, ErrLeftOut
	}
	r, err := measure()
	if err != nil || r == nil || s == nil {
		return r, err
	}
	data, err := json.Marshal(s.pack(r))
	if err != nil {
		return nil, fmt.Errorf("keep %s: %w", part, err)
	}
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("keep %s: %w", part, err)
	}
	err = atomicfile.WriteFile(s.path(part), func(f *atomicfile.File) error {
		_, err := f.Write(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("keep %s: %w", part, err)
	}
	return r, nil
}

// Load returns a part of an earlier run, or nil if there is none.
func (s *Store) Load(part string) (*Report, error) {
	if s == nil {
		return nil, nil
	}
	path := s.path(part)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var in stored
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("%s: not a part of a benchmark: %w: delete it to measure it again", path, err)
	}
	if in.Settings != s.Settings {
		return nil, fmt.Errorf("%s was measured with other settings (%s, now %s): choose another folder, or delete it",
			path, in.Settings, s.Settings)
	}
	if in.Memory != s.Memory && in.Memory > 0 && s.Memory > 0 {
		return nil, fmt.Errorf("%s was measured with %d bytes of memory, now %d: choose another folder, or delete it",
			path, in.Memory, s.Memory)
	}
	if s.Say != nil {
		s.Say("%s: kept from an earlier run", part)
	}
	return in.unpack(), nil
}

// SettingsOf returns the settings of the parts in a folder, which all must have the same.
func SettingsOf(dir string) (settings string, err error) {
	paths, all, err := storedIn(dir)
	if err != nil {
		return "", err
	}
	for i, in := range all {
		if in.Settings != all[0].Settings {
			return "", fmt.Errorf("%s was measured with other settings than %s", paths[i], paths[0])
		}
	}
	if len(all) == 0 {
		return "", fmt.Errorf("%s has no parts of a benchmark", dir)
	}
	return all[0].Settings, nil
}

// MeasuredOn are the parts that were measured on a machine.
type MeasuredOn struct {
	Machine string
	Parts   []string
}

// Machines returns the machines of the parts of a job, or of all parts if job is "". A part
// "job.some" is of the job; that named as the job is made of such, and counts only without them.
func (s *Store) Machines(job string) (list []MeasuredOn, err error) {
	if s == nil {
		return nil, nil
	}
	paths, all, err := storedIn(s.Dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	for i, name := range names {
		of, _, isPart := strings.Cut(name, ".")
		if job != "" && of != job ||
			!isPart && slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+".") }) {
			continue
		}
		at := slices.IndexFunc(list, func(m MeasuredOn) bool { return m.Machine == all[i].Machine })
		if at < 0 {
			at, list = len(list), append(list, MeasuredOn{Machine: all[i].Machine})
		}
		list[at].Parts = append(list[at].Parts, name)
	}
	return list, nil
}

// storedIn reads all parts in a folder.
func storedIn(dir string) (paths []string, all []stored, err error) {
	if paths, err = filepath.Glob(filepath.Join(dir, "*.json")); err != nil {
		return nil, nil, err
	}
	all = make([]stored, len(paths))
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		if err := json.Unmarshal(data, &all[i]); err != nil {
			return nil, nil, fmt.Errorf("%s: not a part of a benchmark: %w", path, err)
		}
	}
	return paths, all, nil
}

// Job returns a job that is kept in parts, and whether all of them are there: with the title and
// the introduction that KeepHead kept when it was measured in full, or else with those of stopped.
// It returns nil if there are no parts.
func (s *Store) Job(job string, stopped *Report, parts ...string) (r *Report, whole bool, err error) {
	if r, err = s.Load(job); err != nil {
		return nil, false, err
	}
	if whole = r != nil; !whole {
		r = stopped
	}
	for _, part := range parts {
		kept, err := s.Load(part)
		if err != nil {
			return nil, false, err
		}
		if kept == nil {
			whole = false
			continue
		}
		r.Sections = append(r.Sections, kept.Sections...)
	}
	if len(r.Sections) == 0 {
		return nil, false, nil
	}
	return r, whole, nil
}

// KeepHead keeps the title and the introduction of a job whose parts were kept.
func (s *Store) KeepHead(job string, r *Report) error {
	_, err := s.Do(job, func() (*Report, error) {
		return &Report{Name: r.Name, Title: r.Title, Intro: r.Intro}, nil
	})
	return err
}

// DoValue is like Store.Do for a value, which is kept as JSON in the only cell of a table.
func DoValue[T any](s *Store, part string, measure func() (T, error)) (v T, err error) {
	r, err := s.Do(part, func() (*Report, error) {
		v, err := measure()
		if err != nil {
			return nil, err
		}
		cell, err := json.Marshal(v)
		t := Table{Rows: [][]string{{string(cell)}}}
		return &Report{Sections: []Section{{Tables: []Table{t}}}}, err
	})
	if err == nil {
		err = json.Unmarshal([]byte(r.Sections[0].Tables[0].Rows[0][0]), &v)
	}
	return v, err
}

func (s *Store) path(part string) string { return filepath.Join(s.Dir, part+".json") }

func (s *Store) pack(r *Report) stored {
	out := stored{Machine: s.Machine, Settings: s.Settings, Memory: s.Memory, Name: r.Name, Title: r.Title, Intro: r.Intro}
	for _, section := range r.Sections {
		in := storedSection{Section: section}
		for _, p := range section.Plots {
			plot := storedPlot{Plot: p}
			for _, line := range p.Series {
				plot.Series = append(plot.Series, storedSeries{line.Name, orNull(line.X), orNull(line.Y)})
			}
			plot.Plot.Series = nil
			in.Plots = append(in.Plots, plot)
		}
		out.Sections = append(out.Sections, in)
	}
	return out
}

func (in *stored) unpack() *Report {
	r := &Report{Name: in.Name, Title: in.Title, Intro: in.Intro}
	for _, section := range in.Sections {
		out := section.Section
		for _, p := range section.Plots {
			plot := p.Plot
			for _, line := range p.Series {
				plot.Series = append(plot.Series, Series{line.Name, orNaN(line.X), orNaN(line.Y)})
			}
			out.Plots = append(out.Plots, plot)
		}
		r.Sections = append(r.Sections, out)
	}
	return r
}

// orNull and orNaN exchange NaN, which JSON does not have, for null.
func orNull(values []float64) (out []*float64) {
	for i := range values {
		if math.IsNaN(values[i]) {
			out = append(out, nil)
		} else {
			out = append(out, &values[i])
		}
	}
	return out
}

func orNaN(values []*float64) (out []float64) {
	for _, v := range values {
		if v == nil {
			out = append(out, math.NaN())
		} else {
			out = append(out, *v)
		}
	}
	return out
}
