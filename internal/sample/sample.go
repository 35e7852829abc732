// Package sample has the small real data sets that `collocate demo` and many tests use;
// data/README.md names sources and licences.
package sample

import (
	_ "embed"
	"os"
	"path/filepath"
)

//go:embed data/elife.jsonl.zst
var elife []byte

//go:embed data/places-dc.csv.zst
var placesDC []byte

// Elife writes the eLife paragraphs into dir as zstd-compressed JSON lines and
// returns the path.
func Elife(dir string) (string, error) { return put(dir, "elife.jsonl.zst", elife) }

// PlacesDC writes the places of Washington, DC into dir as zstd-compressed CSV and
// returns the path.
func PlacesDC(dir string) (string, error) { return put(dir, "places-dc.csv.zst", placesDC) }

func put(dir, name string, data []byte) (string, error) {
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, data, 0o644)
}
