package index

import (
	"fmt"
	"iter"
	"path/filepath"

	"github.com/collocate/collocate/internal/sections"
)

// Reader is an open index. Its files are memory-mapped; it may be used by several
// goroutines at once. Whatever bytes the files hold, no method reads outside the
// maps or panics: damage gives an error or wrong results. Check finds it.
type Reader struct {
	dir      string
	files    map[string]*sections.File
	bytes    int64 // of all files
	meta     meta
	analyzer string
	dict     *dictionary
	ids      *idStore
	text     *textReader
	postings []byte
	skips    []byte
	lengths  []uint32
	classes  []uint8
	classLow [256]uint32
	numLow   int
}

// meta is the section "counts" of the file "index".
type meta struct {
	docs, terms, postings, tokens, occurrences uint64
	flags                                      uint64
}

const (
	flagText         = 1 << iota // the text is stored
	flagExactClasses             // all documents of a length class have the same length
)

func (m *meta) counts() []uint64 {
	return []uint64{m.docs, m.terms, m.postings, m.tokens, m.occurrences, m.flags, BlockSize, SuperBlocks}
}

func parseMeta(c []uint64) (m meta, err error) {
	if len(c) != 8 {
		return m, fmt.Errorf("corrupted: %d counts, want 8", len(c))
	}
	m = meta{c[0], c[1], c[2], c[3], c[4], c[5]}
	if c[6] != BlockSize || c[7] != SuperBlocks {
		return m, fmt.Errorf("blocks of %d postings, bounds over %d blocks; this program reads %d and %d", c[6], c[7], BlockSize, SuperBlocks)
	}
	if m.docs >= maxDocs || m.terms > 1<<40 || m.flags > flagText|flagExactClasses {
		return m, fmt.Errorf("corrupted: counts %v", c)
	}
	return m, nil
}

// Open maps an index. It checks that the files belong together and are
// whole, but does not read all of them: see Check.
func Open(dir string) (*Reader, error) {
	r := &Reader{dir: dir, files: map[string]*sections.File{}}
	if err := r.open(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Reader) open() error {
	m, err := r.openFile(metaFile)
	if err != nil {
		return err
	}
	if err := r.readMeta(m); err != nil {
		return r.named(metaFile, err)
	}
	stamps, err := m.Section("files")
	if err != nil {
		return r.named(metaFile, err)
	}
	if err := r.checkStamps(stamps); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		open func(*sections.File) error
	}{
		{termsFile, r.openTerms},
		{postingsFile, r.openPostings},
		{skipsFile, r.openSkips},
		{docsFile, r.openDocs},
		{textFile, r.openText},
	} {
		if step.name == textFile && r.meta.flags&flagText == 0 {
			continue
		}
		f, err := r.openFile(step.name)
		if err != nil {
			return err
		}
		if err := step.open(f); err != nil {
			return r.named(step.name, err)
		}
	}
	return nil
}

func (r *Reader) openFile(name string) (*sections.File, error) {
	f, err := sections.Open(filepath.Join(r.dir, name), magics[name], formatVersion)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	r.files[name] = f
	return f, nil
}

func (r *Reader) named(file string, err error) error {
	return fmt.Errorf("open index: %s: %w", filepath.Join(r.dir, file), err)
}

func (r *Reader) readMeta(f *sections.File) error {
	counts, err := view[uint64](f, "counts")
	if err != nil {
		return err
	}
	if r.meta, err = parseMeta(counts); err != nil {
		return err
	}
	name, err := f.Section("analyzer")
	r.analyzer = string(name)
	return err
}

func (r *Reader) checkStamps(b []byte) error {
	stamps, err := parseStamps(b)
	if err != nil {
		return r.named(metaFile, err)
	}
	names := []string{termsFile, postingsFile, skipsFile, docsFile}
	if r.meta.flags&flagText != 0 {
		names = append(names, textFile)
	}
	own, err := stampOf(r.dir, metaFile)
	if err != nil {
		return fmt.Errorf("open index: %w", err)
	}
	r.bytes = int64(own.size)
	for i, want := range stamps {
		if len(stamps) != len(names) || want.name != names[i] {
			return r.named(metaFile, fmt.Errorf("corrupted: the list of files is not %q", names))
		}
		r.bytes += int64(want.size)
		got, err := stampOf(r.dir, want.name)
		if err != nil {
			return fmt.Errorf("open index: %w", err)
		}
		if got != want {
			return r.named(want.name, fmt.Errorf("not the file that was written with this index: %d bytes, checksum %08x; want %d, %08x",
				got.size, got.crc, want.size, want.crc))
		}
	}
	return nil
}

func (r *Reader) openTerms(f *sections.File) (err error) {
	r.dict, err = openDictionary(f, int(r.meta.terms))
	return err
}

func (r *Reader) openPostings(f *sections.File) (err error) {
	r.postings, err = f.Section("postings")
	if err == nil && len(r.postings) < tailPad {
		err = fmt.Errorf("corrupted: %d bytes of postings", len(r.postings))
	}
	return err
}

func (r *Reader) openSkips(f *sections.File) (err error) {
	r.skips, err = f.Section("skips")
	return err
}

func (r *Reader) openDocs(f *sections.File) (err error) {
	if r.lengths, err = view[uint32](f, "lengths"); err != nil {
		return err
	}
	if r.classes, err = f.Section("classes"); err != nil {
		return err
	}
	low, err := view[uint32](f, "class-lengths")
	if err != nil {
		return err
	}
	docs := int(r.meta.docs)
	if len(r.lengths) != docs || len(r.classes) != docs || len(low) > 256 {
		return fmt.Errorf("corrupted: %d lengths, %d classes, %d kinds for %d documents", len(r.lengths), len(r.classes), len(low), docs)
	}
	r.numLow = copy(r.classLow[:], low)
	r.ids, err = openIDs(f, docs)
	return err
}

func (r *Reader) openText(f *sections.File) (err error) {
	r.text, err = openText(f, int(r.meta.docs))
	return err
}

// Close unmaps the files. Nothing that came from the reader may be used afterwards.
func (r *Reader) Close() error {
	var first error
	for _, f := range r.files {
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	r.files = nil
	return first
}

// Docs is the number of documents; they are numbered from 0.
func (r *Reader) Docs() int { return int(r.meta.docs) }

// Terms is the number of different words; they are numbered from 0 in byte order.
func (r *Reader) Terms() int { return int(r.meta.terms) }

// Postings is the number of (word, document) pairs.
func (r *Reader) Postings() int64 { return int64(r.meta.postings) }

// Tokens is the sum of all document lengths. Tokens / Docs is the mean length.
func (r *Reader) Tokens() int64 { return int64(r.meta.tokens) }

// Analyzer is the name of what made the words, for text.ParseAnalyzer.
func (r *Reader) Analyzer() string { return r.analyzer }

// Lengths holds the length of each document in words. It is a view of the map:
// not to be written to.
func (r *Reader) Lengths() []uint32 { return r.lengths }

// Classes holds the length class of each document, one byte where Lengths has
// four; a view of the map.
func (r *Reader) Classes() []uint8 { return r.classes }

// ClassLengths holds the shortest length of each class; the classes in use are
// the first n. If exact, all documents of a class have the same length.
func (r *Reader) ClassLengths() (low *[256]uint32, n int, exact bool) {
	c := r.classLow
	return &c, r.numLow, r.meta.flags&flagExactClasses != 0
}

// Lookup finds a word. An unknown word has the zero Term: DF 0, an empty list.
func (r *Reader) Lookup(word []byte) (Term, error) {
	id, same, err := r.dict.find(word)
	if err != nil || !same {
		return Term{}, err
	}
	return r.Term(id)
}

// Term returns the term with that number.
func (r *Reader) Term(id int) (Term, error) {
	if uint(id) >= uint(r.dict.terms) {
		return Term{}, fmt.Errorf("term %d is not one of the index's %d", id, r.dict.terms)
	}
	return r.dict.term(id)
}

// Word pairs a word with its term.
type Word struct {
	Text []byte // valid until the next one
	Term Term
}

// Words yields all words in byte order.
func (r *Reader) Words() iter.Seq2[Word, error] {
	return func(yield func(Word, error) bool) {
		w := termWalker{d: r.dict}
		for {
			word, t, ok, err := w.next()
			if err != nil {
				yield(Word{}, err)
				return
			}
			if !ok || !yield(Word{word, t}, nil) {
				return
			}
		}
	}
}

// DocID is the external ID of a document.
func (r *Reader) DocID(doc int) (string, error) {
	var buf [64]byte
	id, err := r.ids.get(buf[:0], doc)
	return string(id), err
}

// FindDoc finds a document by its external ID; the first of them, if several
// have the same.
func (r *Reader) FindDoc(id string) (doc int, found bool, err error) { return r.ids.find(id) }

// HasText tells whether the text of the documents is stored.
func (r *Reader) HasText() bool { return r.text != nil }

// Text is the stored text of a document.
func (r *Reader) Text(doc int) ([]byte, error) {
	if r.text == nil {
		return nil, fmt.Errorf("%s: the text of the documents is not stored", r.dir)
	}
	return r.text.get(doc)
}
