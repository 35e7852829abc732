package words

import (
	"context"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
)

// IndexSpread holds the occurrences of a word in the parts of an index.
type IndexSpread struct {
	Documents uint64   // number of documents with the word
	Counts    []uint64 // occurrences in each part
	Sizes     []uint64 // words of each part
}

// SpreadOverIndex counts a term of an index in parts of the index: runs of consecutive documents
// with about the same number of words. Deleted documents are left out.
func SpreadOverIndex(ctx context.Context, r *segments.Reader, term []byte,
	parts int) (*IndexSpread, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	s := &IndexSpread{Counts: make([]uint64, parts), Sizes: make([]uint64, parts)}
	total := max(1, uint64(r.Tokens()))
	before := uint64(0) // words of the documents so far
	for _, seg := range r.Segments() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := seg.Lookup(term)
		if err != nil {
			return nil, err
		}
		var c index.Cursor
		next := uint32(index.End)
		if t.DF > 0 {
			if err := seg.Open(t, &c); err != nil {
				return nil, err
			}
			next = c.Doc()
		}
		lengths, err := seg.VerifiedLengths()
		if err != nil {
			return nil, err
		}
		for doc, length := range lengths {
			part := min(uint64(parts)-1, before*uint64(parts)/total)
			before += uint64(length)
			has := next == uint32(doc)
			n := uint64(0)
			if has {
				n = uint64(c.TF())
				c.Next()
				next = c.Doc()
			}
			if seg.Live != nil && !seg.Live.Has(uint32(doc)) {
				continue
			}
			s.Sizes[part] += uint64(length)
			if has {
				s.Counts[part] += n
				s.Documents++
			}
		}
		if err := c.Err(); err != nil {
			return nil, err
		}
	}
	return s, nil
}
