package dict

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Words is a sorted list of distinct words, from which dictionaries are built. The zero value is an
// empty list.
type Words struct {
	data []byte
	ends []uint64 // word i ends before data[ends[i]]
}

// Len returns the number of words.
func (w *Words) Len() int { return len(w.ends) }

// At returns the i-th word in byte order.
func (w *Words) At(i int) []byte {
	start := uint64(0)
	if i > 0 {
		start = w.ends[i-1]
	}
	return w.data[start:w.ends[i]]
}

// Bytes returns the number of bytes in all words.
func (w *Words) Bytes() int64 { return int64(len(w.data)) }

// Add appends a word. It must be greater than all words before it, in byte order.
func (w *Words) Add(word []byte) error {
	if n := w.Len(); n > 0 && bytes.Compare(w.At(n-1), word) >= 0 {
		return fmt.Errorf("dict: word %q comes after %q: want words in byte order", word, w.At(n-1))
	}
	w.add(word)
	return nil
}

func (w *Words) add(word []byte) {
	w.data = append(w.data, word...)
	w.ends = append(w.ends, uint64(len(w.data)))
}

// ReadWords reads one word per line, in any order. Repeated words and empty lines are skipped, and
// a carriage return at the end of a line is dropped.
func ReadWords(r io.Reader) (*Words, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	w, sorted := &Words{}, true
	var long []byte
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if len(long) > 0 {
			long = append(long, line...)
			line, long = long, long[:0]
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if n := w.Len(); len(line) > 0 {
			sorted = sorted && (n == 0 || bytes.Compare(w.At(n-1), line) < 0)
			w.add(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read words: %w", err)
		}
	}
	if w.Len() > math.MaxInt32 {
		return nil, fmt.Errorf("%d words: want at most %d", w.Len(), math.MaxInt32)
	}
	if !sorted {
		w = w.sorted()
	}
	return w, nil
}

func (w *Words) sorted() *Words {
	type key struct {
		head uint64 // first eight bytes
		i    int
	}
	keys := make([]key, w.Len())
	for i := range keys {
		var b [8]byte
		copy(b[:], w.At(i))
		keys[i] = key{binary.BigEndian.Uint64(b[:]), i}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return bytes.Compare(w.At(a.i), w.At(b.i))
	})
	out := &Words{data: make([]byte, 0, len(w.data)), ends: make([]uint64, 0, len(w.ends))}
	for _, k := range keys {
		word := w.At(k.i)
		if n := out.Len(); n == 0 || !bytes.Equal(out.At(n-1), word) {
			out.add(word)
		}
	}
	return out
}

// alphabet is the set of characters in use, in ascending order. Their codes are 1, 2 and so on; all
// other characters have code 0.
type alphabet struct {
	chars []byte
	code  [256]uint16
}

func newAlphabet(chars []byte) *alphabet {
	a := &alphabet{chars: chars}
	for i, c := range chars {
		a.code[c] = uint16(i + 1)
	}
	return a
}

func (w *Words) alphabet() *alphabet {
	var seen [256]bool
	for _, c := range w.data {
		seen[c] = true
	}
	var chars []byte
	for c, ok := range seen {
		if ok {
			chars = append(chars, byte(c))
		}
	}
	return newAlphabet(chars)
}

func (w *Words) longest() (n int) {
	for i := range w.ends {
		n = max(n, len(w.At(i)))
	}
	return n
}

// common returns the length of the longest common prefix.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
