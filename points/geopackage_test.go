package points

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpkg"
)

// What package gpkg writes is read back: B-trees of one to three levels, and rows longer than a
// page.
func TestWrittenGeoPackagesAreRead(t *testing.T) {
	for _, n := range []int{0, 1, 7, 3000, 60_000} {
		path := filepath.Join(t.TempDir(), "out.gpkg")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		name := func(i int) string {
			if i%1000 == 3 {
				return strings.Repeat("long ", 900+i%7) + "name"
			}
			return fmt.Sprint("kind ", i%5)
		}
		err = gpkg.Write(f, gpkg.System{EPSG: 32631, Name: "WGS 84 / UTM zone 31N"}, []gpkg.Layer{{
			Name: "points", Geometry: "POINT", Columns: []gpkg.Column{{Name: "kind", Type: "TEXT"}},
			Rows: func(yield func(gpkg.Row) bool) {
				for i := range n {
					at := [2]float64{float64(i), float64(n - i)}
					if !yield(gpkg.Row{Lines: [][][2]float64{{at}}, Values: []any{name(i)}}) {
						return
					}
				}
			}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		in, err := ReadFile(path, ReadOptions{Feature: "kind"})
		if err != nil {
			t.Fatalf("%d points: %v", n, err)
		}
		if in.Len() != n || n > 0 && in.CRS.EPSG != 32631 {
			t.Fatalf("%d points in %v, want %d", in.Len(), in.CRS, n)
		}
		for i := range n {
			if in.X[i] != float64(i) || in.Y[i] != float64(n-i) || in.Features[in.Feature[i]] != name(i) {
				t.Fatalf("point %d of %d: %v, %v, %.20q, want %d, %d, %.20q", i, n, in.X[i], in.Y[i],
					in.Features[in.Feature[i]], i, n-i, name(i))
			}
		}
	}
}
