package index

import (
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/sections"
)

// Cursor.Ranked says how good the best postings of a list are, but not which they are. A filtered
// search must know that. So a very frequent word, whose list has a map of levels, also has its top
// postings stored: the best by the x of the stored model, in order. A search takes those that pass
// the filter, and is done once it has enough.
const (
	// topShare is how frequent a word must be to have top postings: in one of this many documents.
	topShare = 8
	// topPart is the share of a list that is stored as top postings, one in this many, up to
	// mostTop. On eLife paragraphs, 51 words have them, in 1.5% of the index's bytes.
	topPart = 64
	mostTop = 4096
)

// If a filter passes few documents, such as one in a thousand, too few of them are among the top
// postings. So words in at least half of the documents also have a map of pairs: a bit for every
// two documents, set if either is among the best postings, of which it covers more. It rules out
// most documents, and the others are looked up. A bit for each document would leave half as many,
// but takes longer to load: "the" within 0.1% of the eLife paragraphs took 11.4 microseconds with
// one document per bit, 9.9 with two and 10.6 with four, when mixed with other queries.
const (
	pairsShare = 2
	// pairsPart is the share of a list's postings that the map covers, one in this many, up to
	// mostPairs.
	pairsPart = 16
	mostPairs = 18_432
)

// TopPosting is a posting that Reader.Top returns.
type TopPosting uint64

// Doc returns the document. If the file is damaged, it may be any number.
func (p TopPosting) Doc() uint32 { return uint32(p) }

// TF returns the frequency of the word in the document.
func (p TopPosting) TF() uint32 { return uint32(p >> 32) }

// numTop returns the number of top postings of a list.
func numTop(df uint32, docs uint64) int {
	if !hasLevels(df, docs) || uint64(df)*topShare < docs {
		return 0
	}
	return min(int(df)/topPart, mostTop)
}

// InTop returns how many top postings a word has.
func (r *Reader) InTop(t Term) int {
	if len(r.levels.top.words) == 0 {
		return 0
	}
	return numTop(t.DF, r.meta.docs)
}

// InPairs returns the number of postings that a word's map of pairs covers, or 0 if it has none. In
// older indexes no word has one.
func (r *Reader) InPairs(t Term) int {
	if len(r.levels.top.paired) == 0 {
		return 0
	}
	return inPairs(t.DF, r.meta.docs)
}

func inPairs(df uint32, docs uint64) int {
	if numTop(df, docs) == 0 || uint64(df)*pairsShare < docs {
		return 0
	}
	return min(int(df)/pairsPart, mostPairs)
}

// pairsWords returns the length of a map of pairs in 64-bit words.
func pairsWords(docs uint64) int { return int((docs + 127) / 128) }

// topMaker finds the top postings of a list, whose postings are added in order. It buffers
// candidates, and drops the worst of them when the buffer is full.
type topMaker struct {
	docs, less, xs []uint32 // candidates in list order: document, frequency less 1, bits of x
	limit          uint32   // only an x below it can still be a candidate
	begun          bool
	sorted         []uint32
	keys           []uint64
}

const topSize = 3 * mostPairs

// add adds postings, by their documents, frequencies less 1, and bits of their x. It works on
// BlockSize of them at a time.
func (m *topMaker) add(docs, less, xs []uint32) {
	for len(docs) > BlockSize {
		m.add(docs[:BlockSize], less[:BlockSize], xs[:BlockSize])
		docs, less, xs = docs[BlockSize:], less[BlockSize:], xs[BlockSize:]
	}
	if !m.begun {
		m.docs = slices.Grow(m.docs[:0], topSize+BlockSize)
		m.less = slices.Grow(m.less[:0], topSize+BlockSize)
		m.xs = slices.Grow(m.xs[:0], topSize+BlockSize)
		m.limit, m.begun = math.MaxUint32, true
	}
	n, k, limit := len(m.xs), 0, m.limit
	toDocs := (*[BlockSize]uint32)(m.docs[n : n+BlockSize])
	toLess := (*[BlockSize]uint32)(m.less[n : n+BlockSize])
	toXs := (*[BlockSize]uint32)(m.xs[n : n+BlockSize])
	docs, less = docs[:len(xs)], less[:len(xs)]
	for i, x := range xs {
		at := k & (BlockSize - 1)
		toDocs[at], toLess[at], toXs[at] = docs[i], less[i], x
		k += below(x, limit)
	}
	m.docs, m.less, m.xs = m.docs[:n+k], m.less[:n+k], m.xs[:n+k]
	if n+k >= topSize {
		m.keep(mostPairs)
	}
}

// keep keeps the n best candidates. Among those with the same x, the first ones are kept.
func (m *topMaker) keep(n int) {
	if n >= len(m.xs) {
		return
	}
	m.sorted = append(m.sorted[:0], m.xs...)
	selectLowest(m.sorted, n)
	limit := highest(m.sorted[:n])
	equal := n
	for _, x := range m.sorted[:n] {
		equal -= below(x, limit)
	}
	kept := 0
	for i, x := range m.xs {
		m.docs[kept], m.less[kept], m.xs[kept] = m.docs[i], m.less[i], x
		if x < limit {
			kept++
		} else if x == limit && equal > 0 {
			kept, equal = kept+1, equal-1
		}
	}
	m.docs, m.less, m.xs, m.limit = m.docs[:kept], m.less[:kept], m.xs[:kept], limit
}

// pairs appends the map of pairs of the n best postings added, in an index of docs documents. It
// returns the bits of the highest x among them: no other posting has a lower one.
func (m *topMaker) pairs(dst []uint64, n int, docs uint64) (_ []uint64, x uint32) {
	m.keep(n)
	from := len(dst)
	dst = append(dst, make([]uint64, pairsWords(docs))...)
	for _, doc := range m.docs {
		dst[from+int(doc>>7)] |= 1 << (doc >> 1 & 63)
	}
	return dst, highest(m.xs)
}

// take appends the n best postings added since the previous call, the best first.
func (m *topMaker) take(dst []TopPosting, n int) []TopPosting {
	m.begun = false
	if n == 0 {
		return dst
	}
	m.keep(n)
	m.keys = m.keys[:0]
	for i, x := range m.xs {
		m.keys = append(m.keys, uint64(x)<<32|uint64(i))
	}
	slices.Sort(m.keys)
	for _, key := range m.keys[:min(n, len(m.keys))] {
		i := uint32(key)
		dst = append(dst, TopPosting(m.docs[i])|TopPosting(m.less[i]+1)<<32)
	}
	return dst
}

// topLists holds the top postings and maps of pairs of all words that have them.
type topLists struct {
	words    []uint32 // IDs of the words with top postings, ascending
	ends     []int    // end of each word's postings
	postings []TopPosting

	paired []uint32 // IDs of the words with a map of pairs, ascending, each with the bits of its x
	pairs  []uint64 // these maps
}

// openTop opens the top postings and maps of pairs in the file "levels"; older indexes have none.
func openTop(f *sections.File, docs uint64) (t topLists, err error) {
	has := func(name string) bool {
		return slices.ContainsFunc(f.Sections(), func(s sections.Info) bool { return s.Name == name })
	}
	if has("pairs") {
		if err := t.openPairs(f, docs); err != nil {
			return t, err
		}
	}
	if !has("top") {
		return t, nil
	}
	counts, err := view[uint32](f, "top-words")
	if err != nil {
		return t, err
	}
	data, err := f.Section("top")
	if err != nil {
		return t, err
	}
	if t.postings, err = sections.View[TopPosting](data); err != nil {
		return t, err
	}
	end := 0
	for ; len(counts) >= 2; counts = counts[2:] {
		if end += int(counts[1]); counts[1] == 0 || counts[1] > mostTop || end > len(t.postings) {
			break
		}
		t.words, t.ends = append(t.words, counts[0]), append(t.ends, end)
	}
	if len(counts) > 0 || end != len(t.postings) {
		return t, fmt.Errorf("corrupted: %d top postings for %d words", len(t.postings), len(t.words))
	}
	return t, nil
}

func (t *topLists) openPairs(f *sections.File, docs uint64) (err error) {
	if t.paired, err = view[uint32](f, "pairs-words"); err != nil {
		return err
	}
	data, err := f.Section("pairs")
	if err != nil {
		return err
	}
	if t.pairs, err = sections.View[uint64](data); err != nil {
		return err
	}
	if len(t.paired)%2 != 0 || len(t.pairs) != len(t.paired)/2*pairsWords(docs) {
		return fmt.Errorf("corrupted: maps of pairs of %d bytes for %d words", len(data), len(t.paired)/2)
	}
	return nil
}

// Pairs returns the map of pairs of a word: bit i of word j is set if document 128*j + 2*i or the
// next is one of its InPairs best postings. No other posting has an x below the one returned. The
// map is nil if the word has none.
func (r *Reader) Pairs(t Term) (pairs []uint64, x float32, err error) {
	if r.closed {
		return nil, 0, ErrClosed
	}
	top := &r.levels.top
	for i := 0; i < len(top.paired); i += 2 { // about a dozen words
		if top.paired[i] == uint32(t.ID) {
			n := pairsWords(r.meta.docs)
			pairs = top.pairs[i/2*n : (i/2+1)*n]
			return pairs, math.Float32frombits(top.paired[i+1]), r.levels.file.Touch(sections.Bytes(pairs))
		}
	}
	return nil, 0, nil
}

// Top returns the best postings of a word by the x of the stored model, the best first, and the
// lowest document first among equals. Only very frequent words have them, and no word of an older
// index does.
func (r *Reader) Top(t Term) ([]TopPosting, error) {
	if r.closed {
		return nil, ErrClosed
	}
	l := &r.levels
	i, ok := slices.BinarySearch(l.top.words, uint32(t.ID))
	if !ok {
		return nil, nil
	}
	from := 0
	if i > 0 {
		from = l.top.ends[i-1]
	}
	top := l.top.postings[from:l.top.ends[i]]
	if err := l.file.Touch(sections.Bytes(top)); err != nil {
		return nil, err
	}
	return top, nil
}
