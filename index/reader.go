package index

// The format of an index
//
// An index is a folder of files, each a paged container of package sections: a magic,
// a version (4), and named sections with checksums. All numbers are little endian. A
// uvarint has seven bits per byte, lowest first, as in encoding/binary. The example is the index of
// the package comment, "a rose is a rose" and "a daisy" with the IDs d1 and d2. Every section of it
// is shown here, and format_test.go checks it.
//
// File "index" describes the index and identifies the other files:
//
//	counts    eight uint64: documents 2, words 4, postings 5, sum of lengths 7,
//	          sum of frequencies 7, flags 2578, postings in a block 128, blocks under one
//	          second-level bound 32
//	analyzer  "ascii"
//	files     32 bytes for each other file: name (16), length as uint64, the checksum in its
//	          trailer as uint32, 0. So files of different indexes cannot be mixed.
//	pruned    uint64: the postings before pruning, if the index is pruned
//	shard     if the index is a shard: seven uint64 with its number from 0, the number of shards,
//	          the number of its first document in the whole, documents and sum of lengths of the
//	          whole, length and checksum of the whole's file "index"
//
// Flags:
//
//	1     text is stored
//	2     each length class is a single length
//	4     there is a file "levels"
//	8     the mean length must be computed from the sum of lengths in counts, which an import may
//	      set, and not from the documents
//	16    Unicode analyzers normalise words to NFC. Without it, the analyzer unicode means
//	      unicode@1.
//	32    the index is pruned
//	64    there is a file "positions"
//	128   documents have fields
//	256   the index is a shard
//	512   lengths are not stored, because each class is a single length
//	1024  some blocks of IDs have more than 32
//	2048  the analyzer unicode makes typographic apostrophes plain. Without it, and with 16, it
//	      means unicode@2.
//	4096  there is a file "impacts"
//
// File "postings" has one section of the same name: the lists in the order of the words, each a
// sequence of blocks of 128 postings and a last block with the rest. Lists of one posting are in
// the dictionary instead. Eight zero bytes end the section, so that a decoder may load whole words.
// A block (see appendBlock) is two bytes with the widths and the numbers of patches, then gaps less
// 1, then frequencies less 1, then patches. The gap is the difference to the previous document of
// the list, or to -1. The list of "a", (0, 2) (1, 1), has gaps less 1 of 0, 0 and frequencies less
// 1 of 1, 0:
//
//	00 01     gaps take 0 bits, frequencies 1 bit; no patches
//	01        the bits 1, 0 from the lowest
//
// In a full block the numbers are in four lanes of 32 bits (see packBlock). A full block whose
// documents are close together has a bitmap instead of gaps (see bitmap.go). It begins with 255,
// the header byte of the frequencies and the number of words. Then come 64-bit words with a bit per
// document, starting at a multiple of 64. Documents 0, 3, ..., 381 of frequency 1 are
//
//	ff 00 06  a bitmap, frequencies of 0 bits without patches, 6 words
//	49 92 24  and so on, 48 bytes
//
// Version 3 is the same in containers that are not paged; version 2 also has no bitmaps. Both can
// be read.
//
// File "skips" has one section of the same name, with the skip data of each list of more than one
// block, in the order of the lists. For B blocks and S = B/32 rounded up they are
//
//	B uint32  the last document of each block
//	B uint32  the offset of each block from the first
//	B uint64  the Bound of each block: four pairs of frequency code and length class
//	S uint64  the Bound of each 32 blocks
//	uint64    the Bound of the list
//	float32   the lowest x of each block (B), of each 32 blocks (S) and of the list (1); then the x
//	          of the 10th, 100th and 1,000th best posting of the list (infinity if there are fewer);
//	          then a zero if needed to make their number even. Here x is that of package bm25 for
//	          k1 = 1.2, b = 0.75.
//
// The example has no such list; the section is empty.
//
// File "terms" is the dictionary, in blocks of 16 words in byte order:
//
//	blob      the blocks: length of the words as uvarint; the words, front coded; then
//	          the offsets of their postings and skips as uvarints; then for each word
//	          uvarints DF, CF less DF, and the document if DF is 1, or else the length of
//	          its postings. A front-coded word is a byte with the lengths of the prefix that it
//	          shares with the previous word (high half) and of the suffix (low half), where
//	          15 means that a uvarint with the rest follows; then the bytes of the suffix.
//	starts    uint64: the offset of each block, and the end
//	prefixes  uint64: the first 8 bytes of the first word of each block, big endian
//	full      in a pruned index, three uint64 for each word that lost postings: its number, and its
//	          DF and CF before pruning; in a shard for each word, with DF and CF of the whole
//
//	10        16 bytes of words
//	01 a  05 daisy  02 is  04 rose
//	00 00     postings and skips begin at 0
//	02 01 03  "a": DF 2, CF 3, 3 bytes of postings
//	01 00 01  "daisy": DF 1, CF 1, document 1
//	01 00 00  "is": document 0
//	01 01 00  "rose": CF 2, document 0
//
// File "documents":
//
//	lengths        uint32 for each document; omitted, with flag 512, if each class is a single
//	               length, as here
//	classes        uint8 for each document, its length class: 1, 0
//	class-lengths  uint32: the shortest length of each class: 2, 5
//	ids            external IDs in natural order (compareIDs; equal ones by document), in blocks
//	               of 32. An ID is front coded like a word. But a byte 0 is followed by a
//	               uvarint: the length of a run of IDs, each of which has the last number of the
//	               previous one plus 1; or 0 for an empty ID. Here: 02 d1, 00 01.
//	               A block that ends within a run extends to the end of it, if that gives the block
//	               at least 1,024 IDs.
//	id-starts      uint64: the offset of each block, and the end: 0, 5
//	id-firsts      uint32: the rank of the first ID of each block, and the number of IDs; only with
//	               flag 1024
//	id-ranks       the rank of each document's ID, in as few bits as the largest needs, then 8 zero
//	               bytes; empty if each rank is the document's own number
//	id-docs        the inverse: the document of each rank
//
// File "text", if text is stored:
//
//	blocks        zstd frames of about 32 KiB of text: the length of each document as
//	              uvarint, then the documents
//	block-docs    uint32: the first document of each block, and the number of documents
//	block-starts  uint64: the offset of each block, and the end
//
// File "schema", if documents have fields:
//
//	schema  the schema as JSON: see package fields
//	fields  for each text field 32 bytes, as in "files" above: name "index", and length and checksum
//	        of the file "index" in the folder fields/NAME, which is an index of the field alone. The
//	        IDs of its documents are their numbers.
//
// File "columns", if the schema has keywords, numbers, dates or points: see package columns.
//
// File "vectors", if the schema has vectors: see package dense.
//
// File "stored", if the schema has stored fields, has the format of "text". In place of text, a
// document has for each stored field of the schema the number of values as uvarint, and for each
// value its length as uvarint and its bytes.
//
// File "levels", if there is a list of at least 28,000 postings that covers at least one in 48
// documents (see levels.go):
//
//	levels  for each such list 16 float32, the lowest x of each level, or infinity if the level is
//	        unused; then 64 bytes for every 2,048 documents: 4 bits for every 16 of them, first the
//	        lower halves of the bytes, then the upper ones. A level is 0 where the list has
//	        no posting.
//	words   uint32: the numbers of the words that these lists belong to
//	top     for each of these lists that covers at least one in 8 documents, its best postings by x,
//	        the best first, then by document: one in 64 of the list, up to 4,096 (see top.go). Each
//	        is two uint32, document and frequency. Older indexes have none.
//	top-words  two uint32 for each word in top: its number, and the number of its postings there
//	pairs   for each of these lists that covers at least half of the documents, a bit for every two
//	        documents, in uint64: whether either is one of its best postings by x, which are one in
//	        16 of the list, up to 18,432. Older indexes have none.
//	pairs-words  for each word in pairs its number as uint32, and as float32 an x: no posting
//	        outside its best ones has a lower one
//
// File "impacts", with flag 4096, if the analyzer reads weights (text.OfWeights), a list exceeds
// 128 postings and one in 1,024 documents, and no weight of such lists exceeds 255. It has a copy
// of each of these lists, in parts of 4,096 documents, which are called tiles (see impacts.go):
//
//	lists   the copies in the order of the words. For each tile there is the number of postings, in
//	        2 bytes; then for each tile the highest weight, in 1 byte; then a zero if needed to end
//	        at an even address; then the parts of the tiles. Zeros end a copy at a multiple of 8.
//	words   uint32: the numbers of the words
//	starts  uint64: the offset of each copy, and the end
//
// A part of n postings has the number of each document in the tile, in 2 bytes, then the weights,
// in 1 byte each, then a zero if n is odd. From n = 96 on the highest weight in each 32 documents
// of the tile stands before it, 128 bytes. From n = 512 on the weights of all 4,096 documents
// follow that instead, with 0 where there is no posting. For example, a token of 9,000 documents,
// in 0, 2, ..., 254 with the weights 7, 8, 7, 8 and so on, in 8,998 with 255 and in 8,999 with 1:
//
//	80 00 00 00 02 00  128, 0 and 2 postings
//	08 00 ff 00        the highest weights, and a zero
//	08 08 ...          8 times, then 120 zeros: the first tile's highest weights
//	00 00 02 00 ...    its documents, 256 bytes
//	07 08 ...          its weights, 128 bytes
//	26 03 27 03 ff 01  the last tile: 806 and 807 in it, their weights
//
// File "positions", with flag 64: the positions of words in the documents, counted in words from 0.
//
//	positions  the lists in the order of the words, in blocks of 16 words like the dictionary.
//	           The lists of a block are followed by their lengths as uvarints, and by the number
//	           of bytes of these as a byte. Eight zero bytes end the section.
//	starts     uint64: the offset of each block, and the end
//
// A list holds the gaps of all occurrences, posting by posting: the number of words between an
// occurrence and the previous one in the document, or the document's beginning. Each 128 gaps form
// a group: a byte with their width w in the low 5 bits and the number of patches above, 16*w bytes
// as in packBlock, then the patches. The remaining gaps are uvarints. If the list has several
// blocks of postings, each of them has an entry of 6 bytes: the number of its first gap in the
// group (1), and the offset of the group (5). The last 2 bytes are the length of the remaining
// gaps. In the example "a" is at positions 0 and 3 of document 0, and at 0 of document 1:
//
//	00 02 00  "a": gaps 0, 2 and 0
//	01        "daisy"
//	02        "is"
//	01 02     "rose": positions 1 and 4
//	03 01 01 02 04  the lengths of the four lists, in 4 bytes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/partial"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

// Reader is an open index. Its files are memory-mapped, and several goroutines may use it at once.
// Whatever bytes the files hold, no method panics or reads outside the maps. Pages are verified
// when they are first read, so damage gives an error. Indexes of format versions before 4 have no
// checksums for pages; there only Check finds damage.
//
// A file that is truncated while it is open also gives an error, except in the fast methods that
// handle one word or one list: Lookup, Term, Open, AppendDocID and the methods of Cursor. Call
// these inside Guarded if that may happen.
type Reader struct {
	dir      string
	maps     []*mmap.File
	files    map[string]*sections.File
	bytes    int64 // size of all files
	meta     meta
	analyzer string
	dict     *dictionary
	ids      *idStore
	text     *textReader
	postings []byte
	skips    []byte
	// nil if the index has no positions.
	positions *positionStore
	// The files of postings and skips, for Touch.
	postingsFile, skipsFile *sections.File
	// Set when the lengths have been verified.
	lengthsGood atomic.Bool
	levels      levelMaps
	impacts     impactLists
	lengths     []uint32 // if not stored, nil until the first call of Lengths
	classes     []uint8
	classLow    [256]uint32
	numLow      int
	coef        bm25.Length
	expand      sync.Once             // computes lengths from classes, if they are not stored
	expandErr   atomic.Pointer[error] // its error, if any

	fields *fieldReader // nil without a schema
	closed bool         // the maps are gone
	// Lists being fetched ahead, which use the maps.
	fetching sync.WaitGroup
	part     bool      // the index of a text field, inside another index
	stamp    fileStamp // stamp of the file "index"
}

// meta is the section "counts" of the file "index".
type meta struct {
	docs, terms, postings, tokens, occurrences uint64
	flags                                      uint64
	fullPostings                               uint64 // before pruning, if the index is pruned
	shard                                      Shard  // of another index, if Of is not 0
}

const (
	flagText         = 1 << iota // the text is stored
	flagExactClasses             // all documents of a length class have the same length
	flagLevels                   // some lists have a map of levels
	flagNamedMean                // tokens is not the sum of lengths
	flagNormal                   // the analyzer normalises words to NFC
	flagPruned                   // postings were left out: see Prune
	flagPositions                // there are positions
	flagFields                   // documents have fields
	flagShard                    // the index is a part of another one: see Shard
	flagNoLengths                // lengths are not stored, but follow from the classes
	flagRunBlocks                // some blocks of IDs exceed idsPerBlock, because of long runs
	flagApostrophes              // the analyzer unicode makes apostrophes plain
	flagImpacts                  // long lists of weights have a copy: see ImpactList

	allFlags = 1<<iota - 1
)

// analyzers returns the version of the analyzers that the index was made with.
func (m *meta) analyzers() int {
	switch {
	case m.flags&flagNormal == 0:
		return 1
	case m.flags&flagApostrophes == 0:
		return 2
	}
	return text.Version
}

func (m *meta) counts() []uint64 {
	return []uint64{m.docs, m.terms, m.postings, m.tokens, m.occurrences, m.flags, BlockSize, SuperBlocks}
}

func parseMeta(c []uint64) (m meta, err error) {
	if len(c) != 8 {
		return m, fmt.Errorf("corrupted: %d counts, want 8", len(c))
	}
	m = meta{docs: c[0], terms: c[1], postings: c[2], tokens: c[3], occurrences: c[4], flags: c[5]}
	if c[6] != BlockSize || c[7] != SuperBlocks {
		return m, fmt.Errorf("blocks of %d postings, bounds over %d blocks: this program reads %d and %d", c[6], c[7], BlockSize, SuperBlocks)
	}
	if m.flags > allFlags {
		return m, fmt.Errorf("flags %#x: the index is of a newer version, or corrupted", m.flags)
	}
	if m.docs >= maxDocs || m.terms > 1<<40 || m.flags&(flagExactClasses|flagNoLengths) == flagNoLengths {
		return m, fmt.Errorf("corrupted: counts %v", c)
	}
	return m, nil
}

// Open maps an index. It checks that the files belong together and are complete, but does not read
// all of them; see Reader.Check.
//
// If the index is replaced at the same time, Open returns either the old index or the new one,
// never a mixture.
//
// Open refuses a folder that has segments; see package segments.
func Open(dir string) (*Reader, error) {
	if living(dir) {
		return nil, fmt.Errorf("open index: %s: %w", dir, ErrSegments)
	}
	return OpenSegment(dir)
}

// SegmentsFile is the name of the manifest, which lists the segments of an index that has them; see
// package segments.
const SegmentsFile = "segments"

// SegmentsMagic is its magic in package sections.
const SegmentsMagic = "COLOSGM\n"

// ErrClosed is wrapped by the errors of what was closed: a [Writer] or a Reader here and in package
// segments, and a search.Searcher.
var ErrClosed = errors.New("the index is closed")

// ErrSegments is returned by Open for an index that has segments: open it with package segments.
var ErrSegments = errors.New("the index has segments: merge them (segments.Writer.Compact)")

// OpenSegment is like Open for one segment of an index: it ignores other files in the folder.
func OpenSegment(dir string) (*Reader, error) { return openFolder(dir, (*Reader).mapFile) }

// openFolder opens the index in a folder; load returns the content of a file. It retries if the
// index is replaced meanwhile, because the files of the old one are removed.
func openFolder(dir string,
	load func(r *Reader, folder *os.File, name string) (content, error)) (*Reader, error) {
	for try := 0; ; try++ {
		r := &Reader{dir: dir, files: map[string]*sections.File{}}
		folder, err := os.Open(dir)
		if err != nil {
			return nil, r.notIndex()
		}
		err = mmap.Safely(func() error {
			return r.open(func(name string) (content, error) { return load(r, folder, name) })
		})
		replaced := err != nil && wasReplaced(folder, dir)
		folder.Close()
		if err == nil {
			return r, nil
		}
		r.Close()
		if !replaced || try == 100 {
			return nil, err
		}
	}
}

// content is the bytes of a file, and what brings those that are missing if it is not whole.
type content struct {
	data []byte
	rest *sections.Rest
}

func (r *Reader) mapFile(folder *os.File, name string) (content, error) {
	m, err := mmap.OpenAt(folder, name)
	if err != nil {
		return content{}, err
	}
	r.maps = append(r.maps, m)
	return content{m.Data, partial.Of(r.dir, name)}, nil
}

// wasReplaced reports whether the name dir now refers to another folder than the open one.
func wasReplaced(folder *os.File, dir string) bool {
	a, err1 := folder.Stat()
	b, err2 := os.Stat(dir)
	return err1 == nil && err2 == nil && !os.SameFile(a, b)
}

// open opens the index; load returns the content of a file.
func (r *Reader) open(load func(name string) (content, error)) error {
	m, stamp, err := r.openFile(metaFile, load)
	if err != nil {
		return err
	}
	r.stamp = stamp
	if err := r.readMeta(m); err != nil {
		return r.named(metaFile, err)
	}
	b, err := whole(m, "files")
	if err != nil {
		return r.named(metaFile, err)
	}
	stamps, err := parseStamps(b)
	if err != nil {
		return r.named(metaFile, err)
	}
	type step struct {
		name string
		open func(*sections.File) error
	}
	steps := []step{
		{termsFile, r.openTerms},
		{postingsFile, r.openPostings},
		{skipsFile, r.openSkips},
		{docsFile, r.openDocs},
		{textFile, r.openText},
		{levelsFile, r.openLevels},
		{impactsFile, r.openImpacts},
		{positionsFile, r.openPositions},
	}
	if r.meta.flags&flagPositions == 0 {
		steps = slices.Delete(steps, 7, 8)
	}
	if r.meta.flags&flagImpacts == 0 {
		steps = slices.Delete(steps, 6, 7)
	}
	if r.meta.flags&flagLevels == 0 {
		steps = slices.Delete(steps, 5, 6)
	}
	if r.meta.flags&flagText == 0 {
		steps = slices.Delete(steps, 4, 5)
	}
	if r.meta.flags&flagFields != 0 {
		steps = append(steps, step{schemaFile, r.openSchema})
	}
	if n := len(steps); n <= len(stamps) && r.meta.flags&flagFields != 0 {
		// The remaining files depend on the schema, which is not known yet; openFields checks them.
		for _, s := range stamps[n:] {
			open := map[string]func(*sections.File) error{columnsFile: r.openColumns,
				vectorsFile: r.openVectors, storedFile: r.openStored}[s.name]
			if open == nil {
				break
			}
			steps = append(steps, step{s.name, open})
		}
	}
	if len(stamps) != len(steps) {
		return r.named(metaFile, fmt.Errorf("corrupted: %d files are listed, want %d", len(stamps), len(steps)))
	}
	for i, step := range steps {
		f, stamp, err := r.openFile(step.name, load)
		if err != nil {
			return err
		}
		if stamp != stamps[i] {
			return r.named(step.name, errors.New("it belongs to another index"))
		}
		if err := step.open(f); err != nil {
			return r.named(step.name, err)
		}
	}
	for name, f := range r.files {
		f.Path = filepath.Join(r.dir, name)
	}
	if r.fields != nil {
		return r.openFields(load)
	}
	return nil
}

func (r *Reader) openFile(name string, load func(string) (content, error)) (*sections.File, fileStamp, error) {
	c, err := load(name)
	if name == metaFile && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		return nil, fileStamp{}, r.notIndex()
	}
	if err != nil {
		return nil, fileStamp{}, fmt.Errorf("open index: %w", err)
	}
	var f *sections.File
	if c.rest == nil {
		f, err = sections.Parse(c.data, magics[name], formatVersion)
	} else {
		f, err = sections.ParsePart(c.data, c.rest, magics[name], formatVersion)
	}
	if err != nil {
		return nil, fileStamp{}, r.named(name, err)
	}
	if f.Version < oldestVersion {
		return nil, fileStamp{}, r.named(name,
			fmt.Errorf("format version %d, and this program reads %d to %d: build the index again",
				f.Version, oldestVersion, formatVersion))
	}
	r.files[name] = f
	r.bytes += int64(len(c.data))
	return f, stampOf(name, c.data), nil
}

// isIndex reports whether a folder looks like an index.
func isIndex(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, metaFile))
	return err == nil
}

// notIndex returns an error that says what dir is if it is not an index.
func (r *Reader) notIndex() error {
	info, err := os.Stat(r.dir)
	switch {
	case err != nil:
		return fmt.Errorf("open index: %w", err)
	case !info.IsDir():
		return fmt.Errorf("open index: %s is a file: want the folder of an index", r.dir)
	}
	if one := filepath.Join(r.dir, "0"); isIndex(one) {
		return fmt.Errorf("open index: the folder %s has shards: open one of them, as in %s", r.dir, one)
	}
	return fmt.Errorf("open index: the folder %s is not an index: it has no file %q: %w", r.dir,
		metaFile, fs.ErrNotExist)
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
	if r.Pruned() {
		full, err := view[uint64](f, "pruned")
		if err != nil || len(full) != 1 || full[0] < r.meta.postings {
			return errors.Join(err, fmt.Errorf("corrupted: %d postings before pruning", full))
		}
		r.meta.fullPostings = full[0]
	}
	if r.meta.flags&flagShard != 0 {
		if err := r.readShard(f); err != nil {
			return err
		}
	}
	r.coef = storedModel(r.meta.docs, r.meta.tokens)
	name, err := whole(f, "analyzer")
	r.analyzer = string(name)
	r.analyzer = text.Recorded(r.analyzer, r.meta.analyzers())
	return err
}

func (r *Reader) openTerms(f *sections.File) (err error) {
	r.dict, err = openDictionary(f, int(r.meta.terms), r.meta.flags&(flagPruned|flagShard) != 0)
	return err
}

func (r *Reader) openPostings(f *sections.File) (err error) {
	r.postingsFile = f
	r.postings, err = f.Section("postings")
	if err == nil && len(r.postings) < tailPad {
		err = fmt.Errorf("corrupted: %d bytes of postings", len(r.postings))
	}
	return err
}

func (r *Reader) openSkips(f *sections.File) (err error) {
	r.skipsFile = f
	r.skips, err = f.Section("skips")
	return err
}

func (r *Reader) openDocs(f *sections.File) (err error) {
	docs := int(r.meta.docs)
	if r.meta.flags&flagNoLengths == 0 {
		if r.lengths, err = view[uint32](f, "lengths"); err != nil {
			return err
		}
		if len(r.lengths) != docs {
			return fmt.Errorf("corrupted: %d lengths for %d documents", len(r.lengths), docs)
		}
	}
	if r.classes, err = f.Section("classes"); err != nil {
		return err
	}
	low, err := view[uint32](f, "class-lengths")
	if err != nil {
		return err
	}
	if len(r.classes) != docs || len(low) > 256 {
		return fmt.Errorf("corrupted: %d classes, %d kinds for %d documents", len(r.classes), len(low), docs)
	}
	r.numLow = copy(r.classLow[:], low)
	if r.ids, err = openIDs(f, docs, r.meta.flags&flagRunBlocks != 0); err == nil && f.Partial() {
		err = r.touchLengths() // they are read before a list is opened
	}
	return err
}

func (r *Reader) openText(f *sections.File) (err error) {
	r.text, err = openText(f, int(r.meta.docs))
	return err
}

func (r *Reader) openLevels(f *sections.File) (err error) {
	r.levels, err = openLevels(f, r.meta.docs)
	return err
}

func (r *Reader) openImpacts(f *sections.File) (err error) {
	r.impacts, err = openImpacts(f, r.meta.docs)
	return err
}

// Close unmaps the files. Nothing that came from the reader may be used afterwards; its own methods
// then return [ErrClosed] if they return errors.
func (r *Reader) Close() error {
	r.fetching.Wait()
	if r.fields != nil {
		for _, f := range r.fields.texts {
			f.fetching.Wait()
		}
	}
	var first error
	for _, m := range r.maps {
		if err := m.Close(); err != nil && first == nil {
			first = err
		}
	}
	r.maps = nil
	r.forget()
	return first
}

// forget drops what points into the maps, so that no method can read them.
func (r *Reader) forget() {
	r.closed, r.files = true, nil
	r.postings, r.skips, r.lengths, r.classes, r.levels = nil, nil, nil, nil, levelMaps{}
	r.impacts = impactLists{}
	if r.fields != nil {
		for _, f := range r.fields.texts {
			f.forget()
		}
	}
}

// Dir returns the folder of the index.
func (r *Reader) Dir() string { return r.dir }

// Docs returns the number of documents; they are numbered from 0.
func (r *Reader) Docs() int { return int(r.meta.docs) }

// Terms returns the number of different words; they are numbered from 0 in byte order.
func (r *Reader) Terms() int { return int(r.meta.terms) }

// Postings returns the number of (word, document) pairs.
func (r *Reader) Postings() int64 { return int64(r.meta.postings) }

// Pruned reports whether postings were left out (see Prune), so that answers are approximate.
func (r *Reader) Pruned() bool { return r.meta.flags&flagPruned != 0 }

// Tokens returns the sum of all document lengths. Tokens / Docs is the mean length.
func (r *Reader) Tokens() int64 { return int64(r.meta.tokens) }

// Analyzer returns the name of the analyzer that made the words, as text.ParseAnalyzer takes it.
func (r *Reader) Analyzer() string { return r.analyzer }

// Lengths returns the length of each document in words. The slice must not be changed. It is a view
// of the mapped file or, where lengths are stored as classes, memory that the first call fills:
// about 1 ms for a million documents.
func (r *Reader) Lengths() []uint32 {
	if r.meta.flags&flagNoLengths == 0 {
		return r.lengths
	}
	r.expand.Do(func() {
		r.lengths = make([]uint32, len(r.classes))
		if err := r.expandLengths(); err != nil {
			r.expandErr.Store(&err)
			r.lengthsGood.Store(false) // so that opening a list returns the error
		}
	})
	return r.lengths
}

func (r *Reader) expandLengths() (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	for d, class := range r.classes {
		r.lengths[d] = r.classLow[class]
	}
	return nil
}

// Length returns the length of one document in words.
func (r *Reader) Length(doc int) uint32 {
	if r.meta.flags&flagNoLengths == 0 {
		return r.lengths[doc]
	}
	return r.classLow[r.classes[doc]]
}

// Classes returns the length class of each document, in one byte where Lengths has four. It is a
// view of the mapped file and must not be changed.
func (r *Reader) Classes() []uint8 { return r.classes }

// ClassLengths returns the shortest length of each length class; only the first n classes are used.
// If exact is true, all documents of a class have the same length.
func (r *Reader) ClassLengths() (low *[256]uint32, n int, exact bool) {
	c := r.classLow
	return &c, r.numLow, r.meta.flags&flagExactClasses != 0
}

// Lookup finds a word. For an unknown word it returns the zero Term, whose list is empty.
func (r *Reader) Lookup(word []byte) (Term, error) {
	if r.closed {
		return Term{}, ErrClosed
	}
	return r.dict.lookup(word)
}

// Prefetch loads what Open needs of a term into the processor's cache, or begins to fetch it if it
// is in an object store, so that the lists of a query's words are fetched at the same time.
func (r *Reader) Prefetch(t Term) {
	if r.postingsFile.Partial() {
		r.fetchList(t)
		return
	}
	if t.DF > 1 && t.postings < uint64(len(r.postings)) {
		prefetch(&r.postings[t.postings])
	}
	if t.DF <= BlockSize {
		return
	}
	end := t.skips + skipBytes(t.DF)
	if t.skips < end && end <= uint64(len(r.skips)) {
		blocks := (uint64(t.DF) + BlockSize - 1) / BlockSize
		prefetch(&r.skips[t.skips])
		prefetch(&r.skips[t.skips+4*blocks])
		prefetch(&r.skips[end-8])
	}
}

// fetchList begins to fetch the list of a term. Open reports what fails.
func (r *Reader) fetchList(t Term) {
	size := uint64(len(r.postings) - tailPad)
	if t.DF <= 1 || t.made != nil || t.postings > size || t.postingsLen > size-t.postings {
		return
	}
	list := r.postings[t.postings : t.postings+t.postingsLen]
	if r.postingsFile.Seen(list) {
		return
	}
	r.fetching.Go(func() { _ = mmap.Safely(func() error { return r.postingsFile.Touch(list) }) })
}

// Term returns the term with that number.
func (r *Reader) Term(id int) (Term, error) {
	if r.closed {
		return Term{}, ErrClosed
	}
	if uint(id) >= uint(r.dict.terms) {
		return Term{}, fmt.Errorf("term %d: the index has %d", id, r.dict.terms)
	}
	return r.dict.term(id)
}

// Word is a word with its dictionary entry.
type Word struct {
	Text []byte // valid until the next one
	Term Term   // counts of the word, and what opens its list; see Reader.Open
}

// Words yields all words in byte order.
func (r *Reader) Words() iter.Seq2[Word, error] { return r.wordsFrom(0) }

// WordsFrom yields the words from first on, in byte order.
func (r *Reader) WordsFrom(first []byte) iter.Seq2[Word, error] {
	return func(yield func(Word, error) bool) {
		if r.closed {
			yield(Word{}, ErrClosed)
			return
		}
		block, err := 0, error(nil)
		if err := mmap.Safely(func() error { block, err = r.dict.findBlock(first); return err }); err != nil {
			yield(Word{}, err)
			return
		}
		for w, err := range r.wordsFrom(max(0, block) * termsPerBlock) {
			if err == nil && bytes.Compare(w.Text, first) < 0 {
				continue
			}
			if !yield(w, err) {
				return
			}
		}
	}
}

// wordsFrom yields the words from number id on, which must be the first of a block.
func (r *Reader) wordsFrom(id int) iter.Seq2[Word, error] {
	return func(yield func(Word, error) bool) {
		if r.closed {
			yield(Word{}, ErrClosed)
			return
		}
		w := termWalker{d: r.dict, id: id}
		for {
			word, t, ok, err := w.guardedNext()
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

// DocID returns the external ID of a document.
func (r *Reader) DocID(doc int) (s string, err error) {
	if r.closed {
		return "", ErrClosed
	}
	defer mmap.Recover(mmap.Guard(), &err)
	var buf [64]byte
	id, err := r.ids.get(buf[:0], doc)
	return string(id), err
}

// AppendDocID appends the external ID of a document to dst.
func (r *Reader) AppendDocID(dst []byte, doc int) ([]byte, error) {
	if r.closed {
		return dst, ErrClosed
	}
	return r.ids.get(dst, doc)
}

// FindDoc finds a document by its external ID, the first one if several have the same.
func (r *Reader) FindDoc(id string) (doc int, found bool, err error) {
	if r.closed {
		return 0, false, ErrClosed
	}
	defer mmap.Recover(mmap.Guard(), &err)
	return r.ids.find([]byte(id))
}

// FindDocs returns the documents with an external ID, in ascending order.
func (r *Reader) FindDocs(id string) (docs []uint32, err error) {
	if r.closed {
		return nil, ErrClosed
	}
	defer mmap.Recover(mmap.Guard(), &err)
	return r.ids.findAll([]byte(id))
}

// Stamp identifies the content of the index: indexes with the same stamp have the same files.
func (r *Reader) Stamp() (bytes uint64, checksum uint32) { return r.stamp.size, r.stamp.crc }

// BadID returns an ID that a TREC run cannot contain, because it is empty or has white space in it,
// if there is one.
func (r *Reader) BadID() (id string, found bool, err error) {
	if r.closed {
		return "", false, ErrClosed
	}
	defer mmap.Recover(mmap.Guard(), &err)
	b, found, err := r.ids.bad()
	return string(b), found, err
}

// RepeatedID returns an ID that several documents have, if there is one.
func (r *Reader) RepeatedID() (id string, found bool, err error) {
	if r.closed {
		return "", false, ErrClosed
	}
	defer mmap.Recover(mmap.Guard(), &err)
	w, last := idWalker{s: r.ids}, []byte(nil)
	for i := 0; w.rank < r.ids.docs; i++ {
		if !w.next() {
			return "", false, errIDs(r.ids.byRankAt(w.rank))
		}
		if i > 0 && bytes.Equal(w.id, last) {
			return string(w.id), true, nil
		}
		last = append(last[:0], w.id...)
	}
	return "", false, nil
}

// HasText reports whether the text of the documents is stored, as a whole or as stored fields.
func (r *Reader) HasText() bool {
	return r.text != nil || r.fields != nil && StoresText(r.fields.schema)
}

// Text returns the stored text of a document.
func (r *Reader) Text(doc int) ([]byte, error) { return r.AppendText(nil, doc) }

// AppendText appends the stored text of a document to dst.
func (r *Reader) AppendText(dst []byte, doc int) (s []byte, err error) {
	if r.closed {
		return dst, ErrClosed
	}
	defer mmap.Recover(mmap.Guard(), &err)
	if r.text == nil && r.HasText() {
		return r.fields.text(dst, doc)
	}
	if r.text == nil {
		return nil, fmt.Errorf("%s: the index stores no text", r.dir)
	}
	return r.text.get(dst, doc)
}

// Guarded calls fn and returns its error. If fn reads a mapped file that was truncated after it was
// opened, Guarded returns an error where the program would otherwise crash.
func Guarded(fn func() error) error { return mmap.Safely(fn) }

func (w *termWalker) guardedNext() (word []byte, t Term, ok bool, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	return w.next()
}
