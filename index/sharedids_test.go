package index

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// writeIDs writes an index of documents that have only IDs.
func writeIDs(t testing.TB, ids []string) *Reader {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	err = w.SetDocuments(Documents{Analyzer: "whitespace", Lengths: make([]uint32, len(ids)),
		ID: func(d int) string { return ids[d] }})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// SharedIDs finds the documents that a lookup of each ID finds: of runs of numbers and of other
// IDs, of indexes of very different sizes, and of IDs that several documents have.
func TestSharedIDs(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 2))
	draw := func(n, most int, kind int) (ids []string) {
		for len(ids) < n {
			x := rng.IntN(most)
			switch kind {
			case 0:
				ids = append(ids, fmt.Sprint("doc", x))
			case 1:
				ids = append(ids, fmt.Sprintf("%x", uint32(x)*2654435761))
			default: // a run
				for range min(1+rng.IntN(80), n-len(ids)) {
					ids = append(ids, fmt.Sprint("doc", x))
					x++
				}
			}
		}
		if kind == 1 && n > 2 {
			ids[1] = ""
		}
		return ids
	}
	found := 0
	for round := range 36 / trials.Every(3) {
		kind := round % 3
		n := []int{1, 5, 32, 64, 100, 3000}
		a := writeIDs(t, draw(n[rng.IntN(len(n))], 1500, kind))
		b := writeIDs(t, draw(n[rng.IntN(len(n))], 1500, kind))
		var want, got []uint32
		for d := range b.Docs() {
			id, err := b.DocID(d)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := a.FindDocs(id)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, docs...)
		}
		for d, err := range a.SharedIDs(b) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, d)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: documents %d share an ID, want %d", round, got, want)
		}
		found += len(got)
		for range a.SharedIDs(b) {
			break
		}
	}
	if found < 300/trials.Every(3) {
		t.Errorf("only %d documents share an ID, want at least %d", found, 300/trials.Every(3))
	}
}

// BenchmarkSharedIDs compares SharedIDs with a lookup of each ID, for 10,000 new documents and for
// 100,000 that replace others.
func BenchmarkSharedIDs(b *testing.B) {
	ids := make([]string, 400_000)
	for i := range ids {
		ids[i] = fmt.Sprint("doc", i*7)
	}
	old := writeIDs(b, ids)
	for i := range 100_000 {
		ids[i] = fmt.Sprint("doc", i*28)
	}
	many := writeIDs(b, ids[:100_000])
	for i := range 10_000 {
		ids[i] = fmt.Sprint("doc", 2_800_000+i)
	}
	for name, added := range map[string]*Reader{"new": writeIDs(b, ids[:10_000]), "replace": many} {
		b.Run(name+"/pass", func(b *testing.B) {
			for b.Loop() {
				for _, err := range old.SharedIDs(added) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(name+"/lookup", func(b *testing.B) {
			for b.Loop() {
				for d := range added.Docs() {
					id, err := added.DocID(d)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := old.FindDocs(id); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
