package weigh

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// run is what one worker collected until its memory was full or the corpus
// ended: words in byte order, each with its postings in document order. It is
// either in memory or in a spill file.
type run struct {
	// In memory.
	words []byte   // one after the other
	ends  []uint64 // word i is words[ends[i]:ends[i+1]]
	lists []list   // its postings are lists[i]
	post  *postings

	// If positions are wanted: those of word i are gaps[gapsFirst[i]:gapsFirst[i+1]], as in
	// positionLog.
	gaps      []uint16
	gapsFirst []uint32

	spilled *spilled // in a spill file

	marks   []mark    // its documents in order, until their numbers in the corpus are known:
	numbers numbering // which they are

	// index holds every n-th word, to begin reading in the middle.
	index []sample
}

// number is called when the number of each batch's first document is known.
func (r *run) number(base []uint32) {
	for _, m := range r.marks {
		r.numbers.add(base[m.seq]+uint32(m.first), uint32(m.docs))
	}
	r.numbers.finish()
	r.marks = nil
}

// mark is consecutive documents of a batch: number first and the docs-1 after it.
type mark struct{ seq, first, docs int }

// sample is a place where reading a run may begin.
type sample struct {
	word   []byte
	at     int64 // number of the word, or offset in the spill file
	weight int64 // postings between the sample before and this one
}

// sampleEvery bounds the postings between two samples of a run, except for a
// word that has more.
const sampleEvery = 1 << 14

func (r *run) len() int { return len(r.ends) - 1 }

func (r *run) word(i int) []byte { return r.words[r.ends[i]:r.ends[i+1]] }

// sortRun sorts the words of a table, and ends their lists of postings, which stay where they are.
func sortRun(t *table, places *positionLog) *run {
	keys := sortWords(t)
	r := &run{
		words: make([]byte, len(t.words)+8), // 8 more, to write short words as one number
		ends:  make([]uint64, len(keys)+1),
		lists: make([]list, len(keys)),
	}
	end := 0
	for i, k := range keys {
		e := &t.slots[k.slot]
		if k.size <= 8 {
			binary.BigEndian.PutUint64(r.words[end:], k.head)
		} else {
			copy(r.words[end:], t.word(e.id))
		}
		end += int(k.size)
		r.ends[i+1] = uint64(end)
		r.lists[i] = t.post.finish(e)
	}
	slices.SortFunc(t.post.big, compareBig)
	r.post = &postings{segments: t.post.segments, big: t.post.big}
	if places != nil {
		places.sort(r)
	}
	r.sampleWords()
	return r
}

func (r *run) sampleWords() {
	weight := int64(sampleEvery)
	for i := range r.len() {
		if weight >= sampleEvery {
			r.index = append(r.index, sample{r.word(i), int64(i), weight})
			weight = 0
		}
		weight += int64(r.lists[i].n)
	}
}

// wordKey is a word being sorted: its first 8 bytes, its slot, its length.
type wordKey struct {
	head       uint64
	slot, size uint32
}

// headOf is the first 8 bytes of a word, the first highest; zeros stand for what is missing.
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

// sortWords sorts the words of a table by their bytes: a radix sort of their first 8,
// then comparisons where these are equal.
func sortWords(t *table) []wordKey {
	n := t.len()
	keys, spare := make([]wordKey, n), make([]wordKey, n)
	var counts [8][256]uint32
	at := 0
	for i := range t.slots {
		e := &t.slots[i]
		if e.hi == 0 {
			continue
		}
		head, size := bits.ReverseBytes64(e.lo), uint32(e.hi>>56-1)
		if e.hi>>56 == longTag {
			w := t.word(e.id)
			head, size = headOf(w), uint32(len(w))
		}
		keys[at] = wordKey{head, uint32(i), size}
		at++
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
			slices.SortFunc(keys[i:j], func(a, b wordKey) int { return bytes.Compare(t.wordAt(a), t.wordAt(b)) })
		}
		i = j
	}
	return keys
}

// wordAt is the word of a key.
func (t *table) wordAt(k wordKey) []byte { return t.word(t.slots[k.slot].id) }
