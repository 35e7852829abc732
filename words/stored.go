package words

import (
	"bytes"
	"context"
	"iter"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// storedBatch is the size of a batch of stored text in bytes.
const storedBatch = 1 << 20

// Stored returns the stored text of an index as a corpus, without deleted documents. It may be read
// several times. Its windows of words do not cross fields. Within has a set of documents for each
// segment; nil means all.
func Stored(r *segments.Reader, within []*docset.Set) (*text.Corpus, error) {
	if !r.HasText() {
		return nil, ErrNoText
	}
	return &text.Corpus{Source: func(ctx context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			var batch []text.Document
			size := 0
			for i, s := range r.Segments() {
				for doc := range s.Docs() {
					if err := ctx.Err(); err != nil {
						yield(nil, err)
						return
					}
					if !has(s.Live, uint32(doc)) || within != nil && !has(within[i], uint32(doc)) {
						continue
					}
					body, breaks, err := storedText(s.Reader, doc)
					var id string
					if err == nil {
						id, err = s.DocID(doc)
					}
					if err != nil {
						yield(nil, err)
						return
					}
					batch = append(batch, text.Document{ID: id, Text: bytes.Clone(body), Breaks: breaks})
					if size += len(body); size < storedBatch {
						continue
					}
					if !yield(batch, nil) {
						return
					}
					batch, size = nil, 0
				}
			}
			if len(batch) > 0 {
				yield(batch, nil)
			}
		}
	}}, nil
}

// storedText returns the stored text of a document and the borders of its fields. Borders of values
// in a list are not stored, nor those of fields if the text is stored without them.
func storedText(r *index.Reader, doc int) (body []byte, breaks []uint32, err error) {
	schema := r.Schema()
	if schema == nil || !index.StoresText(schema) {
		body, err = r.Text(doc)
		return body, nil, err
	}
	texts := schema.Of(fields.Text)
	values, err := r.Stored(doc)
	if err != nil {
		return nil, nil, err
	}
	body = schema.Text(values)
	for _, i := range texts {
		if at := schema.TextAt(values, i); at > 0 && len(values[i]) > 0 {
			breaks = append(breaks, uint32(at))
		}
	}
	return body, breaks, nil
}

// has reports whether a set has a document; nil has all.
func has(set *docset.Set, doc uint32) bool { return set == nil || set.Has(doc) }
