package index

import (
	"fmt"
	"slices"

	"github.com/collocate/collocate/internal/sections"
)

// Two frequent words occur together in nearly every block, so the bounds of blocks rarely rule a
// block out. Therefore a long list that covers a large share of the documents also has a map of
// levels. It has four bits for each 16 documents: the level of the list's best posting among them,
// by the x of the stored model. A search adds up the maps of its words, 64 bytes at a time, and
// decodes blocks only where the sum can reach the threshold.
//
// With 16 documents per level instead of 32, two frequent words of 5M documents leave a third as
// many candidates, and a query for 100 answers takes 600 microseconds instead of 1,000. The maps
// then add 9% to the index instead of 5%.
const (
	// NumLevels is the number of levels. Level 0 means that there is no posting; above it, levels
	// rise from the worst to the best.
	NumLevels = 16
	// LevelDocs is the number of documents that share a level. A map is cut into stretches of
	// StretchBytes bytes, which cover StretchDocs documents. The low halves of the bytes hold the
	// levels of the first half of these documents, the high halves those of the second.
	LevelDocs    = 16
	StretchDocs  = 2 * StretchBytes * LevelDocs
	StretchBytes = 64

	levelsShare = 48 // lists with one in this many documents have a map
)

// levelsFrom is the number of postings from which on a list has a map in a large index. Shorter
// lists take little time anyway. With it the maps are 2.7% of an index of 420,000 eLife paragraphs.
var levelsFrom uint64 = 28_000 // tests lower it

// In a smaller index a list needs fewer postings for a map: 1/levelsPart of the number of
// documents, but at least levelsLeast. So if an index consists of ten segments, the same words have
// maps as if it were one. Without this rule "to be or not to be" takes a third longer in ten
// segments than in one.
const (
	levelsPart  = 15
	levelsLeast = 1_500
)

// levelEnds says which level a place gets. Of the places with postings, ordered from the best on,
// levelEnds[0] thousandths get the highest level, those up to levelEnds[1] thousandths the next,
// and so on. The best levels are the narrowest, because answers are among them.
var levelEnds = [NumLevels - 1]int{1, 4, 10, 20, 40, 70, 110, 160, 220, 300, 400, 500, 650, 800, 1000}

// hasLevels reports whether a list of df postings has a map, in an index of docs documents.
func hasLevels(df uint32, docs uint64) bool {
	from := min(levelsFrom, max(levelsLeast, docs/levelsPart))
	return uint64(df) >= from && uint64(df)*levelsShare >= docs
}

// HasLevels reports whether a word's list has a map of levels; see NumLevels.
func (r *Reader) HasLevels(t Term) bool {
	return r.meta.flags&flagLevels != 0 && hasLevels(t.DF, r.meta.docs)
}

// LevelOf returns the level that the map of a list with Levels has for a document.
func (c *Cursor) LevelOf(doc uint32) uint8 {
	p := doc / LevelDocs
	two := c.Levels[p/(2*StretchBytes)*StretchBytes+p%StretchBytes]
	return two >> (4 * (p / StretchBytes % 2)) % NumLevels
}

// mapBytes is the length of a map, with the x of its levels in front.
func mapBytes(docs uint64) uint64 {
	return 4*NumLevels + (docs+StretchDocs-1)/StretchDocs*StretchBytes
}

// levelMaker makes the map of a list from its postings in order. Most lists are too short to have
// one, so postings wait until there are enough for it.
type levelMaker struct {
	docs  uint64 // number of documents of the index
	df    uint32 // number of postings of the list so far
	never bool   // the list will have no map: its length is known, and too small
	// Postings that wait: their documents, frequencies less 1, and bits of x.
	waiting []uint32
	less    []uint32
	xs      []uint32
	// Bits of the lowest x at each place, noPostingBits where there is none; whole stretches.
	lows []uint32
	// By the upper 16 bits of x, whose sign is never set: the number of places, and their level.
	count   [1 << 15]uint32
	levelOf [1 << 15]uint8
	top     topMaker
}

// begin begins a list of df postings; 0 if that is not known.
func (m *levelMaker) begin(df uint32) { m.never = df > 0 && !hasLevels(df, m.docs) }

// add adds postings by their documents, frequencies less 1, and bits of their x.
func (m *levelMaker) add(docs, less, xs []uint32) {
	if m.never {
		return
	}
	if m.df += uint32(len(docs)); !hasLevels(m.df, m.docs) {
		m.waiting, m.less = append(m.waiting, docs...), append(m.less, less...)
		m.xs = append(m.xs, xs...)
		return
	}
	if len(m.waiting) > 0 {
		m.put(m.waiting, m.xs)
		m.top.add(m.waiting, m.less, m.xs)
		m.waiting, m.less, m.xs = m.waiting[:0], m.less[:0], m.xs[:0]
	}
	m.put(docs, xs)
	m.top.add(docs, less, xs)
}

// put lowers the x of the documents' places.
func (m *levelMaker) put(docs, xs []uint32) {
	if m.lows == nil {
		m.lows = make([]uint32, mapPlaces(m.docs))
		for i := range m.lows {
			m.lows[i] = noPostingBits
		}
	}
	xs = xs[:len(docs)]
	for i, d := range docs {
		m.lows[d/LevelDocs] = min(m.lows[d/LevelDocs], xs[i])
	}
}

// pairs appends the map of pairs of what was added, if the list has one, and returns the bits of an
// x that no other posting is below. It is called before take.
func (m *levelMaker) pairs(dst []uint64) (_ []uint64, x uint32, ok bool) {
	n := inPairs(m.df, m.docs)
	if n == 0 {
		return dst, 0, false
	}
	dst, x = m.top.pairs(dst, n, m.docs)
	return dst, x, true
}

// mapPlaces is how many places the stretches of a map have.
func mapPlaces(docs uint64) uint64 {
	return (docs + StretchDocs - 1) / StretchDocs * (StretchDocs / LevelDocs)
}

// take ends a list. If it is long enough for a map, take appends the map to dst and the list's top
// postings to top, and is ok. It makes the map in three steps:
//
//  1. Count the places by the upper 16 bits of their lowest x. Levels end where these bits change,
//     so counting replaces sorting.
//  2. Go through the counts from the lowest x, which is the best, and give each value of the upper
//     bits a level by the share of places before it (levelEnds).
//  3. Write the level of every place, two to a byte, and note the lowest x of each level: these
//     stand in front of the map. At the same time reset the places for the next list.
func (m *levelMaker) take(dst []byte, top []TopPosting) (_ []byte, _ []TopPosting, ok bool) {
	ok = hasLevels(m.df, m.docs)
	if ok {
		top = m.top.take(top, numTop(m.df, m.docs))
	}
	m.df, m.waiting, m.less, m.xs = 0, m.waiting[:0], m.less[:0], m.xs[:0]
	if !ok {
		return dst, top, false
	}
	lowest, highest := uint32(noPostingBits), uint32(0)
	for _, x := range m.lows {
		m.count[x>>16]++
		lowest = min(lowest, x)
		if x != noPostingBits {
			highest = max(highest, x)
		}
	}
	there := len(m.lows) - int(m.count[noPostingBits>>16])
	level, seen := 0, 0
	for u := lowest >> 16; u <= highest>>16; u++ {
		for level < NumLevels-2 && seen*1000 >= levelEnds[level]*there {
			level++
		}
		m.levelOf[u] = uint8(NumLevels - 1 - level)
		seen += int(m.count[u])
		m.count[u] = 0
	}
	m.count[noPostingBits>>16] = 0
	m.levelOf[noPostingBits>>16] = 0
	var low [NumLevels]uint32
	for l := range low {
		low[l] = noPostingBits
	}
	start := len(dst)
	size := int(mapBytes(m.docs))
	dst = slices.Grow(dst, size)[:start+size]
	levels := dst[start+4*NumLevels:]
	for lows := m.lows; len(lows) >= 2*StretchBytes; lows, levels = lows[2*StretchBytes:], levels[StretchBytes:] {
		stretch, out := (*[2 * StretchBytes]uint32)(lows), (*[StretchBytes]byte)(levels)
		for i := range out {
			x, y := stretch[i], stretch[i+StretchBytes]
			k, l := m.levelOf[x>>16&0x7fff], m.levelOf[y>>16&0x7fff]
			low[k&(NumLevels-1)] = min(low[k&(NumLevels-1)], x)
			low[l&(NumLevels-1)] = min(low[l&(NumLevels-1)], y)
			out[i] = k | l<<4
			stretch[i], stretch[i+StretchBytes] = noPostingBits, noPostingBits
		}
	}
	copy(dst[start:], sections.Bytes(low[:]))
	return dst, top, true
}

// noPostingBits are those of noPosting.
const noPostingBits = 0x7f800000

// levelMaps is the file of maps.
type levelMaps struct {
	file  *sections.File
	words []uint32 // the numbers of the words that have one, ascending
	maps  []byte   // one after the other
	top   topLists
}

func openLevels(f *sections.File, docs uint64) (m levelMaps, err error) {
	m.file = f
	if m.words, err = view[uint32](f, "words"); err != nil {
		return m, err
	}
	if m.maps, err = f.Section("levels"); err != nil {
		return m, err
	}
	if uint64(len(m.maps)) != uint64(len(m.words))*mapBytes(docs) {
		return m, fmt.Errorf("corrupted: %d bytes of levels for %d words", len(m.maps), len(m.words))
	}
	m.top, err = openTop(f, docs)
	return m, err
}

// mapOf returns the map of a word, or nil if it has none.
func (m *levelMaps) mapOf(t Term, docs uint64) ([]byte, error) {
	if t.made != nil {
		return t.made.levels, nil
	}
	i, ok := slices.BinarySearch(m.words, uint32(t.ID))
	if !ok {
		return nil, nil
	}
	size := int(mapBytes(docs))
	data := m.maps[i*size : (i+1)*size]
	return data, m.file.Touch(data)
}

// of gives a cursor the map of its word, if there is one.
func (m *levelMaps) of(c *Cursor, docs uint64) error {
	c.Levels, c.LevelX = nil, nil
	if !hasLevels(c.Term.DF, docs) {
		return nil
	}
	data, err := m.mapOf(c.Term, docs)
	if err != nil || data == nil {
		return err
	}
	low, err := sections.View[float32](data[:4*NumLevels])
	if err != nil {
		return err
	}
	c.Levels, c.LevelX = data[4*NumLevels:], (*[NumLevels]float32)(low)
	return nil
}
