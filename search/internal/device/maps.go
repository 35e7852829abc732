package device

import "github.com/collocate/collocate/internal/gpu"

// A frequent list also has a map: for every 32 documents a bit each, and the index of the first
// posting among them. One read tells whether the list contains a document, and where; without a map
// this takes several distant reads. Most lookups of batches are in such lists, since these are not
// read completely if it can be avoided.

// mapDocs is the number of documents per cell of a map, as in scoring.cuh.
const mapDocs = 32

// wantsMap reports whether a list is frequent enough for a map.
func (st *gpuStore) wantsMap(l *gpuList) bool {
	return !l.sparse() && int64(l.df)*mapShare >= int64(st.docs)
}

// mapBytes returns the size of all maps.
func (st *gpuStore) mapBytes() (n int64) {
	for i := range st.lists {
		if st.wantsMap(&st.lists[i]) {
			n += int64(st.tiles) * gpuTile / mapDocs * 8
		}
	}
	return n
}

// numberMaps gives frequent lists the numbers of their maps, if there is space for these.
func (st *gpuStore) numberMaps() {
	n := uint32(0)
	for i := range st.lists {
		if l := &st.lists[i]; st.mapped && st.wantsMap(l) {
			n++
			l.table = n
		}
	}
}

// drawMaps computes the maps of all lists, which must be permanently on the device.
func (st *gpuStore) drawMaps() (err error) {
	var terms []gpuTerm
	for i := range st.lists {
		if l := &st.lists[i]; l.table > 0 {
			var t gpuTerm
			t.locate(l)
			terms = append(terms, t)
		}
	}
	if len(terms) == 0 {
		return nil
	}
	g := st.g
	if st.maps, err = gpu.Alloc[uint64](g.dev, len(terms)*st.tiles*gpuTile/mapDocs); err != nil {
		return err
	}
	if err := st.maps.Zero(st.stream); err != nil {
		return err
	}
	return st.withTerms(terms, func(buf, n gpu.Arg) error {
		blocks := (len(terms)*st.tiles + 7) / 8
		return st.stream.Launch(g.k.drawMaps,
			gpu.Grid(min(blocks, 32*g.dev.Info().Multiprocessors), 256), buf, n,
			gpu.U32(uint32(st.tiles)),
			st.offsets.Arg(), st.starts.Arg(), st.maps.Arg())
	})
}
