package weigh

import (
	"errors"
	"sync"

	"github.com/collocate/collocate/internal/scratch"
	"github.com/collocate/collocate/internal/sections"
)

// docStore collects the lengths and IDs of documents from several workers. Beyond its memory bound
// it writes a record for each batch to a temporary file: the IDs, padded with zeros to a multiple
// of 4 bytes, the lengths, and the ends of the IDs. If the IDs are numbered consecutively, the
// record consists of the lengths only.
type docStore struct {
	dir  string
	room int64 // memory bound in bytes

	mu   sync.Mutex
	list []docBatch
	held int64
	file *scratch.File
}

// add adds a batch.
func (s *docStore) add(d docBatch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, d)
	s.held += int64(4*cap(d.lengths) + 4*cap(d.idEnds) + cap(d.ids))
	if s.held <= s.room {
		return nil
	}
	unspilled := s.list[len(s.list)-1:]
	if s.file == nil {
		f, err := scratch.Create(s.dir)
		if err != nil {
			return err
		}
		s.file, unspilled = f, s.list
	}
	for i := range unspilled {
		if err := s.spill(&unspilled[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *docStore) spill(d *docBatch) error {
	d.at = s.file.Size()
	if d.counted {
		err := sections.Put(s.file, d.lengths)
		d.lengths = nil
		return err
	}
	d.idBytes = len(d.ids)
	_, err := s.file.Write(append(d.ids, make([]byte, -len(d.ids)&3)...))
	if err := errors.Join(sections.Put(s.file, d.lengths), sections.Put(s.file, d.idEnds), err); err != nil {
		return err
	}
	d.lengths, d.idEnds, d.ids = nil, nil, nil
	return nil
}

// documents numbers all documents.
func (s *docStore) documents(tokens, bytes int64) (*documents, error) {
	list := s.list
	s.list = nil
	if s.file == nil {
		return newDocuments(list, tokens, bytes)
	}
	v := &documents{batches: list, tokens: tokens, bytes: bytes}
	err := s.mapRecords(v)
	if err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

// mapRecords collects the lengths in one file, and maps the file of records for reading the IDs.
func (s *docStore) mapRecords(v *documents) (err error) {
	if _, err := v.number(); err != nil {
		return err
	}
	if v.records, err = s.file.Map(s.room / 2); err != nil {
		return err
	}
	lengths, err := scratch.Create(s.dir)
	if err != nil {
		return err
	}
	defer lengths.Close()
	for _, b := range v.batches {
		record := v.recordOf(b)
		if err := sections.Put(lengths, record.lengths); err != nil {
			return err
		}
		v.records.Touch(4*b.docs/scratch.PageBytes + 1)
	}
	if v.lengthPages, err = lengths.Map(s.room / 2); err != nil {
		return err
	}
	v.lengths, err = sections.View[uint32](v.lengthPages.Data)
	return err
}

// close closes the file. Its mappings stay valid.
func (s *docStore) close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// recordOf returns a spilled batch, as a view of the file.
func (v *documents) recordOf(b docBatch) docBatch {
	data := v.records.Data[b.at:]
	if b.counted {
		b.lengths, _ = sections.View[uint32](data[:4*b.docs])
		return b
	}
	b.ids = data[:b.idBytes]
	data = data[(b.idBytes+3)&^3:]
	b.lengths, _ = sections.View[uint32](data[:4*b.docs])
	b.idEnds, _ = sections.View[uint32](data[4*b.docs : 8*b.docs])
	return b
}

// forget evicts the mapped files of lengths and IDs from memory.
func (v *documents) forget() {
	v.records.Drop()
	v.lengthPages.Drop()
}

func (v *documents) close() error {
	v.lengths = nil
	return errors.Join(v.records.Close(), v.lengthPages.Close())
}
