package index

import (
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/sections"
)

// Two words that are in many documents are in nearly every block together, and hardly a block's bound says that it cannot win. So a long list
// that has a good share of all documents also has a map of levels: half a byte for each 16 documents, which tells how good the best of the list's postings
// there is, by the x of the stored model. A search adds up the maps of its words 64 bytes at a time, and decodes only where the sum
// can win.
//
// With 16 documents a level two frequent words of 5M documents leave a third of what they leave with 32, at 9% more bytes of index instead of
// 5%; the same query takes 600 microseconds instead of 1,000 for 100 answers.
const (
	// NumLevels is the number of levels: 0 where there is no posting, then from the worst to the best.
	NumLevels = 16
	// LevelDocs is the number of documents that share a level, StretchDocs of those whose levels are StretchBytes long:
	// of the first half of their levels in the lower halves of the bytes, of the second half in the upper ones.
	LevelDocs    = 16
	StretchDocs  = 2 * StretchBytes * LevelDocs
	StretchBytes = 64

	levelsShare = 48 // lists with one in so many documents have a map
)

// levelsFrom is how long lists with a map are at least; what is shorter takes little time anyway. On 420,000 eLife paragraphs the maps are 2.7% of the
// index with it.
var levelsFrom uint64 = 28_000 // tests lower it

// levelEnds are the shares of the levels, from the best on, in thousandths of those that have postings: answers are found among the best.
var levelEnds = [NumLevels - 1]int{1, 4, 10, 20, 40, 70, 110, 160, 220, 300, 400, 500, 650, 800, 1000}

func hasLevels(df uint32, docs uint64) bool {
	return uint64(df) >= levelsFrom && uint64(df)*levelsShare >= docs
}

// mapBytes is the length of a map, with the x of its levels in front.
func mapBytes(docs uint64) uint64 {
	return 4*NumLevels + (docs+StretchDocs-1)/StretchDocs*StretchBytes
}

// levelMaker makes the map of a list from its postings in order.
type levelMaker struct {
	places []uint32 // those that have postings, in units of LevelDocs
	lows   []float32
}

func (m *levelMaker) reset() { m.places, m.lows = m.places[:0], m.lows[:0] }

func (m *levelMaker) add(doc uint32, x float32) {
	p, n := doc/LevelDocs, len(m.places)
	if n == 0 || m.places[n-1] != p {
		m.places, m.lows = append(m.places, p), append(m.lows, x)
	} else if x < m.lows[n-1] {
		m.lows[n-1] = x
	}
}

// append appends the map of what was added, for so many documents.
func (m *levelMaker) append(dst []byte, docs uint64) []byte {
	// Levels end between numbers whose upper 16 bits differ, so that counting does for sorting.
	var count [1 << 16]uint32
	for _, x := range m.lows {
		count[math.Float32bits(x)>>16]++
	}
	var levelOf [1 << 16]uint8
	level, seen := 0, 0
	for u, n := range &count {
		for level < NumLevels-2 && seen*1000 >= levelEnds[level]*len(m.lows) {
			level++
		}
		levelOf[u] = uint8(NumLevels - 1 - level)
		seen += int(n)
	}
	var low [NumLevels]float32
	for l := range low {
		low[l] = noPosting
	}
	start := len(dst)
	dst = slices.Grow(dst, int(mapBytes(docs)))[:start+int(mapBytes(docs))]
	levels := dst[start+4*NumLevels:]
	clear(levels)
	for i, x := range m.lows {
		l := levelOf[math.Float32bits(x)>>16]
		low[l] = min(low[l], x)
		p := m.places[i]
		stretch, at := p/(2*StretchBytes), p%(2*StretchBytes)
		levels[stretch*StretchBytes+at%StretchBytes] |= l << (at / StretchBytes * 4)
	}
	copy(dst[start:], sections.Bytes(low[:]))
	return dst
}

// levelMaps is the file of maps.
type levelMaps struct {
	words []uint32 // the numbers of the words that have one, ascending
	maps  []byte   // one after the other
}

func openLevels(f *sections.File, docs uint64) (m levelMaps, err error) {
	if m.words, err = view[uint32](f, "words"); err != nil {
		return m, err
	}
	if m.maps, err = f.Section("levels"); err != nil {
		return m, err
	}
	if uint64(len(m.maps)) != uint64(len(m.words))*mapBytes(docs) {
		return m, fmt.Errorf("corrupted: %d bytes of levels for %d words", len(m.maps), len(m.words))
	}
	return m, nil
}

// of gives a cursor the map of its word, if there is one.
func (m *levelMaps) of(c *Cursor, docs uint64) error {
	c.Levels, c.LevelX = nil, nil
	if !hasLevels(c.Term.DF, docs) {
		return nil
	}
	i, ok := slices.BinarySearch(m.words, uint32(c.Term.ID))
	if !ok {
		return nil
	}
	size := int(mapBytes(docs))
	data := m.maps[i*size : (i+1)*size]
	low, err := sections.View[float32](data[:4*NumLevels])
	if err != nil {
		return err
	}
	c.Levels, c.LevelX = data[4*NumLevels:], (*[NumLevels]float32)(low)
	return nil
}
