package weigh

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// run is what one worker collected until its memory was full or the corpus
// ended: words in byte order, each with its postings in document order. It is
// either in memory or in a spill file.
type run struct {
	// In memory.
	words []byte
	ends  []uint64 // by number
	order []uint32 // numbers of the words, in byte order of the words
	first []uint32 // postings of word order[i] are post[first[i]:first[i+1]]
	post  []uint64 // doc<<32 | tf

	// In a spill file. docs[i] is the document of the corpus that the file calls i.
	spilled *spilled
	marks   []mark
	docs    []uint32

	// index holds every so many-th word, to begin reading in the middle.
	index []sample
}

// sample is a place where reading a run may begin.
type sample struct {
	word   []byte
	at     int64 // i of order, or offset in the spill file
	weight int64 // postings between the sample before and this one
}

// sampleEvery bounds the postings between two samples of a run, except for a
// word that has more.
const sampleEvery = 1 << 14

func (r *run) word(i int) []byte {
	id := r.order[i]
	start := uint64(0)
	if id > 0 {
		start = r.ends[id-1]
	}
	return r.words[start:r.ends[id]]
}

// sortRun sorts what is in the table and the log. Batches are taken in corpus
// order. With base, documents get their number in the corpus: base[seq] is that of a
// batch's first. Without, they are numbered from 0 in the run. The run shares
// the table's words and, if it is large enough, the memory of spare.
func sortRun(t *table, l *pairLog, marks []mark, base []uint32, spare []uint64) *run {
	r := &run{words: t.words, ends: t.ends, order: sortWords(t)}
	r.first = make([]uint32, len(r.order)+1)
	next := t.df() // by number; becomes where the next posting goes
	at := uint32(0)
	for i, id := range r.order {
		df := next[id]
		r.first[i], next[id] = at, at
		at += df
	}
	r.first[len(r.order)] = at

	slices.SortFunc(marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.first, b.first))
	})
	r.post = slices.Grow(spare[:0], int(at))[:at]
	doc := uint32(0)
	for _, m := range marks {
		if base != nil {
			doc = base[m.seq] + uint32(m.first)
		}
		doc = l.scatter(m, doc, next, r.post)
	}
	r.sampleWords()
	return r
}

func (r *run) sampleWords() {
	weight := int64(sampleEvery)
	for i := range r.order {
		if weight >= sampleEvery {
			r.index = append(r.index, sample{r.word(i), int64(i), weight})
			weight = 0
		}
		weight += int64(r.first[i+1] - r.first[i])
	}
}

// sortWords returns the numbers of the words in byte order of the words: a
// radix sort of their first 8 bytes, then comparisons where these are equal.
func sortWords(t *table) []uint32 {
	type key struct {
		head uint64
		id   uint32
	}
	n := t.len()
	keys, spare := make([]key, n), make([]key, n)
	var counts [8][256]uint32
	for i := range keys {
		w := t.word(uint32(i))
		var head uint64
		if len(w) >= 8 {
			head = binary.BigEndian.Uint64(w)
		} else {
			var b [8]byte
			copy(b[:], w)
			head = binary.BigEndian.Uint64(b[:])
		}
		keys[i] = key{head, uint32(i)}
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
			slices.SortFunc(keys[i:j], func(a, b key) int { return bytes.Compare(t.word(a.id), t.word(b.id)) })
		}
		i = j
	}
	order := make([]uint32, n)
	for i, k := range keys {
		order[i] = k.id
	}
	return order
}
