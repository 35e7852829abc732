package points

import (
	"math"
	"strings"
	"testing"

	epsgtable "github.com/collocate/collocate/internal/epsg"
)

// The well-known text of each system of the table gives the same positions, also to readers that do
// not look its number up.
func TestWellKnownTextOfEPSG(t *testing.T) {
	custom, all := 0, 0
	for code := range 40_000 {
		e, ok := epsgtable.Lookup(code)
		if !ok || e.Positions != 0 || strings.HasSuffix(e.Name, epsgtable.Grads) {
			continue
		}
		want, err := epsg(code)
		if err != nil || !want.Convertible() {
			continue
		}
		text := want.WellKnownText()
		root, err := (&wktParser{s: text}).node()
		if err != nil {
			t.Fatalf("%d: %v: %s", code, err, text)
		}
		all++
		var got *CRS
		if p := root.child("EXTENSION"); p != nil {
			custom++
			got, err = parsePROJ(p.text[1])
		} else {
			got, err = systemOf(root, text)
		}
		if err != nil || !got.Convertible() {
			t.Fatalf("%d: %v, %+v: %s", code, err, got, text)
		}
		lon, lat := (e.Area[0]+e.Area[2])/2+0.1, (e.Area[1]+e.Area[3])/2+0.1
		if e.Area[2] < e.Area[0] {
			lon = e.Area[0] + 0.5
		}
		x, y := want.FromWGS84(lon, lat)
		u, v := got.FromWGS84(lon, lat)
		margin := 1e-6 / max(want.metres, 1e-3)
		if want.geographic {
			margin = 1e-11
		}
		if !(math.Abs(x-u) < margin && math.Abs(y-v) < margin) && !math.IsNaN(x) {
			t.Errorf("%d (%s): (%v, %v), want (%v, %v): %s", code, e.PROJ, u, v, x, y, text)
		}
	}
	t.Logf("%d systems, %d of them with a projection that has no name in well-known text", all, custom)
	if all < 5000 || custom > 100 {
		t.Errorf("%d systems, %d without a name of their projection: want more than 5,000, and at most 100", all, custom)
	}
	for code, positions := range map[string]int{"EPSG:7415": 28992, "EPSG:4979": 4326} {
		if c, err := ParseCRS(code); err != nil || c.EPSG != positions {
			t.Errorf("%s: %v, %v; want the positions of EPSG:%d", code, c, err, positions)
		}
	}
	in, err := Read(strings.NewReader("x,y,type\n116098,488946,a\n"), ReadOptions{CRS: must(ParseCRS("EPSG:7415"))})
	if err != nil || in.CRS.EPSG != 28992 || !strings.Contains(strings.Join(in.Guesses, " "),
		"EPSG:7415 has heights, which are not used: positions are in EPSG:28992 (Amersfoort / RD New)") {
		t.Errorf("%v, %v, %q", in, err, in.Guesses)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
