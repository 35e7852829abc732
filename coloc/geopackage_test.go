package coloc

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/points"
)

// The layers have each participating point with its patterns, one instance or more of each pattern,
// and each pattern. A point in no instance is left out.
func TestGeoPackageLayers(t *testing.T) {
	pts := &Points{X: []float64{0, 1, 2, 900}, Y: []float64{5, 5, 5, 900}, Feature: []int32{0, 1, 2, 0},
		Features: []string{"fern", "moss", "oak"}}
	s := mustSurvey(t, pts, Options{Distance: 1, MinPrevalence: 0.5})
	res, err := s.Mine(t.Context())
	if err != nil || len(res.Patterns) != 2 {
		t.Fatalf("patterns %v, %v; want two pairs", res, err)
	}
	path := filepath.Join(t.TempDir(), "out.gpkg")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.WriteGeoPackage(t.Context(), f, res.Patterns, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	in, err := points.ReadFile(path, points.ReadOptions{Layer: "points", Feature: "feature"})
	if err != nil {
		t.Fatal(err)
	}
	if in.Len() != 3 || in.X[0] != 0 || in.X[1] != 1 || in.X[2] != 2 {
		t.Errorf("points at %v; want the three that have neighbours", in.X)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range []string{"fern, moss", "moss, oak"} {
		if n := bytes.Count(data, []byte(pair)); n != 2 {
			t.Errorf("%s is there %d times; want an instance and the pattern", pair, n)
		}
	}
	report := NewReport(pts, res)
	report.Null, report.Rounds, report.StudyArea, report.Bandwidth = "inhomogeneous", 99, 2.5, 0.75
	f, err = os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.WriteGeoPackage(t.Context(), f, res.Patterns, report), f.Close()); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if test := []byte("inhomogeneousc@\x04\x00\x00\x00\x00\x00\x00?\xe8"); bytes.Count(data, test) != 2 {
		t.Errorf("the file has no %q, the rounds, area and bandwidth of the two patterns", test)
	}
	if both := []byte("moss\x021,2"); !bytes.Contains(data, both) { // the point in row 2
		t.Errorf("the file has no %q, the point of both patterns", both)
	}
}

// fullDisk takes a number of bytes, and no more.
type fullDisk struct{ room, used int }

var errNoSpace = errors.New("no space left")

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.used += len(p); f.used > f.room {
		return 0, errNoSpace
	}
	return len(p), nil
}

func (f *fullDisk) WriteAt(p []byte, _ int64) (int, error) { return f.Write(p) }

// A disk that is full is an error in whichever layer it happens. Names are long, so that each of
// the three layers fills the buffer before its last row.
func TestGeoPackageOnAFullDisk(t *testing.T) {
	pts := &Points{}
	for i := range 4 {
		pts.Features = append(pts.Features, strings.Repeat(string(rune('a'+i)), 400_000))
		pts.X, pts.Y = append(pts.X, float64(i)), append(pts.Y, 0)
		pts.Feature = append(pts.Feature, int32(i))
	}
	s := mustSurvey(t, pts, Options{Distance: 10, MinPrevalence: 0.5, All: true})
	res, err := s.Mine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := &fullDisk{room: 1 << 40}
	if err := s.WriteGeoPackage(t.Context(), all, res.Patterns, nil); err != nil || len(res.Patterns) < 6 {
		t.Fatalf("%d patterns, %v; want each pair", len(res.Patterns), err)
	}
	for room := 0; room < all.used; room += 1 << 20 {
		if err := s.WriteGeoPackage(t.Context(), &fullDisk{room: room}, res.Patterns, nil); err != errNoSpace {
			t.Errorf("room for %d of %d bytes: %v, want %v", room, all.used, err, errNoSpace)
		}
	}
}

// A GeoPackage and a GeoJSON are written in the system in which the points came.
func TestMapsKeepTheReferenceSystem(t *testing.T) {
	const system = "+proj=tmerc +lon_0=15 +k=0.9999 +ellps=bessel +towgs84=598,74,418"
	crs, err := points.ParseCRS(system)
	if err != nil {
		t.Fatal(err)
	}
	pts := &Points{X: []float64{1000, 1001}, Y: []float64{5e6, 5e6}, Feature: []int32{0, 1}, Features: []string{"fern", "moss"}, CRS: crs}
	s := mustSurvey(t, pts, Options{Distance: 2, MinPrevalence: 0.5})
	res, err := s.Mine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "out.gpkg")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.WriteGeoPackage(t.Context(), f, res.Patterns, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	in, err := points.ReadFile(path, points.ReadOptions{Layer: "points", Feature: "feature"})
	if err != nil {
		t.Fatal(err)
	}
	if in.X[0] != 1000 || in.CRS.Definition != system {
		t.Errorf("x %v in %v; want 1000 in %s", in.X[0], in.CRS, system)
	}
	const geo = `{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:28992"}},"features":[
{"type":"Feature","properties":{"kind":"fern"},"geometry":{"type":"Point","coordinates":[155000,463000]}},
{"type":"Feature","properties":{"kind":"moss"},"geometry":{"type":"Point","coordinates":[155001,463000]}}]}`
	if in, err = points.Read(strings.NewReader(geo), points.ReadOptions{}); err != nil {
		t.Fatal(err)
	}
	s = mustSurvey(t, in.Set, Options{Distance: 2, MinPrevalence: 0.5})
	var out bytes.Buffer
	if res, err = s.Mine(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteGeoJSON(t.Context(), &out, res.Patterns, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"crs":{"type":"name","properties":{"name":"EPSG:28992"}}`, `[155000,463000]`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}

// Tables of patterns have the results of tests.
func TestMapsHaveTheResultsOfTests(t *testing.T) {
	s := mustSurvey(t, crowdedPoints(rand.New(rand.NewPCG(1, 9)), 60, 2, 10), Options{Distance: 1.5, MinPrevalence: 0.1})
	res, err := s.Mine(t.Context())
	if err != nil || len(res.Patterns) == 0 {
		t.Fatalf("patterns %v, %v", res, err)
	}
	report := NewReport(s.pts, res)
	tests, err := s.Significance(t.Context(), res.Patterns, SignificanceOptions{Rounds: 9, Null: points.Relabel})
	if err != nil {
		t.Fatal(err)
	}
	report.AddSignificance(tests, 1)
	report.Unit = "furlongs"
	s.pts.CRS = points.Plane
	var out bytes.Buffer
	if err := s.WriteGeoJSON(t.Context(), &out, res.Patterns, report); err != nil ||
		!strings.Contains(out.String(), `"q_value":`) || !strings.Contains(out.String(), `"expected_index":`) {
		t.Errorf("GeoJSON: %v\n%.300s", err, out.String())
	}
	path := filepath.Join(t.TempDir(), "out.gpkg")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.WriteGeoPackage(t.Context(), f, res.Patterns, report), f.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(data, []byte("furlongs")) || !bytes.Contains(data, []byte("q_value")) {
		t.Errorf("GeoPackage without the unit and q: %v", err)
	}
}
