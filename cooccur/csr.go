package cooccur

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
)

// A .cooc file is a paged container of package internal/sections, magic "COLOCOO\n", version 3. It
// is designed for reading single rows from a memory-mapped file:
//
//	entries  the rows one after the other; a row of k entries is k columns
//	         (uint32, ascending), 4 zero bytes if k is odd, and k values (float64)
//	rows     uint64: the offset of each row in entries, and the end
//	rowsums  float64: the sum of each row
//	colsums  float64: the sum of each column
//	words    the bytes of all words, in the order of their IDs
//	wordends uint64: the end of each word in words
//	counts   uint64: the number of occurrences of each word in the corpus
//	sorted   uint32: the IDs in byte order of their words, for binary search
//	meta     uint64: number of words, of entries, window, side (0 both, 1 left,
//	         2 right), weighting (0 distance, 1 count)
//	corpus   uint64: words of the corpus, words among which windows were formed, documents,
//	         and 1 if frequent words were subsampled before that; all 0 if unknown
//	analyzer the name of the analyzer, such as "english"
//
// Example: the vocabulary "b 2", "a 1" and the text "b a b" with window 1, both
// sides, counted. Row 0 (b) has 2 in column 1, row 1 (a) has 2 in column 0. So
// entries is 01000000 00000000 0000000000000040 00000000 00000000
// 0000000000000040, rows is 0, 16, 32, both sums are 2 and 2, words is "ba",
// wordends 1, 2, counts 2, 1, sorted 1, 0, meta 2, 2, 1, 0, 1, corpus 3, 3, 1, 0 and analyzer
// "whitespace".
//
// Version 2 has neither corpus nor analyzer, and version 1 is the same in a container that is not
// paged. Both can be read.
const (
	csrMagic   = "COLOCOO\n"
	csrVersion = 3
)

type csrEncoder struct {
	s                *sections.Writer
	vocab            *Vocabulary
	opt              Options
	rows             []uint64
	rowSums, colSums []float64
	entries          uint64
	buf              []byte
}

func newCSREncoder(f *atomicfile.File, v *Vocabulary, opt Options) (*csrEncoder, error) {
	s, err := sections.NewPaged(f, csrMagic, csrVersion)
	if err != nil {
		return nil, err
	}
	e := &csrEncoder{s: s, vocab: v, opt: opt, rows: make([]uint64, 1, v.Len()+1), colSums: make([]float64, v.Len())}
	return e, s.Begin("entries")
}

func (e *csrEncoder) Rows(r *Rows) error {
	e.buf = e.buf[:0]
	base := e.s.Offset()
	for i := range r.Ends {
		cols, values := r.Row(i)
		e.buf = append(e.buf, sections.Bytes(cols)...)
		if len(cols)%2 == 1 {
			e.buf = append(e.buf, 0, 0, 0, 0)
		}
		e.buf = append(e.buf, sections.Bytes(values)...)
		e.rows = append(e.rows, base+uint64(len(e.buf)))
		e.entries += uint64(len(cols))
		sum := 0.0
		for k, v := range values {
			sum += v
			e.colSums[cols[k]] += v
		}
		e.rowSums = append(e.rowSums, sum)
		if len(e.buf) >= 1<<16 {
			if _, err := e.s.Write(e.buf); err != nil {
				return err
			}
			base, e.buf = base+uint64(len(e.buf)), e.buf[:0]
		}
	}
	_, err := e.s.Write(e.buf)
	return err
}

func (e *csrEncoder) close(about Corpus) error {
	v := e.vocab
	if len(e.rows) != v.Len()+1 {
		return fmt.Errorf("%d rows for a vocabulary of %d words", len(e.rows)-1, v.Len())
	}
	sorted := make([]uint32, v.Len())
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortFunc(sorted, func(a, b uint32) int { return bytes.Compare(v.Word(int(a)), v.Word(int(b))) })
	meta := []uint64{uint64(v.Len()), e.entries, uint64(e.opt.Window), uint64(e.opt.Side), uint64(e.opt.Weighting)}
	for _, s := range []struct {
		name string
		data []byte
	}{
		{"rows", sections.Bytes(e.rows)},
		{"rowsums", sections.Bytes(e.rowSums)},
		{"colsums", sections.Bytes(e.colSums)},
		{"words", v.arena},
		{"wordends", sections.Bytes(v.ends)},
		{"counts", sections.Bytes(v.counts)},
		{"sorted", sections.Bytes(sorted)},
		{"meta", sections.Bytes(meta)},
		{"corpus", sections.Bytes(about.numbers())},
		{"analyzer", []byte(about.Analyzer)},
	} {
		if err := e.s.Section(s.name, s.data); err != nil {
			return err
		}
	}
	return e.s.Close()
}

func (e *csrEncoder) abort() {}

// Reader looks up rows in a .cooc file. Several goroutines may use it at once. Data are verified
// when they are first read. Files of version 1 have no checksums for that; see Verify.
type Reader struct {
	file             *sections.File
	vocab            Vocabulary
	entries          []byte
	rows             []uint64
	rowSums, colSums []float64
	sorted           []uint32
	meta             []uint64
	corpus           Corpus
	total            float64
	byWord           func() *Vocabulary // vocab with an index, made by the first call
}

// Open maps a .cooc file.
func Open(path string) (*Reader, error) {
	f, err := sections.Open(path, csrMagic, csrVersion)
	if err != nil {
		return nil, err
	}
	var r *Reader
	err = mmap.Safely(func() (err error) {
		r, err = newReader(f)
		return err
	})
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func newReader(f *sections.File) (*Reader, error) {
	r := &Reader{file: f}
	var err error
	if r.entries, err = f.Section("entries"); err != nil { // verified row by row
		return nil, err
	}
	err = cmp.Or(
		view(f, "rows", &r.rows),
		view(f, "rowsums", &r.rowSums), view(f, "colsums", &r.colSums),
		view(f, "words", &r.vocab.arena), view(f, "wordends", &r.vocab.ends), view(f, "counts", &r.vocab.counts),
		view(f, "sorted", &r.sorted), view(f, "meta", &r.meta))
	if err != nil {
		return nil, err
	}
	if f.Version >= 3 {
		if r.corpus, err = readCorpus(f); err != nil {
			return nil, err
		}
		r.corpus.Analyzer = r.vocab.analyzer(r.corpus.Analyzer)
	}
	n := len(r.rows) - 1
	if len(r.meta) < 5 || n < 0 || r.meta[0] != uint64(n) || len(r.rowSums) != n || len(r.colSums) != n ||
		len(r.vocab.ends) != n || len(r.vocab.counts) != n || len(r.sorted) != n {
		return nil, errors.New("corrupted: sections do not agree on the number of words")
	}
	before := uint64(0)
	for _, end := range r.vocab.ends {
		if end < before || end > uint64(len(r.vocab.arena)) {
			return nil, errors.New("corrupted: words are out of order")
		}
		before = end
	}
	for _, id := range r.sorted {
		if int(id) >= n {
			return nil, fmt.Errorf("corrupted: word %d of %d", id, n)
		}
	}
	for _, s := range r.rowSums {
		r.total += s
	}
	if r.corpus.Kept == 0 { // unknown
		r.corpus.Kept = r.vocab.Total()
	}
	r.byWord = sync.OnceValue(func() *Vocabulary { return r.vocab.seal() })
	return r, nil
}

func view[T sections.Number](f *sections.File, name string, to *[]T) error {
	b, err := f.Section(name)
	if err == nil {
		err = f.Touch(b)
	}
	if err == nil {
		*to, err = sections.View[T](b)
	}
	return err
}

// Close unmaps the file. Rows and words must not be used afterwards.
func (r *Reader) Close() error { return r.file.Close() }

// Verify reads the whole file and compares checksums.
func (r *Reader) Verify() error { return Guarded(r.file.Verify) }

// Guarded calls fn and returns its error. If fn reads a .cooc file that was truncated after it was
// opened, Guarded returns an error where the program would otherwise crash. Only those methods of
// Reader that return no error need it.
func Guarded(fn func() error) error { return mmap.Safely(fn) }

// Check reads the whole file. It verifies the checksums, that each word is found by its bytes, that
// rows are in order, and that they add up to the stored sums.
func (r *Reader) Check(ctx context.Context) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return Guarded(func() error {
		if err := r.file.Verify(); err != nil {
			return err
		}
		colSums, entries := make([]float64, r.Len()), uint64(0)
		for id := range r.Len() {
			if found, ok := r.Lookup(string(r.Word(id))); !ok || found != id {
				return fmt.Errorf("corrupted: the word %q cannot be looked up", r.Word(id))
			}
			cols, values, err := r.Row(id)
			if err != nil {
				return err
			}
			sum := 0.0
			for i, c := range cols {
				if i > 0 && c <= cols[i-1] {
					return fmt.Errorf("corrupted: the columns of row %d are not in ascending order", id)
				}
				sum += values[i]
				colSums[c] += values[i]
			}
			if sum != r.rowSums[id] {
				return fmt.Errorf("corrupted: row %d adds up to %g, not %g", id, sum, r.rowSums[id])
			}
			entries += uint64(len(cols))
			if id%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if entries != r.Entries() || !slices.Equal(colSums, r.colSums) {
			return errors.New("corrupted: the rows do not add up to the sums of the columns")
		}
		return nil
	})
}

// Len returns the number of words.
func (r *Reader) Len() int { return len(r.rowSums) }

// Entries returns the number of cells that are not zero.
func (r *Reader) Entries() uint64 { return r.meta[1] }

// Options returns the options that the matrix was made with: window, side and weighting.
func (r *Reader) Options() Options {
	return Options{Window: int(r.meta[2]), Side: Side(r.meta[3]), Weighting: Weighting(r.meta[4])}
}

// Corpus describes the corpus that the matrix was made from. Files of versions before 3 only have
// Kept, and only if it is the sum of their words' counts.
func (r *Reader) Corpus() Corpus { return r.corpus }

// Vocabulary returns the vocabulary of the matrix.
func (r *Reader) Vocabulary() *Vocabulary { return r.byWord() }

// Word returns the word with the given ID. Its bytes must not be changed.
func (r *Reader) Word(id int) []byte { return r.vocab.Word(id) }

// Count returns the number of occurrences of a word in the corpus.
func (r *Reader) Count(id int) uint64 { return r.vocab.counts[id] }

// Lookup returns the ID of a word.
func (r *Reader) Lookup(word string) (id int, ok bool) {
	i := sort.Search(len(r.sorted), func(i int) bool { return string(r.Word(int(r.sorted[i]))) >= word })
	if i == len(r.sorted) || string(r.Word(int(r.sorted[i]))) != word {
		return 0, false
	}
	return int(r.sorted[i]), true
}

// Row returns the columns of a row, in ascending order, and their values, without copying. It
// checks every column, which takes time in proportion to the row; Pair finds one cell faster.
func (r *Reader) Row(id int) (cols []uint32, values []float64, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if cols, values, err = r.row(id); err != nil {
		return nil, nil, err
	}
	for _, c := range cols {
		if int(c) >= r.Len() {
			return nil, nil, fmt.Errorf("corrupted: row %d has column %d of %d", id, c, r.Len())
		}
	}
	return cols, values, nil
}

// row is Row without the check of columns.
func (r *Reader) row(id int) (cols []uint32, values []float64, err error) {
	start, end := r.rows[id], r.rows[id+1]
	if start > end || end > uint64(len(r.entries)) || start%8 != 0 || (end-start)%24 != 0 && (end-start)%24 != 16 {
		return nil, nil, fmt.Errorf("corrupted: row %d lies at %d to %d of %d", id, start, end, len(r.entries))
	}
	row := r.entries[start:end]
	if err := r.file.Touch(row); err != nil {
		return nil, nil, err
	}
	k := len(row) / 12
	cols, err = sections.View[uint32](row[:4*k])
	if err != nil {
		return nil, nil, err
	}
	values, err = sections.View[float64](row[len(row)-8*k:])
	return cols, values, err
}
