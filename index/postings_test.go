package index

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// Blocks of any length decode to the postings that were encoded, with gaps and frequencies of any
// size up to the widest, where sums could overflow.
func TestBlocksRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	patched := 0
	for range 20_000 / trials.Every(10) {
		n := rng.IntN(BlockSize) + 1
		if rng.IntN(2) == 0 {
			n = BlockSize
		}
		// Ascending documents below 2^31, from a range that makes the gaps wide or narrow.
		span := int64(1)<<uint(8+rng.IntN(24)) - 1
		span = max(span, int64(n)+1)
		start := rng.Int64N(maxDocs - span)
		seen := map[uint32]bool{}
		for len(seen) < n {
			d := start + rng.Int64N(span)
			if rng.IntN(3) > 0 { // clustered
				d = start + rng.Int64N(min(span, 1000))
			}
			seen[uint32(d)] = true
		}
		var docs, tfs []uint32
		for d := range seen {
			docs = append(docs, d)
			tfs = append(tfs, rng.Uint32N(1<<uint(rng.IntN(5)))+1)
		}
		slices.Sort(docs)
		if rng.IntN(3) == 0 {
			tfs[rng.IntN(n)] = maxTF
		}
		at := ^uint32(0)
		if start > 0 && rng.IntN(2) == 0 {
			at = rng.Uint32N(uint32(start))
		}
		var gaps, freqs, out [BlockSize]uint32
		prev := at
		for i, d := range docs {
			gaps[i], freqs[i] = d-prev-1, tfs[i]-1
			prev = d
		}
		var many []uint8
		for i, tf := range freqs {
			if tf > 0 {
				many = append(many, uint8(i))
			}
		}
		again, freqsAgain := gaps, freqs
		block := appendBlock([]byte("before"), at, &gaps, &freqs, n, allPlaces(n))
		if b := appendBlock([]byte("before"), at, &again, &freqsAgain, n, many); !bytes.Equal(b, block) {
			t.Fatalf("%d frequencies above 1 of %d:\n got %x\nwant %x", len(many), n, b, block)
		}
		block = append(block, "12345678"...)[6:]
		if block[0]>>5 > 0 {
			patched++
		}
		if !unpackDocs(block, n, at, &out) || !slices.Equal(out[:n], docs) {
			t.Fatalf("%d documents after %d:\n got %v\nwant %v", n, int32(at), out[:n], docs)
		}
		if !unpackTFs(block, n, &out) || !slices.Equal(out[:n], tfs) {
			t.Fatalf("%d frequencies:\n got %v\nwant %v", n, out[:n], tfs)
		}
		if size := blockSize(block, n); size != len(block)-tailPad {
			t.Fatalf("blockSize of %d postings is %d, want %d", n, size, len(block)-tailPad)
		}
	}
	if patched < 1000 {
		t.Errorf("only %d blocks had patched gaps, want at least 1000", patched)
	}
}

// allPlaces returns the positions of n postings.
func allPlaces(n int) (places []uint8) {
	for i := range n {
		places = append(places, uint8(i))
	}
	return places
}

// A Writer refuses invalid postings with an error that says what is wrong, and cannot be committed
// afterwards.
func TestWriterRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		add  func(w *Writer) error
		want string // in the error
	}{
		{"unsorted words", func(w *Writer) error {
			w.Add([]byte("b"), []uint32{1}, []uint32{1})
			return w.Add([]byte("a"), []uint32{1}, []uint32{1})
		}, `word "a" comes after "b"`},
		{"empty word", func(w *Writer) error { return w.Add(nil, []uint32{1}, []uint32{1}) },
			"a word of 0 bytes"},
		{"equal documents", func(w *Writer) error { return w.Add([]byte("a"), []uint32{1, 1}, []uint32{1, 1}) },
			"document 1 after 1"},
		{"unsorted pieces", func(w *Writer) error {
			w.Add([]byte("a"), []uint32{1}, []uint32{1})
			return w.Add([]byte("a"), []uint32{0}, []uint32{1})
		}, "document 0 after 1"},
		{"no such document", func(w *Writer) error { return w.Add([]byte("a"), []uint32{3}, []uint32{1}) },
			"document 3 after none, of 3 documents"},
		{"zero frequency", func(w *Writer) error { return w.Add([]byte("a"), []uint32{1}, []uint32{0}) },
			"occurs 0 times in document 1"},
		{"lengths differ", func(w *Writer) error { return w.Add([]byte("a"), []uint32{1}, nil) },
			"1 documents but 0 frequencies"},
		{"documents twice", func(w *Writer) error { return w.SetDocuments(Documents{}) },
			"SetDocuments was called twice"},
	} {
		dir := t.TempDir() + "/ix"
		w, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add([]byte("a"), []uint32{0}, []uint32{1}); err == nil ||
			!strings.Contains(err.Error(), "Add before SetDocuments") {
			t.Errorf("Add before SetDocuments: error %v, want one that says so", err)
		}
		w.Abort()
		if w, err = Create(dir); err != nil {
			t.Fatal(err)
		}
		if err := w.SetDocuments(Documents{Lengths: []uint32{1, 2, 3},
			ID: func(int) string { return "" }}); err != nil {
			t.Fatal(err)
		}
		if err := c.add(w); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		} else if c.name != "documents twice" && w.Commit() == nil {
			t.Errorf("%s: Commit after the error succeeded", c.name)
		}
		w.Abort()
	}
}

// An index without documents, or without words, can be written and read.
func TestEmptyIndex(t *testing.T) {
	for _, p := range []*plainIndex{{}, {lengths: []uint32{0, 0}, ids: []string{"a", "b"}}} {
		r := p.write(t)
		if err := r.Check(t.Context(), CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		term, err := r.Lookup([]byte("x"))
		var c Cursor
		if err != nil || term.DF != 0 || r.Open(term, &c) != nil || c.Doc() != End ||
			c.Next() != End || c.Seek(5) != End || c.TF() != 0 {
			t.Errorf("unknown word: %+v, %v, document %d; want no postings", term, err, c.Doc())
		}
		if _, found, err := r.FindDoc("x"); found || err != nil {
			t.Errorf("FindDoc(x): found %v, error %v; want neither", found, err)
		}
		if _, err := r.DocID(r.Docs()); err == nil {
			t.Errorf("DocID(%d) of %d documents: no error", r.Docs(), r.Docs())
		}
		r.Stats()
	}
}
