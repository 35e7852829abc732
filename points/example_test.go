package points_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/collocate/collocate/points"
)

// Read a table of places and summarise it before mining.
func Example() {
	const table = `lon,lat,kind
16.370,48.208,cafe
16.371,48.208,bank
16.372,48.209,cafe
16.372,48.209,cafe
`
	in, err := points.Read(strings.NewReader(table), points.ReadOptions{Feature: "kind", CRS: points.WGS84})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(in.Format, in.Len(), "points,", in.CRS)
	s, err := points.Summarise(context.Background(), in.Set, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range s.Features {
		fmt.Println(f.Name, f.Points)
	}
	fmt.Println(s.Positions, "positions,", s.Repeated, "duplicate, distances in", s.Unit)
	// Output:
	// table 4 points, EPSG:4326 (WGS 84)
	// cafe 3
	// bank 1
	// 3 positions, 1 duplicate, distances in m
}
