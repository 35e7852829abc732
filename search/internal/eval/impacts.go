package eval

import (
	"math/bits"
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/simd"
)

// Queries of learned sparse retrieval have dozens of words whose weights are flat, so bounds of
// lists rule nothing out. orImpacts bounds the sum of all words instead, as block-max pruning does
// (Mallia, Suel and Tonellotto, 2024), and adds what is left up tile by tile, over the copies that
// the index has of its long lists (index.ImpactList):
//
//  1. The highest weights of the lists in a tile are added up for all tiles at once. Tiles are
//     processed from the highest bound on, until none can win.
//  2. In a tile, short parts are added up exactly. The sums of the best document in each block of
//     32, and the rows of the other parts, give a bound of each block.
//  3. In the blocks that can win, the other parts are added up, too.
//
// Weights are whole numbers whose sums stay below 2^24, so sums do not depend on the order and
// equal those in float32.
type impacts struct {
	sums   [index.TileDocs]int32
	bounds [index.TileBlocks]int32
	above  [index.TileDocs / 64]uint64
	live   [index.TileBlocks / 64]uint64 // blocks that can win

	lists  []impactList // those that have a copy
	starts []uint32     // of their parts
	best   []int32      // bound of each tile
	order  []uint64     // tiles by falling bound

	// The postings of the other lists in the order of the tiles, and where each tile begins.
	rare, unsorted []rareImpact
	rareAt         []uint32

	docs, tfs [index.BlockSize]uint32
	skip      backoff // chooses tiles in which nothing is bounded
	scored    int64   // postings of copies that were added up
}

// impactList is a list with its weight in the query, and where its part of each tile begins.
type impactList struct {
	index.ImpactList
	factor int32
	starts []uint32
}

// rareImpact is a posting of a list without a copy.
type rareImpact struct {
	doc   uint32
	score int32
}

// mostSum is the limit of sums: float32 has all whole numbers up to it.
const mostSum = 1 << 24

// worthImpacts reports whether the index has copies of lists of weights, the query has whole
// weights, and there are enough postings for going through whole tiles.
func (q *Query) worthImpacts() bool {
	if !q.index.HasImpacts() || q.Mode != ask.Or || len(q.Lists) < 2 ||
		q.team != nil && ask.CutsDocuments(q.team.parts.kind) {
		return false
	}
	postings, sum := uint64(0), 0.0
	for _, l := range q.Lists {
		s, ok := l.Scorer.(*model.ImpactScorer)
		if !ok {
			return false
		}
		if w := s.Weight(); w < 1 || w > maxFactor || w != float32(int32(w)) {
			return false
		}
		postings += uint64(l.Term.DF)
		sum += l.max
	}
	if sum >= mostSum || postings < tilePostings*uint64(index.Tiles(q.c.Docs)) {
		return false
	}
	few := q.few(int(q.c.Docs))
	return few == nil || uint64(few.Count())*fewInTiles >= q.c.Docs
}

// orImpacts answers the query from the copies of its lists.
func (q *Query) orImpacts() (done bool, err error) {
	if q.or.impacts == nil {
		q.or.impacts = new(impacts)
	}
	m := q.or.impacts
	if err := m.open(q); err != nil {
		return false, err
	}
	first, last := int(q.from/index.TileDocs), index.Tiles(uint64(q.to))
	m.order = m.order[:0]
	for tile := first; tile < last; tile++ {
		key := uint64(tile)
		if q.team == nil {
			key |= uint64(^uint32(m.best[tile])) << 32
		}
		m.order = append(m.order, key)
	}
	if q.team == nil { // a team wants documents in rising order
		slices.Sort(m.order)
		q.anyOrder = true
	}
	m.skip = backoff{}
	for _, key := range m.order {
		tile := int(uint32(key))
		if m.best[tile] <= q.need() {
			if q.team == nil {
				break
			}
			continue
		}
		m.tile(q, tile)
		if err := q.pause(); err != nil {
			return false, err
		}
	}
	q.Stats.Scored += m.scored
	q.Stats.Decoded += m.scored
	q.used += m.scored / index.BlockSize // as if they were in blocks
	return true, nil
}

// need returns the largest whole number that is not above the threshold, and not below 0: a
// document with a sum of 0 has none of the words.
func (q *Query) need() int32 { return int32(max(0, min(q.theta, mostSum))) }

// open opens the copies of the lists, gathers the postings of the other lists, and bounds the sums
// of each tile.
func (m *impacts) open(q *Query) error {
	tiles := index.Tiles(q.c.Docs)
	m.lists, m.unsorted = m.lists[:0], m.unsorted[:0]
	m.best, m.scored = append(m.best[:0], make([]int32, tiles)...), 0
	m.starts = slices.Grow(m.starts[:0], tiles*len(q.Lists))
	for _, l := range q.Lists {
		factor := int32(l.Scorer.(*model.ImpactScorer).Weight())
		copied, ok, err := q.index.Impacts(l.Term)
		if err != nil {
			return err
		}
		if !ok {
			m.gather(q, l, factor)
			continue
		}
		begin, at := len(m.starts), uint32(0)
		for _, n := range copied.Counts {
			m.starts = append(m.starts, at)
			at += uint32(index.PartBytes(n))
		}
		vectors := tiles &^ 31
		simd.AddBytes(m.best[:vectors], copied.Best, factor)
		for tile := vectors; tile < tiles; tile++ {
			m.best[tile] += factor * int32(copied.Best[tile])
		}
		m.lists = append(m.lists, impactList{copied, factor, m.starts[begin:]})
	}
	m.sortRare(tiles)
	return nil
}

// gather decodes the postings of a list without a copy.
func (m *impacts) gather(q *Query, l *list, factor int32) {
	before, best := -1, int32(0)
	for b := l.FindBlock(-1, q.from); b < len(l.Last); b++ {
		n := l.DecodeDocs(b, &m.docs)
		if n == 0 || l.DecodeTFs(b, &m.tfs) != n {
			return // damaged: l.Err says so
		}
		l.used++
		l.decoded += int64(n)
		l.scored += int64(n)
		for i, doc := range m.docs[:n] {
			if tile := int(doc / index.TileDocs); tile != before {
				before, best = tile, 0
			}
			score := factor * int32(m.tfs[i])
			m.unsorted = append(m.unsorted, rareImpact{doc, score})
			if score > best {
				m.best[before] += score - best
				best = score
			}
		}
		if m.docs[n-1] >= q.to {
			return
		}
	}
}

// sortRare sorts the postings that were gathered by their tiles.
func (m *impacts) sortRare(tiles int) {
	m.rareAt = append(m.rareAt[:0], make([]uint32, tiles+1)...)
	for _, p := range m.unsorted {
		m.rareAt[p.doc/index.TileDocs]++
	}
	end := uint32(0)
	for i, n := range m.rareAt {
		end += n
		m.rareAt[i] = end
	}
	m.rare = append(m.rare[:0], m.unsorted...)
	for _, p := range m.unsorted {
		at := &m.rareAt[p.doc/index.TileDocs]
		*at--
		m.rare[*at] = p
	}
}

// tile finds the answers in a tile.
func (m *impacts) tile(q *Query, tile int) {
	for _, p := range m.rare[m.rareAt[tile]:m.rareAt[tile+1]] {
		m.sums[p.doc%index.TileDocs] += p.score
	}
	need := q.need()
	whole := need == 0 || m.skip.next()
	for i := range m.lists {
		l := &m.lists[i]
		n := int(l.Counts[tile])
		if n == 0 || !whole && n >= index.MediumPart {
			continue
		}
		m.add(l.part(tile), n, l.factor)
		m.scored += int64(n)
	}
	if !whole {
		live := m.bound(tile, need)
		if live < mostLive {
			m.skip = backoff{}
		} else {
			m.skip.more()
		}
		if live > 0 {
			m.addLive(tile, live)
		}
		if live <= fewLive {
			m.offerLive(q, tile)
			clear(m.sums[:])
			return
		}
	}
	simd.Above(m.sums[:], need, m.above[:])
	for w, bits := range m.above {
		m.offer(q, tile, w, bits)
	}
	clear(m.sums[:])
}

// part returns the part of a list in a tile, and what follows.
func (l *impactList) part(tile int) []byte { return l.Parts[l.starts[tile]:] }

// add adds a part of n postings to the sums.
func (m *impacts) add(part []byte, n int, factor int32) {
	if n >= index.MediumPart {
		part = part[index.TileBlocks:]
	}
	if n >= index.LongPart {
		simd.AddBytes(m.sums[:], part, factor)
		return
	}
	m.addPostings(part, 0, n, n, factor)
}

// addPostings adds the postings from..to of a part that has n, without its row.
func (m *impacts) addPostings(part []byte, from, to, n int, factor int32) {
	places := placesOf(part, n)[from:to]
	weights := part[2*n:][from:to]
	weights = weights[:len(places)]
	for i, place := range places {
		m.sums[place%index.TileDocs] += factor * int32(weights[i])
	}
}

// placesOf returns the places of n postings. They are aligned, as all parts are of even lengths.
func placesOf(part []byte, n int) []uint16 {
	places, _ := sections.View[uint16](part[:2*n])
	return places
}

// bound finds the blocks of a tile that can have sums above need, and returns how many they are.
func (m *impacts) bound(tile int, need int32) (live int) {
	simd.Highest(m.sums[:], m.bounds[:])
	for i := range m.lists {
		if l := &m.lists[i]; l.Counts[tile] >= index.MediumPart {
			simd.AddBytes(m.bounds[:], l.part(tile), l.factor)
		}
	}
	simd.Above(m.bounds[:], need, m.live[:])
	for _, w := range m.live {
		live += bits.OnesCount64(w)
	}
	return live
}

// addLive adds the medium and long parts up in the blocks that can win.
func (m *impacts) addLive(tile, live int) {
	for i := range m.lists {
		l := &m.lists[i]
		n := int(l.Counts[tile])
		if n < index.MediumPart {
			continue
		}
		part := l.part(tile)
		if n >= index.LongPart && live > index.TileBlocks/2 ||
			n < index.LongPart && n < postingsSearched*live {
			m.add(part, n, l.factor)
			m.scored += int64(n)
			continue
		}
		m.scored += m.addBlocks(part, n, l.factor)
	}
}

// addBlocks adds a part up in the blocks that can win, and returns about how many postings that
// were.
func (m *impacts) addBlocks(part []byte, n int, factor int32) (added int64) {
	row, data := part[:index.TileBlocks], part[index.TileBlocks:]
	var places []uint16
	if n < index.LongPart {
		places = placesOf(data, n)
	}
	at := 0
	for w, set := range m.live {
		for ; set != 0; set &= set - 1 {
			block := w*64 + bits.TrailingZeros64(set)
			if row[block] == 0 {
				continue
			}
			first := block * index.TileBlock
			if n >= index.LongPart {
				simd.AddBytes(m.sums[first:first+index.TileBlock], data[first:], factor)
				added += int64(n / index.TileBlocks)
				continue
			}
			begin, _ := slices.BinarySearch(places[at:], uint16(first))
			begin += at
			for at = begin; at < n && int(places[at]) < first+index.TileBlock; at++ {
			}
			m.addPostings(data, begin, at, n, factor)
			added += int64(at - begin)
		}
	}
	return added
}

// offerLive offers the documents of blocks that can win. Sums of other blocks do not exceed need,
// as their bounds do not.
func (m *impacts) offerLive(q *Query, tile int) {
	need := q.need()
	for w, set := range m.live {
		for set != 0 {
			pair := bits.TrailingZeros64(set) / 2 // of blocks, which are 64 documents
			set &^= 3 << (2 * pair)
			at := w*32 + pair
			simd.Above(m.sums[64*at:64*at+64], need, m.above[at:])
			m.offer(q, tile, at, m.above[at])
		}
	}
}

// offer offers documents of 64 whose bits are set.
func (m *impacts) offer(q *Query, tile, word int, set uint64) {
	for ; set != 0; set &= set - 1 {
		at := word*64 + bits.TrailingZeros64(set)
		if doc := uint32(tile*index.TileDocs + at); doc >= q.from && doc < q.to {
			q.push(doc, float32(m.sums[at]))
		}
	}
}
