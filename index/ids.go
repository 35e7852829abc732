package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/collocate/collocate/internal/numberedid"
	"github.com/collocate/collocate/internal/sections"
)

// idsPerBlock is the number of external IDs in a block of the ID store. A block with a long run of
// consecutively numbered IDs extends to the end of the run, so that millions of such IDs are one
// block of a few bytes.
const idsPerBlock = 32

// idStore maps documents to external IDs and back. IDs are sorted by compareIDs, equal ones by
// document; an ID's rank is its number in that order. The format is described in reader.go.
type idStore struct {
	file   *sections.File
	docs   int
	blob   []byte
	starts []uint64
	firsts []uint32 // the first rank of each block, and the end; nil if all have idsPerBlock IDs
	// The rank of each document, and the document of each rank, packed with idBits each. Both are
	// empty if every rank is equal to its document.
	ranks, byRank []byte
	bits          uint
}

func openIDs(f *sections.File, docs int, runBlocks bool) (*idStore, error) {
	s := &idStore{file: f, docs: docs, bits: idBits(docs)}
	var err error
	if s.blob, err = f.Section("ids"); err != nil {
		return nil, err
	}
	if s.starts, err = view[uint64](f, "id-starts"); err != nil {
		return nil, err
	}
	if s.ranks, err = f.Section("id-ranks"); err != nil {
		return nil, err
	}
	if s.byRank, err = f.Section("id-docs"); err != nil {
		return nil, err
	}
	blocks := (docs + idsPerBlock - 1) / idsPerBlock
	if runBlocks {
		if s.firsts, err = view[uint32](f, "id-firsts"); err != nil {
			return nil, err
		}
		blocks = min(len(s.firsts)-1, blocks)
	}
	packed := tailBytes(docs, s.bits) + tailPad
	if len(s.starts) != blocks+1 || s.firsts != nil && len(s.firsts) != blocks+1 ||
		len(s.ranks) != len(s.byRank) || len(s.ranks) != 0 && len(s.ranks) != packed {
		return nil, fmt.Errorf("corrupted: the IDs are not those of %d documents", docs)
	}
	return s, nil
}

// first returns the rank of the first ID of a block.
func (s *idStore) first(block int) int {
	if s.firsts != nil {
		return int(s.firsts[block])
	}
	return min(block*idsPerBlock, s.docs)
}

// walk returns a walker positioned before the first ID of a block.
func (s *idStore) walk(block int) idWalker {
	rank := s.first(block)
	return idWalker{s: s, block: block, rank: rank, end: rank}
}

// blockOf returns the block that contains a rank.
func (s *idStore) blockOf(rank int) int {
	if s.firsts == nil {
		return rank / idsPerBlock
	}
	return max(sort.Search(len(s.firsts)-1, func(b int) bool { return s.first(b) > rank })-1, 0)
}

// get appends the ID of a document to dst.
func (s *idStore) get(dst []byte, doc int) ([]byte, error) {
	if uint(doc) >= uint(s.docs) {
		return dst, fmt.Errorf("document %d: the index has %d", doc, s.docs)
	}
	if err := s.touch(s.ranks, doc); err != nil {
		return dst, err
	}
	rank := s.rank(doc)
	if rank >= s.docs {
		return dst, errIDs(doc)
	}
	block := s.blockOf(rank)
	at := s.first(block)
	w := idWalker{s: s, block: block, rank: at, end: at, id: dst[len(dst):]}
	for w.rank <= rank {
		w.skip(rank - w.rank)
		if !w.next() {
			return dst, cmp.Or(w.err, errIDs(doc))
		}
	}
	return append(dst, w.id...), nil
}

func errIDs(doc int) error {
	return fmt.Errorf("corrupted: the ID of document %d cannot be decoded", doc)
}

// find returns the lowest document with that ID.
func (s *idStore) find(id []byte) (doc int, found bool, err error) {
	rank, found, err := s.findRank(id)
	if err != nil || !found {
		return 0, false, err
	}
	if err := s.touch(s.byRank, rank); err != nil {
		return 0, false, err
	}
	doc = s.byRankAt(rank)
	return doc, doc < s.docs, nil
}

// findAll returns all documents with that ID.
func (s *idStore) findAll(id []byte) (docs []uint32, err error) {
	rank, found, err := s.findRank(id)
	if err != nil || !found {
		return nil, err
	}
	w := s.walk(s.blockOf(rank))
	for w.rank < s.docs {
		w.skip(rank - w.rank)
		if !w.next() {
			return nil, cmp.Or(w.err, errIDs(rank))
		}
		if w.rank <= rank {
			continue
		}
		if !bytes.Equal(w.id, id) {
			break
		}
		if err := s.touch(s.byRank, w.rank-1); err != nil {
			return nil, err
		}
		if doc := s.byRankAt(w.rank - 1); doc < s.docs {
			docs = append(docs, uint32(doc))
		}
	}
	return docs, nil
}

// findRank returns the rank of an ID, the lowest if several documents have it.
func (s *idStore) findRank(id []byte) (rank int, found bool, err error) {
	// Find the first block that begins with the ID or a later one. The ID is in it or in the block
	// before.
	bad := false
	b := sort.Search(len(s.starts)-1, func(b int) bool {
		w := s.walk(b)
		bad = bad || !w.next()
		err = cmp.Or(err, w.err)
		return compareIDs(w.id, id) >= 0
	})
	w := s.walk(max(b-1, 0))
	if err != nil {
		return 0, false, err
	}
	for !bad && w.rank < s.docs && w.rank <= s.first(b) {
		w.reach(id)
		if !w.next() {
			bad = true
			break
		}
		if bytes.Equal(w.id, id) {
			return w.rank - 1, true, nil
		}
	}
	if w.err != nil {
		return 0, false, w.err
	}
	if bad {
		return 0, false, fmt.Errorf("corrupted: IDs near %q cannot be decoded", id)
	}
	return 0, false, nil
}

// bad returns the first ID, in sorted order, that is empty or contains white space. Most blocks are
// skipped after a scan of their bytes, without decoding.
func (s *idStore) bad() (id []byte, found bool, err error) {
	for b := range len(s.starts) - 1 {
		from, to := s.starts[b], s.starts[b+1]
		if from > to || to > uint64(len(s.blob)) {
			return nil, false, fmt.Errorf("corrupted: block %d of the IDs", b)
		}
		if err := s.file.Touch(s.blob[from:to]); err != nil {
			return nil, false, err
		}
		if b > 0 && !bytes.ContainsAny(s.blob[from:to], " \t\n\v\f\r") {
			continue // the empty ID can only be in block 0
		}
		w := s.walk(b)
		for w.rank < s.first(b+1) {
			w.skip(s.docs) // the IDs of a run differ in digits only
			if !w.next() {
				return nil, false, errIDs(b)
			}
			if len(w.id) == 0 || bytes.ContainsAny(w.id, " \t\n\v\f\r") {
				return w.id, true, nil
			}
		}
	}
	return nil, false, nil
}

// touch verifies the bytes that contain the i-th packed number.
func (s *idStore) touch(b []byte, i int) error {
	if len(b) == 0 {
		return nil
	}
	at := uint64(i) * uint64(s.bits) / 8
	return s.file.Touch(b[at : at+8])
}

func (s *idStore) rank(doc int) int      { return s.packed(s.ranks, doc) }
func (s *idStore) byRankAt(rank int) int { return s.packed(s.byRank, rank) }

func (s *idStore) packed(b []byte, i int) int {
	if len(b) == 0 {
		return i
	}
	bit := uint64(i) * uint64(s.bits)
	return int(binary.LittleEndian.Uint64(b[bit/8:]) >> (bit % 8) & (1<<s.bits - 1))
}

// idBits returns the number of bits of a document number.
func idBits(docs int) uint { return uint(bits.Len(uint(max(docs, 1) - 1))) }

// idWalker iterates over the IDs in sorted order, from the start of a block.
type idWalker struct {
	s     *idStore
	rank  int // rank of the next ID
	end   int // the rank at which the current block ends
	block int // the block after the current one
	id    []byte
	r     byteReader
	run   uint64 // remaining IDs of the current run
	base  numberedid.ID
	nth   uint64 // the current ID is base plus this number
	err   error  // set if a checksum is wrong
}

// next advances to the next ID. It returns false if there is none, or if the data are damaged.
func (w *idWalker) next() bool {
	if w.rank >= w.s.docs {
		return false
	}
	if w.rank == w.end {
		b := w.block
		if b >= len(w.s.starts)-1 {
			return false
		}
		from, to := w.s.starts[b], w.s.starts[b+1]
		w.end, w.block = w.s.first(b+1), b+1
		if from > to || to > uint64(len(w.s.blob)) || w.end <= w.rank || w.end > w.s.docs {
			return false
		}
		if w.err = w.s.file.Touch(w.s.blob[from:to]); w.err != nil {
			return false
		}
		w.r, w.run, w.id = byteReader{b: w.s.blob[from:to]}, 0, w.id[:0]
	}
	if w.run == 0 && len(w.r.b) > 0 && w.r.b[0] == 0 {
		w.r.b = w.r.b[1:]
		if w.run = w.r.uvarint(); w.run == 0 { // an ID of no bytes
			w.id = w.id[:0]
			w.rank++
			return !w.r.bad
		}
		w.base = numberedid.Of(w.id)
		w.nth = 0
	}
	w.rank++
	if w.run > 0 {
		w.run--
		w.nth++
		w.id = w.base.Append(w.id[:w.base.Stem], w.nth)
		return true
	}
	lcp, suffix := w.r.frontCoded()
	if w.r.bad || lcp > len(w.id) {
		return false
	}
	w.id = append(w.id[:lcp], suffix...)
	return true
}

// skip skips up to n IDs of the current run, but never its last one.
func (w *idWalker) skip(n int) {
	if w.run > 1 && w.rank < w.end && n > 0 {
		n := min(uint64(n), w.run-1, uint64(w.end-w.rank-1))
		w.run -= n
		w.nth += n
		w.rank += int(n)
	}
}

// reach skips the IDs of the current run that come before id, but never its last one. It leaves
// w.id undefined.
func (w *idWalker) reach(id []byte) {
	if w.run < 2 || w.rank >= w.end {
		return
	}
	stem := w.base.Stem
	if after, ok := w.base.To(w.id[:stem], id); ok {
		if after > w.nth+1 {
			w.skip(int(min(after-w.nth-1, w.run)))
		}
		return
	}
	w.skip(sort.Search(int(min(w.run, uint64(w.s.docs))), func(n int) bool {
		w.id = w.base.Append(w.id[:stem], w.nth+1+uint64(n))
		return compareIDs(w.id, id) >= 0
	}))
}

// idEncoder encodes sorted IDs.
type idEncoder struct {
	emit  func(block []byte, ids int) error
	block []byte
	ids   int    // IDs in the block
	run   uint64 // length of the current run, without base
	base  []byte // the ID that the current run continues
	last  []byte
	next  numberedid.Follower // recognises the ID that continues the run after last
}

// longRun is the number of IDs from which a block with a run may exceed idsPerBlock. Shorter runs
// are cut into blocks of idsPerBlock: if all blocks have that size, the block of a rank is computed
// without a search.
const longRun = 32 * idsPerBlock

// add adds an ID.
func (e *idEncoder) add(id []byte) error {
	runsOn := e.next.Is(id)
	if e.ids >= idsPerBlock && !runsOn {
		if err := e.endBlock(); err != nil {
			return err
		}
	}
	if e.ids++; runsOn {
		e.run++
	} else {
		e.addFirst(id)
		e.next.After(id)
	}
	e.last = append(e.last[:0], id...)
	return nil
}

// addRun adds an ID and the consecutive ones after it, n in all.
func (e *idEncoder) addRun(id []byte, n int) error {
	if err := e.add(id); err != nil || n == 1 {
		return err
	}
	more := uint64(n - 1)
	if e.next.Skip(more) {
		first := numberedid.Of(id)
		e.ids += n - 1
		e.run += more
		e.last = first.Append(append(e.last[:0], id[:first.Stem]...), more)
		return nil
	}
	id = slices.Clone(id)
	for range more {
		id = numberedid.Step(id)
		if err := e.add(id); err != nil {
			return err
		}
	}
	return nil
}

// addFirst adds an ID that does not continue a run.
func (e *idEncoder) addFirst(id []byte) {
	e.endRun()
	e.base = append(e.base[:0], id...)
	if len(id) == 0 {
		e.block = append(e.block, 0, 0)
	} else {
		e.block = appendFrontCoded(e.block, e.last, id)
	}
}

// endRun writes the current run.
func (e *idEncoder) endRun() {
	if e.run > 0 {
		e.block = binary.AppendUvarint(append(e.block, 0), e.run)
		e.run = 0
	}
}

// endBlock ends a full block. If a run shorter than longRun exceeds it, the surplus IDs form blocks
// of their own; the last of these may not be full and then stays open.
func (e *idEncoder) endBlock() error {
	if e.ids > idsPerBlock && e.ids < longRun {
		rest := e.ids - idsPerBlock
		e.run -= uint64(rest)
		base, nth := numberedid.Of(e.base), e.run
		id := slices.Clone(e.base[:base.Stem])
		for e.ids = idsPerBlock; rest > 0; {
			if err := e.flush(); err != nil {
				return err
			}
			id = base.Append(id[:base.Stem], nth+1)
			e.addFirst(id)
			e.ids = min(rest, idsPerBlock)
			e.run = uint64(e.ids - 1)
			nth += uint64(e.ids)
			rest -= e.ids
		}
		e.last = base.Append(append(e.last[:0], id[:base.Stem]...), nth)
	}
	if e.ids < idsPerBlock {
		return nil
	}
	return e.flush()
}

// flush emits the block and begins another.
func (e *idEncoder) flush() error {
	e.endRun()
	err := e.emit(e.block, e.ids)
	e.block, e.ids, e.last = e.block[:0], 0, e.last[:0]
	return err
}

// close ends the last block.
func (e *idEncoder) close() error {
	err := e.endBlock()
	if err == nil && e.ids > 0 {
		err = e.flush()
	}
	return err
}

// DuplicateIDError reports two documents, numbered from 0, with the same ID.
type DuplicateIDError struct {
	ID            string // external ID that both documents have
	First, Second int    // numbers of the two documents in the corpus
	// Adding is true if they were to be added to an index with segments, in which a document
	// replaces an older one with its ID, so that both cannot be kept.
	Adding bool
}

func (e *DuplicateIDError) Error() string {
	if e.Adding {
		return fmt.Sprintf("documents %d and %d of those to add have the same ID %q: leave one out, "+
			"add them in two calls, or name another field (text.Options.IDField)", e.First+1, e.Second+1, e.ID)
	}
	return fmt.Sprintf("documents %d and %d of the corpus have the same ID %q: judgments and runs could not tell them apart; "+
		"name another field (text.Options.IDField), or keep both (index.BuildOptions.AllowDuplicateIDs)", e.First+1, e.Second+1, e.ID)
}

// appendUvarints appends several uvarints.
func appendUvarints(dst []byte, v ...uint64) []byte {
	for _, x := range v {
		dst = binary.AppendUvarint(dst, x)
	}
	return dst
}
