package coloc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"
)

// Tiles give the same patterns as Mine, in the plane and on the sphere, for any number of tiles.
func TestTilesMakeTheWhole(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 24 / trials.Every(4) {
		var b points.Builder
		features := []int{3, 7, 70}[round%3]
		geographic := round%2 == 1
		for range 400 {
			// With few decimals, many points share a position, and many are on a border.
			x, y := float64(rng.IntN(60))/10, float64(rng.IntN(60))/10
			b.Add(x, y, fmt.Sprintf("f%02d", int(rng.ExpFloat64()*float64(features)/4)%features))
		}
		pts := b.Set()
		opt := Options{Distance: 0.35, MinPrevalence: []float64{0.1, 0.3, 0.6}[rng.IntN(3)], All: round%4 == 0}
		if geographic {
			pts.CRS, opt.Distance = points.WGS84, 35_000
		}
		if round%5 == 1 {
			opt.Distance, opt.MinPrevalence = SamePosition, 0.05
		}
		want, err := Mine(ctx, pts, opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 5, 13} {
			var classes []Class
			for i := range n {
				err := Tile(ctx, pts, opt, i, n, func(c *Class) error {
					classes = append(classes, *c)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			got, err := MineClasses(ctx, pts.Features, classes,
				Options{MinPrevalence: opt.MinPrevalence, All: opt.All})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Patterns, want.Patterns) || !reflect.DeepEqual(got.Totals, want.Totals) {
				t.Fatalf("round %d, %d tiles: got\n%swant\n%s", round, n, show(pts, got.Patterns),
					show(pts, want.Patterns))
			}
		}
	}
}

// Options that tiles do not support, and invalid classes, are errors.
func TestTilesRefuse(t *testing.T) {
	ctx := context.Background()
	pts := &Points{X: []float64{0, 1}, Y: []float64{0, 1}, Feature: []int32{0, 1}, Features: []string{"a", "b"}}
	none := func(*Class) error { return nil }
	if Tile(ctx, pts, Options{KNN: 2}, 0, 1, none) == nil {
		t.Error("no error for nearest neighbours")
	}
	if Tile(ctx, pts, Options{Distance: 1}, 2, 2, none) == nil {
		t.Error("no error for tile 2 of 2")
	}
	for _, c := range []Class{
		{Feature: 2, Points: 1}, {Feature: 0}, {0, [][]int32{{1}}, 1}, {0, [][]int32{{1, 0}}, 1}, {0, [][]int32{{0, 9}}, 1},
		{0, [][]int32{{0}}, 1},
	} {
		if _, err := MineClasses(ctx, pts.Features, []Class{c}, Options{MinPrevalence: 0.5}); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
