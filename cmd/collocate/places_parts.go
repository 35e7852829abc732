package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/points"
)

// partFlags restrict the patterns, the features or the area.
type partFlags struct {
	with      []string
	between   []string
	within    string
	hierarchy string
	level     string
	regions   string
	parent    map[string]string // of each feature in the hierarchy, once it is read
}

func (p *partFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&p.with, "with", nil, "only patterns that contain all of these features")
	f.StringSliceVar(&p.between, "between", nil, "only patterns of these features")
	f.StringVar(&p.within, "within", "",
		"with --time: neighbours are also at most this long apart, such as 7d, 12h or 30m")
	f.StringVar(&p.hierarchy, "hierarchy", "", "`FILE` of CSV lines feature,parent: replace features by their parents")
	f.StringVar(&p.level, "level", "1",
		"with --hierarchy: number of levels to go up; all: a point counts for its feature and for each of its ancestors")
	f.StringVar(&p.regions, "regions", "",
		"mine each cell of a grid over the area separately, such as 4x3, or each polygon of a GeoJSON `FILE`")
}

// duration parses --within, in seconds.
func duration(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	unit := map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 7 * 86400}[text[len(text)-1]]
	n, err := strconv.ParseFloat(text[:len(text)-1], 64)
	if err != nil || unit == 0 || !(n > 0) || n*unit > 1e12 {
		return 0, usagef("--within %q: want a number and a unit (s, m, h, d or w), such as 7d", text)
	}
	return int64(n * unit), nil
}

// mostRegions is the largest number of cells of a grid.
const mostRegions = 10_000

// cut divides the points by --regions: cells of a grid or polygons. Regions with points of fewer
// than two features are left out. Without --regions all points are one part.
func (p *partFlags) cut(a *app, in *points.Input) ([]part, error) {
	if p.regions == "" || in.Len() == 0 {
		return []part{{"", in}}, nil
	}
	c, r, ok := strings.Cut(strings.TrimPrefix(p.regions, "grid:"), "x")
	columns, err1 := strconv.Atoi(c)
	rows, err2 := strconv.Atoi(r)
	switch {
	case ok && err1 == nil && err2 == nil:
		if columns < 1 || rows < 1 || columns*rows > mostRegions {
			return nil, usagef("--regions %q: want 1 to %d cells", p.regions, mostRegions)
		}
		return splitGrid(in, columns, rows), nil
	case !strings.ContainsAny(p.regions, "./"):
		return nil, usagef("--regions %q: want columns and rows of a grid, such as 4x3, or a GeoJSON file", p.regions)
	}
	data, err := textfile.ReadFile(p.regions)
	if err != nil {
		return nil, err
	}
	regions, err := points.ParseRegions(data, in.CRS)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.regions, err)
	}
	var out []part
	held := make([]bool, in.Len())
	for _, region := range regions {
		inside := keepWhere(in, func(i int) bool {
			held[i] = held[i] || region.Contains(in.X[i], in.Y[i])
			return region.Contains(in.X[i], in.Y[i])
		})
		if len(inside.Features) >= 2 {
			out = append(out, part{region.Name, inside})
		}
	}
	left := 0
	for _, h := range held {
		if !h {
			left++
		}
	}
	a.summary("%d of %s have points of two features or more; %s lie in none", len(out),
		counted(len(regions), "region"), counted(left, "point"))
	return out, nil
}

// keepWhere returns a copy of the input with the points that keep accepts.
func keepWhere(in *points.Input, keep func(i int) bool) *points.Input {
	inside := *in
	inside.Set = in.Set.Where(keep)
	return &inside
}

// choose applies --hierarchy and --between to the points, and checks the names of --with.
func (p *partFlags) choose(a *app, in *points.Input) error {
	if p.hierarchy != "" {
		if err := p.climb(a, in); err != nil {
			return err
		}
	}
	if p.between != nil {
		numbers, err := featureNumbers(in, "between", p.between)
		if err != nil {
			return err
		}
		if len(numbers) < 2 {
			return usagef("--between: want two features or more")
		}
		in.Set = in.Set.Only(numbers)
	}
	_, err := featureNumbers(in, "with", p.with)
	return err
}

// climb replaces features by their parents or, with --level all, adds their parents.
func (p *partFlags) climb(a *app, in *points.Input) error {
	parent, err := readHierarchy(p.hierarchy)
	if err != nil {
		return err
	}
	p.parent = parent
	before := len(in.Features)
	if p.level == allLevels {
		in.Set = in.Set.Spread(func(name string) []string { return append([]string{name}, p.above(name)...) })
		a.summary("replaced %d features by %d of all levels", before, len(in.Features))
		return nil
	}
	level, _ := strconv.Atoi(p.level)
	missing := make(map[string]bool)
	in.Set = in.Set.Rename(func(name string) string {
		up := p.above(name)
		if len(up) < level {
			missing[name] = true
			return append([]string{name}, up...)[len(up)]
		}
		return up[level-1]
	})
	a.summary("replaced %d features by %d of level %d", before, len(in.Features), level)
	if len(missing) > 0 {
		names := slices.Sorted(maps.Keys(missing))
		few := strings.Join(names[:min(5, len(names))], ", ")
		if len(names) > 5 {
			few += " and others"
		}
		a.summary("kept %s without a parent of that level in %s: %s", counted(len(names), "feature"),
			p.hierarchy, few)
	}
	return nil
}

// allLevels is the value of --level for patterns across the levels of a hierarchy.
const allLevels = "all"

// above returns the ancestors of a feature, its parent first.
func (p *partFlags) above(name string) (up []string) {
	for n, ok := p.parent[name]; ok && n != name && !slices.Contains(up, n); n, ok = p.parent[n] {
		up = append(up, n)
	}
	return up
}

// unrelated drops the patterns with a feature and one of its ancestors, which are trivially
// together. Unless all is set, it keeps only the maximal ones of the rest.
func (p *partFlags) unrelated(in *points.Input, res *coloc.Result, all bool) {
	names := func(q coloc.Pattern) []string { return in.Names(q.Features) }
	res.Patterns = slices.DeleteFunc(res.Patterns, func(q coloc.Pattern) bool {
		return slices.ContainsFunc(names(q), func(n string) bool {
			return slices.ContainsFunc(p.above(n), func(up string) bool { return slices.Contains(names(q), up) })
		})
	})
	if all {
		return
	}
	kept := slices.Clone(res.Patterns)
	res.Patterns = slices.DeleteFunc(res.Patterns, func(q coloc.Pattern) bool {
		return slices.ContainsFunc(kept, func(o coloc.Pattern) bool {
			return len(o.Features) > len(q.Features) && !slices.ContainsFunc(q.Features,
				func(f int32) bool { return !slices.Contains(o.Features, f) })
		})
	})
}

// readHierarchy reads the file of --hierarchy and returns the parent of each feature.
func readHierarchy(path string) (map[string]string, error) {
	data, err := textfile.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := csv.NewReader(strings.NewReader(string(data)))
	c.FieldsPerRecord, c.TrimLeadingSpace = 2, true
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: want lines of a feature and its parent", path, err)
	}
	parent := make(map[string]string)
	for i, r := range rows {
		child, up := strings.TrimSpace(r[0]), strings.TrimSpace(r[1])
		if i == 0 && strings.EqualFold(up, "parent") {
			continue // a header
		}
		if old, ok := parent[child]; ok && old != up {
			return nil, fmt.Errorf("%s: %q has the parents %q and %q: want one", path, child, old, up)
		}
		parent[child] = up
	}
	if len(parent) == 0 {
		return nil, errors.New(path + ": no lines of a feature and its parent")
	}
	return parent, nil
}

// part is a region with its points.
type part struct {
	name string
	in   *points.Input
}

// splitGrid divides the points by the cells of a grid over their extent.
func splitGrid(in *points.Input, columns, rows int) []part {
	lowX, highX := slices.Min(in.X), slices.Max(in.X)
	lowY, highY := slices.Min(in.Y), slices.Max(in.Y)
	cell := func(v, low, high float64, n int) int {
		if high == low {
			return 0
		}
		return min(n-1, int((v-low)/(high-low)*float64(n)))
	}
	var out []part
	for r := range rows {
		for c := range columns {
			inside := keepWhere(in, func(i int) bool {
				return cell(in.X[i], lowX, highX, columns) == c && cell(in.Y[i], lowY, highY, rows) == r
			})
			if len(inside.Features) >= 2 {
				out = append(out, part{fmt.Sprintf("column %d, row %d", c+1, r+1), inside})
			}
		}
	}
	return out
}

// keepWith drops the patterns that do not contain all features of with.
func keepWith(in *points.Input, res *coloc.Result, with []string) {
	res.Patterns = slices.DeleteFunc(res.Patterns, func(p coloc.Pattern) bool {
		names := in.Names(p.Features)
		return slices.ContainsFunc(with, func(w string) bool { return !slices.Contains(names, w) })
	})
}
