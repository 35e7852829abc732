package points

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpkg"
)

// Points on one line have no area in which others could be drawn; only labels can be exchanged.
func TestNullsNeedAnArea(t *testing.T) {
	line := &Set{X: []float64{1, 2, 3, 4}, Y: []float64{5, 5, 5, 5}, Feature: []int32{0, 1, 0, 1},
		Features: []string{"a", "b"}}
	for _, null := range []Null{Shift, Relabel, Cluster, Inhomogeneous} {
		_, err := NewNullModel(t.Context(), line, NullOptions{Null: null, Bandwidth: 1})
		if ok := null == Relabel; ok != (err == nil) || !ok && !strings.Contains(err.Error(), "on one line") {
			t.Errorf("%v: error %v, want one only if positions are drawn", null, err)
		}
	}
}

// Of equally near points those with the lower numbers are the nearest.
func TestNearestPointsWithTies(t *testing.T) {
	p := &Set{Features: []string{"a"}}
	for _, at := range [][2]float64{{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {5, 5}} {
		p.X, p.Y, p.Feature = append(p.X, at[0]), append(p.Y, at[1]), append(p.Feature, 0)
	}
	l, err := layOut(p)
	if err != nil {
		t.Fatal(err)
	}
	c := newCells(l, 0)
	for at, point := range c.point {
		if point != 0 {
			continue
		}
		if got := c.nearestPoints(c.x[at], c.y[at], int32(at), 2); !slices.Equal(got, []int32{1, 2}) {
			t.Errorf("the nearest of four at the same distance are %v, want 1 and 2", got)
		}
	}
}

// A feature of few points shows no clusters: the null model spreads it over the area.
func TestFewPointsAreNotDrawnAsACluster(t *testing.T) {
	m, err := NewNullModel(t.Context(), drawn(5, 9, 1, 0), NullOptions{Null: Cluster, Bandwidth: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, far := m.draw(t.Context(), 1, 0, nil), 0.0
	for i := range l.x {
		far = max(far, math.Hypot(l.x[i]-l.x[0], l.y[i]-l.y[0]))
	}
	if far < l.width/4 {
		t.Errorf("nine points were drawn within %v of each other, in an area of width %v", far, l.width)
	}
}

// A point at exactly the largest distance is a neighbour there, for both curves.
func TestTheLargestDistanceCounts(t *testing.T) {
	p := &Set{X: []float64{0, 6, 100}, Y: []float64{0, 8, 100}, Feature: []int32{0, 1, 0},
		Features: []string{"a", "b"}}
	curves, err := Curves(t.Context(), p, CurveOptions{Most: 10, Bins: 2, Rounds: 1, Null: Relabel})
	if err != nil {
		t.Fatal(err)
	}
	c := curves[0]
	if !(c.K[0] == 0 && c.K[1] > 0) || c.Index[0] != 0 || c.Index[1] != 0.5 {
		t.Errorf("at 5 and 10: K %v, index %v; want K above 0 and half of the points only at 10", c.K, c.Index)
	}
}

// Files are read together only if their positions can be brought into one system.
func TestFilesThatCannotBeReadTogether(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fails := func(want string, paths ...string) {
		t.Helper()
		if _, err := ReadFiles(t.Context(), paths, ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", paths, err, want)
		}
	}
	plane := write("plane.csv", "x,y,type\n1,2,a\n")
	degrees := write("degrees.csv", "lon,lat,type\n1,2,a\n")
	fails("cannot be converted", plane, degrees)
	fails("cannot be converted", degrees, plane)
	fails("want CSV", write("binary.csv", "\x00\x01\x02\x00\x00\x07"))
	empty := filepath.Join(folder, "empty")
	if err := os.Mkdir(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	fails("no files with points", empty)
}

// Changes that SQLite keeps beside a GeoPackage would be lost; an empty file of them has none.
func TestGeoPackagesWithChangesBeside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "places.gpkg")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = gpkg.Write(f, gpkg.Plane, []gpkg.Layer{{Name: "places", Geometry: "POINT",
		Columns: []gpkg.Column{{Name: "kind", Type: "TEXT"}}, Rows: func(yield func(gpkg.Row) bool) {
			yield(gpkg.Row{Lines: [][][2]float64{{{3, 4}}}, Values: []any{"cafe"}})
		}}})
	if err != nil {
		t.Fatal(err)
	}
	for beside, want := range map[string]string{"": "", "changes": "recent changes"} {
		if err := os.WriteFile(path+"-wal", []byte(beside), 0o666); err != nil {
			t.Fatal(err)
		}
		in, err := ReadFile(path, ReadOptions{})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q beside the file: error %v, want %q", beside, err, want)
			}
		} else if err != nil || in.Len() != 1 || in.CRS != Plane {
			t.Errorf("an empty file beside it: %v", err)
		}
	}
}
