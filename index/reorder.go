package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"runtime"
	"slices"
	"strconv"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/weigh"
)

// ReorderOptions are the options of Reorder. The zero value is useful.
type ReorderOptions struct {
	// Threads is the number of threads; 0 means GOMAXPROCS. The order does not depend on it.
	Threads int
	// Memory bounds the working memory in bytes; 0 means 2 GB. Reordering needs 4 bytes per
	// posting; if the bound is lower, Reorder returns an error.
	Memory int64
	// Progress is called with the work done, in no particular unit.
	Progress func(done, total int64)

	textBucket int // bytes, see rewriteText
}

// Reorder writes the documents of an index in a better order to the folder dir, which may be the
// folder of r itself; see Create for what dir may contain. Documents that share words become
// neighbours. That makes gaps smaller and bounds tighter, so that searches skip more.
//
// Documents keep their IDs, lengths and text, and a search finds the same documents with the same
// scores. Their numbers change, and with them the order of documents with equal scores: the lower
// number comes first.
func Reorder(ctx context.Context, r *Reader, dir string, o ReorderOptions) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 2e9
	}
	o.textBucket = textBucketFor(o.Memory)
	if r.meta.shard.Of > 0 {
		return fmt.Errorf("reorder %s: %w", r.dir, errShard)
	}
	w, err := Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	w.setMemory(o.Memory, "")
	if err := r.verify(ctx); err != nil { // damage would get checksums that fit
		return err
	}
	f, err := r.forward(ctx, o.Threads, o.Memory)
	if err != nil {
		return err
	}
	order, err := f.bisect(ctx, o.Threads, o.Progress)
	if err != nil {
		return err
	}
	if err := r.rewrite(ctx, w, order, nil, o); err != nil {
		return fmt.Errorf("reorder %s: %w", r.dir, err)
	}
	return w.Commit()
}

// rewrite writes the index with document order[d] as document d, and without the postings that
// cut drops, if it is not nil.
func (r *Reader) rewrite(ctx context.Context, w *Writer, order []uint32, cut *pruning, o ReorderOptions) error {
	lengths := make([]uint32, len(order))
	for d, old := range order {
		lengths[d] = r.Length(int(old))
	}
	var bad error
	id := func(d int) string {
		s, err := r.DocID(int(order[d]))
		if err != nil && bad == nil {
			bad = err
		}
		return s
	}
	place := placesOf(order)
	byRank := make([]uint32, len(order))
	for rank := range byRank {
		byRank[rank] = place[r.ids.byRankAt(rank)]
	}
	documents := Documents{Analyzer: r.analyzer, Lengths: lengths, Tokens: r.meta.tokens, ID: id,
		byRank: byRank, Positions: r.HasPositions()}
	if r.part { // its documents are named by their numbers
		documents.ID, documents.byRank = strconv.Itoa, nil
	}
	if err := w.SetDocuments(documents); err != nil {
		return err
	}
	if r.text != nil {
		var err error
		if w.text, err = newTextWriter(w.dir, textFile, w.memory); err != nil {
			return err
		}
		if err := rewriteText(ctx, r.text, w, w.text, place, o.textBucket); err != nil {
			return err
		}
	}
	if r.fields != nil {
		if err := r.rewriteFields(ctx, w, order, place, o); err != nil {
			return err
		}
	}
	if cut != nil || r.Pruned() {
		w.prunedFrom(r)
	}
	parts, err := r.parts(ctx, place, cut, int(r.meta.occurrences/tokensPerPart)+4*o.Threads)
	if err != nil {
		return err
	}
	if err := w.addParts(ctx, parts, o.Threads, nil); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	return bad
}

// placesOf says at which place of an order each document is.
func placesOf(order []uint32) []uint32 {
	place := make([]uint32, len(order))
	for d, old := range order {
		place[old] = uint32(d)
	}
	return place
}

// parts cuts the words into about n ranges of as many postings each, with the documents
// at their new places.
func (r *Reader) parts(ctx context.Context, place []uint32, cut *pruning,
	n int) ([]iter.Seq2[weigh.Term, error], error) {
	var parts []iter.Seq2[weigh.Term, error]
	from, postings := 0, uint64(0)
	for w, err := range r.Words() {
		if err != nil {
			return nil, err
		}
		postings += uint64(w.Term.DF)
		next := w.Term.ID + 1
		if next == r.dict.terms || next%termsPerBlock == 0 && postings >= r.meta.postings/uint64(n)+1 {
			parts = append(parts, r.moved(ctx, place, cut, from, next))
			from, postings = next, 0
		}
	}
	return parts, nil
}

// moved yields a range of words, which begins where a block of the dictionary does.
func (r *Reader) moved(ctx context.Context, place []uint32, cut *pruning, from, to int) iter.Seq2[weigh.Term, error] {
	return func(yield func(weigh.Term, error) bool) {
		m := mover{r: r, place: place, cut: cut}
		walk := termWalker{d: r.dict, id: from}
		for walk.id < to {
			word, t, _, err := walk.next()
			if err == nil {
				err = m.move(t)
			}
			if err == nil && cut != nil {
				m.prune()
			}
			if err == nil && r.HasPositions() {
				err = m.moveGaps(t)
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(weigh.Term{}, err)
				return
			}
			if !yield(weigh.Term{Word: word, DF: len(m.docs), Docs: m.docs, TFs: m.tfs, Gaps: m.gaps}, nil) {
				return
			}
		}
	}
}

// mover reads lists and sorts them by the new places of their documents.
type mover struct {
	r         *Reader
	place     []uint32
	cut       *pruning // what is left out, if anything
	xs        []uint32 // for it
	c         Cursor
	docs, tfs []uint32 // the list
	dense     bool     // the list is sorted by marking documents, not as
	pairs     []uint64 // document, frequency
	here      []uint64 // a bit for each document
	tfAt      []uint8  // frequency, where that bit is set, or bigTF and in pairs
	positions Positions
	gaps      []uint32 // before the occurrences in docs
	starts    []int    // where those of each posting begin, as pairs are sorted
}

// denseList is the share of the documents, one in this many, from which on a list is
// sorted by marking them all. Frequencies of bigTF and more have no room there.
const (
	denseList = 1024
	bigTF     = 1<<8 - 1
)

func (m *mover) move(t Term) error {
	if err := m.r.Open(t, &m.c); err != nil {
		return err
	}
	m.begin(int(t.DF))
	for b := range m.c.Blocks() {
		docs, tfs := m.c.Load(b), m.c.TFs()
		if m.c.err != nil {
			return m.c.err
		}
		m.take(docs, tfs)
	}
	m.end()
	return nil
}

// begin begins a list of df postings.
func (m *mover) begin(df int) {
	m.docs, m.tfs, m.pairs = m.docs[:0], m.tfs[:0], m.pairs[:0]
	m.dense = df > len(m.place)/denseList
	if m.dense && m.here == nil {
		m.here, m.tfAt = make([]uint64, len(m.place)/64+1), make([]uint8, len(m.place))
	}
}

// take takes postings of the list.
func (m *mover) take(docs, tfs []uint32) {
	tfs = tfs[:len(docs)]
	if !m.dense {
		for i, d := range docs {
			m.pairs = append(m.pairs, uint64(m.place[d])<<32|uint64(tfs[i]))
		}
		return
	}
	for i, d := range docs {
		p := m.place[d]
		m.here[p/64] |= 1 << (p % 64)
		tf := tfs[i]
		m.tfAt[p] = uint8(min(tf, bigTF))
		if tf >= bigTF {
			m.pairs = append(m.pairs, uint64(p)<<32|uint64(tf))
		}
	}
}

// end leaves the list in docs and tfs, in the new order.
func (m *mover) end() {
	slices.Sort(m.pairs)
	if !m.dense {
		for _, p := range m.pairs {
			m.docs, m.tfs = append(m.docs, uint32(p>>32)), append(m.tfs, uint32(p))
		}
		return
	}
	big := m.pairs
	for i, word := range m.here {
		for ; word != 0; word &= word - 1 {
			p := uint32(i*64 + bits.TrailingZeros64(word))
			tf := uint32(m.tfAt[p])
			if tf == bigTF {
				tf, big = uint32(big[0]), big[1:]
			}
			m.docs, m.tfs = append(m.docs, p), append(m.tfs, tf)
		}
		m.here[i] = 0
	}
}

// moveGaps sorts the gaps of the list that was moved.
func (m *mover) moveGaps(t Term) error {
	if err := errors.Join(m.r.Open(t, &m.c), m.r.OpenPositions(t, &m.positions)); err != nil {
		return err
	}
	// Where the gaps of each document go, found by its new number.
	m.starts = m.starts[:0]
	sum := 0
	for _, tf := range m.tfs {
		m.starts = append(m.starts, sum)
		sum += int(tf)
	}
	m.gaps = slices.Grow(m.gaps[:0], sum)[:sum]
	for m.c.Doc() != End {
		if i, ok := slices.BinarySearch(m.docs, m.place[m.c.Doc()]); ok { // else it was pruned
			appendGaps(m.gaps[m.starts[i]:m.starts[i]], m.positions.Of(&m.c))
			if m.positions.err != nil {
				return m.positions.err
			}
		}
		m.c.Next()
	}
	return m.c.err
}
