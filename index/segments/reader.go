package segments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// Reader is one generation of an index. Several goroutines may use it at once.
type Reader struct {
	dir        string
	generation uint64
	segments   []Segment
	open       []*openIndex
	docs       int // documents that were not deleted
	analyzer   string
	root       *text.Root // nil if there is none
	m          *manifest  // nil for an index without segments
	// What the segments say unless there are none.
	schema   *fields.Schema
	hasTexts bool
	closed   bool

	countTerms sync.Once
	terms      int

	identify sync.Once
	identity string
}

// Segment is one segment of a generation. Its documents are those of the embedded Reader.
type Segment struct {
	*index.Reader
	// Name is the name of the segment's folder in that of the index, such as s000012, or "." if the
	// folder of the index itself holds its files.
	Name string
	Base uint32      // number of its first document in the index
	Live *docset.Set // documents that were not deleted; nil means all
}

// openIndex is an open segment, shared by the generations that contain it.
type openIndex struct {
	*index.Reader
	name  string
	users atomic.Int32
}

func (o *openIndex) release() error {
	if o.users.Add(-1) == 0 {
		return o.Close()
	}
	return nil
}

// Open opens the newest generation of an index. An index made by package index is one segment.
func Open(dir string) (*Reader, error) { return openNewest(dir, nil) }

// Of returns an open index as a generation of one segment. Closing it closes the index.
func Of(r *index.Reader) *Reader {
	g := &Reader{analyzer: r.Analyzer()}
	g.add(&openIndex{Reader: r, name: here}, nil)
	return g
}

// openNewest opens the newest generation. It reuses the open segments of the generation old, if
// that is not nil.
func openNewest(dir string, old *Reader) (*Reader, error) {
	for try := 0; ; try++ {
		m, err := readManifest(dir)
		if errors.Is(err, fs.ErrNotExist) {
			r, err := index.Open(dir)
			if errors.Is(err, index.ErrSegments) && try < 100 {
				continue // the manifest was written just now
			}
			if errors.Is(err, fs.ErrNotExist) && begun(dir) {
				return nil, fmt.Errorf("open index: %s has no documents yet: %w", dir, fs.ErrNotExist)
			}
			if err != nil {
				return nil, err
			}
			g := Of(r)
			g.dir = dir
			if g.root, err = index.Root(dir); err != nil {
				g.Close()
				return nil, err
			}
			return g, nil
		}
		if err != nil {
			return nil, err
		}
		g, err := openGeneration(dir, m, old)
		if err == nil {
			return g, nil
		}
		// Segments of older generations are removed, so retry if there is a newer one.
		now, err2 := readManifest(dir)
		replaced := errors.Is(err2, fs.ErrNotExist) // by an index without segments
		if try == 100 || !replaced && (err2 != nil || now.Generation == m.Generation) {
			return nil, err
		}
	}
}

func openGeneration(dir string, m *manifest, old *Reader) (*Reader, error) {
	g := &Reader{dir: dir, generation: m.Generation, analyzer: m.Analyzer, root: m.Root, m: m, hasTexts: m.StoreText}
	if len(m.Segments) == 0 && m.Schema != nil {
		var err error
		if g.schema, err = fields.ParseJSON(m.Schema); err != nil {
			return nil, fmt.Errorf("open index: %s: the schema: %w", manifestPath(dir), err)
		}
		g.hasTexts = g.hasTexts || index.StoresText(g.schema)
	}
	for i := range m.Segments {
		e := &m.Segments[i]
		o := old.find(e)
		if o == nil {
			r, err := openSegment(dir, e)
			if err != nil {
				g.Close()
				return nil, err
			}
			o = &openIndex{Reader: r, name: e.Name}
		}
		g.add(o, e.live)
	}
	return g, nil
}

// find returns the open segment for an entry of another generation's manifest, or nil.
func (g *Reader) find(e *entry) *openIndex {
	if g == nil {
		return nil
	}
	for _, o := range g.open {
		if size, checksum := o.Stamp(); o.name == e.Name && size == e.Bytes && checksum == e.Checksum {
			return o
		}
	}
	return nil
}

// add appends a segment.
func (g *Reader) add(o *openIndex, live *docset.Set) {
	base := uint32(0)
	if n := len(g.segments); n > 0 {
		base = g.segments[n-1].Base + uint32(g.segments[n-1].Docs())
	}
	o.users.Add(1)
	g.open = append(g.open, o)
	g.segments = append(g.segments, Segment{Reader: o.Reader, Name: o.name, Base: base, Live: live})
	if live != nil {
		g.docs += live.Count()
	} else {
		g.docs += o.Docs()
	}
}

// Close releases the generation. Nothing that came from it may be used afterwards; its own methods
// then return index.ErrClosed if they return errors.
func (g *Reader) Close() error {
	var errs []error
	for _, o := range g.open {
		errs = append(errs, o.release())
	}
	g.open, g.segments, g.closed = nil, nil, true
	return errors.Join(errs...)
}

// Refresh opens the newest generation, or returns nil if g is the newest. It does not close g.
func (g *Reader) Refresh() (*Reader, error) {
	if g.closed {
		return nil, index.ErrClosed
	}
	m, err := readManifest(g.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && g.generation == 0, err == nil && g.is(m):
		return nil, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist): // else it was replaced by one without segments
		return nil, err
	}
	return openNewest(g.dir, g)
}

// is reports whether g is the generation of a manifest. The number alone does not tell, as the
// index may have been replaced by another, or by its backup.
func (g *Reader) is(m *manifest) bool {
	if m.Generation != g.generation || len(m.Segments) != len(g.open) {
		return false
	}
	for i := range m.Segments {
		e, s := &m.Segments[i], &g.segments[i]
		if g.find(e) != g.open[i] || (e.live == nil) != (s.Live == nil) || e.live != nil && !slices.Equal(e.live.Words(), s.Live.Words()) {
			return false
		}
	}
	return true
}

// Generation returns the number of commits so far; it is 0 for an index made by package index.
func (g *Reader) Generation() uint64 { return g.generation }

// Identity returns a text that copies of a generation share, whatever their folders, and that
// differs if other documents were added or deleted. It depends on the checksums of the segments.
func (g *Reader) Identity() string {
	g.identify.Do(func() {
		h := identity(14695981039346656037)
		for i := range g.segments {
			s := &g.segments[i]
			size, sum := s.Stamp()
			h.add(size, uint64(sum))
			if s.Live != nil {
				h.add(s.Live.Words()...)
			}
		}
		g.identity = fmt.Sprintf("%016x-%d", uint64(h), g.generation)
	})
	return g.identity
}

// identity is a hash of numbers: FNV-1a of their bytes, the lowest first.
type identity uint64

func (h *identity) add(numbers ...uint64) {
	for _, n := range numbers {
		for range 8 {
			*h = (*h ^ identity(n&0xff)) * 1099511628211
			n >>= 8
		}
	}
}

// Dir returns the folder of the index.
func (g *Reader) Dir() string { return g.dir }

// Segments returns the segments of the generation, in the order of their documents. The slice must
// not be changed.
func (g *Reader) Segments() []Segment { return g.segments }

// Docs returns the number of documents that were not deleted.
func (g *Reader) Docs() int { return g.docs }

// Numbers returns the number of documents, deleted ones included. Documents are numbered from 0 to
// Numbers()-1.
func (g *Reader) Numbers() int {
	if n := len(g.segments); n > 0 {
		return int(g.segments[n-1].Base) + g.segments[n-1].Docs()
	}
	return 0
}

// Deleted returns the number of deleted documents that the segments still contain.
func (g *Reader) Deleted() int { return g.Numbers() - g.docs }

// Locate returns the segment of a document, and the document's number in that segment.
func (g *Reader) Locate(doc int) (s *Segment, local int, err error) {
	if g.closed {
		return nil, 0, index.ErrClosed
	}
	if doc < 0 || doc >= g.Numbers() {
		return nil, 0, fmt.Errorf("document %d: the index has %d", doc, g.Numbers())
	}
	i, _ := slices.BinarySearchFunc(g.segments, uint32(doc)+1,
		func(s Segment, d uint32) int { return int(int64(s.Base) - int64(d)) })
	s = &g.segments[i-1] // the last segment with Base <= doc
	return s, doc - int(s.Base), nil
}

// Root returns the folder to which the IDs of files are relative, or nil if the index does not
// remember one.
func (g *Reader) Root() *text.Root { return g.root }

// Analyzer returns the name of the analyzer that made the words, as text.ParseAnalyzer takes it.
func (g *Reader) Analyzer() string { return g.analyzer }

// Schema returns the schema of the documents' fields, the same in all segments, or nil if they have
// none.
func (g *Reader) Schema() *fields.Schema {
	if len(g.segments) == 0 {
		return g.schema
	}
	return g.segments[0].Schema()
}

// Length returns the length of a document in words.
func (g *Reader) Length(doc int) (uint32, error) {
	s, local, err := g.Locate(doc)
	if err != nil {
		return 0, err
	}
	return s.Length(local), nil
}

// HasText reports whether the text of the documents is stored.
func (g *Reader) HasText() bool {
	for _, s := range g.segments {
		if !s.HasText() {
			return false
		}
	}
	return len(g.segments) > 0 || g.hasTexts
}

// Text returns the stored text of a document.
func (g *Reader) Text(doc int) ([]byte, error) { return g.AppendText(nil, doc) }

// AppendText appends the stored text of a document to dst.
func (g *Reader) AppendText(dst []byte, doc int) ([]byte, error) {
	s, local, err := g.Locate(doc)
	if err != nil {
		return nil, err
	}
	return s.AppendText(dst, local)
}

// Stored returns the stored values of a document; see index.Reader.Stored.
func (g *Reader) Stored(doc int) ([]fields.Values, error) {
	s, local, err := g.Locate(doc)
	if err != nil {
		return nil, err
	}
	return s.Reader.Stored(local)
}

// DocID returns the external ID of a document.
func (g *Reader) DocID(doc int) (string, error) {
	s, local, err := g.Locate(doc)
	if err != nil {
		return "", err
	}
	return s.DocID(local)
}

// AppendDocID appends the external ID of a document to dst.
func (g *Reader) AppendDocID(dst []byte, doc int) ([]byte, error) {
	s, local, err := g.Locate(doc)
	if err != nil {
		return dst, err
	}
	return s.AppendDocID(dst, local)
}

// FindDoc finds a document by its external ID, the first one if several have the same.
func (g *Reader) FindDoc(id string) (doc int, found bool, err error) {
	if g.closed {
		return 0, false, index.ErrClosed
	}
	for i := range g.segments {
		s := &g.segments[i]
		if s.Live == nil {
			if doc, found, err = s.FindDoc(id); found || err != nil {
				return doc + int(s.Base), found, err
			}
			continue
		}
		docs, err := s.FindDocs(id)
		if err != nil {
			return 0, false, err
		}
		for _, d := range docs {
			if s.Live.Has(d) {
				return int(s.Base + d), true, nil
			}
		}
	}
	return 0, false, nil
}

// CountID returns how many documents have an external ID.
func (g *Reader) CountID(id string) (n int, err error) {
	if g.closed {
		return 0, index.ErrClosed
	}
	for i := range g.segments {
		s := &g.segments[i]
		docs, err := s.FindDocs(id)
		if err != nil {
			return 0, err
		}
		for _, d := range docs {
			if s.Live == nil || s.Live.Has(d) {
				n++
			}
		}
	}
	return n, nil
}

// Lookup returns the document frequency and the collection frequency of a word. Deleted documents
// are counted.
func (g *Reader) Lookup(word []byte) (df, cf uint64, err error) {
	if g.closed {
		return 0, 0, index.ErrClosed
	}
	for i := range g.segments {
		t, err := g.segments[i].Lookup(word)
		if err != nil {
			return 0, 0, err
		}
		df, cf = df+uint64(t.FullDF()), cf+t.CF
	}
	return df, cf, nil
}

// Postings returns the number of (word, document) pairs, those of deleted documents included.
func (g *Reader) Postings() (n int64) {
	for i := range g.segments {
		n += g.segments[i].Postings()
	}
	return n
}

// Tokens returns the sum of all document lengths, those of deleted documents included.
func (g *Reader) Tokens() (n int64) {
	for i := range g.segments {
		n += g.segments[i].Tokens()
	}
	return n
}

// Terms returns the number of different words. If there are several segments, the first call counts
// them; the count ends early if a segment is damaged.
func (g *Reader) Terms() int {
	if len(g.segments) == 1 {
		return g.segments[0].Terms()
	}
	g.countTerms.Do(func() { g.terms = countWords(g.segments) })
	return g.terms
}

// BadID returns an ID that a TREC run cannot contain, because it is empty or has white space in it,
// if there is one.
func (g *Reader) BadID() (id string, found bool, err error) {
	if g.closed {
		return "", false, index.ErrClosed
	}
	for i := range g.segments {
		if id, found, err = g.segments[i].BadID(); found || err != nil {
			return id, found, err
		}
	}
	return "", false, nil
}

// RepeatedID returns an ID that several documents have, if there is one. Only an index made by
// package index can have such IDs: documents that are added later replace each other.
func (g *Reader) RepeatedID() (id string, found bool, err error) {
	if g.closed {
		return "", false, index.ErrClosed
	}
	for i := range g.segments {
		if id, found, err = g.segments[i].RepeatedID(); found || err != nil {
			return id, found, err
		}
	}
	return "", false, nil
}

// Stats describes the index. Bytes and parts are sums over the segments.
func (g *Reader) Stats() index.Stats {
	if len(g.segments) == 0 {
		none := index.Stats{Analyzer: g.analyzer, Generation: g.generation, Root: g.root, Parts: []index.Part{},
			StoredText: g.hasTexts}
		if g.schema != nil {
			none.Fields = g.schema.Fields
		}
		return none
	}
	all := g.segments[0].Stats()
	perPosting := all.BytesPerPosting * float64(all.Postings)
	for i := range g.segments[1:] {
		s := g.segments[1+i].Stats()
		all.Documents += s.Documents
		all.Postings += s.Postings
		all.Tokens += s.Tokens
		all.Bytes += s.Bytes
		perPosting += s.BytesPerPosting * float64(s.Postings)
		for _, p := range s.Parts {
			if at := slices.IndexFunc(all.Parts, func(o index.Part) bool { return o.Name == p.Name }); at >= 0 {
				all.Parts[at].Bytes += p.Bytes
			} else {
				all.Parts = append(all.Parts, p)
			}
		}
	}
	all.Terms = int64(g.Terms())
	if g.root != nil && g.root.Folder != "" {
		all.Root = g.root
	}
	if all.Documents > 0 {
		all.MeanLength = float64(all.Tokens) / float64(all.Documents)
	}
	if all.Postings > 0 {
		all.BytesPerPosting = perPosting / float64(all.Postings)
	}
	if g.generation > 0 {
		all.Segments, all.Deleted, all.Generation = len(g.segments), int64(g.Deleted()), g.generation
	}
	return all
}

// Check verifies all segments; see index.Reader.Check.
func (g *Reader) Check(ctx context.Context, o index.CheckOptions) error {
	if g.closed {
		return index.ErrClosed
	}
	if err := given.Context(ctx); err != nil {
		return err
	}
	for i := range g.segments {
		if err := g.segments[i].Check(ctx, o); err != nil {
			if g.segments[i].Name == here {
				return err
			}
			return fmt.Errorf("segment %s: %w", g.segments[i].Name, err)
		}
	}
	return nil
}

// countWords counts the distinct words of the segments by merging their dictionaries.
func countWords(segments []Segment) (n int) {
	type walk struct {
		word []byte
		next func() (index.Word, error, bool)
	}
	var walks []*walk
	for i := range segments {
		next, stop := iter.Pull2(segments[i].Words())
		defer stop()
		walks = append(walks, &walk{next: next})
	}
	step := func(w *walk) bool {
		word, err, ok := w.next()
		w.word = append(w.word[:0], word.Text...)
		return ok && err == nil
	}
	walks = slices.DeleteFunc(walks, func(w *walk) bool { return !step(w) })
	for len(walks) > 0 {
		n++
		least := slices.MinFunc(walks, func(a, b *walk) int { return bytes.Compare(a.word, b.word) }).word
		least = slices.Clone(least)
		walks = slices.DeleteFunc(walks, func(w *walk) bool { return bytes.Equal(w.word, least) && !step(w) })
	}
	return n
}
