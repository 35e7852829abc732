package index

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
)

// placesIn returns the positions of words in lines, by ID and word.
func placesIn(lines []string) map[string]map[string][]uint32 {
	want := map[string]map[string][]uint32{}
	for d, line := range lines {
		places := map[string][]uint32{}
		for i, w := range strings.Fields(line) {
			places[w] = append(places[w], uint32(i))
		}
		want[fmt.Sprint("corpus.txt:", d+1)] = places
	}
	return want
}

// The positions of an index are those in the text, read in order or by seeking; reordering keeps
// them, and pruning keeps those of the remaining postings.
func TestPositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var lines []string
	for d := range 1500 / trials.Every(3) {
		var b strings.Builder
		for range rng.IntN(60) + 1 {
			fmt.Fprintf(&b, "w%d ", int(rng.ExpFloat64()*15))
		}
		if d%400 == 7 { // a document with many occurrences, and one far apart from them
			b.WriteString(strings.Repeat("w1 ", 300) + strings.Repeat("x ", 70000) + "w1 ")
		}
		lines = append(lines, b.String())
	}
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	old := chunkSize
	chunkSize = 1 << 12 // long lists are written in several chunks
	defer func() { chunkSize = old }()
	whole := open(t, build(t, path, BuildOptions{Positions: true}))
	ordered := open(t, build(t, path, BuildOptions{Positions: true, Reorder: true, Threads: 2}))
	dir := filepath.Join(t.TempDir(), "pruned")
	if err := Prune(context.Background(), whole, dir, PruneOptions{Epsilon: 0.9}); err != nil {
		t.Fatal(err)
	}
	pruned := open(t, dir)
	if pruned.Postings() >= whole.Postings() {
		t.Errorf("%d of %d postings after pruning, want fewer", pruned.Postings(), whole.Postings())
	}
	want := placesIn(lines)
	for kind, r := range map[string]*Reader{"built": whole, "reordered": ordered, "pruned": pruned} {
		if !r.HasPositions() {
			t.Fatalf("%s: no positions", kind)
		}
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		var c Cursor
		var p Positions
		for w, err := range r.Words() {
			if err != nil {
				t.Fatal(err)
			}
			look := func() {
				id, err := r.DocID(int(c.Doc()))
				if err != nil {
					t.Fatal(err)
				}
				got := p.Of(&c)
				if p.Err() != nil || !slices.Equal(got, want[id][string(w.Text)]) {
					t.Fatalf("%s: %q in %s: %d, %v; want %d", kind, w.Text, id, got, p.Err(),
						want[id][string(w.Text)])
				}
			}
			for _, step := range []uint32{1, 1, 400} { // all documents, then only some
				if err := errors.Join(r.Open(w.Term, &c), r.OpenPositions(w.Term, &p)); err != nil {
					t.Fatal(err)
				}
				for c.Doc() != End {
					look()
					look() // Of may be called twice
					c.Seek(c.Doc() + 1 + rng.Uint32N(step))
				}
			}
		}
	}
	r := open(t, build(t, path, BuildOptions{}))
	if err := r.OpenPositions(Term{}, &Positions{}); r.HasPositions() || err != ErrNoPositions {
		t.Errorf("built without positions: has some: %v, error %v; want %v", r.HasPositions(), err,
			ErrNoPositions)
	}
}

// The bytes of the positions in the example of reader.go, and of a list of several groups and
// blocks.
func TestPositionBytesArePinned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte("a rose is a rose\na daisy\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := open(t, build(t, path, BuildOptions{Positions: true}))
	want := "000200" + "01" + "02" + "0102" + "03010102" + "04" + "0000000000000000"
	if got := hex.EncodeToString(r.positions.data); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !slices.Equal(r.positions.starts, []uint64{0, 12}) {
		t.Errorf("starts %d, want 0 and 12", r.positions.starts)
	}

	// 130 documents with the word at places 1 and 3, but 900 in one: gaps 1 and 1, or 898.
	var e positionEncoder
	e.begin()
	for d := range 130 {
		if d%BlockSize == 0 {
			e.block()
		}
		second := uint32(1)
		if d == 5 {
			second = 898
		}
		if !e.take([]uint32{1, second}) {
			t.Fatalf("document %d: the encoder refused gaps 1 and %d", d, second)
		}
	}
	if _, err := e.end(130); err != nil {
		t.Fatal(err)
	}
	want = "21" + strings.Repeat("ff", 12) + "fbffffff" + "0b" + "c103" + // a bit each; a patch of 449<<1 at 11
		"01" + strings.Repeat("ff", 16) + // another group
		"01010101" + // the rest
		"000000000000" + "002500000000" + // the second block of postings begins at byte 37
		"0400" // the length of the rest
	if got := hex.EncodeToString(e.out); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Gather reads the positions of any postings of a block, with every set of vector instructions.
func TestGatherSome(t *testing.T) { cputest.Levels(t, testGatherSome) }

func testGatherSome(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 40 {
		df, often, far := uint32(1+rng.IntN(600)), 1+rng.IntN(40), 1+rng.IntN(1<<uint(1+rng.IntN(21)))
		var e positionEncoder
		var tfs []uint32
		var want [][]uint32
		e.begin()
		for d := range df {
			if d%BlockSize == 0 {
				e.block()
			}
			places := make([]uint32, 1+rng.IntN(often))
			next := uint32(0)
			for i := range places {
				if next += uint32(rng.IntN(5)); rng.IntN(20) == 0 {
					next += uint32(rng.IntN(far))
				}
				places[i] = next
				next++
			}
			gaps, _ := appendGaps(nil, places)
			e.take(gaps)
			want, tfs = append(want, places), append(tfs, uint32(len(places)))
		}
		e.end(uint64(df))
		var p Positions
		term := Term{DF: df}
		list := append(e.out, make([]byte, tailPad+2*kernelReach)...)[:len(e.out)+tailPad]
		if err := p.begin(list, term); err != nil {
			t.Fatal(err)
		}
		c := Cursor{Term: term, Last: make([]uint32, (df+BlockSize-1)/BlockSize), shown: int(df-1)%BlockSize + 1}
		for range 3 {
			for b := range c.Last {
				first := b * BlockSize
				c.block, c.tfsOf = b, b
				n := copy(c.tfs[:], tfs[first:])
				var which []uint8
				for i := 0; i < n; i += 1 + rng.IntN(1+rng.IntN(60)) {
					which = append(which, uint8(i))
				}
				var ends [BlockSize]uint32
				got := p.Gather(&c, b, which, nil, ends[:])
				from := uint32(0)
				for i, w := range which {
					if !slices.Equal(got[from:ends[i]], want[first+int(w)]) || p.Err() != nil {
						t.Fatalf("posting %d of block %d: %d, %v; want %d", w, b, got[from:ends[i]], p.Err(), want[first+int(w)])
					}
					from = ends[i]
				}
			}
		}
	}
}

// FuzzPositions reads arbitrary bytes as a list: the result is ascending positions or an error.
func FuzzPositions(f *testing.F) {
	var e positionEncoder
	e.begin()
	for d := range uint32(300) {
		if d%BlockSize == 0 {
			e.block()
		}
		e.take([]uint32{d, 0, d * 100000})
	}
	e.end(300)
	f.Add(e.out, uint32(300), uint32(3))
	f.Add([]byte{0, 2, 0}, uint32(2), uint32(2))
	f.Fuzz(func(t *testing.T, list []byte, df, tf uint32) {
		df, tf = df%1000+1, tf%300+1
		term := Term{DF: df, CF: uint64(df) * uint64(tf)}
		var p Positions
		long := append(slices.Clone(list), make([]byte, tailPad+kernelReach)...)
		if p.begin(long[:len(list)+tailPad], term) != nil {
			return
		}
		c := Cursor{Term: term, Last: make([]uint32, (df+BlockSize-1)/BlockSize), shown: BlockSize}
		for i := range c.tfs {
			c.tfs[i] = tf
		}
		for b := range c.Last {
			c.block, c.tfsOf = b, b
			for c.pos = 0; c.pos < c.blockLen(b); c.pos += 1 + c.pos%3 {
				got := p.Of(&c)
				if p.Err() != nil {
					return
				}
				for i := 1; i < len(got); i++ {
					if got[i] <= got[i-1] {
						t.Fatalf("positions %d, want ascending ones or an error", got)
					}
				}
			}
		}
	})
}
