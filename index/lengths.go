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

// lengthTable holds the documents' lengths and their length classes.
type lengthTable struct {
	lengths []uint32
	tokens  uint64
	coef    bm25.Length  // coefficients of the stored model
	low     []uint32     // the shortest length of each class
	exact   bool         // each class is a single length
	named   bool         // tokens is not the sum of lengths
	norm    [256]float64 // BM25 length norm of each class, for merging the pairs of a bound

	// By document, in one of two forms; the other slice is nil. If few documents have an uncommon
	// length, codes holds a code for each length. Otherwise both holds the length and, in the low 8
	// bits, the class. Access is random: one lookup for length and class makes a build 7% faster,
	// and with 50 million documents, one byte instead of four takes about half the time.
	codes []uint8
	both  []uint32
	code  [256]lengthCode // meaning of each code; lengths ascend
	once  [256]uint32     // by code: bits of the x of a word that occurs once
	rare  []rareLength    // documents whose length has no code, ascending

	pages  *scratch.Pages // the mapped file of codes or both, if they do not fit in memory
	forget func()         // see Documents
}

// lengthCode is the meaning of a code: a length class, and the K of the length in the stored model.
type lengthCode struct {
	k     float32
	class uint8
}

// rareLength is a document whose length has no code.
type rareLength struct {
	doc uint32
	lengthCode
}

// rareCode is the last code. Unless 256 codes suffice for all lengths, it marks the documents whose
// length has no code. Codes are used if at most one in rareShare documents is marked.
const (
	rareCode  = 255
	rareShare = 1024
)

// lengthShare limits the memory for codes or both to one in this many bytes.
const lengthShare = 16

// lengthsAtATime is the number of lengths read between calls of forget.
const lengthsAtATime = 1 << 20

// each calls fn with consecutive parts of the lengths, and with the first document of each part.
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

// writeLengths writes the lengths of all documents, unless each class is a single length.
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
		if t.codes == nil {
			size = 4
		}
		t.classesFrom(at, part)
		if err := sections.Put(w, part); err != nil {
			return err
		}
		t.pages.Touch(size * lengthsAtATime / scratch.PageBytes)
	}
	return nil
}

// classesFrom stores the classes of the documents from at on in part.
func (t *lengthTable) classesFrom(at int, part []uint8) {
	if t.codes != nil {
		for i, c := range t.codes[at : at+len(part)] {
			part[i] = t.kind(c, uint32(at+i)).class
		}
		return
	}
	for i, b := range t.both[at : at+len(part)] {
		part[i] = uint8(b)
	}
}

func (t *lengthTable) close() error {
	t.codes, t.both = nil, nil
	return t.pages.Close()
}

// kind returns the meaning of a document's code.
func (t *lengthTable) kind(code uint8, doc uint32) lengthCode {
	if code == rareCode && len(t.rare) > 0 {
		i, _ := slices.BinarySearchFunc(t.rare, doc, func(r rareLength, doc uint32) int {
			return cmp.Compare(r.doc, doc)
		})
		return t.rare[i].lengthCode
	}
	return t.code[code]
}

// longLength marks lengths that do not fit beside the class.
const longLength = 1<<24 - 1

// nearDocs is the mean distance of documents up to which the hardware prefetcher suffices: their
// codes are in neighbouring cache lines.
const nearDocs = 32

// ask prefetches what judge will read for these documents. Without it, judging the postings of 50
// million documents is mostly waiting for memory.
func (t *lengthTable) ask(docs []uint32) {
	switch n := len(docs); {
	case n == 0 || len(t.lengths) == 0:
	case docs[n-1]-docs[0] < uint32(n)*nearDocs: // left to the hardware prefetcher
	case t.codes != nil:
		prefetchItems(&t.codes[0], &docs[0], len(docs), 0)
	default:
		prefetchItems((*byte)(unsafe.Pointer(&t.both[0])), &docs[0], len(docs), 2)
	}
}

// judge computes the x of up to BlockSize postings. The frequencies tfs are less 1; many lists the
// positions of those above 0. It stores the bits of each x in xs, returns the lowest, and adds the
// pairs of frequency and class to f.
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
	var read [BlockSize]uint32 // loaded without branches, so that cache misses overlap
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

// fewMany is the largest number of frequencies above 1 for which judging and counting treat these
// separately. If they are more than a quarter of the block, it is faster to treat all alike.
const fewMany = BlockSize / 4

// judgeOnce judges postings as if each frequency were 1, if there are codes. For short documents
// that is nearly all the work. It is safe because judgeMany corrects the rest: a higher frequency
// makes x lower, and its pair dominates the one added here. It returns rareBits if a document has a
// rare length.
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

// rareBits are bits that no x has.
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

// judgeCodes judges any postings if there are codes. It does the same as judgeBoth, but reads a
// quarter of the memory.
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

// newLengthTable makes the table for documents of a collection with the given number of documents
// and tokens; 0 means that of lengths, and the sum of these. If its data per document exceed room
// bytes, they are kept in a file in tempDir.
func newLengthTable(lengths []uint32, docs, tokens uint64, room int64, tempDir string,
	forget func()) (*lengthTable, error) {
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
	if docs == 0 {
		docs = uint64(len(lengths))
	}
	t.coef = storedModel(docs, t.tokens)
	t.low, t.exact = lengthClasses(set.sorted())
	mean := float64(t.tokens) / float64(max(docs, 1))
	for c, l := range t.low {
		// BM25 with k1 = 1.2, b = 0.75. The conversions forbid fused multiply-add,
		// which would make the bytes depend on the machine.
		t.norm[c] = 0.3 + float64(float64(0.9*float64(l))/max(mean, 1))
	}
	var small [1 << 12]uint8 // classes of short lengths, which are most, to avoid the search
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

// encodeLengths assigns codes to the most common lengths, all of which are below countedLengths.
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

// perDocument calls pack with each document and its length, and returns the results. They are in
// memory or, if they take more than room bytes, in a mapped file.
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

// classOf returns the class of a length.
func classOf(low []uint32, length uint32) uint8 {
	i := sort.Search(len(low), func(i int) bool { return low[i] > length })
	return uint8(max(i, 1) - 1)
}

// lengthSet collects the distinct lengths. Nearly all lengths are short; these are counted in a
// table, because sorting 50 million of them took 4 seconds.
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

// sorted returns the distinct lengths in ascending order.
func (s *lengthSet) sorted() (out []uint32) {
	for l, n := range s.count {
		if n > 0 {
			out = append(out, uint32(l))
		}
	}
	slices.Sort(s.long)
	return append(out, slices.Compact(s.long)...)
}

// commonest returns the lengths that get codes, and the number of documents with other lengths.
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

// lengthClasses divides the distinct lengths into at most 256 classes, and returns the shortest
// length of each in ascending order. If there are at most 256 lengths, each is a class of its own
// and exact is true. Otherwise classes are ranges whose ends differ by the smallest factor that
// suffices.
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
