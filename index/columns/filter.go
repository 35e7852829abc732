package columns

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/mmap"
)

// Equal returns the documents that have the given value. Keywords are compared byte by byte. A date
// may stand for a whole day, month or year, as in package fields.
func (c *Column) Equal(value string) (*docset.Set, error) {
	l := Limit{Value: value, Empty: true}
	return c.Range(l, l)
}

// Limit is one end of a range. The zero value means no limit.
type Limit struct {
	// Value is written as in documents: a keyword, a number or a date (see package fields).
	Value     string
	Exclusive bool // the value itself is not part of the range
	// Empty makes an empty Value a limit. Otherwise an empty Value means that there is no limit.
	Empty bool
}

func (l *Limit) none() bool { return l.Value == "" && !l.Empty }

// Range returns the documents that have a value between two limits, which are included unless they
// are Exclusive.
func (c *Column) Range(low, high Limit) (set *docset.Set, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	switch c.field.Type {
	case fields.Keyword:
		return c.keywordRange(low, high)
	case fields.Date:
		from, to, err := dateRange(low, high)
		if err != nil {
			return nil, c.wrong(err)
		}
		return c.select64(func(words []uint64) { c.ints.within(words, from, to) })
	case fields.Number:
		from, to, err := numberRange(low, high)
		if err != nil {
			return nil, c.wrong(err)
		}
		if c.kind == kindFloats {
			return c.select64(func(words []uint64) { c.floatsWithin(words, from, to) })
		}
		first, last, some := wholeRange(from, to)
		if !some {
			return docset.New(c.docs), nil
		}
		return c.select64(func(words []uint64) { c.ints.within(words, first, last) })
	}
	return nil, c.wrong(fmt.Errorf("a %s field has no ranges: want a box", c.field.Type))
}

// ErrQuery is wrapped by errors of a value or a range that does not fit the field: the column is
// intact.
var ErrQuery = errors.New("not a query for this field")

// queryError is an error that is ErrQuery and has a message of its own.
type queryError struct{ error }

func (e queryError) Unwrap() error        { return e.error }
func (e queryError) Is(target error) bool { return target == ErrQuery }

func (c *Column) wrong(err error) error {
	return queryError{fmt.Errorf("field %q: %w", c.field.Name, err)}
}

func dateRange(low, high Limit) (from, to int64, err error) {
	from, to = math.MinInt64, math.MaxInt64
	if !low.none() {
		first, last, err := fields.ParseDateSpan([]byte(low.Value))
		if err != nil {
			return 0, 0, err
		}
		if from = first; low.Exclusive {
			from = last + 1
		}
	}
	if !high.none() {
		first, last, err := fields.ParseDateSpan([]byte(high.Value))
		if err != nil {
			return 0, 0, err
		}
		if to = last; high.Exclusive {
			to = first - 1
		}
	}
	return from, to, nil
}

func numberRange(low, high Limit) (from, to float64, err error) {
	from, to = math.Inf(-1), math.Inf(1)
	if !low.none() {
		if from, err = fields.ParseNumber([]byte(low.Value)); err != nil {
			return 0, 0, err
		}
		if low.Exclusive {
			from = math.Nextafter(from, math.Inf(1))
		}
	}
	if !high.none() {
		if to, err = fields.ParseNumber([]byte(high.Value)); err != nil {
			return 0, 0, err
		}
		if high.Exclusive {
			to = math.Nextafter(to, math.Inf(-1))
		}
	}
	return from, to, nil
}

// wholeRange returns the integers of a range, within those that a column can hold, and whether
// there are any.
func wholeRange(from, to float64) (first, last int64, some bool) {
	const most = 1 << 53
	from, to = max(math.Ceil(from), -most), min(math.Floor(to), most)
	return int64(from), int64(to), from <= to
}

// select64 returns the set of documents that fill marks, without those that have no value.
func (c *Column) select64(fill func(words []uint64)) (*docset.Set, error) {
	if err := c.recheckDocs(); err != nil {
		return nil, err
	}
	words := make([]uint64, (c.docs+63)/64)
	fill(words)
	if len(c.has) > 0 {
		for i := range words {
			words[i] &= c.has[i]
		}
	}
	if tail := c.docs % 64; tail > 0 {
		words[len(words)-1] &= 1<<tail - 1
	}
	return docset.FromWords(words, c.docs)
}

// within marks the documents whose number is in [from, to].
func (c *intColumn) within(words []uint64, from, to int64) {
	if from > to || to < c.low || c.unit == 0 {
		return
	}
	// Convert to units above low, rounding from up and to down.
	first := uint64(0)
	if from > c.low {
		first = (uint64(from-c.low)-1)/c.unit + 1
	}
	last := uint64(to-c.low) / c.unit
	if first > last {
		return
	}
	mark(words, &c.packed, first, last-first)
}

// mark sets the bits of the documents whose packed number is in [first, first+span].
func mark(words []uint64, p *packed, first, span uint64) {
	n := int(min(uint64(len(words))*64, count(p)))
	for i := range words {
		var word uint64
		for d := i * 64; d < min(i*64+64, n); d++ {
			bit := uint64(0)
			if p.at(d)-first <= span {
				bit = 1
			}
			word |= bit << (d & 63)
		}
		words[i] = word
	}
}

// count returns an upper bound on the number of packed numbers.
func count(p *packed) uint64 {
	if p.bits == 0 {
		return math.MaxInt64
	}
	return uint64(len(p.b)-pad) * 8 / p.bits
}

func (c *Column) floatsWithin(words []uint64, from, to float64) {
	for d, v := range c.floats {
		if v >= from && v <= to {
			words[d/64] |= 1 << (d % 64)
		}
	}
}

func (c *Column) keywordRange(low, high Limit) (*docset.Set, error) {
	first, end := 0, c.distinct
	if !low.none() {
		at, found, err := c.Find(low.Value)
		if err != nil {
			return nil, err
		}
		if first = at; found && low.Exclusive {
			first++
		}
	}
	if !high.none() {
		at, found, err := c.Find(high.Value)
		if err != nil {
			return nil, err
		}
		if end = at; found && !high.Exclusive {
			end++
		}
	}
	return c.withOrds(first, end)
}

// withOrds returns the documents that have a keyword with a number in [first, end).
func (c *Column) withOrds(first, end int) (*docset.Set, error) {
	if first >= end {
		return docset.New(c.docs), nil
	}
	if c.kind == kindKeyword {
		return c.select64(func(words []uint64) { mark(words, &c.ords, uint64(first)+1, uint64(end-first-1)) })
	}
	if err := c.recheckDocs(); err != nil {
		return nil, err
	}
	words := make([]uint64, (c.docs+63)/64)
	from := 0
	for d := range c.docs {
		to := min(int(c.ends.at(d)), c.all)
		for ; from < to; from++ {
			if c.ords.at(from)-uint64(first) < uint64(end-first) {
				words[d/64] |= 1 << (d % 64)
			}
		}
	}
	return docset.FromWords(words, c.docs)
}

// Prefix returns the documents that have a keyword with the given prefix.
func (c *Column) Prefix(prefix string) (*docset.Set, error) {
	if c.field.Type != fields.Keyword {
		return nil, c.wrong(fmt.Errorf("a %s field has no prefixes", c.field.Type))
	}
	low := Limit{Value: prefix, Empty: true}
	end := []byte(prefix)
	for len(end) > 0 && end[len(end)-1] == 0xff {
		end = end[:len(end)-1]
	}
	if len(end) == 0 {
		return c.Range(low, Limit{})
	}
	end[len(end)-1]++
	return c.Range(low, Limit{Value: string(end), Exclusive: true})
}

// Any returns the documents that have a value.
func (c *Column) Any() (set *docset.Set, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if c.field.Type == fields.Keyword {
		return c.withOrds(0, c.distinct)
	}
	return c.select64(func(words []uint64) {
		for i := range words {
			words[i] = ^uint64(0)
		}
	})
}

// Box returns the documents whose point lies in a box given in degrees, edges included. If west is
// greater than east, the box crosses the 180th meridian.
func (c *Column) Box(south, west, north, east float64) (set *docset.Set, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if c.kind != kindPoints {
		return nil, c.wrong(fmt.Errorf("a box needs a geo field, not a %s field", c.field.Type))
	}
	low, err := fields.PointOf(south, west)
	if err != nil {
		return nil, c.wrong(err)
	}
	high, err := fields.PointOf(north, east)
	if err != nil {
		return nil, c.wrong(err)
	}
	if low.Lat > high.Lat {
		return nil, c.wrong(fmt.Errorf("a box from latitude %v to %v: want the south first", south, north))
	}
	return c.select64(func(words []uint64) {
		c.ints.within(words, int64(low.Lat), int64(high.Lat))
		across := make([]uint64, len(words))
		if low.Lon <= high.Lon {
			c.lon.within(across, int64(low.Lon), int64(high.Lon))
		} else {
			c.lon.within(across, int64(low.Lon), math.MaxInt32)
			east := make([]uint64, len(words))
			c.lon.within(east, math.MinInt32, int64(high.Lon))
			for i := range across {
				across[i] |= east[i]
			}
		}
		for i := range words {
			words[i] &= across[i]
		}
	})
}

// Facet is a keyword with the number of documents that have it.
type Facet struct {
	Value string `json:"value"` // the keyword
	Docs  int    `json:"docs"`  // documents of the set that have it
}

// Facets counts the keywords of the documents of a set; a nil set means all documents. It returns
// the n most frequent keywords, those with equal counts in byte order, and the number of different
// keywords.
func (c *Column) Facets(set *docset.Set, n int) (list []Facet, distinct int, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if c.field.Type != fields.Keyword {
		return nil, 0, c.wrong(fmt.Errorf("values of a %s field cannot be counted: want a keyword field", c.field.Type))
	}
	counts, err := c.Counts(set)
	if err != nil {
		return nil, 0, err
	}
	return c.Most(counts, n)
}

// Most returns the n most frequent keywords, given their counts, and the number of keywords that
// occur.
func (c *Column) Most(counts []uint32, n int) (list []Facet, distinct int, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	var found []int
	for ord, docs := range counts {
		if docs > 0 {
			found = append(found, ord)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	for _, ord := range found[:min(n, len(found))] {
		value, err := c.Value(ord)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, Facet{value, int(counts[ord])})
	}
	return list, len(found), nil
}

// Counts returns, for each keyword, how many documents of a set have it; a nil set means all
// documents.
func (c *Column) Counts(set *docset.Set) (counts []uint32, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if set != nil && set.Len() != c.docs {
		return nil, fmt.Errorf("field %q: a set of %d documents, want one of %d", c.field.Name, set.Len(), c.docs)
	}
	if err := c.Verify(set); err != nil {
		return nil, err
	}
	counts = make([]uint32, c.distinct+1) // the last entry counts invalid numbers
	bad := false
	one := func(ord uint64) {
		bad = bad || ord >= uint64(c.distinct)
		counts[min(ord, uint64(c.distinct))]++
	}
	var ords []uint32
	doc := func(d int) {
		if c.kind == kindKeyword {
			if n := c.ords.at(d); n > 0 {
				one(n - 1)
			}
			return
		}
		ords = c.Ords(d, ords[:0])
		for _, ord := range ords {
			one(uint64(ord))
		}
	}
	if set == nil {
		for d := range c.docs {
			doc(d)
		}
	} else {
		for d := range set.All() {
			doc(int(d))
		}
	}
	if bad {
		return nil, errWords
	}
	return counts[:c.distinct], nil
}
