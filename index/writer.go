package index

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/lockfile"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/scratch"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/system"
)

// Documents describes the documents of an index to a Writer, before the first word is added.
type Documents struct {
	// Analyzer is the name of the analyzer that made the words, as text.ParseAnalyzer takes it.
	Analyzer string
	// Lengths holds the length of each document in words.
	Lengths []uint32
	// Tokens is the number of words of the collection, from which the mean length is computed; 0
	// means the sum of Lengths.
	Tokens uint64
	// Positions announces that words are added with their positions: by AddPositions, not by Add.
	Positions bool
	// ID returns the external ID of a document.
	ID func(doc int) string
	// UniqueIDs makes Commit return a DuplicateIDError if two documents have the same ID.
	UniqueIDs bool

	idBytes func(doc int) []byte // ID without a string allocation, until the next call; may be nil
	idRun   func(doc int) int    // see weigh.Inversion.IDRun; nil if unknown
	byRank  []uint32             // the documents sorted by ID; nil if unknown
	forget  func()               // evicts lengths and IDs in mapped files from memory; may be nil
}

// ids returns a function that returns an ID as bytes, valid until its next call.
func (d *Documents) ids() func(doc int) []byte {
	if d.idBytes != nil {
		return d.idBytes
	}
	var id []byte
	return func(doc int) []byte {
		id = append(id[:0], d.ID(doc)...)
		return id
	}
}

// Writer writes an index from sorted words. The index appears under its name only
// at Commit.
type Writer struct {
	dir      *atomicfile.Dir
	path     string   // the folder of the index; "" for a part of another
	old      *os.File // lock of the index that is replaced, or nil
	memory   int64    // bound in bytes
	tempDir  string   // folder for data beyond it
	docs     Documents
	lengths  *lengthTable
	encoder  *encoder // for Add
	terms    *dictWriter
	postings *outFile
	skips    *outFile
	text     *textWriter
	fields   *fieldWriter
	places   *positionWriter // nil if there are no positions
	gaps     []uint32        // buffer of AddPositions
	levels   *outFile        // nil before the first map of levels
	leveled  []uint32        // words that have a map of levels
	top      scratch.Numbers // top postings
	topped   []uint32        // words that have top postings, and how many each has
	pairs    scratch.Numbers // maps of pairs
	paired   []uint32        // words that have a map of pairs, and the bits of their x
	impacts  *outFile        // nil before the first copy of a list of weights
	impacted []uint32        // words that have one
	copies   []uint64        // where each begins, and the end
	wide     bool            // there are none, because a weight is too high
	meta     meta
	full     fullWords // the words before pruning, or of the whole index; nil if not needed
	finished bool
	err      error

	ordered     bool // documents were brought into a better order
	runBlocks   bool // some blocks of IDs have more than idsPerBlock
	docsWritten bool
	empty       bool // there are no documents
}

// Create starts an index in the folder dir. The folder must not exist yet, or be empty, or be an
// index, with segments or without, which Commit replaces; a folder that holds any other file is
// refused. Until Commit or Abort nobody else may change an index with segments. Call SetDocuments
// before the first word. Every Writer ends with Commit or Abort; it is always safe to call `defer
// w.Abort()` right after Create.
func Create(dir string) (*Writer, error) {
	if err := replaceable(dir); err != nil {
		return nil, err
	}
	w := &Writer{path: dir}
	var err error
	if living(dir) {
		if w.old, err = lockfile.Take(dir); err != nil {
			return nil, err
		}
	}
	if w.dir, err = atomicfile.CreateDir(dir, isOurs); err != nil {
		w.letGo()
		return nil, err
	}
	w.setMemory(0, "")
	return w, nil
}

// setMemory bounds the working memory, where 0 means 2 GB, and sets the folder for temporary files,
// where "" means the folder of the index.
func (w *Writer) setMemory(bytes int64, tempDir string) {
	if w.memory = bytes; bytes <= 0 {
		w.memory = 2e9
	}
	if w.tempDir = tempDir; tempDir == "" {
		w.tempDir = w.dir.Path("")
	}
	w.top.Dir, w.pairs.Dir = w.tempDir, w.tempDir
}

// letGo releases the lock of the index that is replaced.
func (w *Writer) letGo() {
	if w.old != nil {
		lockfile.Remove(w.old)
		w.old = nil
	}
}

// hold takes the lock of an index without segments for the moment in which it is replaced. A
// writer that has it open, or has made it one with segments since Create, would lose its changes.
func (w *Writer) hold() (err error) {
	if _, err := os.Stat(filepath.Join(w.path, metaFile)); w.path == "" || w.old != nil || err != nil {
		return nil
	}
	for range 100 {
		w.old, err = lockfile.Take(w.path)
		if !errors.Is(err, lockfile.ErrHeld) {
			break
		}
		time.Sleep(10 * time.Millisecond) // it may be another one that replaces the index
	}
	switch {
	case errors.Is(err, lockfile.ErrHeld):
		return err
	case living(w.path):
		return fmt.Errorf("%s was changed by another process meanwhile, and is not replaced", w.path)
	}
	return nil // without a lock: nobody can write to the folder
}

// living reports whether the index in a folder has segments.
func living(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, SegmentsFile))
	return err == nil
}

// replaceable returns an error if dir is neither empty nor an index, which may be replaced.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	for name, magic := range map[string]string{metaFile: magics[metaFile], SegmentsFile: SegmentsMagic} {
		if f, err := sections.Open(filepath.Join(dir, name), magic, math.MaxUint32); err == nil {
			return f.Close()
		}
	}
	return fmt.Errorf("%s: the folder is not empty and not an index: name another one", dir)
}

// SetDocuments describes the documents of the index. It must be called before the first word is
// added.
func (w *Writer) SetDocuments(d Documents) error {
	if w.err != nil {
		return w.err
	}
	if w.terms != nil {
		return errors.New("index: SetDocuments was called twice")
	}
	if uint64(len(d.Lengths)) >= maxDocs {
		return fmt.Errorf("index: %d documents: want at most %d", len(d.Lengths), maxDocs-1)
	}
	w.docs, w.empty = d, len(d.Lengths) == 0
	var err error
	if w.lengths, err = newLengthTable(d.Lengths, 0, d.Tokens, w.memory/lengthShare, w.tempDir, d.forget); err != nil {
		return err
	}
	w.meta.flags |= flagNormal | flagApostrophes
	if w.lengths.named {
		w.meta.flags |= flagNamedMean
	}
	if w.lengths.exact {
		w.meta.flags |= flagExactClasses | flagNoLengths
	}
	w.meta.docs, w.meta.tokens = uint64(len(d.Lengths)), w.lengths.tokens
	w.encoder = newEncoder(w.lengths, &d, w.write)
	if d.Positions {
		f, err := createFile(w.dir, positionsFile)
		if err != nil {
			return err
		}
		if w.places, err = newPositionWriter(f, w.tempDir); err != nil {
			return err
		}
	}
	terms, err := createFile(w.dir, termsFile)
	if err != nil {
		return err
	}
	w.terms = newDictWriter(terms, w.tempDir)
	if w.postings, err = createFile(w.dir, postingsFile); err != nil {
		return err
	}
	if w.skips, err = createFile(w.dir, skipsFile); err != nil {
		return err
	}
	return errors.Join(terms.Begin("blob"), w.postings.Begin("postings"), w.skips.Begin("skips"))
}

// Add writes postings of a word. Words must be added in byte order, and their documents in
// ascending order. A long list may be added by several calls with the same word.
func (w *Writer) Add(word []byte, docs, tfs []uint32) error {
	if w.err == nil {
		w.err = w.add(word, docs, tfs, nil)
	}
	return w.err
}

// AddPositions is like Add, with the positions of all occurrences, counted in words from 0: for
// each document as many as its frequency, ascending.
func (w *Writer) AddPositions(word []byte, docs, tfs, positions []uint32) error {
	if w.err == nil && w.places == nil {
		w.err = errors.New("index: AddPositions without Documents.Positions")
	}
	if w.err == nil && len(docs) == len(tfs) {
		w.err = w.gapsOf(word, docs, tfs, positions)
	}
	if w.err == nil {
		w.err = w.add(word, docs, tfs, w.gaps)
	}
	return w.err
}

// gapsOf computes the gaps before these positions in w.gaps.
func (w *Writer) gapsOf(word []byte, docs, tfs, positions []uint32) error {
	w.gaps = w.gaps[:0]
	for i, tf := range tfs {
		rise := uint64(tf) <= uint64(len(positions))
		if rise {
			w.gaps, rise = appendGaps(w.gaps, positions[:tf])
		}
		if !rise {
			return fmt.Errorf("index: word %q: want %[3]d ascending positions in document %[2]d",
				word, docs[i], tf)
		}
		positions = positions[tf:]
	}
	return nil
}

func (w *Writer) add(word []byte, docs, tfs, gaps []uint32) error {
	if w.terms == nil {
		return errors.New("index: Add before SetDocuments")
	}
	return w.encoder.add(word, docs, tfs, gaps)
}

// write appends encoded lists to the files.
func (w *Writer) write(c *chunk) error {
	if _, err := w.postings.Write(c.postings); err != nil {
		return err
	}
	if _, err := w.skips.Write(c.skips); err != nil {
		return err
	}
	if err := w.writeLevels(c); err != nil {
		return err
	}
	if err := w.writeImpacts(c); err != nil {
		return err
	}
	if w.places != nil {
		if err := w.places.write(c.positions, c.placed); err != nil {
			return err
		}
	}
	for i, t := range c.terms {
		if err := w.terms.add(c.word(i), t); err != nil {
			return err
		}
		if err := w.writeFull(c.word(i), t); err != nil {
			return err
		}
		w.meta.terms++
		w.meta.postings += uint64(t.DF)
		w.meta.occurrences += t.CF
	}
	return nil
}

// fullWords iterates over words in order, with their counts before pruning or in the whole index.
type fullWords interface {
	next() (word []byte, t Term, ok bool, err error)
}

// prunedFrom makes the Writer write a pruned index of r, with the word statistics of r.
func (w *Writer) prunedFrom(r *Reader) {
	w.full = &termWalker{d: r.dict}
	w.terms.keepFull()
	w.meta.flags |= flagPruned
}

// writeFull writes the counts of a word before pruning, if it lost postings, or in the whole index.
func (w *Writer) writeFull(word []byte, now Term) error {
	if w.full == nil {
		return nil
	}
	for {
		text, t, ok, err := w.full.next()
		if err != nil || !ok {
			return errors.Join(err, errDictionary)
		}
		if !bytes.Equal(text, word) { // a word that no document of this shard contains
			continue
		}
		if w.meta.flags&flagShard == 0 {
			w.meta.fullPostings += uint64(t.FullDF())
			if t.FullDF() == now.DF {
				return nil
			}
		}
		return w.terms.addFull(w.meta.terms, t)
	}
}

// writeLevels appends the maps of levels. Many indexes have none: then there is no file.
func (w *Writer) writeLevels(c *chunk) error {
	if len(c.leveled) == 0 {
		return nil
	}
	if w.levels == nil {
		f, err := createFile(w.dir, levelsFile)
		if err != nil {
			return err
		}
		w.levels = f
		if err := f.Begin("levels"); err != nil {
			return err
		}
	}
	for _, i := range c.leveled {
		w.leveled = append(w.leveled, uint32(w.meta.terms)+uint32(i))
	}
	for _, t := range c.topped {
		w.topped = append(w.topped, uint32(w.meta.terms)+t[0], t[1])
	}
	for _, p := range c.paired {
		w.paired = append(w.paired, uint32(w.meta.terms)+p[0], p[1])
	}
	for _, p := range c.pairs {
		if err := w.pairs.Add(p); err != nil {
			return err
		}
	}
	for _, p := range c.top {
		if err := w.top.Add(uint64(p)); err != nil {
			return err
		}
	}
	_, err := w.levels.Write(c.levels)
	return err
}

// finishLevels writes the rest of the file "levels": the words with maps, the top postings and the
// maps of pairs.
func (w *Writer) finishLevels() error {
	err := w.levels.Section("words", sections.Bytes(w.leveled))
	if len(w.topped) > 0 {
		err = errors.Join(err, w.levels.Section("top-words", sections.Bytes(w.topped)),
			w.top.Copy(w.levels.Writer, "top"))
	}
	if len(w.paired) > 0 {
		err = errors.Join(err, w.levels.Section("pairs-words", sections.Bytes(w.paired)),
			w.pairs.Copy(w.levels.Writer, "pairs"))
	}
	return errors.Join(err, w.levels.commit())
}

// writeImpacts appends the copies of lists of weights.
func (w *Writer) writeImpacts(c *chunk) error {
	if c.wide && !w.wide {
		w.wide = true
		if w.impacts != nil {
			w.impacts.f.Abort()
			w.impacts = nil
		}
	}
	if w.wide || len(c.impacted) == 0 {
		return nil
	}
	if w.impacts == nil {
		f, err := createFile(w.dir, impactsFile)
		if err != nil {
			return err
		}
		w.impacts, w.copies = f, []uint64{0}
		if err := f.Begin("lists"); err != nil {
			return err
		}
	}
	for i, term := range c.impacted {
		w.impacted = append(w.impacted, uint32(w.meta.terms)+uint32(term))
		w.copies = append(w.copies, w.copies[len(w.copies)-1]+c.copied[i])
	}
	_, err := w.impacts.Write(c.impacts)
	return err
}

// finishImpacts writes the rest of the file "impacts".
func (w *Writer) finishImpacts() error {
	return errors.Join(w.impacts.Section("words", sections.Bytes(w.impacted)),
		w.impacts.Section("starts", sections.Bytes(w.copies)), w.impacts.commit())
}

// Commit finishes the files and makes the index appear under its name.
func (w *Writer) Commit() error {
	if w.err == nil {
		w.err = w.commit()
	}
	if w.err != nil {
		w.Abort()
		return w.err
	}
	w.err = fmt.Errorf("index: use of a Writer after Commit: %w", ErrClosed)
	return nil
}

func (w *Writer) commit() error {
	if err := w.finish(); err != nil {
		return err
	}
	return w.publish()
}

// publish gives the folder its name, in place of an older index.
func (w *Writer) publish() error {
	if err := w.hold(); err != nil {
		return err
	}
	if !system.RenamesOpen {
		w.letGo() // a folder with an open file cannot be renamed
	}
	defer w.letGo()
	return w.dir.Commit()
}

// finish completes the files but does not publish them. It does nothing the second time.
func (w *Writer) finish() error {
	if w.finished {
		return nil
	}
	if w.terms == nil {
		return errors.New("index: Commit before SetDocuments")
	}
	if err := w.encoder.end(); err != nil {
		return err
	}
	if err := w.encoder.flush(); err != nil {
		return err
	}
	// Completing a file waits for the disk, so all files are completed in parallel.
	files := []func() error{
		w.terms.finish,
		func() error {
			_, err := w.postings.Write(make([]byte, tailPad))
			return errors.Join(err, w.postings.commit())
		},
		w.skips.commit,
	}
	names := []string{termsFile, postingsFile, skipsFile, docsFile}
	if !w.docsWritten {
		files = append(files, w.writeDocs)
	}
	if w.text != nil {
		files = append(files, func() error { return w.text.finish(int(w.meta.docs)) })
		w.meta.flags |= flagText
		names = append(names, textFile)
	}
	if w.levels != nil {
		files = append(files, w.finishLevels)
		w.meta.flags |= flagLevels
		names = append(names, levelsFile)
	}
	if w.impacts != nil {
		files = append(files, w.finishImpacts)
		w.meta.flags |= flagImpacts
		names = append(names, impactsFile)
	}
	if w.places != nil {
		files = append(files, w.places.finish)
		w.meta.flags |= flagPositions
		names = append(names, positionsFile)
	}
	if w.fields != nil {
		files = append(files, func() error { return w.fields.commit(w) })
		w.meta.flags |= flagFields
		names = append(names, w.fields.files()...)
	}
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	for i, finish := range files {
		wg.Go(func() { errs[i] = finish() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := w.writeMeta(names); err != nil {
		return err
	}
	err := w.lengths.close()
	w.finished, w.docs, w.lengths, w.encoder = true, Documents{}, nil, nil
	return err
}

// writeDocs writes lengths, classes and IDs.
func (w *Writer) writeDocs() error {
	f, err := createFile(w.dir, docsFile)
	if err != nil {
		return err
	}
	err = errors.Join(
		w.lengths.writeLengths(f.Writer),
		w.lengths.writeClasses(f.Writer),
		f.Section("class-lengths", sections.Bytes(w.lengths.low)),
	)
	if err == nil {
		ids := idWriter{docs: len(w.docs.Lengths), id: w.docs.ids(), run: w.docs.idRun, byRank: w.docs.byRank,
			room: w.memory / idShare, tempDir: w.tempDir, unique: w.docs.UniqueIDs}
		err = ids.write(f.Writer)
		w.runBlocks = ids.firsts != nil
	}
	if err != nil {
		f.f.Abort()
		return err
	}
	return f.commit()
}

func (w *Writer) writeMeta(names []string) error {
	if w.runBlocks {
		w.meta.flags |= flagRunBlocks
	}
	f, err := createFile(w.dir, metaFile)
	if err != nil {
		return err
	}
	var stamps []byte
	for _, name := range names {
		m, err := mmap.Open(w.dir.Path(name))
		if err != nil {
			f.f.Abort()
			return err
		}
		stamps = stampOf(name, m.Data).append(stamps)
		m.Close()
	}
	err = errors.Join(
		f.Section("counts", sections.Bytes(w.meta.counts())),
		f.Section("analyzer", []byte(w.docs.Analyzer)),
		f.Section("files", stamps),
	)
	if err == nil && w.meta.flags&flagPruned != 0 {
		err = f.Section("pruned", sections.Bytes([]uint64{w.meta.fullPostings}))
	}
	if err == nil && w.meta.flags&flagShard != 0 {
		err = f.Section("shard", sections.Bytes(w.meta.shard.numbers()))
	}
	if err != nil {
		f.f.Abort()
		return err
	}
	return f.commit()
}

// Abort removes the unfinished index. After Commit it does nothing.
func (w *Writer) Abort() {
	for _, o := range []*outFile{w.postings, w.skips, w.levels, w.impacts} {
		if o != nil {
			o.f.Abort()
		}
	}
	w.top.Close()
	w.pairs.Close()
	if w.terms != nil {
		w.terms.abort()
	}
	if w.places != nil {
		w.places.abort()
	}
	if w.lengths != nil {
		w.lengths.close()
	}
	if w.text != nil {
		w.text.abort()
	}
	if w.fields != nil {
		w.fields.abort()
	}
	w.dir.Abort()
	w.letGo()
	if w.err == nil {
		w.err = fmt.Errorf("index: use of a Writer after Abort: %w", ErrClosed)
	}
}
