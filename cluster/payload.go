package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"
)

// wordBuckets is the number of records that a vocabulary is divided into.
const wordBuckets = 4096

// bucketOf returns the key of a word's record.
func bucketOf(word []byte) int64 {
	h := fnv.New64a()
	h.Write(word)
	return int64(h.Sum64() % wordBuckets)
}

var errPayload = errors.New("the payload cannot be decoded")

// count is a word with its frequency.
type count struct {
	word []byte
	n    uint64
}

func appendCounts(dst []byte, list []count) []byte {
	for _, c := range list {
		dst = binary.AppendUvarint(dst, uint64(len(c.word)))
		dst = append(dst, c.word...)
		dst = binary.AppendUvarint(dst, c.n)
	}
	return dst
}

// parseCounts parses the words of a bucket. They share the memory of raw.
func parseCounts(key int64, raw []byte) (list []count, err error) {
	for len(raw) > 0 {
		size, ok := uvarint(&raw)
		if !ok || size == 0 || size > uint64(len(raw)) {
			return nil, errPayload
		}
		c := count{word: raw[:size]}
		raw = raw[size:]
		if c.n, ok = uvarint(&raw); !ok || c.n == 0 {
			return nil, errPayload
		}
		if n := len(list); n > 0 && bytes.Compare(list[n-1].word, c.word) >= 0 {
			return nil, fmt.Errorf("%w: want words in byte order", errPayload)
		}
		if bucketOf(c.word) != key {
			return nil, fmt.Errorf("%w: a word of another bucket", errPayload)
		}
		list = append(list, c)
	}
	return list, nil
}

// addCounts merges two lists, adding the counts of equal words.
func addCounts(a, b []count) (sum []count, err error) {
	for len(a) > 0 && len(b) > 0 {
		switch order := bytes.Compare(a[0].word, b[0].word); {
		case order < 0:
			sum, a = append(sum, a[0]), a[1:]
		case order > 0:
			sum, b = append(sum, b[0]), b[1:]
		default:
			n, carry := bits.Add64(a[0].n, b[0].n, 0)
			if carry != 0 {
				return nil, fmt.Errorf("word %.60q occurs too often", a[0].word)
			}
			sum, a, b = append(sum, count{a[0].word, n}), a[1:], b[1:]
		}
	}
	return append(append(sum, a...), b...), nil
}

// Rows are grouped into blocks: each of the first 64 rows is a block, and after that there are 64
// blocks between a power of two and the next. Frequent words come first, so blocks have similar
// numbers of cells, and an engine moves some hundred large records instead of one for each row.
const blockBits = 6

// blockOf returns the block of a row.
func blockOf(row int64) int64 {
	shift := max(0, bits.Len64(uint64(row))-blockBits-1)
	return row>>shift + int64(shift)<<blockBits
}

// blockRows returns the first row of a block and the number of its rows.
func blockRows(block int64) (first, n int64) {
	shift := max(0, block>>blockBits-1)
	return (block - shift<<blockBits) << shift, 1 << shift
}

// maxBlock is the block of the last possible row.
var maxBlock = blockOf(math.MaxUint32)

// cells are cells of a block of rows, in ascending order of rows and columns.
type cells struct {
	cols []uint64 // row, relative to the first of the block, times 2^32, plus column
	sums []uint64
}

func (c *cells) appendTo(dst []byte) []byte {
	next := uint64(0)
	for i, col := range c.cols {
		dst = binary.AppendUvarint(dst, col-next)
		dst = binary.AppendUvarint(dst, c.sums[i])
		next = col + 1
	}
	return dst
}

// parse appends the cells of a payload.
func (c *cells) parse(key int64, raw []byte) error {
	if key > maxBlock {
		return fmt.Errorf("%w: no block %d of rows", errPayload, key)
	}
	_, rows := blockRows(key)
	end := uint64(rows) << 32
	next := uint64(0)
	c.grow(len(raw) / 2)
	for at := 0; at < len(raw); {
		var gap, sum uint64
		gap, at = uvarintAt(raw, at)
		sum, at = uvarintAt(raw, at)
		if at < 0 || gap >= end-next || sum == 0 {
			return errPayload
		}
		c.cols, c.sums = append(c.cols, next+gap), append(c.sums, sum)
		next += gap + 1
	}
	return nil
}

// grow makes room for n more.
func (c *cells) grow(n int) { c.cols, c.sums = slices.Grow(c.cols, n), slices.Grow(c.sums, n) }

// add sets c to the sum of two lists.
func (c *cells) add(a, b *cells) error {
	c.grow(len(a.cols) + len(b.cols))
	cols, sums := c.cols[:cap(c.cols)], c.sums[:cap(c.sums)]
	i, j, n := 0, 0, 0
	for i < len(a.cols) && j < len(b.cols) {
		x, y := a.cols[i], b.cols[j]
		sum, carry := uint64(0), uint64(0)
		if x <= y {
			sum = a.sums[i]
			i++
		}
		if y <= x {
			sum, carry = bits.Add64(sum, b.sums[j], 0)
			if carry != 0 {
				return fmt.Errorf("the sum in column %d is too large", uint32(x))
			}
			j++
		}
		cols[n], sums[n] = min(x, y), sum
		n++
	}
	c.cols, c.sums = append(cols[:n], a.cols[i:]...), append(sums[:n], a.sums[i:]...)
	c.cols, c.sums = append(c.cols, b.cols[j:]...), append(c.sums, b.sums[j:]...)
	return nil
}

// uvarint decodes a number, which must be in its shortest form.
func uvarint(b *[]byte) (uint64, bool) {
	n, at := uvarintAt(*b, 0)
	if at < 0 {
		return 0, false
	}
	*b = (*b)[at:]
	return n, true
}

// uvarintAt decodes a number at an offset and returns the offset of the next one. It returns -1 for
// a malformed number, and if at is -1.
func uvarintAt(b []byte, at int) (uint64, int) {
	if uint(at) >= uint(len(b)) {
		return 0, -1
	}
	n := uint64(b[at])
	if n < 0x80 {
		return n, at + 1
	}
	n &= 0x7f
	for i, c := range b[at+1:] {
		shift := 7 * (i + 1)
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if c == 0 || shift == 63 && c > 1 {
				return 0, -1
			}
			return n, at + i + 2
		}
		if shift == 63 {
			return 0, -1
		}
	}
	return 0, -1
}

// adder adds up the payloads of a key.
type adder struct {
	kind   byte
	words  []count // or classes of points
	cells  *cells
	file   []byte
	buffer []byte
	free   []*cells
}

// sum skips the records of a key, and calls fn with their sum.
func (a *adder) sum(kind byte, key int64, from []stream, fn func(key int64, a *adder) error) error {
	if a.cells != nil {
		a.free = append(a.free, a.cells)
	}
	a.kind, a.words, a.cells, a.file = kind, nil, nil, nil
	words := tree[[]count]{add: addCounts}
	matrix := tree[*cells]{add: a.addCells}
	for _, s := range from {
		for k, at := s.head(); k == kind && at == key; k, at = s.head() {
			raw, err := s.raw()
			if err == nil {
				if kind == kindCells {
					err = a.addRecord(&matrix, key, raw)
				} else {
					err = a.addOther(&words, key, slices.Clone(raw)) // a copy: the words refer to it
				}
			}
			if err != nil {
				return s.fault(err)
			}
			if err := s.step(); err != nil {
				return err
			}
		}
	}
	var err1, err2 error
	a.words, err1 = words.total()
	a.cells, err2 = matrix.total()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return fn(key, a)
}

func (a *adder) addRecord(matrix *tree[*cells], key int64, raw []byte) error {
	c := a.empty()
	if err := c.parse(key, raw); err != nil {
		return err
	}
	return matrix.put(c)
}

func (a *adder) addOther(words *tree[[]count], key int64, raw []byte) error {
	if a.kind != kindFiles {
		list, err := parseCounts(key, raw)
		if err != nil {
			return err
		}
		return words.put(list)
	}
	if a.file != nil {
		return fmt.Errorf("part %d comes twice", key)
	}
	a.file = raw
	_, err := parsePart(key, raw)
	return err
}

// empty returns unused cells.
func (a *adder) empty() *cells {
	n := len(a.free)
	if n == 0 {
		return &cells{}
	}
	c := a.free[n-1]
	a.free = a.free[:n-1]
	c.cols, c.sums = c.cols[:0], c.sums[:0]
	return c
}

// addCells adds up two lists and releases them.
func (a *adder) addCells(x, y *cells) (*cells, error) {
	sum := a.empty()
	err := sum.add(x, y)
	a.free = append(a.free, x, y)
	return sum, err
}

// payload encodes the sum.
func (a *adder) payload() []byte {
	switch a.kind {
	case kindWords, kindClasses:
		a.buffer = appendCounts(a.buffer[:0], a.words)
	case kindFiles:
		a.buffer = append(a.buffer[:0], a.file...)
	default:
		a.buffer = a.cells.appendTo(a.buffer[:0])
	}
	return a.buffer
}

// tree adds up lists pairwise, always two sums of equally many lists, so that of n lists each item
// is copied log n times.
type tree[T any] struct {
	add   func(a, b T) (T, error)
	sums  []T
	count []int // number of lists in each sum, descending
}

func (t *tree[T]) put(x T) error {
	t.sums, t.count = append(t.sums, x), append(t.count, 1)
	for n := len(t.count); n > 1 && t.count[n-1] == t.count[n-2]; n = len(t.count) {
		if err := t.join(); err != nil {
			return err
		}
	}
	return nil
}

// join adds up the last two sums.
func (t *tree[T]) join() (err error) {
	n := len(t.sums)
	t.sums[n-2], err = t.add(t.sums[n-2], t.sums[n-1])
	t.count[n-2] += t.count[n-1]
	t.sums, t.count = t.sums[:n-1], t.count[:n-1]
	return err
}

// total returns the sum of all lists, or the zero value if there were none.
func (t *tree[T]) total() (sum T, err error) {
	for len(t.sums) > 1 {
		if err := t.join(); err != nil {
			return sum, err
		}
	}
	if len(t.sums) == 1 {
		sum = t.sums[0]
	}
	return sum, nil
}
