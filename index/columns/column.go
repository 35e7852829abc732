package columns

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
)

// Set holds all columns of an index.
type Set struct {
	names   []string
	columns []*Column
}

// Open reads the columns of an index with the given schema and number of documents.
func Open(f *sections.File, s *fields.Schema, docs int) (*Set, error) {
	set := &Set{}
	for _, field := range s.Fields {
		if !field.Type.HasColumn() {
			continue
		}
		c, err := open(f, len(set.columns), &field, docs)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", field.Name, err)
		}
		set.names, set.columns = append(set.names, field.Name), append(set.columns, c)
	}
	return set, nil
}

// Column returns the column of a field, or nil if there is none. The first call for a field
// verifies its checksums, and so does every call if the column is small. Ask for a column again for
// each query: see Column for what is verified then.
func (s *Set) Column(name string) (c *Column, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	for i, n := range s.names {
		if n == name {
			return s.columns[i], s.columns[i].verify()
		}
	}
	return nil, nil
}

// Column holds the values of one field for all documents. Several goroutines may use it at once. A
// document may have no value; then no filter matches it. Values are read from a mapped file: if
// that may be truncated meanwhile, call the methods for single documents inside index.Guarded.
//
// If bytes of the file change while it is open, Equal, Range, Prefix, Box and Any give an error
// that names the file: they verify the pages they read. So do methods that look values up, at the
// latest one second after the change: Facets, Counts and Value, and those for single documents
// after Verify.
type Column struct {
	field fields.Field
	docs  int
	kind  uint64
	has   []uint64 // empty if all documents have a value

	distinct int // number of distinct keywords
	words    []byte
	starts   []uint64
	ords     packed
	all      int // number of values, if a document may have several
	ends     packed

	ints   intColumn // integers, dates, or the latitudes of points
	lon    intColumn // longitudes of points
	floats []float64

	file   *sections.File
	parts  [][]byte // the column's sections, for verify
	small  bool     // all of it is verified each time it is asked for
	once   sync.Once
	broken error
}

// intColumn holds integers, each stored as packed and meaning low + unit*packed.
type intColumn struct {
	packed
	low  int64
	unit uint64
}

func (c *intColumn) at(d int) int64 { return c.low + int64(c.packed.at(d)*c.unit) }

func open(f *sections.File, n int, field *fields.Field, docs int) (*Column, error) {
	c := &Column{field: *field, docs: docs, file: f, small: true}
	size := 0
	section := func(name string) []byte {
		b, err := f.Section(fmt.Sprintf("%d-%s", n, name))
		if err != nil && c.broken == nil {
			c.broken = err
		}
		c.parts = append(c.parts, b)
		size += len(b)
		c.small = size <= smallColumn
		return b
	}
	pack := func(name string, n int, width uint64) packed {
		p, err := newPacked(section(name), n, width)
		if err != nil && c.broken == nil {
			c.broken = err
		}
		return p
	}
	headBytes := section("head")
	if c.broken != nil {
		return nil, c.broken
	}
	// The page is not remembered as verified: it holds other sections, which are read later.
	if err := f.Check(headBytes); err != nil {
		return nil, err
	}
	head, err := sections.View[uint64](headBytes)
	if err != nil || len(head) != headSize {
		return nil, errors.New("corrupted: wrong length of the header")
	}
	c.kind = head[0]
	switch {
	case (c.kind == kindKeyword || c.kind == kindKeywords) && field.Type == fields.Keyword:
		if head[1] > math.MaxUint32 || head[3] > 1<<40 {
			return nil, fmt.Errorf("corrupted: counts %v", head)
		}
		c.distinct, c.all = int(head[1]), int(head[3])
		c.words = section("words")
		starts := section("starts")
		if c.kind == kindKeyword {
			c.ords = pack("ords", docs, head[2])
		} else {
			c.ends = pack("ends", docs, head[4])
			c.ords = pack("ords", c.all, head[2])
		}
		if c.broken == nil {
			c.starts, c.broken = sections.View[uint64](starts)
		}
		if c.broken == nil && len(c.starts) != (c.distinct+wordsPerBlock-1)/wordsPerBlock+1 {
			c.broken = fmt.Errorf("corrupted: %d blocks of %d values", len(c.starts), c.distinct)
		}
		return c, c.broken
	case c.kind == kindIntegers && (field.Type == fields.Number || field.Type == fields.Date):
		c.ints = intColumn{pack("values", docs, head[3]), int64(head[1]), head[2]}
	case c.kind == kindFloats && field.Type == fields.Number:
		values := section("values")
		if c.broken == nil {
			c.floats, c.broken = sections.View[float64](values)
		}
		if c.broken == nil && len(c.floats) != docs {
			c.broken = fmt.Errorf("corrupted: %d values of %d documents", len(c.floats), docs)
		}
	case c.kind == kindPoints && field.Type == fields.Geo:
		c.ints = intColumn{pack("lats", docs, head[3]), int64(head[1]), head[2]}
		c.lon = intColumn{pack("lons", docs, head[6]), int64(head[4]), head[5]}
	default:
		return nil, fmt.Errorf("corrupted: kind %d for a %s field", c.kind, field.Type)
	}
	has := section("has")
	if c.broken == nil {
		c.has, c.broken = sections.View[uint64](has)
	}
	if c.broken == nil && len(c.has) != 0 && len(c.has) != (docs+63)/64 {
		c.broken = fmt.Errorf("corrupted: %d words for %d documents", len(c.has), docs)
	}
	return c, c.broken
}

// smallColumn is the size in bytes up to which all of a column is verified each time it is asked
// for: the 52 KB of 60,000 years in 9 us.
//
// Filters read all values of a larger column, so they verify all of them at each use. Of one
// million documents, that adds 1.6% to a filter by years (7 bits a document), 3% by days or a
// thousand tags, and 14% by other numbers (64 bits). Looking up 1,000 documents takes 70 us, and
// verifying all their pages 110 to 1,300 us, so look-ups verify a page at most once in recheck.
const (
	smallColumn = 64 << 10
	recheck     = time.Second
)

// verify verifies the checksums of all pages: once, unless the column is small.
func (c *Column) verify() error {
	if c.small {
		return c.recheck(c.parts...)
	}
	c.once.Do(func() {
		for _, b := range c.parts {
			if c.broken == nil {
				c.broken = c.file.Touch(b)
			}
		}
	})
	c.file.Forget(recheck)
	return c.broken
}

// recheck verifies bytes that may have changed since they were verified.
func (c *Column) recheck(parts ...[]byte) error {
	for _, b := range parts {
		if err := c.file.Check(b); err != nil {
			return err
		}
	}
	return nil
}

// perDoc returns the sections that have something of every document.
func (c *Column) perDoc() [][]byte {
	if c.field.Type == fields.Keyword {
		return [][]byte{c.ends.b, c.ords.b}
	}
	return c.parts
}

// recheckDocs verifies what a filter is about to read.
func (c *Column) recheckDocs() error {
	if c.small {
		return nil
	}
	return c.recheck(c.perDoc()...)
}

// verifyBlock verifies a block of keywords, and where it begins and ends.
func (c *Column) verifyBlock(block int, verify func([]byte) error) error {
	if c.small {
		return nil
	}
	span := c.starts[block : block+2]
	if err := verify(sections.Bytes(span)); err != nil {
		return err
	}
	if span[0] > span[1] || span[1] > uint64(len(c.words)) {
		return errWords
	}
	return verify(c.words[span[0]:span[1]])
}

// Verify verifies the checksums of the pages that hold the values of some documents. Call it before
// many values are looked up in a file that may change. A nil set means all documents. Pages are
// verified at most once a second; the others take a few nanoseconds for each document.
func (c *Column) Verify(docs *docset.Set) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if c.small {
		return nil
	}
	size := 0
	for _, b := range c.perDoc() {
		size += len(b)
	}
	if docs == nil || docs.Count() > size>>12 { // more documents than pages
		for _, b := range c.perDoc() {
			if err := c.file.Touch(b); err != nil {
				return err
			}
		}
		return nil
	}
	for d := range docs.All() {
		if err := c.verifyDoc(int(d)); err != nil {
			return err
		}
	}
	return nil
}

// verifyDoc verifies the pages that hold a document's values.
func (c *Column) verifyDoc(doc int) error {
	var err error
	touch := func(b []byte) {
		if err == nil {
			err = c.file.Touch(b)
		}
	}
	switch c.kind {
	case kindKeyword:
		touch(c.ords.word(doc))
	case kindKeywords:
		touch(c.ends.word(max(doc-1, 0)))
		touch(c.ends.word(doc))
		if err != nil {
			return err
		}
		if from, to := c.span(doc); from < to {
			touch(c.ords.b[uint64(from)*c.ords.bits>>3 : uint64(to)*c.ords.bits>>3+pad])
		}
	case kindFloats:
		touch(sections.Bytes(c.floats[doc : doc+1]))
	case kindPoints:
		touch(c.lon.word(doc))
		fallthrough
	case kindIntegers:
		touch(c.ints.word(doc))
	}
	if len(c.has) > 0 {
		touch(sections.Bytes(c.has[doc>>6 : doc>>6+1]))
	}
	return err
}

// Field returns the field whose values the column holds.
func (c *Column) Field() fields.Field { return c.field }

// Has reports whether a document has a value.
func (c *Column) Has(doc int) bool {
	switch c.kind {
	case kindKeyword:
		return c.ords.at(doc) > 0
	case kindKeywords:
		from, to := c.span(doc)
		return to > from
	}
	return isSet(c.has, doc)
}

// Number returns the value of a number field, or of a date field in milliseconds since 1970.
func (c *Column) Number(doc int) (v float64, ok bool) {
	switch {
	case !isSet(c.has, doc):
	case c.kind == kindIntegers:
		return float64(c.ints.at(doc)), true
	case c.kind == kindFloats:
		return c.floats[doc], true
	}
	return 0, false
}

// Date returns the value of a date field in milliseconds since 1970.
func (c *Column) Date(doc int) (v int64, ok bool) {
	if c.kind != kindIntegers || !isSet(c.has, doc) {
		return 0, false
	}
	return c.ints.at(doc), true
}

// Point returns the value of a geo field.
func (c *Column) Point(doc int) (p fields.Point, ok bool) {
	if c.kind != kindPoints || !isSet(c.has, doc) {
		return p, false
	}
	return fields.Point{Lat: int32(c.ints.at(doc)), Lon: int32(c.lon.at(doc))}, true
}

// Ords appends the numbers of a document's keywords to dst, in ascending order.
func (c *Column) Ords(doc int, dst []uint32) []uint32 {
	switch c.kind {
	case kindKeyword:
		if n := c.ords.at(doc); n > 0 {
			dst = append(dst, uint32(n-1))
		}
	case kindKeywords:
		for from, to := c.span(doc); from < to; from++ {
			dst = append(dst, uint32(c.ords.at(from)))
		}
	}
	return dst
}

// span returns the range of a document's values in ords.
func (c *Column) span(doc int) (from, to int) {
	if doc > 0 {
		from = int(c.ends.at(doc - 1))
	}
	return from, min(int(c.ends.at(doc)), c.all)
}

var errWords = errors.New("corrupted: the keywords cannot be decoded")

// Value returns the keyword with the given number.
func (c *Column) Value(ord int) (string, error) {
	if uint(ord) >= uint(c.distinct) {
		return "", fmt.Errorf("keyword %d: the field has %d", ord, c.distinct)
	}
	if err := c.verifyBlock(ord/wordsPerBlock, c.file.Touch); err != nil {
		return "", err
	}
	w := wordReader{c: c, ord: ord - ord%wordsPerBlock}
	for w.ord <= ord {
		if !w.next() {
			return "", errWords
		}
	}
	return string(w.word), nil
}

// Find returns the number of the first keyword that is not less than value, and whether it is equal
// to it.
func (c *Column) Find(value string) (ord int, found bool, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	want := []byte(value)
	b := sort.Search(len(c.starts)-1, func(b int) bool {
		if err == nil {
			err = c.verifyBlock(b, c.file.Check)
		}
		w := wordReader{c: c, ord: b * wordsPerBlock}
		if err == nil && !w.next() {
			err = errWords
		}
		return bytes.Compare(w.word, want) > 0
	})
	if b == 0 || err != nil {
		return 0, false, err
	}
	w := wordReader{c: c, ord: (b - 1) * wordsPerBlock}
	for end := min(b*wordsPerBlock, c.distinct); w.ord < end; {
		if !w.next() {
			return 0, false, errWords
		}
		if n := bytes.Compare(w.word, want); n >= 0 {
			return w.ord - 1, n == 0, nil
		}
	}
	return w.ord, false, nil
}

// wordReader reads consecutive keywords. The first one must begin a block.
type wordReader struct {
	c    *Column
	ord  int // number of the next keyword
	rest []byte
	word []byte
}

func (w *wordReader) next() bool {
	if w.ord%wordsPerBlock == 0 {
		from, to := w.c.starts[w.ord/wordsPerBlock], w.c.starts[w.ord/wordsPerBlock+1]
		if from > to || to > uint64(len(w.c.words)) {
			return false
		}
		w.rest, w.word = w.c.words[from:to], w.word[:0]
	}
	shared, n := binary.Uvarint(w.rest)
	if n <= 0 || shared > uint64(len(w.word)) {
		return false
	}
	size, m := binary.Uvarint(w.rest[n:])
	if m <= 0 || size > uint64(len(w.rest)-n-m) {
		return false
	}
	w.word = append(w.word[:shared], w.rest[n+m:][:size]...)
	w.rest = w.rest[n+m+int(size):]
	w.ord++
	return true
}
