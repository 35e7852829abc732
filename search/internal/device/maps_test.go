package device

import (
	"math/bits"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// The map of a frequent list has, for every document, whether the list contains it, and where. Rare
// lists have no map.
func TestGPUMaps(t *testing.T) {
	p := severalTiles(rand.New(rand.NewPCG(7, 3)), 20)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	st := s.gpu.pack
	maps := make([]uint64, st.maps.Len())
	if err := st.maps.Download(t.Context(), st.stream, maps); err != nil {
		t.Fatal(err)
	}
	mapped := 0
	for id := range st.lists {
		l := &st.lists[id]
		if frequent := int(l.df)*mapShare >= len(p.Lengths); frequent != (l.table > 0) {
			t.Errorf("list %d with %d postings: map %d, want one: %v", id, l.df, l.table, frequent)
		}
		if l.table == 0 {
			continue
		}
		mapped++
		want := map[uint32]uint32{}
		for i, d := range docsOf(t, s, id) {
			want[d] = uint32(i)
		}
		cells := maps[int(l.table-1)*st.tiles*gpuTile/mapDocs:]
		for d := range uint32(len(p.Lengths)) {
			cell := cells[d/mapDocs]
			at, has := want[d]
			bit := uint32(1) << (d % mapDocs)
			got := uint32(cell>>32) + uint32(bits.OnesCount32(uint32(cell)&(bit-1)))
			if has != (uint32(cell)&bit != 0) || has && got != at {
				t.Fatalf("list %d, document %d: cell %016x, want %v at %d", id, d, cell, has, at)
			}
		}
	}
	if mapped == 0 || mapped == len(st.lists) {
		t.Errorf("%d of %d lists have a map, want some but not all", mapped, len(st.lists))
	}
}

// If lists fit the device but their maps do not, there are no maps, and the results are the same.
func TestGPUMapsThatDoNotFit(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	rng := rand.New(rand.NewPCG(7, 4))
	p := severalTiles(rng, 20)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	memory := func(bytes int) Options { return Options{Device: engine.Device{Memory: int64(bytes)}} }
	least := sort.Search(1<<30, func(bytes int) bool {
		m, err := measure(s.e.Index)
		if err != nil {
			t.Fatal(err)
		}
		st, err := newGPUStore(s.gpu, m, memory(bytes))
		if err != nil { // too little for anything
			return false
		}
		defer st.free()
		return st.mapped
	})
	if err := s.closeGPU(); err != nil {
		t.Fatal(err)
	}
	use(t, s, memory(least-1))
	if st := s.gpu.pack; !st.whole || !st.roomy || st.mapped || st.maps.Len() > 0 {
		t.Errorf("%d bytes: all lists fit: %v, their words: %v, their maps: %v, %d cells; want no maps",
			least-1, st.whole, st.roomy, st.mapped, st.maps.Len())
	}
	var requests []ask.Request
	for i := range 40 / trials.Every(2) {
		r := ask.Request{K: 1 + rng.IntN(50), Mode: ask.Mode(i % 2)}
		for _, w := range rng.Perm(len(p.Words))[:2+i%4] {
			r.Words = append(r.Words, ask.Word{Text: p.Words[w]})
		}
		requests = append(requests, r)
	}
	equalBatches(t, s, requests)
}

// docsOf returns the documents of a list.
func docsOf(t *testing.T, s *Searcher, id int) (all []uint32) {
	t.Helper()
	term, err := s.e.Index.Term(id)
	if err != nil {
		t.Fatal(err)
	}
	var c index.Cursor
	if err := s.e.Index.Open(term, &c); err != nil {
		t.Fatal(err)
	}
	var docs [index.BlockSize]uint32
	for b := range c.Blocks() {
		all = append(all, docs[:c.DecodeDocs(b, &docs)]...)
	}
	return all
}
