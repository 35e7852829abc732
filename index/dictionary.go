package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/collocate/collocate/internal/sections"
)

// termsPerBlock is the number of words in a block of the dictionary. With 16, a lookup among
// 264,000 words takes 350 ns (650 ns with a cold cache), and the starts and prefixes of the blocks
// take one byte per word.
const termsPerBlock = 16

// Term is the dictionary entry of a word. The zero Term stands for an unknown word; its list is
// empty.
type Term struct {
	ID int    // rank of the word in byte order
	DF uint32 // documents in its list
	CF uint64 // occurrences in all documents that FullDF counts

	elsewhere   uint32 // documents with the word that are pruned or in other shards
	inlineDoc   uint32 // the only document, if DF is 1
	inlineTF    uint32 // frequency in inlineDoc
	postings    uint64 // offset of its blocks
	postingsLen uint64
	skips       uint64    // offset of its skip data, if it has more than one block
	made        *madeList // its list, if it is that of an Excerpt
}

// FullDF returns the number of documents that contain the word, including those whose postings were
// pruned or are in other shards. Models use it to weigh the word, so that neither pruning nor
// sharding changes the score of a posting.
func (t Term) FullDF() uint32 { return t.DF + t.elsewhere }

// skipBytes returns the length of a list's skip data.
func skipBytes(df uint32) uint64 {
	if df <= BlockSize {
		return 0
	}
	blocks := (uint64(df) + BlockSize - 1) / BlockSize
	supers := (blocks + SuperBlocks - 1) / SuperBlocks
	return 16*blocks + 8*supers + 8 + (4*(blocks+supers+1+numRanks)+7)/8*8
}

var errDictionary = errors.New("corrupted: the dictionary cannot be decoded")

// dictionary maps words to terms. The format is described in reader.go.
type dictionary struct {
	file   *sections.File
	terms  int
	blob   []byte
	starts []uint64 // offset of each block in blob, and the end
	prefix []uint64 // first 8 bytes of each block's first word, big endian
	full   []uint64 // (ID, FullDF, CF) of each word whose counts differ from its list's; by ID
	first  []uint32 // by the first two bytes of a word: the first block with a greater prefix
}

func openDictionary(f *sections.File, terms int, full bool) (*dictionary, error) {
	d := &dictionary{file: f, terms: terms}
	var err error
	if d.blob, err = f.Section("blob"); err != nil {
		return nil, err
	}
	if d.starts, err = view[uint64](f, "starts"); err != nil {
		return nil, err
	}
	if d.prefix, err = view[uint64](f, "prefixes"); err != nil {
		return nil, err
	}
	blocks := (terms + termsPerBlock - 1) / termsPerBlock
	if len(d.starts) != blocks+1 || len(d.prefix) != blocks {
		return nil, fmt.Errorf("corrupted: %d and %d dictionary blocks for %d terms",
			len(d.starts)-1, len(d.prefix), terms)
	}
	if full {
		if err := d.openFull(); err != nil {
			return nil, err
		}
	}
	d.jump()
	return d, nil
}

// openFull opens the counts of words before pruning, or in the whole collection if this is a shard.
func (d *dictionary) openFull() (err error) {
	if d.full, err = view[uint64](d.file, "full"); err != nil {
		return err
	}
	if len(d.full)%3 != 0 || len(d.full)/3 > d.terms {
		return fmt.Errorf("corrupted: %d numbers for words that lost postings, of %d terms", len(d.full), d.terms)
	}
	return nil
}

// complete sets a term's counts to those before pruning, or of the whole collection.
func (d *dictionary) complete(t *Term) error {
	n := len(d.full) / 3
	if n == 0 {
		return nil
	}
	at := t.ID
	if n < d.terms { // only some words have an entry
		at = sort.Search(n, func(i int) bool { return d.full[3*i] >= uint64(t.ID) })
	}
	if at == n || d.full[3*at] != uint64(t.ID) {
		return nil
	}
	df, cf := d.full[3*at+1], d.full[3*at+2]
	if df < uint64(t.DF) || df > maxDocs || cf < t.CF {
		return errDictionary
	}
	t.elsewhere, t.CF = uint32(df)-t.DF, cf
	return nil
}

// jump builds a table that narrows down a binary search: with 264,000 words it leaves about 20
// blocks, so that a search has few cache misses. Small dictionaries have no table. In a damaged
// dictionary, whose prefixes do not ascend, it gives wrong results, as the search itself would.
func (d *dictionary) jump() {
	const twoBytes = 1 << 16
	if len(d.prefix) < 1024 {
		return
	}
	d.first = make([]uint32, twoBytes)
	b := 0
	for top := range d.first {
		for b < len(d.prefix) && d.prefix[b]>>48 <= uint64(top) {
			b++
		}
		d.first[top] = uint32(b)
	}
}

// block returns the words and the records of a block.
func (d *dictionary) block(b int) (words, records byteReader, err error) {
	from, to := d.starts[b], d.starts[b+1]
	if from > to || to > uint64(len(d.blob)) {
		return words, records, errDictionary
	}
	if err := d.file.Touch(d.blob[from:to]); err != nil {
		return words, records, err
	}
	r := byteReader{b: d.blob[from:to]}
	words.b = r.bytes(r.uvarint())
	if r.bad {
		return words, records, errDictionary
	}
	return words, r, nil
}

func (d *dictionary) inBlock(b int) int { return min(termsPerBlock, d.terms-b*termsPerBlock) }

// firstWord returns the first word of a block.
func (d *dictionary) firstWord(b int) ([]byte, error) {
	words, _, err := d.block(b)
	if err != nil {
		return nil, err
	}
	_, suffix := words.frontCoded()
	if words.bad {
		return nil, errDictionary
	}
	return suffix, nil
}

// lookup returns the record of a word, or the zero Term if there is none.
func (d *dictionary) lookup(word []byte) (Term, error) {
	b, err := d.findBlock(word)
	if err != nil || b < 0 {
		return Term{}, err
	}
	words, records, err := d.block(b)
	if err != nil {
		return Term{}, err
	}
	id, same, err := d.scan(b, words, word)
	if err != nil || !same {
		return Term{}, err
	}
	return d.record(records, b, id)
}

// findBlock returns the last block whose first word is not after the word; -1 if there is none.
func (d *dictionary) findBlock(word []byte) (int, error) {
	// By prefixes first.
	key := prefixOf(word)
	lo, hi := 0, len(d.prefix) // first block with prefix > key is in [lo, hi]
	if top := key >> 48; len(d.first) > 0 {
		hi = int(d.first[top])
		if top > 0 {
			lo = int(d.first[top-1])
		}
	}
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); d.prefix[mid] <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	b := lo - 1
	if b >= 0 && d.prefix[b] == key {
		// Several blocks may have this prefix: search them by whole words.
		from, to := 0, b // first block with prefix == key
		for from < to {
			if mid := int(uint(from+to) / 2); d.prefix[mid] < key {
				from = mid + 1
			} else {
				to = mid
			}
		}
		lo, hi = from, b+1
		for lo < hi {
			mid := int(uint(lo+hi) / 2)
			first, err := d.firstWord(mid)
			if err != nil {
				return 0, err
			}
			if bytes.Compare(first, word) <= 0 {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		b = lo - 1
	}
	return b, nil
}

// scan looks for the word in a block without decoding the others: it keeps the number of bytes
// that the word shares with the previous entry. It returns the ID of the first entry that is not
// before the word, and whether that is the word.
func (d *dictionary) scan(b int, words byteReader, word []byte) (int, bool, error) {
	shared := 0
	for i := range d.inBlock(b) {
		lcp, suffix := words.frontCoded()
		if words.bad {
			return 0, false, errDictionary
		}
		if lcp > shared {
			continue // still differs from the word where the one before did
		}
		if lcp < shared {
			return b*termsPerBlock + i, false, nil // past the word
		}
		rest := word[shared:]
		n := 0
		for n < len(suffix) && n < len(rest) && suffix[n] == rest[n] {
			n++
		}
		shared += n
		switch {
		case n == len(suffix) && n == len(rest):
			return b*termsPerBlock + i, true, nil
		case n == len(rest) || n < len(suffix) && suffix[n] > rest[n]:
			return b*termsPerBlock + i, false, nil
		}
	}
	return b*termsPerBlock + d.inBlock(b), false, nil
}

// term reads the record of a word.
func (d *dictionary) term(id int) (t Term, err error) {
	b := id / termsPerBlock
	_, records, err := d.block(b)
	if err != nil {
		return t, err
	}
	return d.record(records, b, id)
}

// record reads the record of a word from those of its block.
func (d *dictionary) record(records byteReader, b, id int) (t Term, err error) {
	c := recordCursor{r: records, next: b * termsPerBlock}
	c.start()
	c.skipTo(id)
	t = c.read()
	if c.r.bad {
		return Term{}, errDictionary
	}
	if err := d.complete(&t); err != nil {
		return Term{}, err
	}
	return t, nil
}

// recordCursor reads the records of a block one after the other.
type recordCursor struct {
	r               byteReader
	next            int
	postings, skips uint64
}

func (c *recordCursor) start() {
	c.postings, c.skips = c.r.uvarint(), c.r.uvarint()
}

func (c *recordCursor) read() Term {
	t := Term{ID: c.next, postings: c.postings, skips: c.skips}
	c.next++
	df := c.r.uvarint()
	more := c.r.uvarint()
	if df == 0 || df > maxDocs || more > 1<<63 {
		c.r.bad = true
		return Term{}
	}
	t.DF, t.CF = uint32(df), df+more
	if df == 1 {
		t.inlineDoc, t.inlineTF = uint32(c.r.uvarint()), uint32(min(t.CF, math.MaxUint32))
		return t
	}
	t.postingsLen = c.r.uvarint()
	c.postings += t.postingsLen
	c.skips += skipBytes(t.DF)
	return t
}

// skipTo advances to a record. It decodes numbers without branching on their lengths, which are
// unpredictable: mispredicted branches took half the time of a lookup.
func (c *recordCursor) skipTo(id int) {
	const room = 2*16 + 8 // two overlong numbers, and the 8 bytes loaded for the third
	all := c.r.b[:cap(c.r.b)]
	at := 0
	for ; c.next < id && at+room <= len(all); c.next++ {
		df, a := quickUvarint(all[at:])
		_, b := quickUvarint(all[at+a:])
		size, n := quickUvarint(all[at+a+b:])
		if a|b|n > 8 || df == 0 || df > maxDocs {
			break // left to read, which handles long numbers and reports errors
		}
		at += a + b + n
		if df > 1 { // otherwise the third number is a document
			c.postings += size
		}
		if df > BlockSize {
			c.skips += skipBytes(uint32(df))
		}
	}
	if at > len(c.r.b) {
		c.r.b, c.r.bad = nil, true
		return
	}
	c.r.b = c.r.b[at:]
	for c.next < id {
		c.read()
	}
}

// prefixOf returns the first 8 bytes of a word as a number with the same order.
func prefixOf(word []byte) uint64 {
	if len(word) >= 8 {
		return binary.BigEndian.Uint64(word)
	}
	var p [8]byte
	copy(p[:], word)
	return binary.BigEndian.Uint64(p[:])
}

// termWalker iterates over the dictionary in order.
type termWalker struct {
	d       *dictionary
	id      int
	words   byteReader
	records recordCursor
	word    []byte
}

// next returns the next word, valid until the next call, and its record, or false at the end.
func (w *termWalker) next() ([]byte, Term, bool, error) {
	if w.id >= w.d.terms {
		return nil, Term{}, false, nil
	}
	if w.id%termsPerBlock == 0 {
		words, records, err := w.d.block(w.id / termsPerBlock)
		if err != nil {
			return nil, Term{}, false, err
		}
		w.words, w.records, w.word = words, recordCursor{r: records, next: w.id}, w.word[:0]
		w.records.start()
	}
	lcp, suffix := w.words.frontCoded()
	t := w.records.read()
	if w.words.bad || w.records.r.bad || lcp > len(w.word) {
		return nil, Term{}, false, errDictionary
	}
	if err := w.d.complete(&t); err != nil {
		return nil, Term{}, false, err
	}
	w.word = append(w.word[:lcp], suffix...)
	w.id++
	return w.word, t, true, nil
}
