// Package docset provides sets of documents of an index.
//
// A Set contains some of the documents 0 to n-1 of an index or of a segment: for example those that
// were not deleted, or those that match a filter. It is a bitmap with a count. Has is a load and a
// shift; And of two sets of 5M documents takes 20 microseconds.
//
// A Set must not be changed while other goroutines read it. Where a function takes a *Set, nil
// means all documents, unless its comment says otherwise.
//
// Experimental: it may change with any version; package collocate says what may not.
package docset

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"sync/atomic"
)

// Set is a set of documents below Len. Operations on two sets require that both have the same Len.
type Set struct {
	words []uint64 // the bits after the last document are 0
	n     int
	count int
	known atomic.Pointer[known] // what Few and Version returned, until the set is changed
}

// known is what is known of the documents that a set has now.
type known struct {
	version uint64
	few     atomic.Pointer[[]uint32]
}

// versions counts the versions of all sets.
var versions atomic.Uint64

// remember returns what is known of the documents of the set.
func (s *Set) remember() *known {
	for {
		if k := s.known.Load(); k != nil {
			return k
		}
		s.known.CompareAndSwap(nil, &known{version: versions.Add(1)})
	}
}

// Version returns a number that no other set has, and this one only until it is changed. So two
// calls that return the same number have met the same documents.
func (s *Set) Version() uint64 { return s.remember().version }

// New returns an empty set among n documents.
func New(n int) *Set { return &Set{words: make([]uint64, (n+63)/64), n: n} }

// Full returns a set that contains all n documents.
func Full(n int) *Set {
	s := New(n)
	for i := range s.words {
		s.words[i] = ^uint64(0)
	}
	s.trim()
	s.count = n
	return s
}

// FromWords returns a set among n documents from a bitmap, in which document 0 is the lowest bit of
// words[0]. It keeps the slice. It returns an error if the number of words does not fit n, or if a
// bit beyond n is set.
func FromWords(words []uint64, n int) (*Set, error) {
	if len(words) != (n+63)/64 {
		return nil, fmt.Errorf("a set among %d documents has %d words: want %d", n, len(words), (n+63)/64)
	}
	s := &Set{words: words, n: n}
	if n%64 != 0 && words[len(words)-1]>>(n%64) != 0 {
		return nil, fmt.Errorf("a set among %d documents contains a document beyond them", n)
	}
	s.recount()
	return s, nil
}

// trim clears the bits after the last document.
func (s *Set) trim() {
	if s.n%64 != 0 {
		s.words[len(s.words)-1] &= 1<<(s.n%64) - 1
	}
}

func (s *Set) recount() {
	s.forget()
	s.count = 0
	for _, w := range s.words {
		s.count += bits.OnesCount64(w)
	}
}

// Len returns the number n of documents that the set could contain.
func (s *Set) Len() int { return s.n }

// Count returns the number of documents in the set.
func (s *Set) Count() int { return s.count }

// Has reports whether a document below Len is in the set.
func (s *Set) Has(doc uint32) bool { return s.words[doc>>6]>>(doc&63)&1 != 0 }

// Add adds a document below Len and reports whether it is new to the set.
func (s *Set) Add(doc uint32) bool {
	w, bit := &s.words[doc>>6], uint64(1)<<(doc&63)
	if *w&bit != 0 {
		return false
	}
	s.forget()
	*w |= bit
	s.count++
	return true
}

// AddAll adds documents below Len.
func (s *Set) AddAll(docs []uint32) {
	s.forget()
	words, added := s.words, uint64(0)
	for _, doc := range docs { // without a branch, which could not be predicted
		w := &words[doc>>6]
		added += ^*w >> (doc & 63) & 1
		*w |= 1 << (doc & 63)
	}
	s.count += int(added)
}

// AddAllIn adds those of the documents that are also in within.
func (s *Set) AddAllIn(docs []uint32, within *Set) {
	s.forget()
	words, in, added := s.words, within.words[:len(s.words)], uint64(0)
	for _, doc := range docs {
		bit := in[doc>>6] & (1 << (doc & 63))
		w := &words[doc>>6]
		added += (bit &^ *w) >> (doc & 63)
		*w |= bit
	}
	s.count += int(added)
}

// AddBits adds documents given as a bitmap: bit i of the j-th little-endian 64-bit word stands for
// document base + 64*j + i, and base must be a multiple of 64. If within is not nil, only documents
// that are also in within are added.
func (s *Set) AddBits(base uint32, bytes []byte, within *Set) {
	s.forget()
	at, added := int(base>>6), 0
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		w := binary.LittleEndian.Uint64(bytes)
		if within != nil {
			w &= within.words[at]
		}
		old := s.words[at]
		s.words[at] = old | w
		added += bits.OnesCount64(w &^ old)
		at++
	}
	s.count += added
}

// Remove removes a document below Len and reports whether it was in the set.
func (s *Set) Remove(doc uint32) bool {
	w, bit := &s.words[doc>>6], uint64(1)<<(doc&63)
	if *w&bit == 0 {
		return false
	}
	s.forget()
	*w &^= bit
	s.count--
	return true
}

// AddRange adds the documents from from up to, but not including, to.
func (s *Set) AddRange(from, to uint32) {
	s.forget()
	for ; from < to && from&63 != 0; from++ {
		s.Add(from)
	}
	for ; from+64 <= to; from += 64 {
		s.count += 64 - bits.OnesCount64(s.words[from>>6])
		s.words[from>>6] = ^uint64(0)
	}
	for ; from < to; from++ {
		s.Add(from)
	}
}

// Next returns the first document of the set that is at least doc, or Len if there is none.
func (s *Set) Next(doc uint32) uint32 {
	if int(doc) >= s.n {
		return uint32(s.n)
	}
	at := doc >> 6
	if w := s.words[at] >> (doc & 63); w != 0 {
		return doc + uint32(bits.TrailingZeros64(w))
	}
	for at++; int(at) < len(s.words); at++ {
		if w := s.words[at]; w != 0 {
			return at<<6 + uint32(bits.TrailingZeros64(w))
		}
	}
	return uint32(s.n)
}

// All returns the documents of the set in ascending order.
func (s *Set) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for at, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(at<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// fewShare is the sparsity from which Few lists the documents: one in this many.
const fewShare = 64

// Few returns the documents of a sparse set, one in 64 or fewer, in ascending order, and nil for
// other sets. The list is made at the first call and kept, because scanning the bitmap of 400,000
// documents takes 5 microseconds if it is not in the cache: longer than 100 look-ups.
func (s *Set) Few() []uint32 {
	if s.count > s.n/fewShare || s.count == 0 {
		return nil
	}
	k := s.remember()
	if list := k.few.Load(); list != nil {
		return *list
	}
	docs := make([]uint32, 0, s.count)
	for at, w := range s.words {
		for ; w != 0; w &= w - 1 {
			docs = append(docs, uint32(at<<6+bits.TrailingZeros64(w)))
		}
	}
	k.few.Store(&docs)
	return docs
}

// forget drops what is known of the documents. It is called before the set is changed.
func (s *Set) forget() {
	if s.known.Load() != nil {
		s.known.Store(nil)
	}
}

// And removes the documents that are not in o.
func (s *Set) And(o *Set) {
	for i, w := range o.words[:len(s.words)] {
		s.words[i] &= w
	}
	s.recount()
}

// AndNot removes the documents that are in o.
func (s *Set) AndNot(o *Set) {
	for i, w := range o.words[:len(s.words)] {
		s.words[i] &^= w
	}
	s.recount()
}

// Or adds the documents of o.
func (s *Set) Or(o *Set) {
	for i, w := range o.words[:len(s.words)] {
		s.words[i] |= w
	}
	s.recount()
}

// Not replaces the set by its complement.
func (s *Set) Not() {
	s.forget()
	for i := range s.words {
		s.words[i] = ^s.words[i]
	}
	s.trim()
	s.count = s.n - s.count
}

// Clone returns a copy of the set.
func (s *Set) Clone() *Set {
	return &Set{words: append([]uint64(nil), s.words...), n: s.n, count: s.count}
}

// Words returns the bitmap, with document 0 as the lowest bit of the first word. It must not be
// changed.
func (s *Set) Words() []uint64 { return s.words }
