package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/points"
)

// partFlags ask for a part of the patterns, of the features or of the map.
type partFlags struct {
	with      []string
	between   []string
	within    string
	hierarchy string
	level     int
	regions   string
}

func (p *partFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&p.with, "with", nil, "only patterns that hold all of these features")
	f.StringSliceVar(&p.between, "between", nil, "only patterns of these features")
	f.StringVar(&p.within, "within", "",
		"neighbours are also at most this long apart, such as 7d, 12h or 30m; with --time")
	f.StringVar(&p.hierarchy, "hierarchy", "", "`FILE` of CSV lines feature,parent: take parents for features")
	f.IntVar(&p.level, "level", 1, "with --hierarchy: parents of so many levels up")
	f.StringVar(&p.regions, "regions", "", "mine each cell of a grid over the map on its own, such as 4x3")
}

// duration reads a time span in seconds.
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

// grid reads columns and rows of regions; 0: none.
func (p *partFlags) grid() (columns, rows int, err error) {
	if p.regions == "" {
		return 0, 0, nil
	}
	c, r, ok := strings.Cut(strings.TrimPrefix(p.regions, "grid:"), "x")
	columns, err1 := strconv.Atoi(c)
	rows, err2 := strconv.Atoi(r)
	if !ok || err1 != nil || err2 != nil || columns < 1 || rows < 1 || columns*rows > 10_000 {
		return 0, 0, usagef("--regions %q: want columns and rows of a grid, such as 4x3", p.regions)
	}
	return columns, rows, nil
}

// choose narrows the points down to what is asked for.
func (p *partFlags) choose(a *app, in *points.Input) error {
	if p.hierarchy != "" {
		parent, err := readHierarchy(p.hierarchy)
		if err != nil {
			return err
		}
		missing := make(map[string]bool)
		before := len(in.Features)
		in.Set = in.Set.Rename(func(name string) string {
			for range p.level {
				up, ok := parent[name]
				if !ok {
					missing[name] = true
					break
				}
				name = up
			}
			return name
		})
		a.summary("%d features became %d of level %d", before, len(in.Features), p.level)
		if len(missing) > 0 {
			names := make([]string, 0, len(missing))
			for n := range missing {
				names = append(names, n)
			}
			slices.Sort(names)
			a.summary("%d features have no parent of that level in %s and stay: %s", len(names),
				p.hierarchy, strings.Join(names[:min(5, len(names))], ", "))
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

// readHierarchy reads lines of a feature and its parent.
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

// split cuts the points' extent into a grid; a region without two features is left
// out.
func split(in *points.Input, columns, rows int) []part {
	if columns == 0 || in.Len() == 0 {
		return []part{{"", in}}
	}
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
			inside := *in
			inside.Set = in.Set.Where(func(i int) bool {
				return cell(in.X[i], lowX, highX, columns) == c && cell(in.Y[i], lowY, highY, rows) == r
			})
			if len(inside.Features) >= 2 {
				out = append(out, part{fmt.Sprintf("column %d, row %d", c+1, r+1), &inside})
			}
		}
	}
	return out
}

// keepWith drops the patterns that do not hold all the features.
func keepWith(in *points.Input, res *coloc.Result, with []string) {
	res.Patterns = slices.DeleteFunc(res.Patterns, func(p coloc.Pattern) bool {
		names := in.Names(p.Features)
		return slices.ContainsFunc(with, func(w string) bool { return !slices.Contains(names, w) })
	})
}
