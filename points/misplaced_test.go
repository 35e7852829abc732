package points

import (
	"fmt"
	"strings"
	"testing"
)

// Points around Berlin, spoilt in the usual ways, are found out; as they should be, they are not.
func TestSummaryFindsMisplacedPoints(t *testing.T) {
	utm := system(t, 25833)
	make := func(c *CRS, spoil func(x, y float64) (float64, float64)) *Set {
		var b Builder
		for i := range 300 {
			x, y := c.FromWGS84(13.2+0.001*float64(i%20), 52.4+0.002*float64(i/20))
			x, y = spoil(x, y)
			b.Add(x, y, fmt.Sprint("kind ", i%3))
		}
		s := b.Set()
		s.CRS = c
		return s
	}
	web := system(t, 3857)
	for _, v := range []struct {
		crs   *CRS
		spoil func(x, y float64) (float64, float64)
		want  string
	}{
		{utm, func(x, y float64) (float64, float64) { return x, y }, ""},
		{WGS84, func(x, y float64) (float64, float64) { return x, y }, ""},
		{utm, func(x, y float64) (float64, float64) { return y, x }, "x and y swapped"},
		{system(t, 4258), func(x, y float64) (float64, float64) { return -y, x + 40 }, "another system?"},
		{utm, func(x, y float64) (float64, float64) { return 100 * x, 100 * y }, "are they centimetres, not m, or is it another system?"},
		{utm, func(x, y float64) (float64, float64) { return 1000 * x, 1000 * y }, "are they millimetres, not m, or is it another system?"},
		{utm, func(x, y float64) (float64, float64) { return x / 1000, y / 1000 }, "are they kilometres, not m?"},
		{utm, func(x, y float64) (float64, float64) { return web.FromWGS84(utm.ToWGS84(x, y)) }, "as Web Mercator"},
		{utm, func(x, y float64) (float64, float64) { return 111319 * x, 111319 * y }, "projected twice"},
		{WGS84, func(x, y float64) (float64, float64) { return web.ToWGS84(x, y) }, "converted to degrees twice"},
		{utm, func(x, y float64) (float64, float64) { return x, y + 3e6 }, "another system?"},
	} {
		s, err := Summarise(t.Context(), make(v.crs, v.spoil), 1)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(s.Warnings, "; ")
		if !strings.Contains(said, v.want) || v.want == "" && said != "" {
			t.Errorf("%v: %q, want %q", v.crs, said, v.want)
		}
	}
	// Dutch positions that are said to be Belgian are no centimetres.
	dutch := &Set{X: []float64{116098, 116500, 124000}, Y: []float64{488946, 489100, 487000}, Feature: []int32{0, 0, 0},
		Features: []string{"a"}, CRS: system(t, 31370)}
	if said := misplaced(dutch); !strings.HasSuffix(said, ": is it another system?") {
		t.Errorf("Dutch positions in a Belgian system: %q", said)
	}
	// Across the date line.
	fiji := system(t, 3460)
	if fiji.used[0] < fiji.used[2] || !fiji.isUsedAt(179, -17) || !fiji.isUsedAt(-179.5, -17) || fiji.isUsedAt(0, -17) {
		t.Errorf("%v is used in %v", fiji, fiji.used)
	}
}
