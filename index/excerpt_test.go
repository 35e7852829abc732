package index

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/trials"
)

// The lists of an excerpt are those of an index of its documents alone: with their blocks, bounds,
// ranks and maps of levels, as Check wants them. That holds for one index and for two, and for sets
// of any size.
func TestExcerpt(t *testing.T) {
	for seed := range uint64(trials.Of(40)) {
		rng := rand.New(rand.NewPCG(seed, 44))
		var plain []*plainIndex
		var readers []*Reader
		var sets []*docset.Set
		for range 1 + rng.IntN(2) {
			p := randomIndex(rng, []int{300, 9000}[rng.IntN(2)], 20)
			set, share := docset.New(len(p.lengths)), []float64{0.002, 0.1, 0.6, 1}[rng.IntN(4)]
			for d := range p.lengths {
				if rng.Float64() < share {
					set.Add(uint32(d))
				}
			}
			plain, readers, sets = append(plain, p), append(readers, p.write(t)), append(sets, set)
		}
		docs, tokens := uint64(10_000), uint64(1_234_567) // of a larger collection
		x, err := ExcerptOf(readers, sets, docs, tokens)
		if err != nil {
			t.Fatal(err)
		}
		if x.StoredModel() != storedModel(docs, tokens) {
			t.Fatalf("bounds for %v, want those of the whole collection", x.StoredModel())
		}
		number := make([]map[uint32]uint32, len(readers)) // in the excerpt
		n, base := uint32(0), uint32(0)
		for i, set := range sets {
			number[i] = map[uint32]uint32{}
			for doc := range set.All() {
				if x.Whole(n) != base+doc || x.Length(int(n)) != plain[i].lengths[doc] {
					t.Fatalf("seed %d: document %d is %d of length %d, want %d of %d", seed, n, x.Whole(n),
						x.Length(int(n)), base+doc, plain[i].lengths[doc])
				}
				number[i][doc] = n
				n++
			}
			base += uint32(set.Len())
		}
		if x.Docs() != int(n) {
			t.Fatalf("seed %d: %d documents, want %d", seed, x.Docs(), n)
		}
		if most := ExcerptBytes(int(n), int(base)); 4*cap(x.docs)+4*cap(x.Reader.lengths)+len(x.classes)+
			len(x.lengths.codes)+4*len(x.lengths.both) > most {
			t.Fatalf("seed %d: more memory than %d bytes", seed, most)
		}
		check := listChecker{r: x.Reader, tfOf: TFOfCode(), levels: levelMaker{docs: uint64(n)}}
		var words []string
		for _, p := range plain {
			words = append(words, p.words...)
		}
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			terms := make([]Term, len(readers))
			var wantDocs, wantTFs []uint32
			for i, r := range readers {
				if terms[i], err = r.Lookup([]byte(word)); err != nil {
					t.Fatal(err)
				}
				at, found := slices.BinarySearch(plain[i].words, word)
				for j := range plain[i].docs {
					if !found || j != at {
						continue
					}
					for k, doc := range plain[i].docs[j] {
						if new, ok := number[i][doc]; ok {
							wantDocs, wantTFs = append(wantDocs, new), append(wantTFs, plain[i].tfs[j][k])
						}
					}
				}
			}
			made, err := x.List(t.Context(), terms)
			if err != nil {
				t.Fatal(err)
			}
			var c Cursor
			if err := x.Open(made, &c); err != nil {
				t.Fatal(err)
			}
			var docs, tfs []uint32
			for doc := c.Doc(); doc != End; doc = c.Next() {
				docs, tfs = append(docs, doc), append(tfs, c.TF())
			}
			if c.Err() != nil || !slices.Equal(docs, wantDocs) || !slices.Equal(tfs, wantTFs) || int(made.DF) != len(docs) {
				t.Fatalf("seed %d: %q has %d postings, want %d; %v", seed, word, len(docs), len(wantDocs), c.Err())
			}
			if made.DF > 0 {
				if err := check.list(made); err != nil {
					t.Fatalf("seed %d: %q: %v", seed, word, err)
				}
			}
			if made.Bytes() == 0 {
				t.Fatalf("seed %d: %q takes no memory", seed, word)
			}
		}
	}
}

// A list that is cancelled, or whose postings are damaged, is an error, and the next one is whole.
func TestExcerptStops(t *testing.T) {
	p := &plainIndex{words: []string{"w"}, docs: [][]uint32{nil}, tfs: [][]uint32{nil}}
	for d := range uint32(9000) {
		p.lengths, p.ids = append(p.lengths, 3), append(p.ids, "")
		p.docs[0], p.tfs[0] = append(p.docs[0], d), append(p.tfs[0], 1+d%3)
	}
	r := p.write(t)
	x, err := ExcerptOf([]*Reader{r}, []*docset.Set{docset.Full(9000)}, 9000, 27_000)
	if err != nil {
		t.Fatal(err)
	}
	term, err := r.Lookup([]byte("w"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.List(ctx, []Term{term}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := term
	broken.postings += 2
	if _, err := x.List(t.Context(), []Term{broken}); err == nil {
		t.Error("damaged: no error")
	}
	if made, err := x.List(t.Context(), []Term{term}); err != nil || made.DF != 9000 || made.CF != term.CF {
		t.Errorf("after errors: %d postings, %d occurrences, %v; want %d and %d", made.DF, made.CF, err, term.DF, term.CF)
	}
	// At the ends of blocks.
	for _, docs := range [][]uint32{{0}, {127}, {128}, {0, 128}, {127, 128}, {128, 256, 8999}} {
		set, occurrences := docset.New(9000), uint64(0)
		set.AddAll(docs)
		for _, doc := range docs {
			occurrences += uint64(1 + doc%3)
		}
		few, err := ExcerptOf([]*Reader{r}, []*docset.Set{set}, 9000, 27_000)
		if err != nil {
			t.Fatal(err)
		}
		if made, err := few.List(t.Context(), []Term{term}); err != nil || int(made.DF) != len(docs) || made.CF != occurrences {
			t.Errorf("of documents %d: %d postings, %d occurrences, %v", docs, made.DF, made.CF, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.List(t.Context(), []Term{term}); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
