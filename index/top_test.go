package index

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/trials"
)

// sortedTop returns the n best of some postings by sorting all of them.
func sortedTop(docs, tfs []uint32, x func(i int) float32, n int) (top []TopPosting) {
	order := make([]int, len(docs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(math.Float32bits(x(a))) - int(math.Float32bits(x(b)))
	})
	for _, i := range order[:min(n, len(order))] {
		top = append(top, TopPosting(docs[i])|TopPosting(tfs[i])<<32)
	}
	return top
}

// The top postings of a word are those that sorting its list finds.
func TestTopPostingsAreThoseOfTheSortedList(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	found := 0
	for range trials.Of(20) {
		p := randomIndex(rng, 9000, 12)
		r := p.write(t)
		for i, word := range p.words {
			term, err := r.Lookup([]byte(word))
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Top(term)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			if df := len(p.docs[i]); df >= 200 && df*8 >= len(p.lengths) {
				n, found = df/64, found+1
			}
			want := sortedTop(p.docs[i], p.tfs[i], func(j int) float32 {
				return xOf(r.StoredModel(), p.tfs[i][j], p.lengths[p.docs[i][j]])
			}, n)
			if !slices.Equal(got, want) {
				t.Fatalf("word %d: got %v, want %v", i, got, want)
			}
		}
	}
	if found < trials.Of(10) {
		t.Errorf("only %d words have top postings, want at least %d", found, trials.Of(10))
	}
}

// pairsOf returns the map of pairs: a bit for each two neighbouring documents, set if one of them
// is in top.
func pairsOf(top []TopPosting, docs int) []uint64 {
	pairs := make([]uint64, (docs+127)/128)
	for _, p := range top {
		pairs[p.Doc()/128] |= 1 << (p.Doc() % 128 / 2)
	}
	return pairs
}

// The map of pairs of a word has the documents that sorting its list finds, and the x of the last
// of them bounds the rest.
func TestPairsAreThoseOfTheSortedList(t *testing.T) {
	rng := rand.New(rand.NewPCG(97, 98))
	found := 0
	for trial := 0; trial < trials.Of(20) || found < trials.Of(5) && trial < 100; trial++ {
		p := randomIndex(rng, 9000, 12)
		r := p.write(t)
		for i, word := range p.words {
			term, err := r.Lookup([]byte(word))
			if err != nil {
				t.Fatal(err)
			}
			pairs, x, err := r.Pairs(term)
			if err != nil {
				t.Fatal(err)
			}
			df := len(p.docs[i])
			if df < 200 || df*2 < len(p.lengths) {
				if pairs != nil || r.InPairs(term) != 0 {
					t.Fatalf("a word in %d of %d documents has a map of pairs, want none", df, len(p.lengths))
				}
				continue
			}
			found++
			xOfPosting := func(j int) float32 {
				return xOf(r.StoredModel(), p.tfs[i][j], p.lengths[p.docs[i][j]])
			}
			want := sortedTop(p.docs[i], p.tfs[i], xOfPosting, df/16)
			last := want[len(want)-1]
			if !slices.Equal(pairs, pairsOf(want, len(p.lengths))) || r.InPairs(term) != len(want) ||
				x != xOf(r.StoredModel(), last.TF(), p.lengths[last.Doc()]) {
				t.Fatalf("word %d: pairs %x of %d postings, x %v; want %x of %d, %v", i, pairs, r.InPairs(term),
					x, pairsOf(want, len(p.lengths)), len(want),
					xOf(r.StoredModel(), last.TF(), p.lengths[last.Doc()]))
			}
		}
	}
	if found < trials.Of(5) {
		t.Errorf("only %d words have pairs, want at least %d", found, trials.Of(5))
	}
}

// One topMaker selects the best postings of several lists in turn: lists long enough that it drops
// candidates, with many equal x.
func TestTopPostingsOfLongLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(93, 94))
	var m topMaker
	for range trials.Of(20) {
		size, kinds := 1+rng.IntN(80_000), 1+rng.IntN(1<<rng.IntN(20))
		var docs, less, tfs, xs []uint32
		for i := range size {
			x := rng.IntN(kinds)
			if rng.IntN(3) == 0 { // the best last
				x = size - i
			}
			tf := 1 + rng.Uint32N(9)
			docs, less, tfs = append(docs, uint32(2*i)), append(less, tf-1), append(tfs, tf)
			xs = append(xs, math.Float32bits(float32(x)))
		}
		for from := 0; from < size; {
			to := min(from+1+rng.IntN(3*BlockSize), size)
			m.add(docs[from:to], less[from:to], xs[from:to])
			from = to
		}
		n := 1 + rng.IntN(mostTop)
		xOfPosting := func(i int) float32 { return math.Float32frombits(xs[i]) }
		if rng.IntN(2) == 0 {
			n := mostTop + rng.IntN(mostPairs-mostTop+1)
			want := sortedTop(docs, tfs, xOfPosting, n)
			if got, _ := m.pairs(nil, n, uint64(2*size)); !slices.Equal(got, pairsOf(want, 2*size)) {
				t.Fatalf("%d postings, %d kinds of x: pairs %x, want those of %v", size, kinds, got, want)
			}
		}
		want := sortedTop(docs, tfs, xOfPosting, n)
		if got := m.take(nil, n); !slices.Equal(got, want) {
			t.Fatalf("%d postings, %d kinds of x: best %v, want %v", size, kinds, got, want)
		}
	}
}

// Check finds wrong top postings and pairs even if the checksums fit.
func TestCheckFindsWrongTopPostings(t *testing.T) {
	good := damageable(t)
	f, err := sections.Parse(good[levelsFile], magics[levelsFile], formatVersion)
	if err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{"top": "top postings", "pairs": "map of pairs"} {
		section, err := f.Section(name)
		if err != nil {
			t.Fatal(err)
		}
		start := bytes.Index(good[levelsFile], section)
		for _, at := range []int{0, 4, len(section) - 8} {
			files := map[string][]byte{}
			for name, data := range good {
				files[name] = bytes.Clone(data)
			}
			files[levelsFile][start+at] ^= 1
			if r, err := openMemory(files); err == nil {
				if _, err := answers(r, new(Cursor)); err == nil {
					t.Errorf("%s, byte %d changed: no error before the checksums are repaired", name, at)
				}
			}
			repair(files)
			r, err := openMemory(files)
			if err != nil {
				t.Fatal(err)
			}
			err = r.Check(context.Background(), CheckOptions{Threads: 1})
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s, byte %d changed: error of Check is %v, want %q", name, at, err, says)
			}
		}
	}
}

// Check finds a wrong stored rank even if the checksums fit.
func TestCheckFindsWrongRanks(t *testing.T) {
	files := damageable(t)
	files[skipsFile] = withSection(t, skipsFile, files[skipsFile], "skips", func(b []byte) []byte {
		b = bytes.Clone(b)
		x := sections.Bytes([]float32{math.Float32frombits(0x7f800000)}) // the last list has no 1,000th posting
		at := bytes.LastIndex(b, x)
		if at < 0 {
			t.Fatal("no list without a 1,000th posting")
		}
		b[at+2] ^= 0x40
		return b
	})
	repair(files)
	r, err := openMemory(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(t.Context(), CheckOptions{Threads: 1}); err == nil {
		t.Error("a wrong rank of a list: no error of Check")
	}
}

// A levels file of an older version has no top postings. Counts that do not fit the postings are
// refused.
func TestOpenTop(t *testing.T) {
	for _, c := range []struct {
		counts, top []uint32
		words       int // -1: an error
	}{
		{nil, nil, 0},
		{[]uint32{3, 1, 7, 2}, make([]uint32, 6), 2},
		{[]uint32{3, 1, 7, 2}, make([]uint32, 4), -1},
		{[]uint32{3, 1, 7, 2}, make([]uint32, 8), -1},
		{[]uint32{3, 1, 7}, make([]uint32, 2), -1},
		{[]uint32{3, 0, 7, 1}, make([]uint32, 2), -1},
		{[]uint32{3, 1 << 31, 7, 1 << 31}, make([]uint32, 2), -1},
		{[]uint32{3, 1}, make([]uint32, 3), -1},
	} {
		parts := []any{"levels", []byte(nil)}
		if c.counts != nil {
			parts = append(parts, "top-words", sections.Bytes(c.counts), "top", sections.Bytes(c.top))
		}
		f := levelsOf(t, parts...)
		top, err := openTop(f, 300)
		if (err != nil) != (c.words < 0) || err == nil && len(top.words) != c.words {
			t.Errorf("%v, %d numbers: %d words, error %v; want %d words (-1: an error)", c.counts, len(c.top),
				len(top.words), err, c.words)
		}
	}
}

// levelsOf makes a levels file of sections, given as names each followed by its bytes.
func levelsOf(t *testing.T, parts ...any) *sections.File {
	t.Helper()
	var b bytes.Buffer
	w, err := sections.NewPaged(&b, magics[levelsFile], formatVersion)
	for ; err == nil && len(parts) > 0; parts = parts[2:] {
		err = w.Section(parts[0].(string), parts[1].([]byte))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := sections.Parse(b.Bytes(), magics[levelsFile], formatVersion)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Maps of pairs whose size does not fit the words and the documents are refused.
func TestOpenPairs(t *testing.T) {
	for _, c := range []struct {
		words []uint32
		pairs []uint64
		good  bool
	}{
		{[]uint32{3, 1}, make([]uint64, 3), true},
		{[]uint32{3, 1, 7, 1}, make([]uint64, 6), true},
		{[]uint32{3, 1}, make([]uint64, 2), false},
		{[]uint32{3, 1}, make([]uint64, 6), false},
		{[]uint32{3, 1, 7}, make([]uint64, 3), false},
	} {
		f := levelsOf(t, "pairs-words", sections.Bytes(c.words), "pairs", sections.Bytes(c.pairs))
		if top, err := openTop(f, 300); (err == nil) != c.good || c.good && len(top.paired) != len(c.words) {
			t.Errorf("words %v, %d numbers: error %v, %d words; accepted: want %v", c.words, len(c.pairs), err,
				len(top.paired), c.good)
		}
	}
}

// TFIn reads the frequency that decoding the block gives, or 0 for documents that are not in the
// list.
func TestTFIn(t *testing.T) {
	rng := rand.New(rand.NewPCG(95, 96))
	dense := 0
	for range trials.Of(10) {
		p := randomIndex(rng, 9000, 12)
		r := p.write(t)
		for i, word := range p.words {
			term, err := r.Lookup([]byte(word))
			if err != nil {
				t.Fatal(err)
			}
			want := make([]uint32, len(p.lengths))
			for j, d := range p.docs[i] {
				want[d] = p.tfs[i][j]
			}
			var c Cursor
			if err := r.OpenBlocks(term, &c); err != nil {
				t.Fatal(err)
			}
			for _, d := range rng.Perm(len(want)) {
				block := c.FindBlock(0, uint32(d))
				if block == c.Blocks() {
					continue
				}
				if words, _ := c.Words(block); words != nil {
					dense++
				}
				if got := c.TFIn(block, uint32(d)); got != want[d] {
					t.Fatalf("TFIn of document %d is %d, want %d", d, got, want[d])
				}
			}
		}
	}
	if dense < 1000 {
		t.Errorf("only %d reads from dense blocks, want at least 1000", dense)
	}
}
