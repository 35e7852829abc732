package index

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
)

// ImportOptions are the options of Import. The zero value is useful.
type ImportOptions struct {
	// Analyzer is the name of the analyzer for queries. If it is empty, it is the analyzer that the
	// file names, if that is one of Collocate's, and "whitespace" otherwise.
	Analyzer string
	// AllowDuplicateIDs accepts several documents with the same ID. Otherwise they are a
	// DuplicateIDError.
	AllowDuplicateIDs bool
	// Note, unless it is nil, is called with a line of text if the analyzer was guessed, and if the
	// file's mean length is not that of its documents.
	Note func(line string)
	// Progress is called with the number of bytes done.
	Progress func(done, total int64)
}

// Import makes an index in the folder dir from a CIFF file, which may be compressed with gzip or
// zstd. Words may come in any order. The mean document length is taken from the file's header,
// because the exporter scored with it: Lucene's is not the mean of the quantised lengths that it
// writes.
func Import(ctx context.Context, path, dir string, o ImportOptions) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	data, done, err := openPlain(path, filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return err
	}
	defer done()
	if err := importCIFF(ctx, data, dir, o); err != nil {
		return fmt.Errorf("import %s: %w", path, err)
	}
	return nil
}

// openPlain maps a file. A compressed file is first decompressed to a temporary file in the folder
// temp.
func openPlain(path, temp string) (data []byte, done func(), err error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, nil, err
	}
	var plain io.Reader
	switch {
	case bytes.HasPrefix(m.Data, []byte{0x1f, 0x8b}):
		plain, err = gzip.NewReader(bytes.NewReader(m.Data))
	case bytes.HasPrefix(m.Data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		var z *zstd.Decoder
		if z, err = zstd.NewReader(bytes.NewReader(m.Data)); err == nil {
			defer z.Close()
			plain = z
		}
	default:
		return m.Data, func() { m.Close() }, nil
	}
	defer m.Close()
	if err != nil {
		return nil, nil, fmt.Errorf("decompress %s: %w", path, err)
	}
	f, err := disk.Temp(temp)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if _, err = io.Copy(f, plain); err != nil {
		return nil, nil, fmt.Errorf("decompress %s: %w", path, err)
	}
	u, err := mmap.Map(f.File, path)
	if err != nil {
		return nil, nil, err
	}
	return u.Data, func() { u.Close() }, nil
}

func importCIFF(ctx context.Context, data []byte, dir string, o ImportOptions) error {
	c, err := scanCIFF(ctx, data)
	if err != nil {
		return err
	}
	if o.Analyzer == "" {
		if o.Analyzer = ciffAnalyzer(c.description); o.Analyzer == "" {
			o.Analyzer = "whitespace"
			if o.Note != nil {
				o.Note("CIFF does not name an analyzer; queries are split at blanks only (index.ImportOptions.Analyzer names another)")
			}
		}
	}
	w, err := Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	err = w.SetDocuments(Documents{
		Analyzer: o.Analyzer, Lengths: c.lengths, Tokens: c.tokens(o.Note), UniqueIDs: !o.AllowDuplicateIDs,
		ID: func(d int) string { return string(c.ids[d]) },
	})
	if err != nil {
		return err
	}
	var done int64
	for i, l := range c.lists {
		size, err := c.add(l, w)
		if err != nil {
			return err
		}
		if done += int64(size); done/tidyBytes != (done-int64(size))/tidyBytes {
			mmap.Tidy()
		}
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if o.Progress != nil {
				o.Progress(done, int64(len(data)))
			}
		}
	}
	return w.Commit()
}

// ciffFile is a scanned CIFF file: the offsets of its lists, and its documents.
type ciffFile struct {
	data        []byte
	description string
	mean        float64    // mean document length in the header; 0 if it has none
	lists       []ciffList // sorted by word
	lengths     []uint32
	ids         [][]byte

	docs, tfs []uint32 // buffers of add
}

// ciffList locates a list in the file. There may be millions, so it does not hold the word itself:
// see ciffFile.word.
type ciffList struct {
	at               int // offset of the message's length prefix
	wordAt, wordSize uint32
}

// word returns the word of a list, as a view of the file.
func (c *ciffFile) word(l ciffList) []byte {
	return c.data[l.at+int(l.wordAt):][:l.wordSize]
}

var errNotCIFF = errors.New("not a CIFF file: it does not begin with a header; want one that Collocate, Anserini or PISA exported")

// tidyBytes is the number of bytes of a mapped file read between calls of mmap.Tidy.
const tidyBytes = 4 << 20

// scanCIFF reads everything but the postings.
func scanCIFF(ctx context.Context, data []byte) (*ciffFile, error) {
	s := ciffScanner{data: data}
	head, _, err := s.message("the header")
	if err != nil {
		return nil, errNotCIFF
	}
	var version, lists, docs uint64
	c := &ciffFile{data: data}
	err = eachField(head, func(field int, v uint64, b []byte) error {
		switch field {
		case 7:
			c.mean = math.Float64frombits(v)
		case 1:
			version = v
		case 2:
			lists = v
		case 3:
			docs = v
		case 8:
			c.description = string(b)
		}
		return nil
	})
	if err != nil {
		return nil, errNotCIFF
	}
	if version != ciffVersion {
		return nil, fmt.Errorf("not a CIFF file of version %d: the header has version %d", ciffVersion, version)
	}
	// Every message takes at least a byte, so there cannot be more of them than bytes.
	if lists > uint64(len(data)) || docs > uint64(len(data)) || docs >= maxDocs {
		return nil, fmt.Errorf("the header has %d words and %d documents for %d bytes", lists, docs, len(data))
	}
	if !(c.mean >= 0 && c.mean < math.MaxUint32) {
		return nil, fmt.Errorf("the header's mean length of documents is %v", c.mean)
	}
	order := 1 // the lowest comparison of a word with the one before: 1 if all ascend
	for i := range lists {
		m, at, err := s.message(fmt.Sprintf("list %d of %d", i+1, lists))
		if err != nil {
			return nil, err
		}
		word, err := firstString(m)
		if err != nil {
			return nil, fmt.Errorf("byte %d: list %d of %d: %w", at, i+1, lists, err)
		}
		wordAt := uint64(0)
		if len(word) > 0 {
			wordAt = uint64(cap(data[at:]) - cap(word)) // both end where data ends
		}
		if wordAt > math.MaxUint32 || len(word) > MaxWord {
			return nil, fmt.Errorf("byte %d: list %d of %d: a word of %d bytes", at, i+1, lists, len(word))
		}
		if n := len(c.lists); n > 0 {
			order = min(order, bytes.Compare(word, c.word(c.lists[n-1])))
		}
		c.lists = append(c.lists, ciffList{at, uint32(wordAt), uint32(len(word))})
		if i%65536 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if order < 1 {
		if err := c.sort(); err != nil {
			return nil, err
		}
	}
	return c, s.documents(c, int(docs))
}

// sort sorts the lists by word. A word with two lists is an error.
func (c *ciffFile) sort() error {
	compared := 0
	byWord := func(a, b ciffList) int {
		if compared++; compared%64 == 0 {
			mmap.Tidy() // every word may be on a different page
		}
		return bytes.Compare(c.word(a), c.word(b))
	}
	slices.SortStableFunc(c.lists, byWord)
	for i := 1; i < len(c.lists); i++ {
		if byWord(c.lists[i-1], c.lists[i]) == 0 {
			return fmt.Errorf("byte %d: word %q has two postings lists", c.lists[i].at, c.word(c.lists[i]))
		}
	}
	return nil
}

// tokens returns the number of tokens that gives the documents the header's mean length. The mean
// is a sum divided by the number of documents, so the product is a whole number up to rounding.
func (c *ciffFile) tokens(note func(string)) uint64 {
	if c.mean == 0 || len(c.lengths) == 0 {
		return 0
	}
	var sum uint64
	for _, l := range c.lengths {
		sum += uint64(l)
	}
	tokens := max(1, uint64(math.Round(c.mean*float64(len(c.lengths)))))
	if tokens != sum && note != nil {
		note(fmt.Sprintf("the mean document length is %.6g, from the header; the records have %.6g",
			float64(tokens)/float64(len(c.lengths)), float64(sum)/float64(len(c.lengths))))
	}
	return tokens
}

func (s *ciffScanner) documents(c *ciffFile, docs int) error {
	c.lengths, c.ids = make([]uint32, docs), make([][]byte, docs)
	seen := make([]bool, docs)
	for i := range docs {
		m, at, err := s.message(fmt.Sprintf("document record %d of %d", i+1, docs))
		if err != nil {
			return err
		}
		var number, length uint64
		var id []byte
		err = eachField(m, func(field int, v uint64, b []byte) error {
			switch field {
			case 1:
				number = v
			case 2:
				id = b
			case 3:
				length = v
			}
			return nil
		})
		switch {
		case err != nil:
		case number >= uint64(docs):
			err = fmt.Errorf("docid %d: want 0 to %d", int64(number), docs-1)
		case seen[number]:
			err = fmt.Errorf("docid %d comes twice", number)
		case length > math.MaxUint32:
			err = fmt.Errorf("doclength %d: want 0 to %d", int64(length), uint32(math.MaxUint32))
		}
		if err != nil {
			return fmt.Errorf("byte %d: document record %d of %d: %w", at, i+1, docs, err)
		}
		seen[number], c.lengths[number], c.ids[number] = true, uint32(length), id
	}
	if s.at != len(s.data) {
		return fmt.Errorf("%d bytes after the last document record", len(s.data)-s.at)
	}
	return nil
}

// ciffScanner reads the messages of a file one after the other.
type ciffScanner struct {
	data []byte
	at   int
}

func (s *ciffScanner) message(what string) (m []byte, at int, err error) {
	m, rest, err := takeBytes(s.data[s.at:])
	if err != nil {
		return nil, 0, fmt.Errorf("byte %d: %s: %w", s.at, what, err)
	}
	at = s.at
	s.at = len(s.data) - len(rest)
	if s.at/tidyBytes != at/tidyBytes {
		mmap.Tidy()
	}
	return m, at, nil
}

var errFound = errors.New("found")

// firstString returns field 1 of a message, which is the word of a list.
func firstString(m []byte) (s []byte, err error) {
	err = eachField(m, func(field int, _ uint64, b []byte) error {
		if field == 1 {
			s = b
			return errFound
		}
		return nil
	})
	if len(s) > 0 || err == errFound {
		err = nil
	}
	if err == nil && len(s) == 0 {
		err = errors.New("no word")
	}
	return s, err
}

// add adds the postings of a list, and returns the size of its message.
func (c *ciffFile) add(l ciffList, w *Writer) (size int, err error) {
	const piece = 4096
	if c.docs == nil {
		c.docs, c.tfs = make([]uint32, 0, piece), make([]uint32, 0, piece)
	}
	docs, tfs, word := c.docs, c.tfs, c.word(l)
	message, rest, err := takeBytes(c.data[l.at:])
	if err != nil { // it was complete when it was scanned
		return 0, errors.New("the file was changed while it was read")
	}
	size = len(c.data) - l.at - len(rest)
	var df, cf, sumTF, count uint64
	at, first := uint64(0), true
	err = eachField(message, func(field int, v uint64, b []byte) error {
		switch field {
		case 2:
			df = v
		case 3:
			cf = v
		case 4:
			var gap, tf uint64
			if err := eachField(b, func(field int, v uint64, _ []byte) error {
				switch field {
				case 1:
					gap = v
				case 2:
					tf = v
				}
				return nil
			}); err != nil {
				return err
			}
			if at += gap; at >= maxDocs || gap >= maxDocs || gap == 0 && !first {
				return fmt.Errorf("posting %d: a gap of %d to document %d", count+1, int64(gap), int64(at))
			}
			if tf == 0 || tf > maxTF {
				return fmt.Errorf("posting %d: frequency %d", count+1, int64(tf))
			}
			first = false
			count++
			sumTF += tf
			docs, tfs = append(docs, uint32(at)), append(tfs, uint32(tf))
			if len(docs) == piece {
				err := w.Add(word, docs, tfs)
				docs, tfs = docs[:0], tfs[:0]
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = w.Add(word, docs, tfs)
	}
	if err == nil && (df != count || cf != sumTF) {
		err = fmt.Errorf("df %d, cf %d, but %d postings with %d occurrences", int64(df), int64(cf), count, sumTF)
	}
	if err != nil {
		return 0, fmt.Errorf("byte %d: list of word %q: %w", l.at, word, err)
	}
	return size, nil
}
