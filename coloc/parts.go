package coloc

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/collocate/collocate/points"
)

// Part is a part of the map with its points, to be mined apart from others.
type Part struct {
	Name   string  // of the region or the cell
	Points *Points // of two features or more; without the study area of the whole map
}

// Cells divides the points by the cells of a grid over their extent. Each cell drops the features
// of which it has too few points; see points.Set.DropRare. Cells with points of fewer than two
// features are left out.
func Cells(pts *Points, columns, rows int) (parts []Part) {
	if pts.Len() == 0 {
		return nil
	}
	lowX, highX := slices.Min(pts.X), slices.Max(pts.X)
	lowY, highY := slices.Min(pts.Y), slices.Max(pts.Y)
	cell := func(v, low, high float64, n int) int {
		if high == low {
			return 0
		}
		return min(n-1, int((v-low)/(high-low)*float64(n)))
	}
	for r := range rows {
		for c := range columns {
			inside := pts.Where(func(i int) bool {
				return cell(pts.X[i], lowX, highX, columns) == c && cell(pts.Y[i], lowY, highY, rows) == r
			}).DropRare()
			inside.Window = nil
			if len(inside.Features) >= 2 {
				parts = append(parts, Part{fmt.Sprintf("column %d, row %d", c+1, r+1), inside})
			}
		}
	}
	return parts
}

// Regions divides the points by polygons, which may overlap. Each region drops the features of
// which it has too few points; see points.Set.DropRare. Regions with points of fewer than two
// features are left out. It also returns the number of points that lie in no region.
func Regions(pts *Points, regions []points.Region) (parts []Part, outside int) {
	held := make([]bool, pts.Len())
	for _, region := range regions {
		inside := pts.Where(func(i int) bool {
			in := region.Contains(pts.X[i], pts.Y[i])
			held[i] = held[i] || in
			return in
		}).DropRare()
		inside.Window = nil
		if len(inside.Features) >= 2 {
			parts = append(parts, Part{region.Name, inside})
		}
	}
	for _, h := range held {
		if !h {
			outside++
		}
	}
	return parts, outside
}

// Hierarchy has the parent of each feature that has one. Parents may have parents.
type Hierarchy map[string]string

// ParseHierarchy reads CSV lines of a feature and its parent. A header whose second name is parent
// is skipped.
func ParseHierarchy(data []byte) (Hierarchy, error) {
	c := csv.NewReader(strings.NewReader(string(data)))
	c.FieldsPerRecord, c.TrimLeadingSpace = 2, true
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%w: want lines of a feature and its parent", err)
	}
	h := Hierarchy{}
	for i, r := range rows {
		child, up := strings.TrimSpace(r[0]), strings.TrimSpace(r[1])
		if i == 0 && strings.EqualFold(up, "parent") {
			continue
		}
		if old, ok := h[child]; ok && old != up {
			return nil, fmt.Errorf("%q has the parents %q and %q: want one", child, old, up)
		}
		h[child] = up
	}
	if len(h) == 0 {
		return nil, errors.New("no lines of a feature and its parent")
	}
	return h, nil
}

// Above returns the ancestors of a feature, its parent first.
func (h Hierarchy) Above(feature string) (up []string) {
	for n, ok := h[feature]; ok && n != feature && !slices.Contains(up, n); n, ok = h[n] {
		up = append(up, n)
	}
	return up
}

// Lift replaces the features of points by their ancestors of a level, 1 for parents. Features with
// fewer ancestors become their last one, or stay; their names are returned.
func (h Hierarchy) Lift(pts *Points, level int) (lifted *Points, short []string) {
	missing := make(map[string]bool)
	lifted = pts.Rename(func(name string) string {
		up := h.Above(name)
		if len(up) < level {
			missing[name] = true
			return append([]string{name}, up...)[len(up)]
		}
		return up[level-1]
	})
	return lifted, slices.Sorted(maps.Keys(missing))
}

// Spread adds to each point a point of each ancestor of its feature.
func (h Hierarchy) Spread(pts *Points) *Points {
	return pts.Spread(func(name string) []string { return append([]string{name}, h.Above(name)...) })
}

// Unrelated drops the patterns of spread points with a feature and one of its ancestors, which are
// trivially together. Unless all is set, it keeps only the maximal ones of the rest.
func (h Hierarchy) Unrelated(pts *Points, r *Result, all bool) {
	r.Patterns = slices.DeleteFunc(r.Patterns, func(q Pattern) bool {
		names := pts.Names(q.Features)
		return slices.ContainsFunc(names, func(n string) bool {
			return slices.ContainsFunc(h.Above(n), func(up string) bool { return slices.Contains(names, up) })
		})
	})
	if all {
		return
	}
	kept := slices.Clone(r.Patterns)
	r.Patterns = slices.DeleteFunc(r.Patterns, func(q Pattern) bool {
		return slices.ContainsFunc(kept, func(o Pattern) bool {
			return len(o.Features) > len(q.Features) && !slices.ContainsFunc(q.Features,
				func(f int32) bool { return !slices.Contains(o.Features, f) })
		})
	})
}

// With keeps the patterns that have all of these features.
func (r *Result) With(features []int32) {
	r.Patterns = slices.DeleteFunc(r.Patterns, func(p Pattern) bool {
		return slices.ContainsFunc(features, func(f int32) bool { return !slices.Contains(p.Features, f) })
	})
}
