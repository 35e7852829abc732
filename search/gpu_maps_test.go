package search

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/index"
)

// Maps say of every document whether a frequent list has it, and where. Rare lists have none.
func TestGPUMaps(t *testing.T) {
	p := severalTiles(rand.New(rand.NewPCG(7, 3)), 20)
	s := p.write(t, indexDir(scratch(t), 0))
	use(t, s, GPUOptions{})
	st := s.gpu.pack
	maps := make([]uint64, st.maps.Len())
	if err := st.maps.Download(t.Context(), st.stream, maps); err != nil {
		t.Fatal(err)
	}
	mapped := 0
	for id := range st.lists {
		l := &st.lists[id]
		if frequent := int(l.df)*mapShare >= len(p.lengths); frequent != (l.mapped > 0) {
			t.Errorf("list %d with %d postings: map %d", id, l.df, l.mapped)
		}
		if l.mapped == 0 {
			continue
		}
		mapped++
		want := map[uint32]uint32{}
		for i, d := range docsOf(t, s, id) {
			want[d] = uint32(i)
		}
		cells := maps[int(l.mapped-1)*st.tiles*gpuTile/mapDocs:]
		for d := range uint32(len(p.lengths)) {
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
		t.Errorf("%d of %d lists have a map", mapped, len(st.lists))
	}
}

// docsOf are the documents of a list.
func docsOf(t *testing.T, s *Searcher, id int) (all []uint32) {
	t.Helper()
	term, err := s.index.Term(id)
	if err != nil {
		t.Fatal(err)
	}
	var c index.Cursor
	if err := s.index.Open(term, &c); err != nil {
		t.Fatal(err)
	}
	var docs [index.BlockSize]uint32
	for b := range c.Blocks() {
		all = append(all, docs[:c.DecodeDocs(b, &docs)]...)
	}
	return all
}
