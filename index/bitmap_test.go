package index

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/sections"
)

// denseIndex has a list for each density, whose documents are random or come in runs.
func denseIndex(rng *rand.Rand, docs int, densities ...float64) *plainIndex {
	p := &plainIndex{}
	for range docs {
		p.lengths, p.ids = append(p.lengths, 1+rng.Uint32N(300)), append(p.ids, "")
	}
	for i, density := range densities {
		var list, tfs []uint32
		run := false
		for d := range docs {
			if rng.IntN(100) == 0 {
				run = rng.IntN(10) == 0
			}
			if !run && rng.Float64() >= density {
				continue
			}
			tf := uint32(rng.ExpFloat64()) + 1
			if rng.IntN(70) == 0 {
				tf = rng.Uint32N(1<<rng.IntN(31)) + 1
			}
			list, tfs = append(list, uint32(d)), append(tfs, tf)
		}
		p.words = append(p.words, "w"+string(rune('a'+i)))
		p.docs, p.tfs = append(p.docs, list), append(p.tfs, tfs)
	}
	return p
}

// The bitmap of a dense block has its documents and begins at a multiple of 64. KeepTFs gives the
// frequencies of the documents that a second bitmap keeps, TFsAt those at any positions.
func TestBitmapsOfDenseBlocks(t *testing.T) { cputest.Levels(t, testBitmapsOfDenseBlocks) }

func testBitmapsOfDenseBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	p := denseIndex(rng, 60_000, 0.01, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 0.99, 1)
	r := p.write(t)
	var c Cursor
	dense := 0
	for id := range p.words {
		term, err := r.Term(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.OpenBlocks(term, &c); err != nil {
			t.Fatal(err)
		}
		for b := range c.Blocks() {
			end := min((b+1)*BlockSize, len(p.docs[id]))
			docs, tfs := p.docs[id][b*BlockSize:end], p.tfs[id][b*BlockSize:end]
			var places, want []uint32
			for i := range docs {
				if rng.IntN(1+rng.IntN(30)) == 0 {
					places, want = append(places, uint32(i)), append(want, tfs[i])
				}
			}
			got := make([]uint32, len(places))
			if c.TFsAt(b, places, got); !slices.Equal(got, want) {
				t.Fatalf("list %d, block %d: frequencies at %v are %v, want %v", id, b, places, got, want)
			}
			words, base := c.Words(b)
			if words == nil {
				continue
			}
			dense++
			if base%64 != 0 || base > docs[0] || docs[len(docs)-1] >= base+8*uint32(len(words)) {
				t.Fatalf("list %d, block %d: %d words from %d on for documents %d to %d", id, b,
					len(words)/8, base, docs[0], docs[len(docs)-1])
			}
			var found [BlockSize]uint32
			if n := FindBits(words, base, &found); n != len(docs) || !slices.Equal(found[:], docs) {
				t.Fatalf("list %d, block %d: %v, want %v", id, b, found[:min(n, BlockSize)], docs)
			}
			keep := make([]byte, len(words))
			share := rng.IntN(10)
			want = want[:0]
			for i, d := range docs {
				if rng.IntN(10) < share {
					keep[(d-base)/8] |= 1 << (d & 7)
					want = append(want, tfs[i])
				}
			}
			for i := range keep { // documents that are not in the list make no difference
				keep[i] |= byte(rng.Uint32()) &^ words[i]
			}
			out := make([]uint32, BlockSize+KeepSlack)
			if n := c.KeepTFs(b, words, keep, out); !slices.Equal(out[:n], want) {
				t.Fatalf("list %d, block %d: kept %v, want %v", id, b, out[:n], want)
			}
		}
	}
	if dense < 1000 {
		t.Errorf("only %d dense blocks, want at least 1000", dense)
	}
}

// The kernels and plain Go find the same bits in any bitmap, also in those that no block can have.
func TestBitmapKernelsEqualPlainGo(t *testing.T) { cputest.Levels(t, testBitmapKernels) }

func testBitmapKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 64))
	var tfs, got, want [BlockSize]uint32
	for i := range tfs {
		tfs[i] = rng.Uint32()
	}
	for range 7_000 {
		words, keep := make([]byte, 8*(1+rng.IntN(MaxWords))), make([]byte, 8*MaxWords)
		left := BlockSize // bits to set
		if rng.IntN(4) == 0 {
			left = rng.IntN(3 * BlockSize)
		}
		for range left {
			words[rng.IntN(len(words))] |= 1 << rng.IntN(8)
		}
		if rng.IntN(3) == 0 {
			binary.LittleEndian.PutUint64(words[8*rng.IntN(len(words)/8):], ^uint64(0))
		}
		for i := range keep {
			keep[i] = byte(rng.Uint32())
		}
		base := rng.Uint32N(maxDocs) &^ 63
		n, m := unpackBits(words, base, &got), plainUnpackBits(words, base, &want)
		if min(n, BlockSize+1) != min(m, BlockSize+1) || n <= BlockSize && !slices.Equal(got[:n], want[:m]) {
			t.Fatalf("%x: %d bits %v, want %d %v", words, n, got[:min(n, BlockSize)], m, want[:min(m, BlockSize)])
		}
		if n != BlockSize {
			continue
		}
		a, b := make([]uint32, BlockSize+KeepSlack), make([]uint32, BlockSize+KeepSlack)
		n, m = keepTFs(words, keep, &tfs, a), plainKeepTFs(words, keep, &tfs, b)
		if !slices.Equal(a[:n], b[:m]) {
			t.Fatalf("keep %x of %x: %v, want %v", keep, words, a[:n], b[:m])
		}
	}
}

// A bitmap with a bit too many, too few or outside the block is damaged: decoding it is an error.
// If the first or last bit is wrong, Words does not return it either.
func TestDamagedBitmaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(65, 66))
	p := denseIndex(rng, 3000, 0.4)
	for name, c := range map[string]struct {
		change func(words []byte, at, last uint32)
		words  bool // Words still returns it, since only Check and decoding count the bits
	}{
		"no last document": {func(w []byte, at,
			last uint32) {
			w[len(w)-8+int(last%64/8)] &^= 1 << (last % 8)
		}, false},
		"one behind the last": {func(w []byte, at,
			last uint32) {
			w[len(w)-8+int((last+1)%64/8)] |= 1 << ((last + 1) % 8)
		}, false},
		"one of the block before": {func(w []byte, at, last uint32) { w[at%64/8] |= 1 << (at % 8) }, false},
		"one more": {func(w []byte, at, last uint32) {
			for i := 8; ; i++ {
				if w[i] != 0xff {
					w[i] |= w[i] + 1
					return
				}
			}
		}, true},
	} {
		r := p.write(t)
		r.postings = slices.Clone(r.postings) // changed below, so without checksums
		r.postingsFile = &sections.File{}
		term, err := r.Term(0)
		if err != nil {
			t.Fatal(err)
		}
		var cursor Cursor
		if err := r.OpenBlocks(term, &cursor); err != nil {
			t.Fatal(err)
		}
		const b = 3
		if cursor.Last[b-1]%64 == 63 || cursor.Last[b]%64 == 63 {
			t.Fatal("the block ends at a multiple of 64, where the test cannot set a bit: change the seed")
		}
		words, _ := cursor.Words(b)
		if words == nil {
			t.Fatalf("block %d is not dense, want a bitmap", b)
		}
		c.change(words, cursor.Last[b-1], cursor.Last[b])
		var out [BlockSize]uint32
		if got, _ := cursor.Words(b); (got != nil) != c.words {
			t.Errorf("%s: bitmap %x, want one: %v", name, got, c.words)
		}
		if n := cursor.DecodeDocs(b, &out); n != 0 || cursor.Err() == nil {
			t.Errorf("%s: %d documents, error %v; want none and an error", name, n, cursor.Err())
		}
	}
}

// Indexes of versions 2 to 4 are read; the error for version 1 says to build the index again.
func TestOlderVersions(t *testing.T) {
	files := readDir(t, rose().write(t).dir)
	for version, want := range map[uint32]string{4: "", 3: "", 2: "",
		1: "format version 1, and this program reads 2 to 4: build the index again",
		5: "format version 5"} {
		old := map[string][]byte{}
		var stamps []byte
		for _, name := range []string{termsFile, postingsFile, skipsFile, docsFile, metaFile} {
			f, err := sections.Parse(files[name], magics[name], formatVersion)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			w, err := sections.NewWriter(&b, magics[name], version)
			if err != nil {
				t.Fatal(err)
			}
			for _, info := range f.Sections() {
				data, err := f.Section(info.Name)
				if err != nil {
					t.Fatal(err)
				}
				if info.Name == "files" {
					data = stamps
				}
				if err := w.Section(info.Name, data); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			old[name] = []byte(b.String())
			stamps = stampOf(name, old[name]).append(stamps)
		}
		r, err := openMemory(old)
		switch {
		case want == "" && err != nil:
			t.Errorf("version %d: %v", version, err)
		case want == "" && r.Terms() != 4:
			t.Errorf("version %d: %d words, want 4", version, r.Terms())
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("version %d: error %v, want %q", version, err, want)
		}
	}
}
