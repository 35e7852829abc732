package index

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/sections"
)

// Documents is what a Writer must know before the first word.
type Documents struct {
	// Analyzer is the name of what made the words, for text.ParseAnalyzer.
	Analyzer string
	// Lengths holds the length in words of each document, by document number.
	Lengths []uint32
	// ID gives the external ID of a document.
	ID func(doc int) string
}

// Writer writes an index from sorted words. The index appears under its name only
// at Commit.
type Writer struct {
	dir      *atomicfile.Dir
	docs     Documents
	table    *classTable
	classes  []uint8
	edge     *frontier // of the current block
	superTop *frontier // of the current blocks of blocks
	listTop  *frontier
	terms    *dictWriter
	postings *outFile
	skips    *outFile
	text     *textWriter
	meta     meta

	word    []byte // of the list being written
	started bool
	list    listWriter
	err     error
}

// listWriter is the list being written.
type listWriter struct {
	df, cf    uint64
	prev      uint32 // the last document; ^0 before the first
	n         int    // postings waiting for a full block
	gaps, tfs [BlockSize]uint32
	firstTF   uint32
	packed    []byte // blocks not yet written to the file
	size      uint64 // bytes of all blocks so far
	last      []uint32
	offsets   []uint32
	bounds    []Bound
	supers    []Bound
}

// Create starts an index in the folder dir, which must not exist yet, or be empty,
// or be an index: then Commit replaces it. Every Writer ends with Commit or
// Abort; `defer w.Abort()` right after Create is always right. Before the first word
// comes SetDocuments.
func Create(dir string) (*Writer, error) {
	if err := replaceable(dir); err != nil {
		return nil, err
	}
	d, err := atomicfile.CreateDir(dir)
	if err != nil {
		return nil, err
	}
	return &Writer{dir: d}, nil
}

// replaceable reports an error if dir is something else than an index.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return nil
	}
	if f, err := sections.Open(filepath.Join(dir, metaFile), magics[metaFile], math.MaxUint32); err == nil {
		return f.Close()
	}
	return fmt.Errorf("%s: the folder is not empty and not an index; it is not overwritten", dir)
}

// SetDocuments says how many documents there are and how long they are.
func (w *Writer) SetDocuments(d Documents) error {
	if w.terms != nil {
		return errors.New("index: SetDocuments twice")
	}
	if uint64(len(d.Lengths)) >= maxDocs {
		return fmt.Errorf("index: %d documents; the limit is %d", len(d.Lengths), maxDocs-1)
	}
	w.docs = d
	low, exact := lengthClasses(d.Lengths)
	if exact {
		w.meta.flags |= flagExactClasses
	}
	w.table = newClassTable(low)
	w.classes = make([]uint8, len(d.Lengths))
	for d, l := range d.Lengths {
		w.classes[d] = w.table.of(l)
		w.meta.tokens += uint64(l)
	}
	w.meta.docs = uint64(len(d.Lengths))
	mean := float64(w.meta.tokens) / float64(max(w.meta.docs, 1))
	w.edge, w.superTop, w.listTop = newFrontier(low, mean), newFrontier(low, mean), newFrontier(low, mean)
	terms, err := createFile(w.dir, termsFile)
	if err != nil {
		return err
	}
	w.terms = &dictWriter{out: terms}
	if w.postings, err = createFile(w.dir, postingsFile); err != nil {
		return err
	}
	if w.skips, err = createFile(w.dir, skipsFile); err != nil {
		return err
	}
	return errors.Join(terms.Begin("blob"), w.postings.Begin("postings"), w.skips.Begin("skips"))
}

// Add writes postings of a word. Words come in byte order, their documents
// ascending; a long list may come in several calls with the same word.
func (w *Writer) Add(word []byte, docs, tfs []uint32) error {
	if w.err == nil {
		w.err = w.add(word, docs, tfs)
	}
	return w.err
}

func (w *Writer) add(word []byte, docs, tfs []uint32) error {
	if w.terms == nil {
		return errors.New("index: Add before SetDocuments")
	}
	if len(docs) != len(tfs) {
		return fmt.Errorf("index: word %q: %d documents but %d frequencies", word, len(docs), len(tfs))
	}
	if len(docs) == 0 {
		return nil
	}
	if !w.started || !bytes.Equal(word, w.word) {
		if w.started {
			if bytes.Compare(word, w.word) < 0 {
				return fmt.Errorf("index: word %q comes after %q: not in byte order", word, w.word)
			}
			if err := w.endList(); err != nil {
				return err
			}
		}
		if len(word) == 0 || len(word) > maxWord {
			return fmt.Errorf("index: a word of %d bytes; want 1 to %d", len(word), maxWord)
		}
		w.started = true
		w.word = append(w.word[:0], word...)
		w.list.reset()
	}
	l := &w.list
	for i, d := range docs {
		tf := tfs[i]
		if d >= uint32(len(w.classes)) || l.df > 0 && d <= l.prev {
			return fmt.Errorf("index: word %q: document %d of %d after %d: not ascending or too large", word, d, len(w.classes), l.prev)
		}
		if tf == 0 || tf > maxTF {
			return fmt.Errorf("index: word %q occurs %d times in document %d; want 1 to %d", word, tf, d, uint32(maxTF))
		}
		if l.n == BlockSize {
			if err := w.endBlock(); err != nil {
				return err
			}
		}
		l.gaps[l.n] = d - l.prev - 1
		l.tfs[l.n] = tf - 1
		l.n++
		l.df++
		l.cf += uint64(tf)
		l.prev = d
		w.edge.add(codeOfTF(tf), w.classes[d])
	}
	return nil
}

func (l *listWriter) reset() {
	*l = listWriter{prev: ^uint32(0), packed: l.packed[:0], last: l.last[:0], offsets: l.offsets[:0], bounds: l.bounds[:0], supers: l.supers[:0]}
}

// endBlock packs the postings that wait.
func (w *Writer) endBlock() error {
	l := &w.list
	if l.size+uint64(len(l.packed)) > math.MaxUint32 {
		return fmt.Errorf("index: the list of %q is longer than 4 GiB", w.word)
	}
	if len(l.packed) >= 1<<20 {
		if err := w.flushBlocks(); err != nil {
			return err
		}
	}
	l.last = append(l.last, l.prev)
	l.offsets = append(l.offsets, uint32(l.size+uint64(len(l.packed))))
	l.firstTF = l.tfs[0] + 1
	l.packed = appendBlock(l.packed, &l.gaps, &l.tfs, l.n)
	l.n = 0
	b := w.edge.take()
	l.bounds = append(l.bounds, b)
	w.superTop.addBound(b)
	w.listTop.addBound(b)
	if len(l.bounds)%SuperBlocks == 0 {
		l.supers = append(l.supers, w.superTop.take())
	}
	return nil
}

func (w *Writer) flushBlocks() error {
	l := &w.list
	l.size += uint64(len(l.packed))
	_, err := w.postings.Write(l.packed)
	l.packed = l.packed[:0]
	return err
}

// endList writes what is left of a list, its skip data and its dictionary entry.
func (w *Writer) endList() error {
	l := &w.list
	if err := w.endBlock(); err != nil {
		return err
	}
	if len(l.bounds)%SuperBlocks != 0 {
		l.supers = append(l.supers, w.superTop.take())
	}
	whole := w.listTop.take()
	t := Term{DF: uint32(l.df), CF: l.cf}
	if l.df == 1 {
		t.inlineDoc = l.prev
	} else {
		if err := w.flushBlocks(); err != nil {
			return err
		}
		t.postingsLen = l.size
	}
	if l.df > BlockSize {
		for _, part := range [][]byte{
			sections.Bytes(l.last), sections.Bytes(l.offsets), sections.Bytes(l.bounds),
			sections.Bytes(l.supers), sections.Bytes([]Bound{whole}),
		} {
			if _, err := w.skips.Write(part); err != nil {
				return err
			}
		}
	}
	w.meta.terms++
	w.meta.postings += l.df
	w.meta.occurrences += l.cf
	return w.terms.add(w.word, t)
}

// Commit writes what is left and publishes the index.
func (w *Writer) Commit() error {
	if w.err == nil {
		w.err = w.commit()
	}
	if w.err != nil {
		w.Abort()
		return w.err
	}
	w.err = errors.New("index: use of a Writer after Commit")
	return nil
}

func (w *Writer) commit() error {
	if w.terms == nil {
		return errors.New("index: Commit before SetDocuments")
	}
	if w.started {
		if err := w.endList(); err != nil {
			return err
		}
	}
	if _, err := w.postings.Write(make([]byte, tailPad)); err != nil {
		return err
	}
	if err := errors.Join(w.terms.finish(), w.postings.commit(), w.skips.commit(), w.writeDocs()); err != nil {
		return err
	}
	names := []string{termsFile, postingsFile, skipsFile, docsFile}
	if w.text != nil {
		if err := w.text.finish(int(w.meta.docs)); err != nil {
			return err
		}
		w.meta.flags |= flagText
		names = append(names, textFile)
	}
	if err := w.writeMeta(names); err != nil {
		return err
	}
	return w.dir.Commit()
}

// writeDocs writes lengths, classes and IDs.
func (w *Writer) writeDocs() error {
	f, err := createFile(w.dir, docsFile)
	if err != nil {
		return err
	}
	err = errors.Join(
		f.Section("lengths", sections.Bytes(w.docs.Lengths)),
		f.Section("classes", w.classes),
		f.Section("class-lengths", sections.Bytes(w.table.low)),
	)
	if err == nil {
		err = writeIDs(f.Writer, len(w.docs.Lengths), w.docs.ID)
	}
	if err != nil {
		f.f.Abort()
		return err
	}
	return f.commit()
}

func (w *Writer) writeMeta(names []string) error {
	f, err := createFile(w.dir, metaFile)
	if err != nil {
		return err
	}
	var stamps []byte
	for _, name := range names {
		s, err := stampOf(w.dir.Path(""), name)
		if err != nil {
			f.f.Abort()
			return err
		}
		stamps = s.append(stamps)
	}
	if err := errors.Join(
		f.Section("counts", sections.Bytes(w.meta.counts())),
		f.Section("analyzer", []byte(w.docs.Analyzer)),
		f.Section("files", stamps),
	); err != nil {
		f.f.Abort()
		return err
	}
	return f.commit()
}

// Abort removes what was written. After Commit it does nothing.
func (w *Writer) Abort() {
	for _, o := range []*outFile{w.postings, w.skips} {
		if o != nil {
			o.f.Abort()
		}
	}
	if w.terms != nil {
		w.terms.out.f.Abort()
	}
	if w.text != nil {
		w.text.abort()
	}
	w.dir.Abort()
}
