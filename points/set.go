package points

import (
	"fmt"
	"math"
	"slices"
)

// Set is a set of points. Point i is at (X[i], Y[i]) and has the feature Features[Feature[i]];
// Features is sorted and has no duplicates. Coordinates are in any unit in a plane, or longitude
// (X) and latitude (Y) in degrees; CRS says which, if it is known.
type Set struct {
	X, Y     []float64 // coordinates of each point
	Feature  []int32   // feature of each point, an index into Features
	Features []string  // names of the features, in ascending order
	Time     []int64   // seconds since 1970 of each point; nil without times
	CRS      *CRS      // nil means unknown
	Window   *Window   // study area; nil means that statistics that need one estimate it

	least int     // of the points of a feature that are kept, for DropRare
	rows  []int32 // of the input, from 0, by point; nil if no points were left out
}

// Row returns the number of a point in the input, from 1, also if points before it were left out.
func (p *Set) Row(point int32) int {
	if p.rows != nil {
		point = p.rows[point]
	}
	return int(point) + 1
}

// Len returns the number of points.
func (p *Set) Len() int { return len(p.X) }

// Names returns the features' names.
func (p *Set) Names(features []int32) []string {
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = p.Features[f]
	}
	return names
}

// Totals counts the points of each feature.
func (p *Set) Totals() []int64 {
	total := make([]int64, len(p.Features))
	for _, f := range p.Feature {
		total[f]++
	}
	return total
}

// MaxCoordinate is the largest absolute value that a coordinate may have. It keeps squares and sums
// of squares far from overflow.
const MaxCoordinate = 1e150

// CheckPosition returns an error if a position is not valid.
func CheckPosition(x, y float64, geographic bool) error {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(y) || math.IsInf(y, 0):
		return fmt.Errorf("position (%v, %v) is not finite", x, y)
	case geographic && (y < -90 || y > 90):
		return fmt.Errorf("latitude %.10g is not between -90 and 90", y)
	case geographic && (x < -360 || x > 360):
		return fmt.Errorf("longitude %.10g is not between -360 and 360", x)
	case math.Abs(x) > MaxCoordinate || math.Abs(y) > MaxCoordinate:
		return fmt.Errorf("position (%v, %v) is larger than %g", x, y, MaxCoordinate)
	}
	return nil
}

// LooksGeographic reports whether positions of a plane, or of an unknown system, could be
// longitudes and latitudes: there nothing or everything would be near. Integers do not look like
// degrees.
func (p *Set) LooksGeographic() bool {
	if p.CRS.Geographic() || p.Len() < 2 {
		return false
	}
	whole := true
	for i, x := range p.X {
		y := p.Y[i]
		if math.Abs(x) > 180 || math.Abs(y) > 90 {
			return false
		}
		whole = whole && x == math.Trunc(x) && y == math.Trunc(y)
	}
	return !whole && (slices.Max(p.X) > slices.Min(p.X) || slices.Max(p.Y) > slices.Min(p.Y))
}

// Builder collects points whose features are given by name.
type Builder struct {
	x, y    []float64
	feature []int32
	time    []int64
	names   []string
	id      map[string]int32
	last    int32 // the number of the feature added last
}

// Add appends a point. Its position is checked when the set is used.
func (b *Builder) Add(x, y float64, feature string) { b.add(x, y, []byte(feature)) }

func (b *Builder) add(x, y float64, feature []byte) {
	id := b.last // consecutive points often have the same feature
	ok := int(id) < len(b.names) && b.names[id] == string(feature)
	if !ok {
		id, ok = b.id[string(feature)]
	}
	if !ok {
		if b.id == nil {
			b.id = make(map[string]int32)
		}
		id = int32(len(b.names))
		b.names = append(b.names, string(feature))
		b.id[b.names[id]] = id
	}
	b.last = id
	b.x, b.y, b.feature = append(b.x, x), append(b.y, y), append(b.feature, id)
}

// addSet appends the points of another set.
func (b *Builder) addSet(p *Set) {
	for i, f := range p.Feature {
		b.Add(p.X[i], p.Y[i], p.Features[f])
	}
	b.time = append(b.time, p.Time...)
}

// Set returns the points in the order in which they were added, with the features sorted by name.
// The builder must not be used afterwards.
func (b *Builder) Set() *Set {
	sorted := slices.Clone(b.names)
	slices.Sort(sorted)
	rank := make([]int32, len(sorted))
	for i, name := range sorted {
		rank[b.id[name]] = int32(i)
	}
	for i, f := range b.feature {
		b.feature[i] = rank[f]
	}
	return &Set{X: b.x, Y: b.y, Feature: b.feature, Features: sorted, Time: b.time}
}

// Only returns the points of some features.
func (p *Set) Only(features []int32) *Set {
	keep := make([]bool, len(p.Features))
	for _, f := range features {
		keep[f] = true
	}
	return p.filter(func(f int32) bool { return keep[f] }, func(int) bool { return true })
}

// Where returns the points for which keep returns true.
func (p *Set) Where(keep func(i int) bool) *Set {
	return p.filter(func(int32) bool { return true }, keep)
}

// filter keeps some points, and the features that have any left.
func (p *Set) filter(feature func(f int32) bool, point func(i int) bool) *Set {
	var b Builder
	var rows []int32
	for i, f := range p.Feature {
		if feature(f) && point(i) {
			rows = append(rows, int32(p.Row(int32(i)))-1)
			b.Add(p.X[i], p.Y[i], p.Features[f])
			if p.Time != nil {
				b.time = append(b.time, p.Time[i])
			}
		}
	}
	out := b.Set()
	out.CRS, out.Window, out.least, out.rows = p.CRS, p.Window, p.least, rows
	return out
}

// Rename returns the points with their features renamed. Features that get the same name are
// merged.
func (p *Set) Rename(name func(feature string) string) *Set {
	var b Builder
	for i, f := range p.Feature {
		b.Add(p.X[i], p.Y[i], name(p.Features[f]))
	}
	b.time = p.Time
	out := b.Set()
	out.CRS, out.Window, out.least, out.rows = p.CRS, p.Window, p.least, p.rows
	return out
}

// Spread replaces each point by one point for each name that names returns for its feature.
func (p *Set) Spread(names func(feature string) []string) *Set {
	all := make([][]string, len(p.Features))
	for f, name := range p.Features {
		all[f] = names(name)
	}
	var b Builder
	var rows []int32
	for i, f := range p.Feature {
		for _, name := range all[f] {
			rows = append(rows, int32(p.Row(int32(i)))-1)
			b.Add(p.X[i], p.Y[i], name)
			if p.Time != nil {
				b.time = append(b.time, p.Time[i])
			}
		}
	}
	out := b.Set()
	out.CRS, out.Window, out.least, out.rows = p.CRS, p.Window, p.least, rows
	return out
}

// DropRare drops the features of which fewer points are left than WithoutRare or
// ReadOptions.MinPoints asked for, in a part of the points that were read.
func (p *Set) DropRare() *Set { return p.WithoutRare(p.least) }

// WithoutRare drops the features with fewer than least points, and their points. Clip and DropRare
// do the same again with what is returned.
func (p *Set) WithoutRare(least int) *Set {
	id := make([]int32, len(p.Features))
	p.least = least
	kept := &Set{CRS: p.CRS, Window: p.Window, least: least}
	for f, n := range p.Totals() {
		id[f] = -1
		if n >= int64(least) {
			id[f] = int32(len(kept.Features))
			kept.Features = append(kept.Features, p.Features[f])
		}
	}
	if len(kept.Features) == len(p.Features) {
		return p
	}
	for i, f := range p.Feature {
		if id[f] >= 0 {
			kept.rows = append(kept.rows, int32(p.Row(int32(i)))-1)
			kept.X, kept.Y = append(kept.X, p.X[i]), append(kept.Y, p.Y[i])
			kept.Feature = append(kept.Feature, id[f])
			if p.Time != nil {
				kept.Time = append(kept.Time, p.Time[i])
			}
		}
	}
	return kept
}
