package weigh

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/collocate/collocate/internal/hugepage"
)

// run holds what one worker collected until its memory was full or the corpus ended: words in byte
// order, each with its postings in document order. It is in memory, in a spill file or on a device.
type run struct {
	// In memory.
	words []byte   // all words, concatenated
	ends  []uint64 // word i is words[ends[i]:ends[i+1]]
	first []uint32 // the postings of word i are post[first[i]:first[i+1]]
	post  []uint32 // doc<<8 | tf, where tf = bigCount stands for an entry of big
	big   []bigTF  // sorted by at

	// With positions, the gaps of word i are gaps[gapsFirst[i]:gapsFirst[i+1]], as in positionLog.
	gaps      []uint16
	gapsFirst []uint32

	spilled *spilled // where the run is in a spill file; nil if it is in memory

	// device has the postings, with the documents' numbers in the corpus, if they are on a device:
	// those of word i are [starts[i], starts[i+1]). Only words, ends and starts are in memory then.
	// The interface keeps the device's generic types out of packages that hold an Inversion: each
	// would compile them again, which took 0.4 s in each of ten.
	device interface {
		reader(ctx context.Context, from, to int) (devicePostings, error)
		close() error
	}
	starts []uint64

	marks   []mark    // where its documents come from, until their numbers are known
	numbers numbering // the numbers of its documents in the corpus

	// index holds samples of the words, so that reading can begin in the middle.
	index []sample
}

// devicePostings reads postings on a device; see postingReader.
type devicePostings interface {
	read(lo, hi uint64) (docs, tfs []uint32, err error)
	close()
}

// number sets the numbers of the documents. base has the number of each batch's first document.
func (r *run) number(base []uint32) {
	for _, m := range r.marks {
		r.numbers.add(base[m.seq]+uint32(m.first), uint32(m.docs))
	}
	r.numbers.finish()
	r.marks = nil
}

// sample is a word at which reading a run can begin.
type sample struct {
	word   []byte
	at     int64 // index of the word, or its offset in the spill file
	weight int64 // number of postings between the previous sample and this one
}

// sampleEvery is the number of postings after which the next word becomes a sample.
const sampleEvery = 1 << 14

func (r *run) len() int { return len(r.ends) - 1 }

// df returns the number of postings of word i.
func (r *run) df(i int) int {
	if r.device != nil {
		return int(r.starts[i+1] - r.starts[i])
	}
	return int(r.first[i+1] - r.first[i])
}

func (r *run) word(i int) []byte { return r.words[r.ends[i]:r.ends[i+1]] }

// sortRun returns a run with the content of the table and the logs. Batches are taken in corpus
// order, and documents are numbered from 0 within the run. The run's postings are stored in spare
// if it is large enough.
func sortRun(t *table, l *pairLog, marks []mark, spare []uint32, places *positionLog) *run {
	keys := sortWords(t)
	r := &run{
		words: make([]byte, len(t.words)+8), // short words are written as 8 bytes each
		ends:  make([]uint64, len(keys)+1),
		first: make([]uint32, len(keys)+1),
	}
	next := t.df() // by word number: first df, then the index of the word's next posting
	at, end := uint32(0), 0
	for i, k := range keys {
		if k.size <= 8 {
			binary.BigEndian.PutUint64(r.words[end:], k.head)
		} else {
			copy(r.words[end:], t.word(k.id))
		}
		end += int(k.size)
		r.ends[i+1] = uint64(end)
		df := next[k.id]
		next[k.id] = at
		at += df
		r.first[i+1] = at
	}

	slices.SortFunc(marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.first, b.first))
	})
	if cap(spare) < int(at) {
		spare = hugepage.Make[uint32](int(at)) // not slices.Grow, which would touch all of it
	}
	s := scatterer{next: next, out: spare[:at]}
	doc := uint32(0)
	for _, m := range marks {
		doc = s.scatter(l, m, doc)
	}
	slices.SortFunc(s.big, func(a, b bigTF) int { return cmp.Compare(a.at, b.at) })
	r.post, r.big = s.out, s.big
	if places != nil {
		places.sort(r, keys, l, marks)
	}
	r.sampleWords()
	return r
}

// unpack decodes the postings from index at on. Documents have the numbers of the run.
func (r *run) unpack(at uint32, docs, tfs []uint32) {
	tfs = tfs[:len(docs)]
	for i, p := range r.post[at : int(at)+len(docs)] {
		docs[i], tfs[i] = p>>8, p&bigCount
		if p&bigCount == bigCount {
			tfs[i] = r.bigTF(at + uint32(i))
		}
	}
}

// bigTF returns the tf of the posting with index at, which must have an entry in r.big.
func (r *run) bigTF(at uint32) uint32 {
	i, _ := slices.BinarySearchFunc(r.big, at, func(b bigTF, at uint32) int { return cmp.Compare(b.at, at) })
	return r.big[i].tf
}

func (r *run) sampleWords() {
	weight := int64(sampleEvery)
	for i := range r.len() {
		if weight >= sampleEvery {
			r.index = append(r.index, sample{r.word(i), int64(i), weight})
			weight = 0
		}
		weight += int64(r.df(i))
	}
}

// wordKey is a word being sorted: its first 8 bytes, its number and its length.
type wordKey struct {
	head     uint64
	id, size uint32
}

// headOf returns the first 8 bytes of a word as a big-endian number, padded with zeros.
func headOf(word []byte) uint64 {
	if len(word) >= 8 {
		return binary.BigEndian.Uint64(word)
	}
	head := uint64(0)
	for i, c := range word {
		head |= uint64(c) << (56 - 8*i)
	}
	return head
}

// sortWords sorts the words of a table by their bytes: by a radix sort of the first 8, then by
// comparisons where these are equal.
func sortWords(t *table) []wordKey {
	n := t.len()
	keys, spare := make([]wordKey, n), make([]wordKey, n)
	var counts [8][256]uint32
	for i := range keys {
		w := t.word(uint32(i))
		head := headOf(w)
		keys[i] = wordKey{head, uint32(i), uint32(len(w))}
		for d := range counts {
			counts[d][byte(head>>(8*d))]++
		}
	}
	for d := range counts {
		c := &counts[d]
		if n > 0 && c[byte(keys[0].head>>(8*d))] == uint32(n) {
			continue // all words have the same byte here
		}
		at := uint32(0)
		for b, m := range c {
			c[b] = at
			at += m
		}
		for _, k := range keys {
			b := byte(k.head >> (8 * d))
			spare[c[b]] = k
			c[b]++
		}
		keys, spare = spare, keys
	}
	for i := 0; i < n; {
		j := i + 1
		for j < n && keys[j].head == keys[i].head {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(keys[i:j], func(a, b wordKey) int { return bytes.Compare(t.word(a.id), t.word(b.id)) })
		}
		i = j
	}
	return keys
}
