package segments

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
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

// Of a list and a bitmap the shorter is written; if they are equally long, the bitmap. A reader
// cannot tell them apart otherwise, so this belongs to the format.
func TestLiveSetsOfEqualLengths(t *testing.T) {
	live := docset.Full(64)
	live.Remove(1)
	live.Remove(3)
	if got, want := liveBytes(live), sections.Bytes([]uint64{1<<1 | 1<<3}); !bytes.Equal(got, want) {
		t.Errorf("two of 64 documents are deleted: %x, want %x", got, want)
	}
	live.Add(3)
	if got, want := liveBytes(live), sections.Bytes([]uint32{1}); !bytes.Equal(got, want) {
		t.Errorf("one of 64 documents is deleted: %x, want %x", got, want)
	}
}

// After a failure nothing is changed: a writer reports the first error from then on.
func TestFailedWritersDoNothing(t *testing.T) {
	failed := errors.New("the disk failed")
	w := &Writer{err: failed, o: Options{MergeFactor: 2}}
	if _, err := w.Merge(t.Context()); err != failed {
		t.Errorf("Merge: error %v, want %v", err, failed)
	}
	if _, err := w.Compact(t.Context()); err != failed {
		t.Errorf("Compact: error %v, want %v", err, failed)
	}
	if err := w.Add(text.Document{ID: "a"}); err != failed {
		t.Errorf("Add: error %v, want %v", err, failed)
	}
	if _, err := w.Delete("a"); err != failed {
		t.Errorf("Delete: error %v, want %v", err, failed)
	}
	if _, err := w.DeleteDocs(&Reader{}, nil); err != failed {
		t.Errorf("DeleteDocs: error %v, want %v", err, failed)
	}
	if _, _, err := w.AddCorpus(t.Context(), &text.Corpus{}, index.BuildOptions{}); err != failed {
		t.Errorf("AddCorpus: error %v, want %v", err, failed)
	}
	if err := w.Commit(); err != failed {
		t.Errorf("Commit: error %v, want %v", err, failed)
	}
}

// Deleted documents that contradict their number, or the segment, are an error: a document would be
// found or missing that should not.
func TestWrongLiveSetsAreRefused(t *testing.T) {
	few, many := docset.Full(1000), docset.Full(1000)
	few.Remove(7)
	for d := range uint32(500) {
		many.Remove(d)
	}
	list := func(docs ...uint32) []byte { return sections.Bytes(docs) }
	for name, c := range map[string]struct {
		b             []byte
		docs, deleted int
	}{
		"a list that is shorter than it says":   {liveBytes(few), 1000, 2},
		"a list that is longer than it says":    {list(7, 8), 1000, 1},
		"a bitmap of fewer than it says":        {liveBytes(many), 1000, 501},
		"a bitmap of more than it says":         {liveBytes(many), 1000, 499},
		"a document twice":                      {list(7, 7), 1000, 2},
		"a document behind the last":            {list(1000), 1000, 1},
		"a document behind the last bitmap":     {list(1024), 1024, 1},
		"more documents than the segment has":   {liveBytes(few), 1000, 1001},
		"fewer than none":                       {liveBytes(few), 1000, -1},
		"a list that is not of whole documents": {list(7)[:3], 1000, 1},
	} {
		if _, err := readLive(c.b, c.docs, c.deleted); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
}

// A manifest names folders of its own, each once, with a possible number of documents. A segment
// without documents, and one of which all are deleted, are possible.
func TestWrongSegmentsAreRefused(t *testing.T) {
	none := docset.Full(3)
	for d := range uint32(3) {
		none.Remove(d)
	}
	for name, c := range map[string]struct {
		list []entry
		ok   bool
	}{
		"two segments":          {[]entry{{Name: here, Docs: 0}, {Name: "s000001", Docs: 3, Deleted: 3, live: none}}, true},
		"a folder elsewhere":    {[]entry{{Name: "../s000001", Docs: 3}}, false},
		"a segment twice":       {[]entry{{Name: "s000001", Docs: 3}, {Name: "s000001", Docs: 3}}, false},
		"fewer than none":       {[]entry{{Name: here, Docs: -1}}, false},
		"more than are numbers": {[]entry{{Name: here, Docs: 1 << 32}}, false},
	} {
		dir := t.TempDir()
		m := manifest{Generation: 1, Analyzer: "ascii", Segments: c.list}
		if err := m.write(dir); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(manifestPath(dir))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseManifest(data); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
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

// A manifest without a version of analyzers was written when unicode kept ’ apart from ', also in
// the fields of a schema; so its words are still made that way. A manifest of today keeps its
// names.
func TestAnalyzersOfAnOldManifest(t *testing.T) {
	schema := json.RawMessage(`{"fields":[{"name":"title","type":"text","analyzer":"unicode"},{"name":"year","type":"number"}]}`)
	m := &manifest{Analyzer: "unicode", Schema: schema}
	if err := m.rename(); err != nil {
		t.Fatal(err)
	}
	if m.Analyzer != "unicode@2" || !strings.Contains(string(m.Schema), `"unicode@2"`) {
		t.Errorf("the analyzer is %s, the schema %s; want unicode@2", m.Analyzer, m.Schema)
	}
	dir := t.TempDir()
	for _, name := range []string{"unicode", m.Analyzer} {
		if err := (&manifest{Analyzer: name, Schema: schema}).write(dir); err != nil {
			t.Fatal(err)
		}
		if now, err := readManifest(dir); err != nil || now.Analyzer != name || strings.Contains(string(now.Schema), "@") {
			t.Errorf("written with %s: %+v, %v", name, now, err)
		}
	}
}
