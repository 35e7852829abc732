package segments

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/text"
)

// buffer holds documents in memory until they are written as a segment. Documents that are deleted
// meanwhile stay in the lists until then. Documents with fields are kept as they are, because each
// field has lists of its own, which package index builds when the segment is written.
type buffer struct {
	schema   *fields.Schema // nil if documents have no fields
	analyzer text.Analyzer
	more     []text.Analyzer // that the schema may name
	keepText bool
	places   bool // keep positions
	words    map[string]int32
	lists    []wordList
	docs     []bufferDoc
	byID     map[string]uint32 // document by ID
	alive    int               // documents that were not deleted
	bytes    int64             // approximate memory
	tokens   text.Tokens

	// Only if documents have fields:
	columns   *columns.Batch // their values, to check them and to know their size
	vector    []float32      // to check one
	longest   int64          // bytes of the longest text
	splitters []splitter
}

type wordList struct {
	word      string
	docs, tfs []uint32
	places    []uint32 // positions of all occurrences, if they are kept
}

type bufferDoc struct {
	id     string
	length uint32
	text   []byte
	fields []fields.Values
	breaks []uint32 // breaks in the text
	gone   bool
}

func newBuffer(a text.Analyzer, keepText, places bool, schema *fields.Schema) *buffer {
	b := &buffer{
		schema: schema, analyzer: a, keepText: keepText, places: places,
		words: map[string]int32{}, byID: map[string]uint32{},
	}
	if schema != nil {
		b.columns = columns.NewBuilder(schema, 0).Batch(0)
	}
	return b
}

// Estimated overhead of maps and slices in bytes.
const (
	bytesPerWord    = 120
	bytesPerDoc     = 150
	bytesPerPosting = 16 // lists grow by doubling
)

func (b *buffer) add(d text.Document) error {
	if b.schema != nil {
		return b.addFields(d)
	}
	if err := d.Complete(nil); err != nil {
		return err
	}
	b.tokens.WantSource, b.tokens.At = b.places && len(d.Breaks) > 0, b.tokens.At[:0]
	if err := b.analyzer.Analyze(d.Text, &b.tokens); err != nil {
		return fmt.Errorf("document %q: %w", d.ID, err)
	}
	if err := wordsFit(&b.tokens); err != nil {
		return fmt.Errorf("document %q: %w", d.ID, err)
	}
	var places []uint32
	if b.tokens.WantSource || len(b.tokens.At) > 0 {
		places = b.tokens.Places(nil, d.Breaks)
	}
	b.remove(d.ID)
	n := uint32(len(b.docs))
	for i := range b.tokens.Words {
		word := b.tokens.Word(i)
		at, ok := b.words[string(word)]
		if !ok {
			at = int32(len(b.lists))
			b.lists = append(b.lists, wordList{word: string(word)})
			b.words[b.lists[at].word] = at
			b.bytes += int64(len(word)) + bytesPerWord
		}
		l := &b.lists[at]
		if b.places {
			place := uint32(i)
			if places != nil {
				place = places[i]
			}
			l.places = append(l.places, place)
			b.bytes += bytesPerPosting / 2
		}
		tf := b.tokens.Count(i)
		if k := len(l.docs); k > 0 && l.docs[k-1] == n {
			l.tfs[k-1] += tf
			continue
		}
		l.docs, l.tfs = append(l.docs, n), append(l.tfs, tf)
		b.bytes += bytesPerPosting
	}
	doc := bufferDoc{id: d.ID, length: uint32(b.tokens.Total())}
	if b.keepText {
		doc.text = slices.Clone(d.Text)
	}
	b.keep(doc)
	return nil
}

// keep appends a document.
func (b *buffer) keep(d bufferDoc) {
	b.byID[d.id] = uint32(len(b.docs))
	b.docs = append(b.docs, d)
	b.alive++
	b.bytes += int64(len(d.id)+len(d.text)) + bytesPerDoc
}

// addFields adds a document with fields. Its text is that of the text fields.
func (b *buffer) addFields(d text.Document) error {
	if err := d.Complete(b.schema); err != nil {
		return err
	}
	if err := b.trySplitting(&d); err != nil {
		return err
	}
	// Report values of the wrong type now, not when all documents are written.
	if err := b.columns.Add(d.Fields); err != nil {
		return fmt.Errorf("document %q: %w", d.ID, err)
	}
	for _, i := range b.schema.Of(fields.Vector) {
		var err error
		if b.vector, err = dense.Check(b.vector[:0], &b.schema.Fields[i], d.Fields[i]); err != nil {
			return fmt.Errorf("document %q: %w", d.ID, err)
		}
	}
	b.remove(d.ID)
	doc := bufferDoc{id: d.ID, fields: make([]fields.Values, len(d.Fields))}
	for i, values := range d.Fields {
		for _, v := range values {
			doc.fields[i] = append(doc.fields[i], slices.Clone(v))
			b.bytes += int64(len(v)) + bytesPerPosting
		}
	}
	doc.text = slices.Clone(d.Text)
	b.longest = max(b.longest, int64(len(d.Text)))
	if b.places {
		doc.breaks = slices.Clone(d.Breaks)
	}
	b.keep(doc)
	return nil
}

// remove deletes a document, if it is there.
func (b *buffer) remove(id string) bool {
	d, ok := b.byID[id]
	if ok {
		b.docs[d].gone = true
		b.alive--
		delete(b.byID, id)
	}
	return ok
}

// full reports whether the documents take more than memory bytes, or writing them would.
func (b *buffer) full(memory int64) bool { return max(b.bytes, b.need()) > memory }

// need is the least memory with which index.Build writes documents with fields.
func (b *buffer) need() int64 {
	if b.schema == nil {
		return 0
	}
	return index.MemoryForFields(b.schema, b.longest, b.columns.Bytes())
}

// writeFields writes documents with fields. If one of them needs more memory than that, it gets it:
// it was accepted. Progress is that of the documents handed out.
func (b *buffer) writeFields(dir string, memory int64, progress func(done, of int64)) error {
	const batch = 1 << 20 // bytes, as in package text
	source := func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			var docs []text.Document
			bytes := 0
			for i := range b.docs {
				d := &b.docs[i]
				if d.gone {
					continue
				}
				docs = append(docs, text.Document{ID: d.id, Text: d.text, Fields: d.fields, Breaks: d.breaks})
				if bytes += len(d.text); bytes >= batch {
					if !yield(docs, nil) {
						return
					}
					if progress != nil {
						progress(int64(i), int64(len(b.docs)))
					}
					docs, bytes = nil, 0
				}
			}
			if len(docs) > 0 {
				yield(docs, nil)
			}
		}
	}
	c := text.Corpus{Source: source, Options: text.Options{Schema: b.schema, Cut: true, MaxDocument: math.MaxInt64}}
	return index.Build(context.Background(), dir, &c, index.BuildOptions{
		Analyzer: b.analyzer, Analyzers: b.more, StoreText: b.keepText, Positions: b.places,
		Memory: max(memory, b.need()),
	})
}

// write writes the documents that were not deleted as an index, within about memory bytes. It calls
// progress, which may be nil, with its share of the lists of words.
func (b *buffer) write(dir string, memory int64, progress func(done, of int64)) error {
	if b.schema != nil {
		return b.writeFields(dir, memory, progress)
	}
	w, err := index.Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	place, kept := make([]uint32, len(b.docs)), make([]int, 0, b.alive)
	lengths := make([]uint32, 0, b.alive)
	for d := range b.docs {
		if place[d] = uint32(len(kept)); !b.docs[d].gone {
			kept = append(kept, d)
			lengths = append(lengths, b.docs[d].length)
		}
	}
	err = w.SetDocuments(index.Documents{
		Analyzer: b.analyzer.Name(), Lengths: lengths,
		ID: func(d int) string { return b.docs[kept[d]].id }, Positions: b.places,
	})
	if err != nil {
		return err
	}
	if b.keepText {
		if err := w.StoreTexts(b.texts(kept)); err != nil {
			return err
		}
	}
	slices.SortFunc(b.lists, func(x, y wordList) int {
		if x.word < y.word {
			return -1
		}
		return 1 // words are distinct
	})
	for i, l := range b.lists {
		if progress != nil && i%(len(b.lists)/100+1) == 0 {
			progress(int64(i), int64(len(b.lists)))
		}
		n, from, to := 0, 0, 0
		for i, d := range l.docs {
			tf := int(l.tfs[i])
			if !b.docs[d].gone {
				l.docs[n], l.tfs[n] = place[d], l.tfs[i]
				n++
				if b.places {
					to += copy(l.places[to:], l.places[from:from+tf])
				}
			}
			from += tf
		}
		if b.places {
			err = w.AddPositions([]byte(l.word), l.docs[:n], l.tfs[:n], l.places[:to])
		} else {
			err = w.Add([]byte(l.word), l.docs[:n], l.tfs[:n])
		}
		if err != nil {
			return err
		}
	}
	return w.Commit()
}

func (b *buffer) texts(docs []int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, d := range docs {
			if !yield(b.docs[d].text) {
				return
			}
		}
	}
}
