package segments

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/sections"
)

// The deleted documents of a segment, few or many, are the same after writing and reading.
func TestLiveSetsAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n := 1 + rng.IntN(2000)
		live := docset.Full(n)
		for range rng.IntN(n) + 1 {
			live.Remove(rng.Uint32N(uint32(n)))
		}
		got, err := readLive(liveBytes(live), n, n-live.Count())
		if err != nil {
			t.Fatal(err)
		}
		if g, w := slices.Collect(got.All()), slices.Collect(live.All()); !slices.Equal(g, w) {
			t.Fatalf("live documents %d of %d, want %d", g, n, w)
		}
	}
}

// FuzzManifest parses arbitrary bytes: the result is an error, or sets that fit the segments.
func FuzzManifest(f *testing.F) {
	live := docset.Full(100)
	live.Remove(7)
	m := manifest{Generation: 3, Analyzer: "ascii",
		Segments: []entry{{Name: here, Docs: 5},
			{Name: "s000001", Docs: 100, Deleted: 1, live: live}}}
	dir := f.TempDir()
	if err := m.write(dir); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(manifestPath(dir))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(bytes.Replace(data, []byte("100"), []byte("101"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.Clone(data)
		sections.Repair(data) // otherwise the checksum would refuse nearly all
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		for _, e := range m.Segments {
			if e.Deleted > 0 && e.live.Len() != e.Docs {
				t.Errorf("segment %s of %d documents has a set for %d", e.Name, e.Docs, e.live.Len())
			}
		}
	})
}
