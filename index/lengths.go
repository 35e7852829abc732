package index

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/hugepage"
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

	// By document: a code of its length, if few documents have a length that is not among the
	// commonest, else the length and in the low 8 bits the class. The other one is nil. Documents
	// come in no order that memory likes: looking for length and class in one place makes a build
	// 7% shorter, and with 50 million of them a byte instead of four takes about half the time.
	codes []uint8
	both  []uint32
	code  [256]lengthCode // what codes stand for, in the order of lengths
	once  [256]uint32     // bits of the x of a word that occurs once
	rare  []rareLength    // of the documents whose code is rareCode, if there are any; ascending

	pages  *scratch.Pages // that these are in, if they have no room in memory
	forget func()         // see Documents
}

// lengthCode is what a code stands for: a class, and what the length comes to in the stored model.
type lengthCode struct {
	k     float32
	class uint8
}

// rareLength is a document whose length has no code.
type rareLength struct {
	doc uint32
	lengthCode
}

// rareCode is the last code; where there are more than 256 lengths it stands for none. There are
// codes if at most one in rareShare documents has it.
const (
	rareCode  = 255
	rareShare = 1024
)

// lengthShare is the part of the memory for codes or both.
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
	classes := make([]uint8, min(len(t.lengths), lengthsAtATime))
	for at := 0; at < len(t.lengths); at += lengthsAtATime {
		part, size := classes[:min(len(t.lengths)-at, lengthsAtATime)], 1
		if t.codes != nil {
			for i, c := range t.codes[at : at+len(part)] {
				part[i] = t.kind(c, uint32(at+i)).class
			}
		} else {
			size = 4
			for i, b := range t.both[at : at+len(part)] {
				part[i] = uint8(b)
			}
		}
		if err := sections.Put(w, part); err != nil {
			return err
		}
		t.pages.Touch(size * lengthsAtATime / scratch.PageBytes)
	}
	return nil
}

func (t *lengthTable) close() error {
	t.codes, t.both = nil, nil
	return t.pages.Close()
}

// kind is what a document's code stands for.
func (t *lengthTable) kind(code uint8, doc uint32) lengthCode {
	if code == rareCode && len(t.rare) > 0 {
		i, _ := slices.BinarySearchFunc(t.rare, doc, func(r rareLength, doc uint32) int {
			return cmp.Compare(r.doc, doc)
		})
		return t.rare[i].lengthCode
	}
	return t.code[code]
}

// longLength stands for lengths that find no room beside the class.
const longLength = 1<<24 - 1

// nearDocs is how far apart documents are whose codes are in neighbouring lines of the cache.
const nearDocs = 32

// ask asks memory for what judge will read of documents. Without it, judging 50 million documents
// is waiting for the most part.
func (t *lengthTable) ask(docs []uint32) {
	switch n := len(docs); {
	case n == 0 || len(t.lengths) == 0:
	case docs[n-1]-docs[0] < uint32(n)*nearDocs: // memory sees by itself what will be read
	case t.codes != nil:
		prefetchItems(&t.codes[0], &docs[0], len(docs), 0)
	default:
		prefetchItems((*byte)(unsafe.Pointer(&t.both[0])), &docs[0], len(docs), 2)
	}
}

// judge finds how good postings of up to BlockSize documents are, given with their frequencies
// less 1, those in many being above 0: the bits of their x and of the lowest of these, and for f
// their pairs of frequency and class.
func (t *lengthTable) judge(docs, tfs []uint32, many []uint8, xs []uint32, f *frontier) (low uint32) {
	size := 4
	if t.codes != nil {
		size = 1
		low = rareBits
		if len(many) <= fewMany {
			low = t.judgeOnce(docs, xs, f)
		}
		if low == rareBits {
			low = t.judgeCodes(docs, tfs, xs, f)
		} else if len(many) > 0 {
			low = min(low, t.judgeMany(docs, tfs, many, xs, f))
		}
	} else {
		low = t.judgeBoth(docs, tfs, xs, f)
	}
	t.pages.TouchSorted(len(docs), docs[0], docs[len(docs)-1], size)
	return low
}

func (t *lengthTable) judgeBoth(docs, tfs, xs []uint32, f *frontier) (low uint32) {
	low = math.MaxUint32
	tfs, xs = tfs[:len(docs)], xs[:len(docs)]
	coef, top := t.coef, f.top
	var read [BlockSize]uint32 // in a loop that guesses nothing, so that memory answers many at once
	for i, d := range docs {
		read[i&(BlockSize-1)] = t.both[d]
	}
	for i, b := range read[:len(docs)] {
		length, tf := b>>8, tfs[i]
		if length == longLength {
			length = t.lengths[docs[i]]
		}
		code := tf
		if tf >= exactTFs {
			code = uint32(codeOfTF(tf + 1))
		}
		x := math.Float32bits(xOf(coef, tf+1, length))
		xs[i], low = x, min(low, x)
		if class := uint16(uint8(b)); class < f.shortest[uint8(code)] {
			f.shortest[uint8(code)] = class
			top = max(top, int(code))
		}
	}
	f.top = top
	return low
}

// fewMany is how many frequencies above 1 a block may have to be judged and counted by these alone:
// if more than a quarter are, it takes less time to look at all.
const fewMany = BlockSize / 4

// judgeOnce judges postings as if each frequency were 1, where there are codes. That is nearly all
// there is to do for short documents. A higher frequency makes x lower, and a pair that has it
// rules the other one out. It returns rareBits if a document has a rare length.
func (t *lengthTable) judgeOnce(docs, xs []uint32, f *frontier) (low uint32) {
	xs = xs[:len(docs)]
	codes, once := t.codes, &t.once
	shortest, longest := uint8(math.MaxUint8), uint8(0)
	for i, d := range docs {
		c := codes[d]
		xs[i] = once[c]
		shortest, longest = min(shortest, c), max(longest, c)
	}
	if longest == rareCode && len(t.rare) > 0 {
		return rareBits
	}
	f.add(0, t.code[shortest].class)
	return once[shortest]
}

// rareBits are not those of an x.
const rareBits = math.MaxUint32

// judgeMany judges the postings in many, after judgeOnce.
func (t *lengthTable) judgeMany(docs, tfs []uint32, many []uint8, xs []uint32, f *frontier) (low uint32) {
	low = math.MaxUint32
	for _, i := range many {
		kind, tf := t.code[t.codes[docs[i]]], tfs[i]
		code := uint8(tf)
		if tf >= exactTFs {
			code = codeOfTF(tf + 1)
		}
		x := math.Float32bits(float32(kind.k * bm25.Reciprocal(tf+1)))
		xs[i], low = x, min(low, x)
		f.add(code, kind.class)
	}
	return low
}

// judgeCodes judges any postings where there are codes. It is judgeBoth but reads a quarter of the
// memory.
func (t *lengthTable) judgeCodes(docs, tfs, xs []uint32, f *frontier) (low uint32) {
	low = math.MaxUint32
	tfs, xs = tfs[:len(docs)], xs[:len(docs)]
	var read [BlockSize]uint8
	for i, d := range docs {
		read[i&(BlockSize-1)] = t.codes[d]
	}
	top := f.top
	for i, c := range read[:len(docs)] {
		kind, tf := t.code[c], tfs[i]
		if c == rareCode {
			kind = t.kind(c, docs[i])
		}
		code := tf
		if tf >= exactTFs {
			code = uint32(codeOfTF(tf + 1))
		}
		x := math.Float32bits(float32(kind.k * bm25.Reciprocal(tf+1)))
		xs[i], low = x, min(low, x)
		if uint16(kind.class) < f.shortest[uint8(code)] {
			f.shortest[uint8(code)] = uint16(kind.class)
			top = max(top, int(code))
		}
	}
	f.top = top
	return low
}

// newLengthTable makes the table for a collection of the given number of words, 0 for the sum of
// lengths, with what it has of documents in a file in tempDir if it takes more than room bytes.
func newLengthTable(lengths []uint32, tokens uint64, room int64, tempDir string, forget func()) (*lengthTable, error) {
	t := &lengthTable{lengths: lengths, forget: forget}
	var set lengthSet
	err := t.each(func(_ int, lengths []uint32) error {
		for _, l := range lengths {
			t.tokens += uint64(l)
		}
		set.add(lengths)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if tokens != 0 && tokens != t.tokens {
		t.tokens, t.named = tokens, true
	}
	t.coef = storedModel(uint64(len(lengths)), t.tokens)
	t.low, t.exact = lengthClasses(set.sorted())
	mean := float64(t.tokens) / float64(max(len(lengths), 1))
	for c, l := range t.low {
		// BM25 with k1 = 1.2, b = 0.75. The conversions forbid fused multiply-add,
		// which would make the bytes depend on the machine.
		t.norm[c] = 0.3 + float64(float64(0.9*float64(l))/max(mean, 1))
	}
	var small [1 << 12]uint8 // for most lengths, so that few classes are searched for
	for l := range small {
		small[l] = classOf(t.low, uint32(l))
	}
	class := func(length uint32) uint8 {
		if length < uint32(len(small)) {
			return small[length]
		}
		return classOf(t.low, length)
	}
	if common, rare := set.commonest(); rare*rareShare <= len(lengths) {
		err = t.encodeLengths(common, room, tempDir, class)
	} else {
		t.both, err = perDocument(t, room, tempDir, func(_, length uint32) uint32 {
			return min(length, longLength)<<8 | uint32(class(length))
		})
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// encodeLengths gives the commonest lengths their codes. All are below countedLengths.
func (t *lengthTable) encodeLengths(common []uint32, room int64, tempDir string,
	class func(uint32) uint8) (err error) {
	kind := func(length uint32) lengthCode { return lengthCode{t.coef.K(length), class(length)} }
	var codes [countedLengths]uint8
	for l := range codes {
		codes[l] = rareCode
	}
	slices.Sort(common)
	for c, l := range common {
		codes[l], t.code[c] = uint8(c), kind(l)
		t.once[c] = math.Float32bits(float32(t.code[c].k * bm25.Reciprocal(1)))
	}
	t.codes, err = perDocument(t, room, tempDir, func(doc, length uint32) uint8 {
		c := uint8(rareCode)
		if length < countedLengths {
			c = codes[length]
		}
		if c == rareCode && len(common) <= rareCode {
			t.rare = append(t.rare, rareLength{doc, kind(length)})
		}
		return c
	})
	return err
}

// perDocument calls pack with each document and its length. The results are in memory or,
// if they take more than room bytes, in a file.
func perDocument[T uint8 | uint32](t *lengthTable, room int64, tempDir string,
	pack func(doc, length uint32) T) ([]T, error) {
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
	all := hugepage.Make[T](size)
	err := t.each(func(first int, lengths []uint32) error {
		part := all
		if file == nil {
			part = all[first:]
		}
		for i, l := range lengths {
			part[i] = pack(uint32(first+i), l)
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

// lengthSet finds the distinct lengths. Nearly all lengths are short ones, which are counted in
// a table: 50 million of them took 4 seconds to sort.
type lengthSet struct {
	count [countedLengths]uint32
	long  []uint32
}

const countedLengths = 1 << 16

func (s *lengthSet) add(lengths []uint32) {
	for _, l := range lengths {
		if l < countedLengths {
			s.count[l]++
		} else {
			s.long = append(s.long, l)
		}
	}
}

// sorted are the lengths, ascending.
func (s *lengthSet) sorted() (out []uint32) {
	for l, n := range s.count {
		if n > 0 {
			out = append(out, uint32(l))
		}
	}
	slices.Sort(s.long)
	return append(out, slices.Compact(s.long)...)
}

// commonest are the counted lengths that get codes, and how many documents have others.
func (s *lengthSet) commonest() (common []uint32, others int) {
	for l, n := range s.count {
		if n > 0 {
			common = append(common, uint32(l))
		}
	}
	others = len(s.long)
	if len(common) <= rareCode || len(common) == 256 && others == 0 {
		return common, others
	}
	slices.SortFunc(common, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.count[b], s.count[a]), cmp.Compare(a, b))
	})
	for _, l := range common[rareCode:] {
		others += int(s.count[l])
	}
	return common[:rareCode], others
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
