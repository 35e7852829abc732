package folders

import (
	"fmt"

	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/text"
)

// known is what the index has of a file.
type known struct {
	size, modified int64 // bytes, milliseconds since 1970
	recheck        bool
	problem        bool
	docs           []known1
}

// known1 is a document of the index.
type known1 struct {
	segment, doc int    // its number in the segment
	id           string // of the whole document
}

// readKnown lists what an index has of each file. Documents without a path were added by others,
// and are left alone. Of a document in passages the first one is looked at, since all say the same.
func readKnown(g *segments.Reader) (files map[string]*known, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	files = make(map[string]*known, g.Docs())
	schema := g.Schema()
	cut := schema != nil && schema.Passages != nil
	for n, s := range g.Segments() {
		var col [5]*columns.Column
		for i, name := range []string{"path", "size", "modified", "recheck", "problem"} {
			c, err := s.Column(name)
			if err != nil {
				return nil, err
			}
			if c == nil {
				return nil, fmt.Errorf("%s: segment %s has no values of the field %s", g.Dir(), s.Name, name)
			}
			if err := c.Verify(nil); err != nil {
				return nil, err
			}
			col[i] = c
		}
		var ords []uint32
		for d := range s.Docs() {
			if s.Live != nil && !s.Live.Has(uint32(d)) {
				continue
			}
			if ords = col[0].Ords(d, ords[:0]); len(ords) != 1 {
				continue
			}
			path, err := col[0].Value(int(ords[0]))
			if err != nil {
				return nil, err
			}
			id, err := s.DocID(d)
			if err != nil {
				return nil, err
			}
			if cut {
				parent, number, ok := text.SplitPassageID(id)
				if !ok {
					return nil, fmt.Errorf("%s: %q is not the ID of a passage", g.Dir(), id)
				}
				if number > 1 {
					continue
				}
				id = parent
			}
			f := files[path]
			if f == nil {
				f = &known{}
				files[path] = f
			}
			size, ok1 := col[1].Number(d)
			modified, ok2 := col[2].Date(d)
			if !ok1 || !ok2 {
				return nil, fmt.Errorf("%s: document %q has no size or time", g.Dir(), id)
			}
			f.size, f.modified = int64(size), modified
			f.recheck = f.recheck || col[3].Has(d)
			f.problem = f.problem || col[4].Has(d)
			f.docs = append(f.docs, known1{n, d, id})
		}
	}
	return files, nil
}

// hashOf returns the hash of a file that the index has.
func hashOf(g *segments.Reader, f *known) (hash string, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	d := f.docs[0]
	c, err := g.Segments()[d.segment].Column("hash")
	if err != nil {
		return "", err
	}
	ords := c.Ords(d.doc, nil)
	if len(ords) != 1 {
		return "", nil
	}
	return c.Value(int(ords[0]))
}
