package segments

import (
	"fmt"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/text"
)

// In an index of passages a change is one of whole documents: all passages of a document lie in one
// segment, and they are replaced and deleted together.

// addPassages appends the passages of a document in place of those of an older one.
func (w *Writer) addPassages(id string, list []text.Document) error {
	// All passages have the values that the document has. So if the first one can be added, the
	// others can, and the older document is replaced as a whole.
	if err := w.buffer.add(list[0]); err != nil {
		return err
	}
	w.changed = true
	for n := 2; w.buffer.remove(text.PassageID(id, n)); n++ {
	}
	for _, p := range list[1:] {
		if err := w.buffer.add(p); err != nil {
			return w.fail(err)
		}
	}
	_, err := w.removePassages(id)
	return w.fail(err)
}

// removePassages deletes the passages of a document from all segments.
func (w *Writer) removePassages(parent string) (n int, err error) {
	for number := 1; ; number++ {
		found := false
		for _, s := range w.segs {
			docs, err := s.FindDocs(text.PassageID(parent, number))
			if err != nil {
				return n, err
			}
			for _, d := range docs {
				found = true
				if s.remove(d) {
					n++
				}
			}
		}
		if !found {
			return n, nil
		}
	}
}

// deletePassages deletes a document as Delete does.
func (w *Writer) deletePassages(parent string) (n int, err error) {
	n, err = w.removePassages(parent)
	for number := 1; w.buffer.remove(text.PassageID(parent, number)); number++ {
		n++
	}
	return n, err
}

// removeWhole deletes the documents of which the set has a passage.
func (w *Writer) removeWhole(s *segment, set *docset.Set) (n int, err error) {
	last := ""
	for doc := range set.All() {
		id, err := s.DocID(int(doc))
		if err != nil {
			return n, err
		}
		parent, _, ok := text.SplitPassageID(id)
		if !ok {
			return n, fmt.Errorf("segments: %q is not the ID of a passage", id)
		}
		if parent == last {
			continue
		}
		more, err := w.removePassages(parent)
		if err != nil {
			return n, err
		}
		n, last = n+more, parent
	}
	return n, nil
}

// replaced deletes the document of a passage that was added again, if it is its first.
func (w *Writer) replaced(s *segment, doc uint32) (n int, err error) {
	id, err := s.DocID(int(doc))
	if err != nil {
		return 0, err
	}
	if parent, number, ok := text.SplitPassageID(id); ok && number == 1 {
		return w.removePassages(parent)
	}
	return 0, nil
}

// cutter returns what cuts documents into passages, or nil if the schema has none.
func cutter(s *fields.Schema) *text.Cutter {
	if s == nil || s.Passages == nil {
		return nil
	}
	return text.NewCutter(s)
}
