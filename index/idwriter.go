package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/collocate/collocate/internal/extsort"
	"github.com/collocate/collocate/internal/numberedid"
	"github.com/collocate/collocate/internal/scratch"
	"github.com/collocate/collocate/internal/sections"
)

// idWriter writes the four sections of the ID store.
type idWriter struct {
	docs   int
	id     func(int) []byte // ID of a document, valid until the next call
	run    func(int) int    // length of the run of consecutive IDs at a document; nil if unknown
	byRank []uint32         // documents sorted by ID; computed if nil

	unique  bool   // duplicate IDs are an error
	room    int64  // bytes of memory for sorting; larger data are sorted in files
	tempDir string // folder for these files

	firsts []uint32 // first rank of each block, if any block has more than idsPerBlock IDs

	ranked *scratch.Pages  // byRank, if it is in a file
	sorted *extsort.Sorter // the IDs, if they do not fit in memory
}

// idShare limits the memory for sorting IDs to one in this many bytes.
const idShare = 8

func (w *idWriter) write(out *sections.Writer) error {
	defer w.close()
	if w.byRank == nil {
		if err := w.rank(); err != nil {
			return err
		}
	} else if !w.unique {
		w.orderEqual()
	}
	starts := scratch.Numbers{Dir: w.tempDir}
	defer starts.Close()
	if err := w.writeBlocks(out, &starts); err != nil {
		return err
	}
	if err := starts.Copy(out, "id-starts"); err != nil {
		return err
	}
	if w.firsts != nil {
		if err := out.Section("id-firsts", sections.Bytes(w.firsts)); err != nil {
			return err
		}
	}
	return errors.Join(w.writeRanks(out), w.writeDocs(out))
}

// writeBlocks writes the sorted IDs.
func (w *idWriter) writeBlocks(out *sections.Writer, starts *scratch.Numbers) error {
	if err := out.Begin("ids"); err != nil {
		return err
	}
	at, rank := uint64(0), 0
	firsts := []uint32{0}
	if err := starts.Add(0); err != nil {
		return err
	}
	longer := false // some block has more than idsPerBlock IDs
	e := idEncoder{emit: func(block []byte, ids int) error {
		longer = longer || ids > idsPerBlock
		at += uint64(len(block))
		rank += ids
		firsts = append(firsts, uint32(rank))
		_, err := out.Write(block)
		return errors.Join(err, starts.Add(at))
	}}
	last, lastDoc := []byte(nil), -1
	err := w.each(func(doc int, id []byte, n int) error {
		if w.unique && lastDoc >= 0 && bytes.Equal(id, last) {
			return &DuplicateIDError{ID: string(id), First: lastDoc, Second: doc}
		}
		if err := e.addRun(id, n); err != nil {
			return err
		}
		last, lastDoc = append(last[:0], e.last...), doc+n-1
		return nil
	})
	if err == nil {
		err = e.close()
	}
	if err == nil && longer {
		w.firsts = firsts
	}
	return err
}

// each calls fn with the IDs in sorted order: the first ID of each run, and the run's length.
func (w *idWriter) each(fn func(doc int, id []byte, n int) error) error {
	switch {
	case w.sorted != nil:
		return w.merge(fn)
	case len(w.byRank) > 0:
		for _, d := range w.byRank {
			if err := fn(int(d), w.id(int(d)), 1); err != nil {
				return err
			}
		}
		return nil
	}
	for d := 0; d < w.docs; {
		n := w.runFrom(d)
		if err := fn(d, w.id(d), n); err != nil {
			return err
		}
		d += n
	}
	return nil
}

// runFrom returns the length, at least 1, of the run of consecutive IDs at a document, as far as it
// is known.
func (w *idWriter) runFrom(doc int) int {
	if w.run == nil {
		return 1
	}
	return w.run(doc)
}

// ranksAtATime is the number of ranks that are packed at a time. It is a multiple of 8, so that
// they end at a whole byte.
const ranksAtATime = 1 << 20

// writeRanks writes the rank of each document. If byRank is in a file, it is read several times;
// each pass finds the ranks of as many documents as fit in memory.
func (w *idWriter) writeRanks(out *sections.Writer) error {
	if err := out.Begin("id-ranks"); err != nil || len(w.byRank) == 0 {
		return err
	}
	room := w.docs
	if w.ranked != nil {
		room = max(int(w.room/4)&^7, ranksAtATime)
	}
	ranks := make([]uint32, min(room, w.docs))
	var packed []byte
	for from := 0; from < w.docs; from += room {
		part := ranks[:min(room, w.docs-from)]
		for i := 0; i < w.docs; i += ranksAtATime {
			for k, d := range w.byRank[i:min(i+ranksAtATime, w.docs)] {
				if at := int(d) - from; uint(at) < uint(len(part)) {
					part[at] = uint32(i + k)
				}
			}
			w.ranked.Touch(4 * ranksAtATime / scratch.PageBytes)
		}
		for len(part) > 0 {
			n := min(len(part), ranksAtATime)
			packed = packTail(packed[:0], part[:n], idBits(w.docs))
			if _, err := out.Write(packed); err != nil {
				return err
			}
			part = part[n:]
		}
	}
	_, err := out.Write(make([]byte, tailPad))
	return err
}

// writeDocs writes the document of each rank.
func (w *idWriter) writeDocs(out *sections.Writer) error {
	if err := out.Begin("id-docs"); err != nil || len(w.byRank) == 0 {
		return err
	}
	var packed []byte
	for i := 0; i < w.docs; i += ranksAtATime {
		packed = packTail(packed[:0], w.byRank[i:min(i+ranksAtATime, w.docs)], idBits(w.docs))
		if _, err := out.Write(packed); err != nil {
			return err
		}
		w.ranked.Touch(4 * ranksAtATime / scratch.PageBytes)
	}
	_, err := out.Write(make([]byte, tailPad))
	return err
}

// rank sorts the documents by ID into byRank, which is empty but not nil if they are sorted
// already. If they do not fit in memory, merge fills it.
func (w *idWriter) rank() error {
	w.byRank = []uint32{}
	sorted, size := w.inOrder()
	switch {
	case sorted:
		return nil
	case size <= w.room:
		s := idSorter{}
		for d := range w.docs {
			s.add(uint32(d), w.id(d))
		}
		w.byRank = s.sort()
		return nil
	}
	return w.sortRuns()
}

// orderEqual sorts documents that have the same ID by number. A byRank given by the caller comes
// from another order of the documents, in which their numbers may have been the other way round.
func (w *idWriter) orderEqual() {
	var last []byte
	first := 0 // rank of the first document whose ID is last
	for rank, d := range w.byRank {
		id := w.id(int(d))
		if rank > 0 && bytes.Equal(id, last) {
			continue
		}
		slices.Sort(w.byRank[first:rank])
		first, last = rank, append(last[:0], id...)
	}
	slices.Sort(w.byRank[first:])
}

// inOrder reports whether the documents are sorted by ID, and how much memory sorting would take.
func (w *idWriter) inOrder() (sorted bool, size int64) {
	sorted = true
	var before []byte
	var next numberedid.Follower
	for d := 0; d < w.docs; {
		id := w.id(d)
		if sorted && !next.Is(id) {
			sorted = d == 0 || compareIDs(before, id) <= 0
			next.After(id)
		}
		n := w.runFrom(d)
		if n > 1 { // a run is sorted
			id = w.id(d + n - 1)
			next.After(id)
		}
		size += int64(n) * int64(len(id)+idBytes)
		before = append(before[:0], id...)
		d += n
	}
	return sorted, size
}

// idSorter sorts IDs in memory.
type idSorter struct {
	first uint32 // the first document added
	blob  []byte
	ends  []uint64
	docs  []uint32
}

// idBytes is the memory of an idSorter for each ID, besides its bytes.
const idBytes = 8 + 4

func (s *idSorter) add(doc uint32, id []byte) {
	if len(s.docs) == 0 {
		s.first, s.ends = doc, append(s.ends[:0], 0)
	}
	s.blob = append(s.blob, id...)
	s.ends = append(s.ends, uint64(len(s.blob)))
	s.docs = append(s.docs, doc)
}

func (s *idSorter) of(doc uint32) []byte {
	return s.blob[s.ends[doc-s.first]:s.ends[doc-s.first+1]]
}

// sort returns the documents sorted by ID, and by number if IDs are equal.
func (s *idSorter) sort() []uint32 {
	slices.SortFunc(s.docs, func(a, b uint32) int {
		return cmp.Or(compareIDs(s.of(a), s.of(b)), cmp.Compare(a, b))
	})
	return s.docs
}

// sortRuns begins an external sort of IDs that do not fit in memory. Later merge reads them and
// writes byRank to another file. A record is the document as uvarint, then the ID.
func (w *idWriter) sortRuns() error {
	w.sorted = &extsort.Sorter{Room: w.room / 2, Dir: w.tempDir, Compare: func(a, b []byte) int {
		_, x := idOfRecord(a)
		_, y := idOfRecord(b)
		return compareIDs(x, y)
	}}
	var record []byte
	for d := range w.docs {
		record = append(binary.AppendUvarint(record[:0], uint64(d)), w.id(d)...)
		if err := w.sorted.Add(record); err != nil {
			return err
		}
	}
	return nil
}

func idOfRecord(record []byte) (doc uint32, id []byte) {
	d, n := binary.Uvarint(record)
	return uint32(d), record[n:]
}

// merge calls fn with all IDs in order, one at a time, and fills byRank.
func (w *idWriter) merge(fn func(doc int, id []byte, n int) error) error {
	ranked, err := scratch.Create(w.tempDir)
	if err != nil {
		return err
	}
	defer ranked.Close()
	for record, err := range w.sorted.All() {
		if err != nil {
			return err
		}
		doc, id := idOfRecord(record)
		if err := errors.Join(fn(int(doc), id, 1), sections.Put(ranked, []uint32{doc})); err != nil {
			return err
		}
	}
	if w.ranked, err = ranked.Map(w.room / 4); err != nil {
		return err
	}
	w.byRank, err = sections.View[uint32](w.ranked.Data)
	return err
}

func (w *idWriter) close() {
	w.ranked.Close()
	w.sorted.Close()
}
