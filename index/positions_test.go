package index

import (
	"context"
	"encoding/hex"
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

// placesIn are the places of words in lines.
func placesIn(lines []string) map[string]map[string][]uint32 {
	want := map[string]map[string][]uint32{} // by ID, by word
	for d, line := range lines {
		places := map[string][]uint32{}
		for i, w := range strings.Fields(line) {
			places[w] = append(places[w], uint32(i))
		}
		want[fmt.Sprint("corpus.txt:", d+1)] = places
	}
	return want
}

// The positions of a built index are those in the text, read in order or not; reordering keeps
// them.
func TestPositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var lines []string
	for d := range 1500 / trials.Every(3) {
		var b strings.Builder
		for range rng.IntN(60) + 1 {
			fmt.Fprintf(&b, "w%d ", int(rng.ExpFloat64()*15))
		}
		if d%400 == 7 { // many occurrences, far apart, in a document
			b.WriteString(strings.Repeat("w1 ", 300) + strings.Repeat("x ", 70000) + "w1 ")
		}
		lines = append(lines, b.String())
	}
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	old := chunkSize
	chunkSize = 1 << 12 // lists that are handed over in parts
	defer func() { chunkSize = old }()
	for _, o := range []BuildOptions{{Positions: true}, {Positions: true, Reorder: true, Threads: 2}} {
		r := open(t, build(t, path, o))
		if !r.HasPositions() {
			t.Fatal("no positions")
		}
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		want := placesIn(lines)
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
					t.Fatalf("%q in %s: %d, %v; want %d", w.Text, id, got, p.Err(), want[id][string(w.Text)])
				}
			}
			for _, step := range []uint32{1, 1, 400} { // every document twice; then far ones only
				if r.Open(w.Term, &c) != nil || r.OpenPositions(w.Term, &p) != nil {
					t.Fatal("open")
				}
				for c.Doc() != End {
					look()
					look()
					c.Seek(c.Doc() + 1 + rng.Uint32N(step))
				}
			}
		}
	}
	// A pruned index keeps those of the postings that it keeps.
	dir := filepath.Join(t.TempDir(), "pruned")
	if err := Prune(context.Background(), open(t, build(t, path, BuildOptions{Positions: true})),
		dir, PruneOptions{Epsilon: 0.9}); err != nil {
		t.Fatal(err)
	}
	if r := open(t, dir); !r.HasPositions() || r.Check(context.Background(), CheckOptions{}) != nil {
		t.Error(r.Check(context.Background(), CheckOptions{}))
	}
	if r := open(t, build(t, path, BuildOptions{})); r.HasPositions() ||
		r.OpenPositions(Term{}, &Positions{}) != ErrNoPositions {
		t.Error("positions that nobody wanted")
	}
}

// The bytes of the example in reader.go, and of a list with a table.
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
		t.Errorf("starts %d", r.positions.starts)
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
			t.Fatal("not taken")
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

// The places of any postings of a block are those that were written, with all vector instructions.
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

// Whatever bytes a list has, reading it ends, with places that rise or an error.
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
						t.Fatalf("%d", got)
					}
				}
			}
		}
	})
}
