package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// Source is one of the indexes that Merge combines.
type Source struct {
	*Reader
	Live *docset.Set // the documents that are kept; nil means all
}

// Kept returns the number of documents that are kept.
func (s *Source) Kept() int {
	if s.Live == nil {
		return s.Docs()
	}
	return s.Live.Count()
}

// MergeOptions are the options of Merge and of the functions that make shards. The zero value is
// useful.
type MergeOptions struct {
	Memory  int64  // bound in bytes; 0 means 2 GB
	TempDir string // for temporary files; "" means the folder that the index is made in
	// Root is the folder to which the IDs of files are relative, for documents that are added
	// later; nil if that is not known.
	Root *text.Root
	// Progress is called with the postings done, about a hundred times.
	Progress func(done, total int64)
}

// Merge concatenates the documents of several indexes and writes them as one index to the folder
// dir; see Create for what dir may contain. The result is byte for byte the index that Build would
// make of these documents, except for stored text, whose blocks may be cut at other places. No text
// is analyzed again, lists are read a block at a time, and memory is bounded.
func Merge(ctx context.Context, dir string, sources []Source, o MergeOptions) (err error) {
	if err := given.Context(ctx); err != nil {
		return err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	if len(sources) == 0 {
		return errors.New("index: nothing to merge")
	}
	return merge(ctx, dir, sources, Shard{}, nil, o)
}

// merge writes the documents of several indexes as one. If shard.Of is not 0, the result is that
// shard of the index that whole forms.
func merge(ctx context.Context, dir string, sources []Source, shard Shard, whole []*Reader, o MergeOptions) error {
	for _, s := range sources {
		if err := s.unlessPart("merge"); err != nil {
			return err
		}
		if s.analyzer != sources[0].analyzer {
			return fmt.Errorf("merge %s and %s: their analyzers are %s and %s", sources[0].dir,
				s.dir, text.Short(sources[0].analyzer), text.Short(s.analyzer))
		}
		if err := sources[0].alike(s.Reader); err != nil {
			return fmt.Errorf("merge %s and %s: %w", sources[0].dir, s.dir, err)
		}
	}
	w, err := Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	w.setMemory(o.Memory, o.TempDir)
	m := newMerger(sources)
	m.shard, m.whole, m.tally = shard, whole, newTally(sources, o.Progress)
	for _, s := range sources {
		if err := s.verify(ctx); err != nil { // otherwise damage would get valid checksums
			return err
		}
	}
	if err := m.write(ctx, w); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	if err := w.writeRoot(o.Root); err != nil {
		return err
	}
	return w.Commit()
}

// alike returns an error that says why two indexes cannot be merged, or nil.
func (r *Reader) alike(o *Reader) error {
	switch {
	case (r.text != nil) != (o.text != nil):
		return errors.New("only one of them stores the text of its documents")
	case r.HasPositions() != o.HasPositions():
		return errors.New("only one of them has positions of words")
	case (r.fields != nil) != (o.fields != nil) ||
		r.fields != nil && !bytes.Equal(r.fields.schema.JSON(), o.fields.schema.JSON()):
		return errors.New("their documents have different fields")
	}
	return nil
}

// merger merges the documents of several sources.
type merger struct {
	sources []Source
	moves   []liveRanks
	docs    int
	shard   Shard // the shard that the result becomes, unless Of is 0
	whole   []*Reader
	badID   error
	tally   *tally
}

// tally counts postings that were merged, those of fields included.
type tally struct {
	done, told, total int64
	progress          func(done, total int64) // may be nil
}

func newTally(sources []Source, progress func(done, total int64)) *tally {
	t := &tally{progress: progress}
	for _, s := range sources {
		t.total += s.Postings()
		if s.fields != nil {
			for _, field := range s.fields.texts {
				t.total += field.Postings()
			}
		}
	}
	return t
}

func (t *tally) add(postings int) {
	t.done += int64(postings)
	if t.progress != nil && t.done-t.told > t.total/100 {
		t.told = t.done
		t.progress(t.done, t.total)
	}
}

// liveRanks maps a source's documents to their new numbers: base plus their rank among those that
// are kept.
type liveRanks struct {
	live   *docset.Set
	base   uint32   // new number of the first one
	before []uint32 // for every 64 documents: how many before them are kept; nil if all are
}

func newMerger(sources []Source) *merger {
	m := &merger{sources: sources}
	for _, s := range sources {
		r := liveRanks{live: s.Live, base: uint32(m.docs)}
		if s.Live != nil {
			n := uint32(0)
			for _, w := range s.Live.Words() {
				r.before = append(r.before, n)
				n += uint32(bits.OnesCount64(w))
			}
		}
		m.moves = append(m.moves, r)
		m.docs += s.Kept()
	}
	return m
}

// move renumbers postings in place and drops those that are not kept.
func (r *liveRanks) move(docs, tfs []uint32) ([]uint32, []uint32) {
	if r.live == nil {
		for i := range docs {
			docs[i] += r.base
		}
		return docs, tfs
	}
	n, words := 0, r.live.Words()
	for i, d := range docs {
		w, bit := words[d>>6], d&63
		docs[n], tfs[n] = r.base+r.before[d>>6]+uint32(bits.OnesCount64(w&(1<<bit-1))), tfs[i]
		n += int(w >> bit & 1)
	}
	return docs[:n], tfs[:n]
}

// kept yields the documents of a source that are kept.
func (s *Source) kept() iter.Seq[uint32] {
	if s.Live != nil {
		return s.Live.All()
	}
	return func(yield func(uint32) bool) {
		for d := range uint32(s.Docs()) {
			if !yield(d) {
				return
			}
		}
	}
}

func (m *merger) write(ctx context.Context, w *Writer) error {
	lengths, named, tokens := make([]uint32, 0, m.docs), false, 0.0
	for i := range m.sources {
		s := &m.sources[i]
		for d := range s.kept() {
			lengths = append(lengths, s.Length(int(d)))
		}
		named = named || s.meta.flags&flagNamedMean != 0
		tokens += float64(s.meta.tokens) * float64(s.Kept()) / float64(max(s.Docs(), 1))
	}
	first := m.sources[0].Reader
	d := Documents{Analyzer: first.analyzer, Lengths: lengths, ID: m.id, Positions: first.HasPositions()}
	if first.part { // the IDs of its documents are their numbers
		d.ID = strconv.Itoa
	}
	if named { // an imported index has a token count of its own
		d.Tokens = uint64(tokens + 0.5)
	}
	if err := w.SetDocuments(d); err != nil {
		return err
	}
	if m.shard.Of > 0 {
		if err := w.shardOf(m.whole, m.shard); err != nil {
			return err
		}
	}
	if first.text != nil {
		t, err := w.streamText()
		if err != nil {
			return err
		}
		if err := m.writeTexts(ctx, t, func(r *Reader) *textReader { return r.text }); err != nil {
			return err
		}
	}
	if first.fields != nil {
		if err := m.writeFields(ctx, w); err != nil {
			return err
		}
	}
	if err := w.addParts(ctx, []iter.Seq2[weigh.Term, error]{m.words(ctx)}, 1, nil); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	return m.badID
}

// writeFields writes the fields of the documents.
func (m *merger) writeFields(ctx context.Context, w *Writer) (err error) {
	first := m.sources[0].fields
	if w.fields, err = startFields(w, first.schema); err != nil {
		return err
	}
	if b := w.fields.columns; b != nil {
		for i := range m.sources {
			s, values := &m.sources[i], b.Batch(i)
			if err := errors.Join(values.From(s.fields.columns, s.kept()), b.Put(values)); err != nil {
				return err
			}
		}
	}
	if b := w.fields.vectors; b != nil {
		for i := range m.sources {
			s, values := &m.sources[i], b.Batch(i)
			if err := errors.Join(values.From(s.fields.vectors, s.kept()), b.Put(values)); err != nil {
				return err
			}
		}
	}
	if first.stored != nil {
		t := &textStream{w: w.fields.stored}
		if err := m.writeTexts(ctx, t, func(r *Reader) *textReader { return r.fields.stored }); err != nil {
			return err
		}
	}
	for i, name := range first.names {
		var sources []Source
		for _, s := range m.sources {
			sources = append(sources, Source{Reader: s.fields.texts[i], Live: s.Live})
		}
		sub := newMerger(sources)
		sub.shard, sub.tally = m.shard, m.tally
		for _, r := range m.whole {
			sub.whole = append(sub.whole, r.fields.texts[i])
		}
		if err := w.fields.writeText(w, name, func(to *Writer) error { return sub.write(ctx, to) }); err != nil {
			return err
		}
	}
	return nil
}

// id returns the ID of a document, given its new number.
func (m *merger) id(doc int) string {
	i, found := slices.BinarySearchFunc(m.moves, uint32(doc),
		func(r liveRanks, d uint32) int { return int(int64(r.base) - int64(d)) })
	if !found {
		i--
	}
	for i+1 < len(m.moves) && m.moves[i+1].base == uint32(doc) { // skip sources that keep nothing
		i++
	}
	s, err := m.sources[i].DocID(int(m.moves[i].old(uint32(doc))))
	if err != nil && m.badID == nil {
		m.badID = err
	}
	return s
}

// old returns the number of a document in its source.
func (r *liveRanks) old(doc uint32) uint32 {
	n := doc - r.base
	if r.live == nil {
		return n
	}
	at, _ := slices.BinarySearch(r.before, n+1)
	at-- // the last word with at most n documents before it
	word := r.live.Words()[at]
	for range n - r.before[at] {
		word &= word - 1
	}
	return uint32(at)<<6 + uint32(bits.TrailingZeros64(word))
}

// words yields the merged lists of all words, one block at a time, with DF unset.
func (m *merger) words(ctx context.Context) iter.Seq2[weigh.Term, error] {
	return func(yield func(weigh.Term, error) bool) {
		walks := make([]mergeWalk, len(m.sources))
		for i := range walks {
			w := &walks[i]
			w.walk = termWalker{d: m.sources[i].dict}
			if err := w.next(); err != nil {
				yield(weigh.Term{}, err)
				return
			}
		}
		c := new(mergeCursor)
		var word []byte
		for {
			word = word[:0]
			any := false
			for i := range walks {
				if w := &walks[i]; !w.ended && (!any || bytes.Compare(w.word, word) < 0) {
					word, any = append(word[:0], w.word...), true
				}
			}
			if !any {
				return
			}
			for i := range walks {
				w := &walks[i]
				if w.ended || !bytes.Equal(w.word, word) {
					continue
				}
				err := m.list(ctx, i, w.term, c, func(docs, tfs, gaps []uint32) bool {
					return yield(weigh.Term{Word: word, Docs: docs, TFs: tfs, Gaps: gaps}, nil)
				})
				if err == nil {
					err = w.next()
				}
				if errors.Is(err, errEnough) {
					return
				}
				if err != nil {
					yield(weigh.Term{}, err)
					return
				}
			}
		}
	}
}

var errEnough = errors.New("no more is wanted")

// mergeCursor reads a list of a source.
type mergeCursor struct {
	Cursor
	positions       Positions
	docs, tfs, gaps []uint32
}

// list calls add with the postings of a word in a source that are kept.
func (m *merger) list(ctx context.Context, source int, t Term, c *mergeCursor,
	add func(docs, tfs, gaps []uint32) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := &m.sources[source]
	m.tally.add(int(t.DF))
	if err := s.Open(t, &c.Cursor); err != nil {
		return err
	}
	if s.HasPositions() {
		if err := s.OpenPositions(t, &c.positions); err != nil {
			return err
		}
		return m.listWithGaps(source, c, add)
	}
	var docs, tfs [BlockSize]uint32
	for b := range c.Blocks() {
		n := c.DecodeDocs(b, &docs)
		if n == 0 || c.DecodeTFs(b, &tfs) != n {
			return c.Err()
		}
		d, f := m.moves[source].move(docs[:n], tfs[:n])
		if len(d) > 0 && !add(d, f, nil) {
			return errEnough
		}
	}
	return c.Err()
}

// listWithGaps is list for a source that has positions.
func (m *merger) listWithGaps(source int, c *mergeCursor, add func(docs, tfs, gaps []uint32) bool) error {
	live := m.sources[source].Live
	for c.Doc() != End {
		c.docs, c.tfs, c.gaps = c.docs[:0], c.tfs[:0], c.gaps[:0]
		for c.Doc() != End && len(c.docs) < BlockSize && len(c.gaps) < mostGaps {
			if d := c.Doc(); live == nil || live.Has(d) {
				c.docs, c.tfs = append(c.docs, d), append(c.tfs, c.TF())
				c.gaps, _ = appendGaps(c.gaps, c.positions.Of(&c.Cursor))
			}
			c.Next()
		}
		docs, tfs := m.moves[source].move(c.docs, c.tfs)
		if err := errors.Join(c.Err(), c.positions.Err()); err != nil {
			return err
		}
		if len(docs) > 0 && !add(docs, tfs, c.gaps) {
			return errEnough
		}
	}
	return c.Err()
}

// mostGaps is the number of gaps from which a part of a list is handed out.
const mostGaps = 1 << 16

// mergeWalk iterates over the words of a source.
type mergeWalk struct {
	walk  termWalker
	word  []byte
	term  Term
	ended bool
}

func (w *mergeWalk) next() error {
	word, t, ok, err := w.walk.next()
	w.word, w.term, w.ended = word, t, !ok
	return err
}

// writeTexts stores the texts of the documents that are kept.
func (m *merger) writeTexts(ctx context.Context, t *textStream, of func(*Reader) *textReader) error {
	for i := range m.sources {
		s := &m.sources[i]
		from := of(s.Reader)
		for b := range len(from.first) - 1 {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := from.block(b, func(doc int, text []byte) error {
				if s.Live != nil && !s.Live.Has(uint32(doc)) {
					return nil
				}
				return t.add(text)
			})
			if err != nil {
				return err
			}
		}
	}
	return t.flush()
}

// textStream collects texts that arrive one by one into full blocks.
type textStream struct {
	w    *textWriter
	docs []text.Document
	size int
}

// streamText makes the Writer store text.
func (w *Writer) streamText() (t *textStream, err error) {
	if w.text, err = newTextWriter(w.dir, textFile, w.memory); err != nil {
		return nil, err
	}
	return &textStream{w: w.text}, nil
}

// add buffers a text until a block is full.
func (t *textStream) add(s []byte) error {
	if len(t.docs) > 0 && t.size+len(s) > textBlock {
		if err := t.flush(); err != nil {
			return err
		}
	}
	t.docs = append(t.docs, text.Document{Text: s})
	t.size += len(s)
	return nil
}

func (t *textStream) flush() error {
	if len(t.docs) == 0 {
		return nil
	}
	err := t.w.add(&text.Batch{Seq: t.w.next, Docs: t.docs})
	t.docs, t.size = t.docs[:0], 0
	return err
}

// StoreTexts stores the text of all documents, in their order. It must be called before Commit.
func (w *Writer) StoreTexts(texts iter.Seq[[]byte]) error {
	if w.err != nil {
		return w.err
	}
	t, err := w.streamText()
	if err != nil {
		return err
	}
	for s := range texts {
		if err := t.add(s); err != nil {
			return err
		}
	}
	return t.flush()
}
