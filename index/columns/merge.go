package columns

import (
	"fmt"
	"iter"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/mmap"
)

// From appends documents of another index with the same fields, in the given order.
func (t *Batch) From(s *Set, docs iter.Seq[uint32]) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if len(s.columns) != len(t.cols) {
		return fmt.Errorf("columns: %d columns, want %d", len(s.columns), len(t.cols))
	}
	from := make([]merging, len(s.columns))
	for i, c := range s.columns {
		if f := t.b.schema.Fields[t.b.fields[i]]; s.names[i] != f.Name || c.field.Type != f.Type {
			return fmt.Errorf("columns: column %d is %s of type %s, want %s of type %s", i,
				s.names[i], c.field.Type, f.Name, f.Type)
		}
		if err := c.verify(); err != nil {
			return err
		}
		from[i] = merging{c: c}
	}
	for d := range docs {
		for i := range from {
			if err := from[i].add(t, i, int(d)); err != nil {
				return err
			}
		}
		t.docs++
	}
	return nil
}

// merging copies values of a column to another one.
type merging struct {
	c    *Column
	ids  []uint32 // by keyword: its number in the new column plus 1; 0 if not looked up yet
	ords []uint32
}

func (m *merging) add(t *Batch, i, doc int) error {
	out, c := &t.cols[i], m.c
	switch c.field.Type {
	case fields.Keyword:
		return m.addWords(t, i, doc)
	case fields.Number:
		v, ok := c.Number(doc)
		out.put(numberBits(v), ok)
	case fields.Date:
		v, ok := c.Date(doc)
		out.put(uint64(v), ok)
	default:
		v, ok := c.Point(doc)
		out.put(pointBits(v), ok)
	}
	return nil
}

func (m *merging) addWords(t *Batch, i, doc int) error {
	if m.ids == nil {
		m.ids = make([]uint32, m.c.distinct)
	}
	out, dict := &t.cols[i], t.b.dicts[i]
	m.ords = m.c.Ords(doc, m.ords[:0])
	for _, ord := range m.ords {
		if int(ord) >= len(m.ids) {
			return errWords
		}
		if m.ids[ord] == 0 {
			word, err := m.c.Value(int(ord))
			if err != nil {
				return err
			}
			dict.mu.Lock()
			id, grown := dict.id([]byte(word))
			dict.mu.Unlock()
			t.size += grown
			m.ids[ord] = id + 1
		}
		out.ids = append(out.ids, m.ids[ord]-1)
	}
	out.ends = append(out.ends, uint32(len(out.ids)))
	return nil
}
