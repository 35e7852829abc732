package columns

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/sections"
)

const (
	kindKeyword = 1 + iota
	kindKeywords
	kindIntegers
	kindFloats
	kindPoints

	headSize      = 8 // uint64
	wordsPerBlock = 16
)

// Builder makes columns. Documents are added in batches, in any order and from several goroutines.
// All values are kept in memory until they are written.
type Builder struct {
	schema  *fields.Schema
	fields  []int // numbers of the schema's fields that have columns
	dicts   []*interner
	memory  int64
	used    atomic.Int64
	mu      sync.Mutex
	batches []*Batch
}

// NewBuilder returns a Builder for the fields of a schema that uses at most the given number of
// bytes of memory.
func NewBuilder(s *fields.Schema, memory int64) *Builder {
	b := &Builder{schema: s, memory: memory}
	for i, f := range s.Fields {
		if f.Type.HasColumn() {
			b.fields = append(b.fields, i)
			b.dicts = append(b.dicts, &interner{known: map[string]uint32{}})
		}
	}
	return b
}

// interner numbers the different values of a keyword field.
type interner struct {
	mu    sync.Mutex
	known map[string]uint32
	words []string
}

// id returns the number of a word, and the bytes of memory that were added for it.
func (t *interner) id(word []byte) (id uint32, grown int64) {
	id, ok := t.known[string(word)]
	if !ok {
		id = uint32(len(t.words))
		s := string(word)
		t.words = append(t.words, s)
		t.known[s] = id
		grown = int64(len(word)) + 64 // the string, two headers, a map entry
	}
	return id, grown
}

// Batch holds the values of consecutive documents.
type Batch struct {
	b    *Builder
	seq  int
	docs int
	cols []chunk
	size int64 // of the words that no batch had before
}

// chunk is a batch's part of a column. For single values it holds the 64 bits of each document's
// value, and whether it has one. For keywords it holds the numbers of each document's words.
type chunk struct {
	values []uint64
	has    []bool
	ends   []uint32
	ids    []uint32
}

// Batch starts the batch with the given number. Batches are numbered from 0 in the order of their
// documents.
func (b *Builder) Batch(seq int) *Batch {
	return &Batch{b: b, seq: seq, cols: make([]chunk, len(b.fields))}
}

// Add appends a document with the values of all fields of the schema.
func (t *Batch) Add(values []fields.Values) error {
	for i, at := range t.b.fields {
		f := &t.b.schema.Fields[at]
		var v fields.Values
		if at < len(values) {
			v = values[at]
		}
		c := &t.cols[i]
		if f.Type == fields.Keyword {
			t.addWords(i, v)
			continue
		}
		if len(v) > 1 {
			return fmt.Errorf("field %q: %d values: a %s field has one", f.Name, len(v), f.Type)
		}
		n, err := uint64(0), error(nil)
		if len(v) == 1 {
			if n, err = parse(f.Type, v[0]); err != nil {
				return fmt.Errorf("field %q: %w", f.Name, err)
			}
		}
		c.put(n, len(v) == 1)
	}
	t.docs++
	return nil
}

func (c *chunk) put(n uint64, has bool) {
	c.values = append(c.values, n)
	c.has = append(c.has, has)
}

func (t *Batch) addWords(i int, v fields.Values) {
	c, dict := &t.cols[i], t.b.dicts[i]
	dict.mu.Lock()
	defer dict.mu.Unlock()
	from := int(c.begin())
	for _, word := range v {
		id, grown := dict.id(word)
		t.size += grown
		c.ids = append(c.ids, id)
	}
	if mine := c.ids[from:]; len(mine) > 1 {
		slices.Sort(mine)
		c.ids = c.ids[:from+len(slices.Compact(mine))]
	}
	c.ends = append(c.ends, uint32(len(c.ids)))
}

// begin returns the start of the current document's words in ids.
func (c *chunk) begin() uint32 {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// parse parses a value into 64 bits.
func parse(t fields.Type, b []byte) (uint64, error) {
	switch t {
	case fields.Number:
		v, err := fields.ParseNumber(b)
		return numberBits(v), err
	case fields.Date:
		v, err := fields.ParseDate(b)
		return uint64(v), err
	default:
		p, err := fields.ParsePoint(b)
		return pointBits(p), err
	}
}

func numberBits(v float64) uint64 { return math.Float64bits(v) }

func pointBits(p fields.Point) uint64 { return uint64(uint32(p.Lat))<<32 | uint64(uint32(p.Lon)) }

// Bytes returns how much of the Builder's memory the batch takes.
func (t *Batch) Bytes() int64 {
	size := t.size
	for _, c := range t.cols {
		size += int64(9*len(c.values) + 4*len(c.ends) + 4*len(c.ids))
	}
	return size
}

// Put adds a finished batch to the columns.
func (b *Builder) Put(t *Batch) error {
	if used := b.used.Add(t.Bytes()); used > b.memory {
		return fmt.Errorf("the values of the columns take more than %v of memory, a third of index.BuildOptions.Memory: raise it",
			bytesize.Size(b.memory))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batches = append(b.batches, t)
	return nil
}

// Write writes the columns. The batches must have the given number of documents in all.
func (b *Builder) Write(w *sections.Writer, docs int) error {
	slices.SortFunc(b.batches, func(x, y *Batch) int { return cmp.Compare(x.seq, y.seq) })
	n := 0
	for i, t := range b.batches {
		if t.seq != i {
			return fmt.Errorf("columns: batch %d is missing", i)
		}
		n += t.docs
	}
	if n != docs {
		return fmt.Errorf("columns: values of %d documents, want %d", n, docs)
	}
	for i, at := range b.fields {
		out := columnWriter{w: w, column: i, docs: docs}
		switch b.schema.Fields[at].Type {
		case fields.Keyword:
			out.keywords(b, i)
		case fields.Number:
			out.numbers(b, i)
		case fields.Date:
			all, has := b.gather(i)
			out.integers(asInts(all), has)
		case fields.Geo:
			out.points(b.gather(i))
		}
		if out.err != nil {
			return out.err
		}
		for _, t := range b.batches {
			t.cols[i] = chunk{}
		}
	}
	return nil
}

// gather concatenates the chunks of a column of single values. The bitmap has is empty if all
// documents have a value.
func (b *Builder) gather(i int) (values []uint64, has []uint64) {
	all, n := true, 0
	for _, t := range b.batches {
		n += t.docs
		all = all && !slices.Contains(t.cols[i].has, false)
	}
	values = make([]uint64, 0, n)
	if !all {
		has = make([]uint64, (n+63)/64)
	}
	for _, t := range b.batches {
		for d, v := range t.cols[i].values {
			if !all && t.cols[i].has[d] {
				at := len(values)
				has[at/64] |= 1 << (at % 64)
			}
			values = append(values, v)
		}
	}
	return values, has
}

func asInts(v []uint64) []int64 {
	out := make([]int64, len(v))
	for i := range v {
		out[i] = int64(v[i])
	}
	return out
}

// columnWriter writes the sections of one column. It keeps the first error.
type columnWriter struct {
	w      *sections.Writer
	column int
	docs   int
	err    error
}

func (o *columnWriter) section(name string, data []byte) {
	if o.err == nil {
		o.err = o.w.Section(fmt.Sprintf("%d-%s", o.column, name), data)
	}
}

func (o *columnWriter) head(numbers ...uint64) {
	o.section("head", sections.Bytes(append(numbers, make([]uint64, headSize-len(numbers))...)))
}

func (o *columnWriter) keywords(b *Builder, i int) {
	dict := b.dicts[i]
	order := make([]uint32, len(dict.words))
	for id := range order {
		order[id] = uint32(id)
	}
	slices.SortFunc(order, func(x, y uint32) int { return cmp.Compare(dict.words[x], dict.words[y]) })
	rank := make([]uint32, len(order))
	for r, id := range order {
		rank[id] = uint32(r)
	}
	several, all := false, 0
	for _, t := range b.batches {
		c, from := &t.cols[i], uint32(0)
		all += len(c.ids)
		for _, end := range c.ends {
			mine := c.ids[from:end]
			several = several || len(mine) > 1
			for k, id := range mine {
				mine[k] = rank[id]
			}
			slices.Sort(mine)
			from = end
		}
	}
	distinct := uint64(len(order))
	if several {
		o.severalWords(b, i, distinct, all)
	} else {
		o.singleWords(b, i, distinct)
	}
	words := wordWriter{}
	for _, id := range order {
		words.add(dict.words[id])
	}
	o.section("words", words.blob)
	o.section("starts", sections.Bytes(append(words.starts, uint64(len(words.blob)))))
	b.dicts[i] = nil
}

func (o *columnWriter) singleWords(b *Builder, i int, distinct uint64) {
	width := widthOf(distinct)
	o.head(kindKeyword, distinct, width)
	ords := newPacker(o.docs, width)
	for _, t := range b.batches {
		c, from := &t.cols[i], uint32(0)
		for _, end := range c.ends {
			ord := uint64(0)
			if end > from {
				ord = uint64(c.ids[from]) + 1
			}
			ords.add(ord)
			from = end
		}
	}
	o.section("ords", ords.end())
}

func (o *columnWriter) severalWords(b *Builder, i int, distinct uint64, all int) {
	width, endWidth := widthOf(distinct-1), widthOf(uint64(all))
	o.head(kindKeywords, distinct, width, uint64(all), endWidth)
	ends, ords := newPacker(o.docs, endWidth), newPacker(all, width)
	done := uint64(0)
	for _, t := range b.batches {
		for _, end := range t.cols[i].ends {
			ends.add(done + uint64(end))
		}
		for _, ord := range t.cols[i].ids {
			ords.add(uint64(ord))
		}
		done += uint64(len(t.cols[i].ids))
	}
	o.section("ends", ends.end())
	o.section("ords", ords.end())
}

// wordWriter writes words front-coded in blocks.
type wordWriter struct {
	blob   []byte
	starts []uint64
	last   string
	n      int
}

func (w *wordWriter) add(word string) {
	shared := 0
	if w.n%wordsPerBlock == 0 {
		w.starts = append(w.starts, uint64(len(w.blob)))
	} else {
		for shared < len(word) && shared < len(w.last) && word[shared] == w.last[shared] {
			shared++
		}
	}
	w.blob = binary.AppendUvarint(w.blob, uint64(shared))
	w.blob = binary.AppendUvarint(w.blob, uint64(len(word)-shared))
	w.blob = append(w.blob, word[shared:]...)
	w.last = word
	w.n++
}

// numbers writes a number column, as integers if all its values are.
func (o *columnWriter) numbers(b *Builder, i int) {
	values, has := b.gather(i)
	ints := make([]int64, len(values))
	for d, bits := range values {
		v := math.Float64frombits(bits)
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			o.head(kindFloats)
			o.section("values", sections.Bytes(values))
			o.section("has", sections.Bytes(has))
			return
		}
		ints[d] = int64(v)
	}
	o.integers(ints, has)
}

func (o *columnWriter) integers(values []int64, has []uint64) {
	low, unit, width := scaleOf(values, has)
	o.head(kindIntegers, uint64(low), unit, width)
	o.section("values", packInts(values, has, low, unit, width))
	o.section("has", sections.Bytes(has))
}

func (o *columnWriter) points(values, has []uint64) {
	lats, lons := make([]int64, len(values)), make([]int64, len(values))
	for d, v := range values {
		lats[d], lons[d] = int64(int32(v>>32)), int64(int32(v))
	}
	lowLat, unitLat, widthLat := scaleOf(lats, has)
	lowLon, unitLon, widthLon := scaleOf(lons, has)
	o.head(kindPoints, uint64(lowLat), unitLat, widthLat, uint64(lowLon), unitLon, widthLon)
	o.section("lats", packInts(lats, has, lowLat, unitLat, widthLat))
	o.section("lons", packInts(lons, has, lowLon, unitLon, widthLon))
	o.section("has", sections.Bytes(has))
}

func isSet(has []uint64, d int) bool { return len(has) == 0 || has[d/64]>>(d%64)&1 != 0 }

// scaleOf returns the smallest value, the greatest common divisor of all differences to it, and the
// bit width of the values in these units.
func scaleOf(values []int64, has []uint64) (low int64, unit, width uint64) {
	first := true
	var high int64
	for d, v := range values {
		if !isSet(has, d) {
			continue
		}
		if first {
			low, high, first = v, v, false
		}
		low, high = min(low, v), max(high, v)
	}
	for d, v := range values {
		if isSet(has, d) {
			unit = gcd(unit, uint64(v-low))
		}
	}
	unit = max(unit, 1)
	return low, unit, widthOf(uint64(high-low) / unit)
}

func gcd(a, b uint64) uint64 {
	if a == 1 {
		return 1
	}
	if a == 0 || b == 0 {
		return a | b
	}
	shift := bits.TrailingZeros64(a | b)
	a >>= bits.TrailingZeros64(a)
	for b != 0 {
		b >>= bits.TrailingZeros64(b)
		if a > b {
			a, b = b, a
		}
		b -= a
	}
	return a << shift
}

func packInts(values []int64, has []uint64, low int64, unit, width uint64) []byte {
	p := newPacker(len(values), width)
	for d, v := range values {
		n := uint64(0)
		if isSet(has, d) {
			n = uint64(v-low) / unit
		}
		p.add(n)
	}
	return p.end()
}
