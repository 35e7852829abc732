package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
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

// cells are some of a row, by rising column.
type cells struct {
	cols []uint32
	sums []uint64
}

func (c *cells) appendTo(dst []byte) []byte {
	last := int64(-1)
	for i, col := range c.cols {
		dst = binary.AppendUvarint(dst, uint64(int64(col)-last))
		dst = binary.AppendUvarint(dst, c.sums[i])
		last = int64(col)
	}
	return dst
}

func parseCells(raw []byte) (c cells, err error) {
	last := int64(-1)
	for len(raw) > 0 {
		gap, ok1 := uvarint(&raw)
		sum, ok2 := uvarint(&raw)
		if !ok1 || !ok2 || gap == 0 || gap > 1<<32 || last+int64(gap) >= 1<<32 || sum == 0 {
			return c, errPayload
		}
		last += int64(gap)
		c.cols, c.sums = append(c.cols, uint32(last)), append(c.sums, sum)
	}
	return c, nil
}

// addCells adds up two lists.
func addCells(a, b cells) (sum cells, err error) {
	n := len(a.cols) + len(b.cols)
	sum = cells{make([]uint32, 0, n), make([]uint64, 0, n)}
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
				return sum, fmt.Errorf("the sum in column %d is too large", a.cols[i])
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
	some, err := parseCells(a.buffer)
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
