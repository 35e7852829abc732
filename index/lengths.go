package index

import (
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/scratch"
	"github.com/collocate/collocate/internal/sections"
)

// lengthTable knows the documents' lengths and sorts them into classes.
type lengthTable struct {
	lengths []uint32
	tokens  uint64
	coef    bm25.Length  // of the model whose x are stored
	low     []uint32     // the shortest length of each class
	exact   bool         // each class is one length
	named   bool         // tokens is not the sum of lengths
	norm    [256]float64 // of each class, for the choice which pairs of a bound to merge

	// By document: its class, if that says the length, else the length and in the low 8 bits the
	// class. The other one is nil. Documents come in no order that memory likes: looking for length
	// and class in one place makes a build 7% shorter.
	classes []uint8
	both    []uint32
	k       [256]float32 // of the lengths of exact classes

	pages  *scratch.Pages // that these are in, if they have no room in memory
	forget func()         // see Documents
}

// lengthShare is the part of the memory for classes or both.
const lengthShare = 16

// lengthsAtATime is how many lengths are read before forget is called.
const lengthsAtATime = 1 << 20

// each calls fn with all lengths in parts, and with the number of the first of each.
func (t *lengthTable) each(fn func(first int, lengths []uint32) error) error {
	for at := 0; at < len(t.lengths); at += lengthsAtATime {
		if err := fn(at, t.lengths[at:min(at+lengthsAtATime, len(t.lengths))]); err != nil {
			return err
		}
		if t.forget != nil {
			t.forget()
		}
	}
	return nil
}

// writeLengths writes the lengths of all documents, unless their classes say them.
func (t *lengthTable) writeLengths(w *sections.Writer) error {
	if t.exact {
		return nil
	}
	if err := w.Begin("lengths"); err != nil {
		return err
	}
	return t.each(func(_ int, lengths []uint32) error { return sections.Put(w, lengths) })
}

func (t *lengthTable) writeClasses(w *sections.Writer) error {
	if err := w.Begin("classes"); err != nil {
		return err
	}
	if t.exact {
		for at := 0; at < len(t.classes); at += lengthsAtATime {
			if err := sections.Put(w, t.classes[at:min(at+lengthsAtATime, len(t.classes))]); err != nil {
				return err
			}
			t.pages.Touch(lengthsAtATime / scratch.PageBytes)
		}
		return nil
	}
	classes := make([]uint8, min(len(t.both), lengthsAtATime))
	for at := 0; at < len(t.both); at += lengthsAtATime {
		part := t.both[at:min(at+lengthsAtATime, len(t.both))]
		for i, b := range part {
			classes[i] = uint8(b)
		}
		if err := sections.Put(w, classes[:len(part)]); err != nil {
			return err
		}
		t.pages.Touch(4 * lengthsAtATime / scratch.PageBytes)
	}
	return nil
}

func (t *lengthTable) close() error {
	t.classes, t.both = nil, nil
	return t.pages.Close()
}

// longLength stands for lengths that find no room beside the class.
const longLength = 1<<24 - 1

// judge finds how good postings of up to BlockSize documents are, given with their frequencies
// less 1: the bits of their x, and for f their pairs of frequency and class.
func (t *lengthTable) judge(docs, tfs, xs []uint32, f *frontier) {
	size := 4
	if t.exact {
		size = 1
		t.judgeExact(docs, tfs, xs, f)
	} else {
		t.judgeBoth(docs, tfs, xs, f)
	}
	t.pages.TouchSorted(len(docs), docs[0], docs[len(docs)-1], size)
}

func (t *lengthTable) judgeBoth(docs, tfs, xs []uint32, f *frontier) {
	tfs, xs = tfs[:len(docs)], xs[:len(docs)]
	coef, top := t.coef, f.top
	for i, d := range docs {
		b, tf := t.both[d], tfs[i]
		length, code := b>>8, tf
		if length == longLength {
			length = t.lengths[d]
		}
		if tf >= exactTFs {
			code = uint32(codeOfTF(tf + 1))
		}
		xs[i] = math.Float32bits(xOf(coef, tf+1, length))
		if class := uint16(uint8(b)); class < f.shortest[uint8(code)] {
			f.shortest[uint8(code)] = class
			top = max(top, int(code))
		}
	}
	f.top = top
}

// judgeExact is judgeBoth where classes say lengths: it reads a quarter of the memory.
func (t *lengthTable) judgeExact(docs, tfs, xs []uint32, f *frontier) {
	tfs, xs = tfs[:len(docs)], xs[:len(docs)]
	top, k := f.top, &t.k
	for i, d := range docs {
		class, tf := t.classes[d], tfs[i]
		code := tf
		if tf >= exactTFs {
			code = uint32(codeOfTF(tf + 1))
		}
		xs[i] = math.Float32bits(float32(k[class] * bm25.Reciprocal(tf+1)))
		if uint16(class) < f.shortest[uint8(code)] {
			f.shortest[uint8(code)] = uint16(class)
			top = max(top, int(code))
		}
	}
	f.top = top
}

// newLengthTable makes the table for a collection of the given number of words, 0 for the sum of
// lengths, with what it has of documents in a file in tempDir if it takes more than room bytes.
func newLengthTable(lengths []uint32, tokens uint64, room int64, tempDir string, forget func()) (*lengthTable, error) {
	t := &lengthTable{lengths: lengths, forget: forget}
	var distinct lengthSet
	if err := t.each(func(_ int, lengths []uint32) error { distinct.add(lengths); return nil }); err != nil {
		return nil, err
	}
	t.low, t.exact = lengthClasses(distinct.sorted())
	var err error
	if t.exact {
		t.classes, err = perDocument(t, room, tempDir, func(_ uint32, class uint8) uint8 { return class })
	} else {
		t.both, err = perDocument(t, room, tempDir, func(length uint32, class uint8) uint32 {
			return min(length, longLength)<<8 | uint32(class)
		})
	}
	if err != nil {
		return nil, err
	}
	if tokens != 0 && tokens != t.tokens {
		t.tokens, t.named = tokens, true
	}
	t.coef = storedModel(uint64(len(lengths)), t.tokens)
	mean := float64(t.tokens) / float64(max(len(lengths), 1))
	for c, l := range t.low {
		// BM25 with k1 = 1.2, b = 0.75. The conversions forbid fused multiply-add,
		// which would make the bytes depend on the machine.
		t.k[c] = t.coef.K(l)
		t.norm[c] = 0.3 + float64(float64(0.9*float64(l))/max(mean, 1))
	}
	return t, nil
}

// perDocument calls pack with the length and class of each document. The results are in memory or,
// if they take more than room bytes, in a file.
func perDocument[T uint8 | uint32](t *lengthTable, room int64, tempDir string,
	pack func(length uint32, class uint8) T) ([]T, error) {
	var file *scratch.File
	size := len(t.lengths)
	if int64(unsafe.Sizeof(T(0)))*int64(len(t.lengths)) > room {
		f, err := scratch.Create(tempDir)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		file, size = f, min(size, lengthsAtATime)
	}
	all := make([]T, size)
	var small [4096]T // for most lengths, so that few classes are searched for
	for l := range small {
		small[l] = pack(uint32(l), classOf(t.low, uint32(l)))
	}
	err := t.each(func(first int, lengths []uint32) error {
		part := all
		if file == nil {
			part = all[first:]
		}
		for i, l := range lengths {
			t.tokens += uint64(l)
			if l < uint32(len(small)) {
				part[i] = small[l]
			} else {
				part[i] = pack(l, classOf(t.low, l))
			}
		}
		if file == nil {
			return nil
		}
		return sections.Put(file, part[:len(lengths)])
	})
	if err != nil || file == nil {
		return all, err
	}
	if t.pages, err = file.Map(room); err != nil {
		return nil, err
	}
	return sections.View[T](t.pages.Data)
}

// classOf is the class of a length.
func classOf(low []uint32, length uint32) uint8 {
	i := sort.Search(len(low), func(i int) bool { return low[i] > length })
	return uint8(max(i, 1) - 1)
}

// lengthSet finds the distinct lengths. Nearly all lengths are short ones, which are ticked off in
// a table: 50 million of them took 4 seconds to sort.
type lengthSet struct {
	seen [1 << 16]bool
	long []uint32
}

func (s *lengthSet) add(lengths []uint32) {
	for _, l := range lengths {
		if l < uint32(len(s.seen)) {
			s.seen[l] = true
		} else {
			s.long = append(s.long, l)
		}
	}
}

// sorted are the lengths, ascending.
func (s *lengthSet) sorted() (out []uint32) {
	for l, there := range s.seen {
		if there {
			out = append(out, uint32(l))
		}
	}
	slices.Sort(s.long)
	return append(out, slices.Compact(s.long)...)
}

// lengthClasses chooses at most 256 classes of document lengths, given as the
// shortest length of each, ascending, from all lengths: every length on its own if there are no
// more than 256 of them, else ranges whose ends differ by the smallest factor
// that suffices. It tells whether each class is one length.
func lengthClasses(distinct []uint32) (low []uint32, exact bool) {
	if len(distinct) <= 256 {
		return slices.Clip(distinct), true
	}
	cover := func(permille uint64) (low []uint32) {
		for _, l := range distinct {
			if n := len(low); n == 0 || uint64(l)*1000 > uint64(low[n-1])*(1000+permille) {
				low = append(low, l)
			}
		}
		return low
	}
	// A factor of 2 needs at most 33 classes.
	f := sort.Search(1000, func(f int) bool { return len(cover(uint64(f))) <= 256 })
	return cover(uint64(f)), false
}
