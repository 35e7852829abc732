package index

import (
	"bytes"
	"context"
	"encoding/hex"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/trials"
)

// weightedIndex writes an index of weighted tokens: for each word its documents and weights.
func weightedIndex(t testing.TB, dir string, docs int, lists map[string][][2]uint32) {
	t.Helper()
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.SetDocuments(Documents{Analyzer: "impact", Lengths: make([]uint32, docs),
		ID: strconv.Itoa}); err != nil {
		t.Fatal(err)
	}
	for _, word := range slices.Sorted(maps.Keys(lists)) {
		var list, weights []uint32
		for _, p := range lists[word] {
			list, weights = append(list, p[0]), append(weights, p[1])
		}
		if err := w.Add([]byte(word), list, weights); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// randomWeights returns lists with one in every few of the documents, for various numbers.
func randomWeights(rng *rand.Rand, docs int) map[string][][2]uint32 {
	lists := map[string][][2]uint32{}
	for i, share := range []float64{0.001, 0.01, 0.02, 0.1, 0.3, 1} {
		var list [][2]uint32
		for d := range docs {
			if rng.Float64() < share {
				list = append(list, [2]uint32{uint32(d), 1 + rng.Uint32N(MaxImpact)})
			}
		}
		if len(list) > 0 {
			lists["w"+strconv.Itoa(i)] = list
		}
	}
	return lists
}

// The bytes of the example in the comment of the format: 9,000 documents, of which a token has 128
// with even numbers from 0 on, and the last two.
func TestBytesOfImpactsArePinned(t *testing.T) {
	var list [][2]uint32
	for d := range uint32(128) {
		list = append(list, [2]uint32{2 * d, 7 + d%2})
	}
	list = append(list, [2]uint32{8998, 255}, [2]uint32{8999, 1})
	dir := filepath.Join(t.TempDir(), "ix")
	weightedIndex(t, dir, 9000, map[string][][2]uint32{"t": list})
	r := open(t, dir)
	var places strings.Builder
	for d := range 128 {
		places.WriteString(hex.EncodeToString([]byte{byte(2 * d), byte(2 * d >> 8)}))
	}
	want := "8000" + "0000" + "0200" + "08" + "00" + "ff" + "00" + // counts, highest, padding
		strings.Repeat("08", 8) + strings.Repeat("00", 120) + // the row
		places.String() + strings.Repeat("0708", 64) +
		"2603" + "2703" + "ff01" // 8,998 and 8,999 less 8,192
	for len(want)%16 != 0 {
		want += "00"
	}
	if got := hex.EncodeToString(r.impacts.lists); got != want {
		t.Errorf("impacts\n got %s\nwant %s", got, want)
	}
	if !slices.Equal(r.impacts.words, []uint32{0}) || !slices.Equal(r.impacts.starts, []uint64{0, uint64(len(want) / 2)}) {
		t.Errorf("words %v, starts %v", r.impacts.words, r.impacts.starts)
	}
}

// The copies have the postings of the lists, in the form that their number asks for.
func TestImpactsAreTheLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(301, 302))
	for range trials.Of(10) {
		docs := []int{200, 4096, 4097, 20_000}[rng.IntN(4)]
		lists := randomWeights(rng, docs)
		dir := filepath.Join(t.TempDir(), "ix")
		weightedIndex(t, dir, docs, lists)
		r := open(t, dir)
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		for word, list := range lists {
			term, err := r.Lookup([]byte(word))
			if err != nil {
				t.Fatal(err)
			}
			l, ok, err := r.Impacts(term)
			if want := len(list) > BlockSize && len(list)*impactShare >= docs; err != nil || ok != want {
				t.Fatalf("%d postings of %d: %v, %v; want %v", len(list), docs, ok, err, want)
			}
			if ok {
				checkImpacts(t, l, list)
			}
		}
	}
}

func checkImpacts(t *testing.T, l ImpactList, list [][2]uint32) {
	t.Helper()
	parts, at := l.Parts, 0
	for tile, count := range l.Counts {
		var row [TileBlocks]uint8
		var whole [TileDocs]uint8
		n, best := int(count), uint8(0)
		for _, p := range list[at : at+n] {
			if int(p[0]/TileDocs) != tile {
				t.Fatalf("tile %d: document %d", tile, p[0])
			}
			place, w := p[0]%TileDocs, uint8(p[1])
			whole[place], best = w, max(best, w)
			row[place/TileBlock] = max(row[place/TileBlock], w)
		}
		if l.Best[tile] != best {
			t.Fatalf("tile %d: highest weight %d, want %d", tile, l.Best[tile], best)
		}
		part := parts[:PartBytes(count)]
		parts = parts[len(part):]
		if n >= MediumPart {
			if !bytes.Equal(part[:TileBlocks], row[:]) {
				t.Fatalf("tile %d: row %v, want %v", tile, part[:TileBlocks], row)
			}
			part = part[TileBlocks:]
		}
		if n >= LongPart {
			if !bytes.Equal(part, whole[:]) {
				t.Fatalf("tile %d: wrong weights", tile)
			}
		} else {
			for i, p := range list[at : at+n] {
				if part[2*i] != byte(p[0]) || part[2*i+1] != byte(p[0]%TileDocs>>8) || part[2*n+i] != byte(p[1]) {
					t.Fatalf("tile %d: wrong posting %d", tile, i)
				}
			}
		}
		at += n
	}
	if at != len(list) || len(parts) > 0 {
		t.Fatalf("%d postings, and %d bytes more; want %d", at, len(parts), len(list))
	}
}

// A weight above MaxImpact in a long list leaves all copies out; in a short list it does not. An
// index of words has none.
func TestWhoHasImpacts(t *testing.T) {
	long := func(most uint32, n int) (list [][2]uint32) {
		for d := range uint32(n) {
			list = append(list, [2]uint32{d, 1 + (most-1)*(d%2)})
		}
		return list
	}
	for _, c := range []struct {
		lists map[string][][2]uint32
		want  bool
	}{
		{map[string][][2]uint32{"a": long(255, 129)}, true},
		{map[string][][2]uint32{"a": long(255, 128)}, false},
		{map[string][][2]uint32{"a": long(255, 500), "b": long(256, 129)}, false},
		{map[string][][2]uint32{"a": long(256, 500), "b": long(255, 129)}, false},
		{map[string][][2]uint32{"a": long(255, 500), "b": long(65_535, 100)}, true},
	} {
		dir := filepath.Join(t.TempDir(), "ix")
		weightedIndex(t, dir, 600, c.lists)
		r := open(t, dir)
		if r.HasImpacts() != c.want || (r.files[impactsFile] != nil) != c.want {
			t.Errorf("has impacts %v, want %v", r.HasImpacts(), c.want)
		}
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Error(err)
		}
	}
	if r := randomIndex(rand.New(rand.NewPCG(3, 4)), 9000, 12).write(t); r.HasImpacts() {
		t.Error("an index of words has impacts")
	}
}

// Merging gives the bytes of an index that was written at once.
func TestMergedImpacts(t *testing.T) {
	rng := rand.New(rand.NewPCG(303, 304))
	lists := randomWeights(rng, 9000)
	dir := t.TempDir()
	weightedIndex(t, filepath.Join(dir, "whole"), 9000, lists)
	var sources []Source
	for i, border := range []uint32{0, 5000} {
		end, part := []uint32{5000, 9000}[i], map[string][][2]uint32{}
		for word, list := range lists {
			for _, p := range list {
				if p[0] >= border && p[0] < end {
					part[word] = append(part[word], [2]uint32{p[0] - border, p[1]})
				}
			}
		}
		name := filepath.Join(dir, strconv.Itoa(i))
		weightedIndex(t, name, int(end-border), part)
		sources = append(sources, Source{Reader: open(t, name)})
	}
	if err := Merge(context.Background(), filepath.Join(dir, "merged"), sources, MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	want, got := readDir(t, filepath.Join(dir, "whole")), readDir(t, filepath.Join(dir, "merged"))
	if len(want[impactsFile]) == 0 || !bytes.Equal(want[impactsFile], got[impactsFile]) {
		t.Errorf("merged impacts have %d bytes, want those of %d", len(got[impactsFile]), len(want[impactsFile]))
	}
}

// With bytes of the file changed and its checksums repaired, nothing panics, and Check finds the
// damage.
func TestDamagedImpacts(t *testing.T) {
	rng := rand.New(rand.NewPCG(305, 306))
	dir := filepath.Join(t.TempDir(), "ix")
	weightedIndex(t, dir, 9000, randomWeights(rng, 9000))
	good := readDir(t, dir)
	whole, err := openMemory(good)
	if err != nil {
		t.Fatal(err)
	}
	for range trials.Of(300) {
		files := maps.Clone(good)
		data := bytes.Clone(good[impactsFile])
		at := 64 + rng.IntN(len(data)-64-32-40*8)
		data[at] ^= 1 << rng.UintN(8)
		files[impactsFile] = data
		repair(files)
		r, err := openMemory(files)
		if err != nil {
			continue
		}
		same := true // what is read, so that the byte only fills up a section
		for id := range int(r.meta.terms) {
			if term, err := r.Lookup([]byte("w" + strconv.Itoa(id))); err == nil {
				got, _, _ := r.Impacts(term)
				want, _, _ := whole.Impacts(term)
				same = same && reflect.DeepEqual(got, want)
			}
		}
		if err := r.checkLists(context.Background(), CheckOptions{Threads: 1}); err == nil && !same {
			t.Fatalf("byte %d of the impacts changed, and Check finds nothing", at)
		}
	}
}

// FuzzImpacts opens arbitrary bytes as copies of lists: whatever is accepted can be read whole.
func FuzzImpacts(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 3, 0, 5, 1, 0, 1, 2, 3}, uint16(9000))
	f.Fuzz(func(t *testing.T, data []byte, docs uint16) {
		for len(data)%impactAlign != 0 {
			data = append(data, 0)
		}
		r := &Reader{meta: meta{docs: uint64(docs), flags: flagImpacts}}
		r.impacts = impactLists{words: []uint32{0}, starts: []uint64{0, uint64(len(data))}, lists: data}
		r.impacts.file = &sections.File{}
		l, ok, err := r.Impacts(Term{DF: maxDocs - 1})
		if err != nil || !ok {
			return
		}
		used := 0
		for _, n := range l.Counts {
			used += PartBytes(n)
		}
		if used != len(l.Parts) || len(l.Counts) != Tiles(uint64(docs)) || len(l.Best) != len(l.Counts) {
			t.Errorf("%d bytes of parts for %d tiles, want %d", len(l.Parts), len(l.Counts), used)
		}
	})
}
