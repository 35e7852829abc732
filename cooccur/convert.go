package cooccur

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
)

// ConvertOptions are the options of Convert. They supply what a matrix file does not contain.
type ConvertOptions struct {
	// Vocabulary has the words and their counts, for files that have none; nil means the file's
	// own.
	Vocabulary *Vocabulary
	// Options gives the window, side, weighting and analyzer of a matrix whose file does not name
	// them. Window 0 means unknown, which is an error for formats that store it. If the file names
	// an analyzer that package text does not have, it must be this one.
	Options Options
	Memory  int64 // bound on the entries in memory, in bytes; 0 means 2 GB
	Threads int   // 0 means GOMAXPROCS
}

// Converted describes the output of Convert.
type Converted struct {
	// Words is the size of the vocabulary, which is the number of rows and of columns; Entries is
	// the number of cells that the input file lists.
	Words, Entries int64
	Told           bool // the file names the options of the matrix
}

// loaded is a matrix from a file of any format.
type loaded struct {
	vocab *Vocabulary
	opt   Options
	about Corpus
	told  bool // opt and about are the file's
	given text.Analyzer
	// each calls fn with all entries, in any order.
	each  func(fn func(row, col uint32, value float64) error) error
	close func()
}

// Convert converts a matrix file to another format. IDs count from 1 in cooccurrence.bin and Matrix
// Market, from 0 in the others; words keep their order.
func Convert(ctx context.Context, from string, fromFormat Format, to string, toFormat Format,
	o ConvertOptions) (c Converted, err error) {
	if err := given.Context(ctx); err != nil {
		return Converted{}, err
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	l, err := load(from, fromFormat, o)
	if err != nil {
		return c, err
	}
	defer l.close()
	if l.vocab == nil {
		return c, fmt.Errorf("%s: a %v file has no words with frequencies: name the vocabulary (cooccur.ConvertOptions.Vocabulary)", from, fromFormat)
	}
	if !l.told {
		if l.opt = o.Options; l.opt.Window == 0 && toFormat == CSR {
			return c, fmt.Errorf("%s: a %v file does not contain the options of the matrix: give at least cooccur.Options.Window, and cooccur.Options.Side and cooccur.Options.Weighting if they are not GloVe's", from, fromFormat)
		}
	}
	l.opt.Memory = 0
	f, err := Create(to, toFormat, l.vocab, l.opt)
	if err != nil {
		return c, err
	}
	defer f.Abort()
	if l.told {
		f.about = l.about
	}
	if c.Entries, err = l.write(ctx, f, o); err != nil {
		return c, fmt.Errorf("%s: %w", from, err)
	}
	c.Words, c.Told = int64(l.vocab.Len()), l.told
	return c, f.Commit()
}

// write passes all rows to a sink, in order. Entries are kept in memory only if they are unsorted.
func (l *loaded) write(ctx context.Context, sink Sink, o ConvertOptions) (entries int64, err error) {
	w := &rowWriter{sink: sink, rows: l.vocab.Len()}
	check := func(row, col uint32, value float64) error {
		if entries++; entries&0xfffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if int(row) >= l.vocab.Len() || int(col) >= l.vocab.Len() {
			return fmt.Errorf("entry %d has the words %d and %d, and the vocabulary has %d: want the vocabulary of the matrix", entries, row, col, l.vocab.Len())
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return fmt.Errorf("entry %d is %v", entries, value)
		}
		return nil
	}
	err = l.each(func(row, col uint32, value float64) error {
		if err := check(row, col, value); err != nil {
			return err
		}
		return w.add(row, col, value)
	})
	if err == nil {
		return entries, w.finish()
	}
	if !errors.Is(err, errOrder) || w.flushed {
		if errors.Is(err, errOrder) {
			err = errors.New("the entries are not in order: sort them by row and column")
		}
		return 0, err
	}
	// Nothing was written yet: load all entries and sort them.
	entries = 0
	var keys []uint64
	var values []float64
	err = l.each(func(row, col uint32, value float64) error {
		if err := check(row, col, value); err != nil {
			return err
		}
		if 32*int64(len(keys)) > o.Memory {
			return fmt.Errorf("more than %d unsorted entries do not fit in cooccur.ConvertOptions.Memory: raise it", len(keys))
		}
		keys, values = append(keys, uint64(row)<<32|uint64(col)), append(values, value)
		return nil
	})
	if err != nil {
		return 0, err
	}
	par.RadixSortPairs(o.Threads, keys, values, make([]uint64, len(keys)), make([]float64, len(values)), 0, 64)
	w = &rowWriter{sink: sink, rows: l.vocab.Len()}
	for i, k := range keys {
		if i > 0 && k == keys[i-1] {
			return 0, fmt.Errorf("the words %d and %d have two entries", k>>32, uint32(k))
		}
		if err := w.add(uint32(k>>32), uint32(k), values[i]); err != nil {
			return 0, err
		}
	}
	return entries, w.finish()
}

var errOrder = errors.New("entries are not in order")

// rowWriter assembles sorted entries into rows.
type rowWriter struct {
	sink    Sink
	rows    int
	row     Rows
	any     bool
	flushed bool
	last    uint64
}

// rowsAtOnce is the number of entries, or of rows, collected before they are written. Most files
// that are not sorted are noticed before that.
const rowsAtOnce = 1 << 16

func (w *rowWriter) add(row, col uint32, value float64) error {
	key := uint64(row)<<32 | uint64(col)
	if w.any && key <= w.last {
		return errOrder
	}
	w.any, w.last = true, key
	for w.row.First+len(w.row.Ends) < int(row) {
		if err := w.endRow(); err != nil {
			return err
		}
	}
	w.row.Cols, w.row.Values = append(w.row.Cols, col), append(w.row.Values, value)
	return nil
}

func (w *rowWriter) endRow() error {
	w.row.Ends = append(w.row.Ends, len(w.row.Cols))
	if len(w.row.Cols) < rowsAtOnce && len(w.row.Ends) < rowsAtOnce {
		return nil
	}
	return w.flush()
}

func (w *rowWriter) flush() error {
	w.flushed = true
	if err := w.sink.Rows(&w.row); err != nil {
		return err
	}
	w.row = Rows{First: w.row.First + len(w.row.Ends), Ends: w.row.Ends[:0], Cols: w.row.Cols[:0],
		Values: w.row.Values[:0]}
	return nil
}

func (w *rowWriter) finish() error {
	for w.row.First+len(w.row.Ends) < w.rows {
		if err := w.endRow(); err != nil {
			return err
		}
	}
	return w.flush()
}

func load(path string, format Format, o ConvertOptions) (*loaded, error) {
	l := &loaded{vocab: o.Vocabulary, given: o.Options.Analyzer, close: func() {}}
	var err error
	switch format {
	case CSR:
		err = l.fromCSR(path)
	case NPZ:
		err = l.fromNPZ(path, o.Memory)
	case Parquet:
		err = l.fromParquet(path)
	case GloVe:
		l.each = func(fn func(row, col uint32, value float64) error) error {
			return reading(path, func(f io.Reader) error {
				for r, err := range ReadGloVe(f) {
					if err != nil {
						return err
					}
					if err := fn(r.Row, r.Col, r.Value); err != nil {
						return err
					}
				}
				return nil
			})
		}
	case MatrixMarket:
		err = l.fromMTX(path)
	case TSV:
		l.each = func(fn func(row, col uint32, value float64) error) error {
			return reading(path, func(f io.Reader) error { return readTSVEntries(f, l.vocab, fn) })
		}
	default:
		err = fmt.Errorf("unknown format %v", format)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

func reading(path string, fn func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return fn(f)
}

func (l *loaded) fromCSR(path string) error {
	r, err := Open(path)
	if err != nil {
		return err
	}
	l.close = func() { r.Close() }
	if l.vocab == nil {
		l.vocab = &r.vocab
	}
	l.opt, l.about, l.told = r.Options(), r.corpus, true
	if l.opt.Analyzer, err = l.namedAnalyzer(r.corpus.Analyzer); err != nil {
		return err
	}
	l.each = func(fn func(row, col uint32, value float64) error) error {
		for id := range r.Len() {
			cols, values, err := r.Row(id)
			if err != nil {
				return err
			}
			for k, c := range cols {
				if err := fn(uint32(id), c, values[k]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return nil
}

// namedAnalyzer returns the analyzer that a file names, which may be the given one.
func (l *loaded) namedAnalyzer(name string) (text.Analyzer, error) {
	if name == "" {
		return nil, nil
	}
	return text.ParseAnalyzer(name, l.given)
}

// take reads the note about the options that is stored in files of other formats.
func (l *loaded) take(about []byte) error {
	var n note
	if err := json.Unmarshal(about, &n); err != nil {
		return fmt.Errorf("options of the matrix: %w", err)
	}
	if l.vocab != nil {
		n.Analyzer = l.vocab.analyzer(n.Analyzer)
	}
	l.opt.Window, l.about, l.told = n.Window, n.Corpus, true
	if n.Values != "" && n.Values != ByValue.String() {
		return fmt.Errorf("its cells are %s, from which sums cannot be computed: convert a matrix of sums", n.Values)
	}
	if err := l.opt.Side.UnmarshalText([]byte(n.Side)); err != nil {
		return err
	}
	if err := l.opt.Weighting.UnmarshalText([]byte(n.Weighting)); err != nil {
		return err
	}
	if n.Window < 1 || n.Window > MaxWindow || n.Words > 0 && n.Kept > n.Words {
		return errors.New("invalid options of the matrix")
	}
	var err error
	l.opt.Analyzer, err = l.namedAnalyzer(n.Analyzer)
	return err
}

func (l *loaded) fromNPZ(path string, memory int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := npz.Read(f, info.Size(), memory, "format", "shape", "indptr", "indices", "data",
		"words", "counts", "about")
	if err != nil {
		return err
	}
	for _, name := range []string{"format", "shape", "indptr", "indices", "data"} {
		if a[name] == nil {
			return fmt.Errorf("no array %q: not a sparse matrix of SciPy", name)
		}
	}
	if s := strings.Trim(string(a["format"].Data), "\x00"); s != "csr" {
		return fmt.Errorf("a SciPy matrix in the format %s: save it as csr", s)
	}
	indptr, err1 := a["indptr"].Ints()
	cols, err2 := a["indices"].Ints()
	values, err3 := a["data"].Floats()
	shape, err4 := a["shape"].Ints()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	if len(shape) != 2 || shape[0] != shape[1] || shape[0] < 0 || shape[0] > maxWords ||
		int64(len(indptr)) != shape[0]+1 ||
		len(cols) != len(values) || indptr[0] != 0 || indptr[shape[0]] != int64(len(cols)) || !slices.IsSorted(indptr) {
		return errors.New("the arrays are not those of a square matrix in SciPy's CSR format")
	}
	if l.vocab == nil && a["words"] != nil && a["counts"] != nil {
		counts, err := a["counts"].Ints()
		if err != nil {
			return err
		}
		if l.vocab, err = vocabularyFrom(a["words"].Data, counts); err != nil {
			return err
		}
		if int64(l.vocab.Len()) != shape[0] {
			return fmt.Errorf("%d words for %d rows", l.vocab.Len(), shape[0])
		}
	}
	if a["about"] != nil {
		if err := l.take(a["about"].Data); err != nil {
			return err
		}
	}
	l.each = func(fn func(row, col uint32, value float64) error) error {
		for row := range shape[0] {
			for k := indptr[row]; k < indptr[row+1]; k++ {
				if cols[k] < 0 || cols[k] > maxWords {
					return fmt.Errorf("row %d has the column %d", row, cols[k])
				}
				if err := fn(uint32(row), uint32(cols[k]), values[k]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return nil
}

// vocabularyFrom makes a vocabulary from words, one per line, and their counts.
func vocabularyFrom(lines []byte, counts []int64) (*Vocabulary, error) {
	v := &Vocabulary{}
	for _, count := range counts {
		word, rest, found := bytes.Cut(lines, []byte{'\n'})
		if !found || len(word) == 0 || count < 0 {
			return nil, errors.New("words and their counts do not agree")
		}
		lines = rest
		v.add(word, uint64(count))
	}
	if len(lines) > 0 {
		return nil, errors.New("more words than counts")
	}
	return v.seal(), nil
}

func (l *loaded) fromParquet(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	l.close = func() { f.Close() }
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return err
	}
	for _, name := range []string{"id1", "id2", "value"} {
		if _, ok := file.Schema().Lookup(name); !ok {
			return fmt.Errorf("no column %q: want id1, id2 and value, as Collocate writes them", name)
		}
	}
	if words, ok := file.Lookup(parquetVocabulary); ok && l.vocab == nil {
		if l.vocab, err = ReadVocabulary(strings.NewReader(words), path); err != nil {
			return err
		}
	}
	if about, ok := file.Lookup(parquetAbout); ok {
		if err := l.take([]byte(about)); err != nil {
			return err
		}
	}
	type cell struct {
		ID1   int32   `parquet:"id1"`
		ID2   int32   `parquet:"id2"`
		Value float64 `parquet:"value"`
	}
	l.each = func(fn func(row, col uint32, value float64) error) error {
		r := parquet.NewGenericReader[cell](file)
		defer r.Close()
		buf := make([]cell, 4096)
		for {
			n, err := r.Read(buf)
			for _, c := range buf[:n] {
				if c.ID1 < 0 || c.ID2 < 0 {
					return fmt.Errorf("words %d and %d: want IDs from 0", c.ID1, c.ID2)
				}
				if err := fn(uint32(c.ID1), uint32(c.ID2), c.Value); err != nil {
					return err
				}
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loaded) fromMTX(path string) error {
	head := ""
	err := reading(path, func(f io.Reader) error {
		b, err := io.ReadAll(io.LimitReader(f, 1000))
		head = string(b)
		return err
	})
	if err != nil {
		return err
	}
	first, rest, _ := strings.Cut(head, "\n")
	fields := strings.Fields(strings.ToLower(first))
	if len(fields) != 5 || fields[0] != "%%matrixmarket" || fields[1] != "matrix" || fields[2] != "coordinate" ||
		fields[3] != "real" && fields[3] != "integer" || fields[4] != "general" && fields[4] != "symmetric" {
		return fmt.Errorf("first line %q: want %%%%MatrixMarket matrix coordinate real|integer general|symmetric", shorten([]byte(first)))
	}
	comment, _, _ := strings.Cut(rest, "\n")
	var side, weighting string
	if n, _ := fmt.Sscanf(strings.NewReplacer(",", "", ";", "").Replace(comment),
		"%% word co-occurrence window %d %s weighting %s", &l.opt.Window, &side,
		&weighting); n == 3 {
		if l.opt.Side.UnmarshalText([]byte(side)) == nil &&
			l.opt.Weighting.UnmarshalText([]byte(weighting)) == nil {
			l.told = true
		}
	}
	symmetric := fields[4] == "symmetric"
	l.each = func(fn func(row, col uint32, value float64) error) error {
		return reading(path, func(f io.Reader) error { return readMTXEntries(f, symmetric, fn) })
	}
	return nil
}

func readMTXEntries(r io.Reader, symmetric bool, fn func(row, col uint32, value float64) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<16), 1<<20)
	size := []string(nil)
	left := int64(0)
	for number := 1; in.Scan(); number++ {
		line := in.Text()
		if strings.HasPrefix(line, "%") || strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 3 {
			return fmt.Errorf("line %d: want three numbers, got %q", number, shorten([]byte(line)))
		}
		if size == nil {
			size = f
			n, err := strconv.ParseInt(f[2], 10, 64)
			if err != nil || f[0] != f[1] {
				return fmt.Errorf("line %d: want the size of a square matrix, got %q", number, shorten([]byte(line)))
			}
			left = n
			continue
		}
		row, err1 := strconv.ParseUint(f[0], 10, 31)
		col, err2 := strconv.ParseUint(f[1], 10, 31)
		value, err3 := strconv.ParseFloat(f[2], 64)
		if err := errors.Join(err1, err2, err3); err != nil || row < 1 || col < 1 {
			return fmt.Errorf("line %d: want a row and a column, counted from 1, and a value, got %q", number,
				shorten([]byte(line)))
		}
		left--
		if err := fn(uint32(row-1), uint32(col-1), value); err != nil {
			return err
		}
		if symmetric && row != col {
			if err := fn(uint32(col-1), uint32(row-1), value); err != nil {
				return err
			}
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	if left != 0 || size == nil {
		return fmt.Errorf("truncated: %d entries are missing", left)
	}
	return nil
}

func readTSVEntries(r io.Reader, v *Vocabulary, fn func(row, col uint32, value float64) error) error {
	if v == nil {
		return errors.New("a file of words and values has no frequencies: name the vocabulary (cooccur.ConvertOptions.Vocabulary)")
	}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<16), 1<<20)
	for number := 1; in.Scan(); number++ {
		f := bytes.Split(in.Bytes(), []byte{'\t'})
		if len(f) != 3 {
			return fmt.Errorf("line %d: want two words and a value, separated by tabs", number)
		}
		row, ok1 := v.Lookup(f[0])
		col, ok2 := v.Lookup(f[1])
		if !ok1 || !ok2 {
			return fmt.Errorf("line %d: %q or %q is not in the vocabulary", number, shorten(f[0]), shorten(f[1]))
		}
		value, err := strconv.ParseFloat(string(f[2]), 64)
		if err != nil {
			return fmt.Errorf("line %d: want a number, got %q", number, shorten(f[2]))
		}
		if err := fn(uint32(row), uint32(col), value); err != nil {
			return err
		}
	}
	return in.Err()
}

// ReadVocabularyFile reads a vocabulary in GloVe's format from a file.
func ReadVocabularyFile(path string) (*Vocabulary, error) {
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadVocabulary(f, path)
}
