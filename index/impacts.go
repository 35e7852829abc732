package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

// Queries of learned sparse retrieval have dozens of words with long lists, and weights so flat
// that bounds of single lists rule nothing out. What is left is to add up postings fast, and to
// bound the sum of all words in few documents. So the index of weighted tokens has each long list a
// second time, as an ImpactList. Its parts are the postings in one tile of TileDocs documents,
// whose sums fit in the first cache of a core. A part is in one of three forms, by its number of
// postings:
//
//	short   below MediumPart postings: the places of the documents in the tile, 2 bytes each, then
//	        the weights, 1 byte each
//	medium  the same, after a row: the highest weight in each block of TileBlock documents
//	long    from LongPart postings: the row, then the weight of each document of the tile, 0 where
//	        there is no posting
//
// A search adds up the short parts, which are few postings, exactly, and the rows of the others.
// Only in blocks whose sum can win, medium and long parts are added up, too.
const (
	TileDocs  = 1 << 12
	TileBlock = 32
	// TileBlocks is the number of blocks of a tile, and the length of a row.
	TileBlocks = TileDocs / TileBlock

	MediumPart = 96
	LongPart   = TileDocs / 8

	// MaxImpact is the highest weight in an ImpactList. An index with a higher one has no such
	// lists.
	MaxImpact = 255

	impactShare = 1024 // lists with one in this many documents have a copy, if they exceed a block
	impactAlign = 8
)

// hasImpacts reports whether a list of df postings has a copy as ImpactList, in an index of docs
// documents.
func hasImpacts(df uint32, docs uint64) bool {
	return df > BlockSize && uint64(df)*impactShare >= docs
}

// Tiles is the number of tiles of an index of docs documents.
func Tiles(docs uint64) int { return int((docs + TileDocs - 1) / TileDocs) }

// PartBytes is the number of bytes of a part of n postings.
func PartBytes(n uint16) int {
	switch {
	case n < MediumPart:
		return (3*int(n) + 1) &^ 1
	case n < LongPart:
		return TileBlocks + (3*int(n)+1)&^1
	}
	return TileBlocks + TileDocs
}

// ImpactList is the list of a weighted token in parts; see MediumPart.
type ImpactList struct {
	Counts []uint16 // for each tile, its postings
	Best   []uint8  // for each tile, the highest weight
	Parts  []byte   // one after the other, without padding: PartBytes of each
}

// HasImpacts reports whether the index has an ImpactList of each long list.
func (r *Reader) HasImpacts() bool { return r.meta.flags&flagImpacts != 0 }

// Impacts returns the copy of a word's list, or false if it is too short to have one.
func (r *Reader) Impacts(t Term) (l ImpactList, ok bool, err error) {
	if r.closed {
		return l, false, ErrClosed
	}
	if !r.HasImpacts() || !hasImpacts(t.DF, r.meta.docs) {
		return l, false, nil
	}
	i, found := slices.BinarySearch(r.impacts.words, uint32(t.ID))
	if !found {
		return l, false, fmt.Errorf("corrupted: the impacts of word %d are missing", t.ID)
	}
	data, tiles := r.impacts.list(i), Tiles(r.meta.docs)
	if err := r.impacts.file.Touch(data); err != nil {
		return l, false, err
	}
	if len(data) < 3*tiles {
		return l, false, errImpacts
	}
	if l.Counts, err = sections.View[uint16](data[:2*tiles]); err != nil {
		return l, false, err
	}
	l.Best, l.Parts = data[2*tiles:3*tiles], data[headBytes(tiles):]
	used := 0
	for _, n := range l.Counts {
		if n > TileDocs {
			return l, false, errImpacts
		}
		used += PartBytes(n)
	}
	if used > len(l.Parts) || len(l.Parts)-used >= impactAlign {
		return l, false, errImpacts
	}
	l.Parts = l.Parts[:used]
	return l, true, nil
}

var errImpacts = errors.New("corrupted: impacts of a wrong length")

// headBytes is the length of the counts and highest weights, which end at an even address.
func headBytes(tiles int) int { return (3*tiles + 1) &^ 1 }

// impactLists is the file of copies.
type impactLists struct {
	file   *sections.File
	words  []uint32 // the numbers of the words that have one, ascending
	starts []uint64 // where each begins in lists, and the end
	lists  []byte
}

func openImpacts(f *sections.File, docs uint64) (m impactLists, err error) {
	m.file = f
	if m.words, err = view[uint32](f, "words"); err != nil {
		return m, err
	}
	if m.starts, err = view[uint64](f, "starts"); err != nil {
		return m, err
	}
	if m.lists, err = f.Section("lists"); err != nil {
		return m, err
	}
	if len(m.starts) != len(m.words)+1 || m.starts[0] != 0 || m.starts[len(m.words)] != uint64(len(m.lists)) {
		return m, fmt.Errorf("corrupted: %d offsets of impacts for %d words", len(m.starts), len(m.words))
	}
	least := uint64(headBytes(Tiles(docs)))
	for i, end := range m.starts[1:] {
		if start := m.starts[i]; end > uint64(len(m.lists)) || start%impactAlign != 0 || end < start+least {
			return m, errImpacts
		}
	}
	return m, nil
}

func (m *impactLists) list(i int) []byte { return m.lists[m.starts[i]:m.starts[i+1]] }

// impactMaker makes the ImpactList of a list from its postings in order.
type impactMaker struct {
	docs  uint64 // number of documents of the index; 0 if no list has a copy
	df    uint32 // number of postings of the list so far
	never bool   // the list has no copy: its length is known, and too small
	high  bool   // a weight of the list exceeds MaxImpact
	wide  bool   // so did one of a list that should have a copy
	// The part being made, and its tile.
	tile    int
	places  []byte
	weights []uint8
	// The parts made.
	head  []byte // as long as the counts and highest weights
	parts []byte
}

// newImpactMaker makes lists if the analyzer's words have weights.
func newImpactMaker(analyzer string, docs int) impactMaker {
	if !text.OfWeights(analyzer) {
		docs = 0
	}
	return impactMaker{docs: uint64(docs)}
}

// begin begins a list of df postings; 0 if that is not known.
func (m *impactMaker) begin(df uint32) {
	m.never = m.docs == 0 || m.wide || df > 0 && !hasImpacts(df, m.docs)
}

// add adds postings by their documents and weights less 1.
func (m *impactMaker) add(docs, less []uint32) {
	if m.never {
		return
	}
	if m.df == 0 {
		m.head = append(m.head[:0], make([]byte, headBytes(Tiles(m.docs)))...)
		m.parts, m.tile = m.parts[:0], 0
	}
	m.df += uint32(len(docs))
	if m.high {
		return
	}
	for i, doc := range docs {
		if tile := int(doc / TileDocs); tile != m.tile {
			m.endPart()
			m.tile = tile
		}
		if less[i] >= MaxImpact {
			m.high = true
			return
		}
		m.places = binary.LittleEndian.AppendUint16(m.places, uint16(doc%TileDocs))
		m.weights = append(m.weights, uint8(less[i]+1))
	}
}

// endPart appends the part of the tile.
func (m *impactMaker) endPart() {
	n := len(m.weights)
	if n == 0 {
		return
	}
	binary.LittleEndian.PutUint16(m.head[2*m.tile:], uint16(n))
	m.head[2*Tiles(m.docs)+m.tile] = slices.Max(m.weights)
	if n >= MediumPart {
		var row [TileBlocks]uint8
		for i, w := range m.weights {
			b := binary.LittleEndian.Uint16(m.places[2*i:]) / TileBlock
			row[b] = max(row[b], w)
		}
		m.parts = append(m.parts, row[:]...)
	}
	if n >= LongPart {
		at := len(m.parts)
		m.parts = append(m.parts, make([]byte, TileDocs)...)
		for i, w := range m.weights {
			m.parts[at+int(binary.LittleEndian.Uint16(m.places[2*i:]))] = w
		}
	} else {
		m.parts = append(append(m.parts, m.places...), m.weights...)
		if len(m.parts)%2 != 0 {
			m.parts = append(m.parts, 0)
		}
	}
	m.places, m.weights = m.places[:0], m.weights[:0]
}

// take ends a list. If it has a copy, take appends that to dst and returns true.
func (m *impactMaker) take(dst []byte) (_ []byte, ok bool) {
	ok = hasImpacts(m.df, m.docs)
	if ok && m.high {
		m.wide, ok = true, false
	}
	if ok {
		m.endPart()
		dst = append(append(dst, m.head...), m.parts...)
		for len(dst)%impactAlign != 0 {
			dst = append(dst, 0)
		}
	}
	m.df, m.high, m.places, m.weights = 0, false, m.places[:0], m.weights[:0]
	return dst, ok
}
