package points

import (
	"strings"
	"testing"
)

const twoRegions = `{"type":"FeatureCollection","features":[
 {"type":"Feature","properties":{"name":"ring"},"geometry":{"type":"Polygon","coordinates":
  [[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]]}},
 {"type":"Feature","id":7,"properties":null,"geometry":{"type":"MultiPolygon","coordinates":
  [[[[20,0],[22,0],[21,5],[20,0]]],[[[30,0],[31,0],[31,1],[30,1],[30,0]]]]}}]}`

func TestRegionsHoldWhatLiesInThem(t *testing.T) {
	regions, err := ParseRegions([]byte(twoRegions), WGS84)
	if err != nil {
		t.Fatal(err)
	}
	if len(regions) != 2 || regions[0].Name != "ring" || regions[1].Name != "7" {
		t.Fatalf("regions %+v, want ring and 7", regions)
	}
	for _, c := range []struct {
		x, y   float64
		region int // -1: none
	}{{1, 1, 0}, {5, 5, -1}, {5, 3, 0}, {11, 5, -1}, {21, 3, 1}, {20.1, 3, -1}, {30.5, 0.5, 1}, {-1, 5, -1}} {
		for i, r := range regions {
			if r.Contains(c.x, c.y) != (i == c.region) {
				t.Errorf("(%v, %v) in region %s: got %v, want %v", c.x, c.y, r.Name, i != c.region,
					i == c.region)
			}
		}
	}
}

// Polygons are in longitude and latitude; points may be in a projected system.
func TestRegionsAreBroughtToThePoints(t *testing.T) {
	utm, err := ParseCRS("EPSG:32631")
	if err != nil {
		t.Fatal(err)
	}
	regions, err := ParseRegions([]byte(twoRegions), utm)
	if err != nil {
		t.Fatal(err)
	}
	x, y := utm.FromWGS84(3, 3)
	if !regions[0].Contains(x, y) {
		t.Errorf("%v, %v is not in %+v", x, y, regions[0].box)
	}
	for text, says := range map[string]string{
		twoRegions: "points.Plane",
		`{"type":"FeatureCollection","features":[]}`: "no polygon",
		`[]`: "want GeoJSON",
		`{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}`: "want a Polygon",
	} {
		to := WGS84
		if text == twoRegions {
			to = nil
		}
		if _, err := ParseRegions([]byte(text), to); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want an error with %q", text, err, says)
		}
	}
}

func FuzzRegions(f *testing.F) {
	f.Add([]byte(twoRegions))
	f.Fuzz(func(t *testing.T, data []byte) {
		regions, err := ParseRegions(data, WGS84)
		for _, r := range regions {
			r.Contains(1, 1)
		}
		if err == nil && len(regions) == 0 {
			t.Error("no regions and no error")
		}
	})
}
