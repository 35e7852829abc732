package points

import (
	"strings"
	"testing"
)

// The least number of points of a feature counts those in the window.
func TestClipDropsFeaturesThatBecomeRare(t *testing.T) {
	const text = "x,y,type\n1,1,a\n2,2,a\n3,3,b\n90,90,b\n91,91,b\n4,4,c\n5,5,c\n"
	for least, want := range map[int]string{0: "a b c", 2: "a c"} {
		in, err := Read(strings.NewReader(text), ReadOptions{CRS: Plane, MinPoints: least})
		if err != nil {
			t.Fatal(err)
		}
		in.Window, err = ParseWindow([]byte("POLYGON ((0 0, 9 0, 9 9, 0 9))"), Plane)
		if err != nil {
			t.Fatal(err)
		}
		out, outside, err := in.Clip(t.Context())
		if err != nil || outside != 2 || strings.Join(out.Features, " ") != want {
			t.Errorf("at least %d points: %v of %d outside, %v; want %s of 2", least, out.Features, outside, err, want)
		}
	}
}

func TestWindowsOfPostGIS(t *testing.T) {
	utm, err := ParseCRS("EPSG:25832")
	if err != nil {
		t.Fatal(err)
	}
	w, err := ParseWindow([]byte("SRID=4326;POLYGON ((8.99 51.44, 9.01 51.44, 9.01 51.47, 8.99 51.47, 8.99 51.44))"), utm)
	if err != nil || !w.Contains(500000, 5.7e6) || w.Contains(501000, 5.7e6) {
		t.Errorf("a window in WGS 84: %v, %v", w, err)
	}
	if _, err := ParseWindow([]byte("POLYGON EMPTY"), utm); err == nil || !strings.Contains(err.Error(), "no polygon") {
		t.Errorf("an empty window: %v", err)
	}
}

// Points at one position, or on a line along an axis, end with an answer or an error.
func TestPointsWithoutAnArea(t *testing.T) {
	for _, text := range []string{"1,1,a\n1,1,b\n", "1,1,a\n2,1,b\n3,1,a\n", "1,1,a\n1,2,b\n1,3,a\n",
		"1,1,a\n2,2,b\n3,3,a\n", "116000.1,7,a\n116001.1,7.3333333,b\n116003.1,8,a\n"} {
		in, err := Read(strings.NewReader("x,y,type\n"+text), ReadOptions{CRS: Plane})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := Summarise(t.Context(), in.Set, 1); err != nil || s.Points != in.Len() {
			t.Errorf("%q: summary %v, %v", text, s, err)
		}
		if _, err := Curves(t.Context(), in.Set, CurveOptions{Rounds: 9}); err == nil {
			t.Errorf("%q has curves", text)
		}
		if _, err := NewNullModel(t.Context(), in.Set, NullOptions{}); err == nil || !strings.Contains(err.Error(), "on one line") {
			t.Errorf("%q: error %v, want one that says that they are on one line", text, err)
		}
	}
}

// Points on a meridian or on a line of longitude and latitude, which is bent in the plane, are on a
// line; a narrow strip of points is not.
func TestLinesOfLongitudeAndLatitude(t *testing.T) {
	for text, line := range map[string]bool{"4,52,a\n5,53,b\n6,54,a\n": true, "4,52,a\n4,53,b\n4,54,a\n": true,
		"4,52,a\n5,53,b\n6,54,a\n5,53.001,b\n": false} {
		in, err := Read(strings.NewReader("lon,lat,type\n"+text), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewNullModel(t.Context(), in.Set, NullOptions{}); (err != nil) != line {
			t.Errorf("%q: error %v, on a line: %v", text, err, line)
		}
	}
}

// A window whose axes are swapped is named as such, whether points outside are refused or left out.
func TestWindowsWithSwappedAxes(t *testing.T) {
	in, err := Read(strings.NewReader("lon,lat,type\n4.88,52.37,a\n4.881,52.371,b\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"POLYGON((52.36 4.87,52.36 4.9,52.38 4.9,52.38 4.87))": "with x and y of the window swapped, they lie inside",
		"POLYGON((42.36 4.87,42.36 4.9,42.38 4.9,42.38 4.87))": "window",
	} {
		if in.Window, err = ParseWindow([]byte(text), in.CRS); err != nil {
			t.Fatal(err)
		}
		_, _, err := in.StudyArea(t.Context())
		_, _, clipped := in.Clip(t.Context())
		for _, err := range []error{err, clipped} {
			if err == nil || !strings.Contains(err.Error(), want) ||
				(want == "window") == strings.Contains(err.Error(), "swapped") {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		}
	}
}
