package index

import (
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/sections"
)

// The ranks of a list say how good its best postings are, not which they are. If only some
// documents may be answers, that is what a search must know. So a very frequent word, whose list
// has a map of levels, also has its top postings: the best by the x of the stored model, the best
// first. A search looks which of them may be answers, and is done once it has enough.
const (
	// topShare is how frequent such words are: in one of this many documents.
	topShare = 8
	// topPart is the part of a list, one posting in this many, that is kept, up to mostTop. On
	// eLife paragraphs 51 words have 1.5% of the index's bytes so.
	topPart = 64
	mostTop = 4096
)

// TopPosting is a posting that Reader.Top returns.
type TopPosting uint64

// Doc returns the document. If the file is damaged, it may be any number.
func (p TopPosting) Doc() uint32 { return uint32(p) }

// TF returns the frequency of the word in the document.
func (p TopPosting) TF() uint32 { return uint32(p >> 32) }

// numTop is how many top postings a list has.
func numTop(df uint32, docs uint64) int {
	if !hasLevels(df, docs) || uint64(df)*topShare < docs {
		return 0
	}
	return min(int(df)/topPart, mostTop)
}

// topMaker finds the top postings of a list from its postings in order. When it has too many
// candidates, those that cannot be among them are dropped.
type topMaker struct {
	docs, less, xs []uint32 // candidates in the order of the list: frequency less 1, bits of x
	limit          uint32   // what is not below cannot be among them
	begun          bool
	sorted         []uint32
	keys           []uint64
}

const topSize = 3 * mostTop

// add adds up to BlockSize postings, by their documents, frequencies less 1, and bits of their x.
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
		m.keep(mostTop)
	}
}

// keep keeps the n best candidates: of those with the same x the first.
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

// take appends the n best of what was added since the last time.
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

// topLists are the top postings of all words that have some.
type topLists struct {
	words    []uint32 // their numbers, ascending
	ends     []int    // of their postings
	postings []TopPosting
}

// openTop finds the top postings in the file of levels; older indexes have none.
func openTop(f *sections.File) (t topLists, err error) {
	if !slices.ContainsFunc(f.Sections(), func(s sections.Info) bool { return s.Name == "top" }) {
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

// Top returns the best postings of a word by the x of the stored model, the best first, and the
// lowest document first among equals. Only very frequent words have them, and no word of an older
// index does.
func (r *Reader) Top(t Term) ([]TopPosting, error) {
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
