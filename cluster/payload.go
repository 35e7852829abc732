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

// wordBuckets is how many records a vocabulary is divided into.
const wordBuckets = 4096

// bucketOf is the key of a word's record.
func bucketOf(word []byte) int64 {
	h := fnv.New64a()
	h.Write(word)
	return int64(h.Sum64() % wordBuckets)
}

var errPayload = errors.New("the payload does not decode")

// count is a word with how often it occurs.
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

// parseCounts reads the words of a bucket, which share the memory of raw.
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
			return nil, fmt.Errorf("%w: words are not in byte order", errPayload)
		}
		if bucketOf(c.word) != key {
			return nil, fmt.Errorf("%w: a word of another bucket", errPayload)
		}
		list = append(list, c)
	}
	return list, nil
}

// addCounts adds up two lists.
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

// Rows come in blocks: the first 64 are one each, and of all others 64 between a power of two and
// the next. Since frequent words are first, blocks have about as many cells as others, and an
// engine moves some hundred large records instead of one for each row.
const blockBits = 6

// blockOf is the block of a row.
func blockOf(row int64) int64 {
	shift := max(0, bits.Len64(uint64(row))-blockBits-1)
	return row>>shift + int64(shift)<<blockBits
}

// blockRows is the first row of a block, and how many it has.
func blockRows(block int64) (first, n int64) {
	shift := max(0, block>>blockBits-1)
	return (block - shift<<blockBits) << shift, 1 << shift
}

// maxBlock is the block of the last row that there can be.
var maxBlock = blockOf(math.MaxUint32)

// cells are some of a block of rows, by rising row and column.
type cells struct {
	cols []uint64 // row, counted from the block's first, times 2^32, and column
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

// parseCells reads cells of a block.
func parseCells(key int64, raw []byte) (c cells, err error) {
	if key > maxBlock {
		return c, fmt.Errorf("%w: there is no block %d of rows", errPayload, key)
	}
	_, rows := blockRows(key)
	end := uint64(rows) << 32
	next := uint64(0)
	for len(raw) > 0 {
		gap, ok1 := uvarint(&raw)
		sum, ok2 := uvarint(&raw)
		if !ok1 || !ok2 || gap >= end-next || sum == 0 {
			return c, errPayload
		}
		c.cols, c.sums = append(c.cols, next+gap), append(c.sums, sum)
		next += gap + 1
	}
	return c, nil
}

// addCells adds up two lists.
func addCells(a, b cells) (sum cells, err error) {
	n := len(a.cols) + len(b.cols)
	sum = cells{make([]uint64, 0, n), make([]uint64, 0, n)}
	i, j := 0, 0
	for i < len(a.cols) && j < len(b.cols) {
		switch {
		case a.cols[i] < b.cols[j]:
			sum.cols, sum.sums = append(sum.cols, a.cols[i]), append(sum.sums, a.sums[i])
			i++
		case a.cols[i] > b.cols[j]:
			sum.cols, sum.sums = append(sum.cols, b.cols[j]), append(sum.sums, b.sums[j])
			j++
		default:
			both, carry := bits.Add64(a.sums[i], b.sums[j], 0)
			if carry != 0 {
				return sum, fmt.Errorf("the sum in column %d is too large", uint32(a.cols[i]))
			}
			sum.cols, sum.sums = append(sum.cols, a.cols[i]), append(sum.sums, both)
			i, j = i+1, j+1
		}
	}
	sum.cols, sum.sums = append(sum.cols, a.cols[i:]...), append(sum.sums, a.sums[i:]...)
	sum.cols, sum.sums = append(sum.cols, b.cols[j:]...), append(sum.sums, b.sums[j:]...)
	return sum, nil
}

// uvarint reads a number in its shortest form.
func uvarint(b *[]byte) (uint64, bool) {
	n, size := binary.Uvarint(*b)
	if size <= 0 || size > 1 && (*b)[size-1] == 0 {
		return 0, false
	}
	*b = (*b)[size:]
	return n, true
}

// adder adds up the payloads of a key.
type adder struct {
	kind   byte
	words  []count // or classes
	cells  cells
	file   []byte
	buffer []byte
}

// begin starts with the records of another key.
func (a *adder) begin(kind byte) { a.kind, a.words, a.cells, a.file = kind, nil, cells{}, nil }

func (a *adder) add(r *Record) (err error) {
	if r.Kind != a.kind {
		return fmt.Errorf("records %c and %c have the key %d", a.kind, r.Kind, r.Key)
	}
	if a.buffer, err = r.raw(a.buffer); err != nil {
		return err
	}
	switch a.kind {
	case Words, Classes:
		list, err := parseCounts(r.Key, slices.Clone(a.buffer)) // words live on
		if err == nil {
			a.words, err = addCounts(a.words, list)
		}
		return err
	case Files:
		if a.file != nil {
			return fmt.Errorf("part %d comes twice", r.Key)
		}
		a.file = slices.Clone(a.buffer)
		_, err := parsePart(r.Key, a.file)
		return err
	}
	some, err := parseCells(r.Key, a.buffer)
	if err == nil {
		if len(a.cells.cols) == 0 {
			a.cells = some
		} else {
			a.cells, err = addCells(a.cells, some)
		}
	}
	return err
}

// payload is the sum.
func (a *adder) payload() []byte {
	switch a.kind {
	case Words, Classes:
		a.buffer = appendCounts(a.buffer[:0], a.words)
	case Files:
		a.buffer = append(a.buffer[:0], a.file...)
	default:
		a.buffer = a.cells.appendTo(a.buffer[:0])
	}
	return a.buffer
}
