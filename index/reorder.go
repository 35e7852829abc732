package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strconv"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// ReorderOptions are the options of Reorder. The zero value is useful.
type ReorderOptions struct {
	// Threads is the number of threads; 0 means GOMAXPROCS. The order does not depend on it.
	Threads int
	// Memory bounds the working memory in bytes; 0 means 2 GB. Reordering needs 7 bytes per
	// posting of the words in 1 to 10% of the documents; if the bound is lower, Reorder returns
	// an error.
	Memory int64
	// Progress is called with the work done, in no particular unit.
	Progress func(done, total int64)
	// Root is the folder to which the IDs of files are relative, for documents that are added
	// later; nil means the one that the index remembers, if any.
	Root *text.Root

	textBucket int  // bytes, see rewriteText
	always     bool // reorder even if the index does not get smaller; for tests
}

// Reorder writes the documents of an index in a better order to the folder dir, which may be the
// folder of r itself; see Create for what dir may contain. Documents that share words become
// neighbours, which makes gaps smaller. Documents keep their order if a new one is unlikely to make
// the index smaller: IDs that are in order take little space, and more once they are not.
//
// Documents keep their IDs, lengths and text, and a search finds the same documents with the same
// scores. Their numbers change, and with them the order of documents with equal scores: the lower
// number comes first.
func Reorder(ctx context.Context, r *Reader, dir string, o ReorderOptions) (err error) {
	if err := given.Context(ctx); err != nil {
		return err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	if o.Root == nil {
		if o.Root, err = Root(r.dir); err != nil {
			return err
		}
	}
	order, err := r.betterOrder(ctx, &o)
	if err != nil {
		return err
	}
	if order == nil {
		order = make([]uint32, r.Docs())
		for d := range order {
			order[d] = uint32(d)
		}
	}
	return r.reorder(ctx, dir, order, o)
}

// betterOrder returns the documents in a better order, or nil if their own is good enough. It sets
// the defaults of the options.
func (r *Reader) betterOrder(ctx context.Context, o *ReorderOptions) ([]uint32, error) {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 2e9
	}
	o.textBucket = textBucketFor(o.Memory)
	if r.meta.shard.Of > 0 {
		return nil, fmt.Errorf("reorder %s: %w", r.dir, errShard)
	}
	if err := r.verify(ctx); err != nil { // otherwise damage would get valid checksums
		return nil, err
	}
	f, err := r.forward(ctx, o.Threads, o.Memory)
	if err != nil {
		return nil, err
	}
	if o.always {
		return f.bisect(ctx, o.Threads, o.Progress)
	}
	return f.better(ctx, o.Threads, len(r.ids.ranks) == 0, o.Progress)
}

// reorder writes the index with document order[d] as document d to the folder dir.
func (r *Reader) reorder(ctx context.Context, dir string, order []uint32, o ReorderOptions) error {
	w, err := Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	w.setMemory(o.Memory, "")
	if err := r.rewrite(ctx, w, order, nil, o); err != nil {
		return fmt.Errorf("reorder %s: %w", r.dir, err)
	}
	if err := w.writeRoot(o.Root); err != nil {
		return err
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
	to := renumber(order)
	byRank := make([]uint32, len(order))
	inOrder := true
	for rank := range byRank {
		byRank[rank] = to.place[r.ids.byRankAt(rank)]
		inOrder = inOrder && byRank[rank] == uint32(rank)
	}
	if inOrder {
		byRank = byRank[:0]
	}
	documents := Documents{Analyzer: r.analyzer, Lengths: lengths, Tokens: r.meta.tokens, ID: id,
		byRank: byRank, Positions: r.HasPositions()}
	if r.part { // the IDs of its documents are their numbers
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
		if err := rewriteText(ctx, r.text, w, w.text, to.place, o.textBucket); err != nil {
			return err
		}
	}
	if r.fields != nil {
		if err := r.rewriteFields(ctx, w, order, to.place, o); err != nil {
			return err
		}
	}
	if cut != nil || r.Pruned() {
		w.prunedFrom(r)
	}
	parts, err := r.parts(ctx, to, cut, int(r.meta.occurrences/tokensPerPart)+4*o.Threads)
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

// parts divides the words into about n ranges with similar numbers of postings, and yields their
// lists with renumbered documents.
func (r *Reader) parts(ctx context.Context, to *renumbering, cut *pruning,
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
			parts = append(parts, r.moved(ctx, to, cut, from, next))
			from, postings = next, 0
		}
	}
	return parts, nil
}

// moved yields a range of words with renumbered documents. The range begins at a block of the
// dictionary.
func (r *Reader) moved(ctx context.Context, to *renumbering, cut *pruning,
	from, end int) iter.Seq2[weigh.Term, error] {
	return func(yield func(weigh.Term, error) bool) {
		m := mover{r: r, to: to, cut: cut}
		walk := termWalker{d: r.dict, id: from}
		for walk.id < end {
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

// mover renumbers the documents of lists and sorts the lists by the new numbers.
type mover struct {
	r         *Reader
	to        *renumbering
	cut       *pruning // nil if nothing is pruned
	xs        []uint32 // buffer of prune
	c         Cursor
	docs, tfs []uint32 // the sorted list
	came      []uint32 // the new numbers of its documents, in the old order
	cameTFs   []uint32 // their frequencies
	next      [maxParts]uint32
	pairs     []uint64 // buffer for sorting: document and frequency
	positions Positions
	gaps      []uint32 // position gaps of all occurrences, in the order of docs
	starts    []int    // offset in gaps of each posting
}

// shortList is the length up to which a list is sorted by comparisons. Longer lists are distributed
// to the parts of the new order, which takes time linear in the number of parts plus the number of
// postings.
const shortList = 48

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

// begin begins a list of n postings.
func (m *mover) begin(n int) {
	m.came, m.cameTFs = slices.Grow(m.came[:0], n), slices.Grow(m.cameTFs[:0], n)
}

// take adds postings of the list.
func (m *mover) take(docs, tfs []uint32) {
	from, place := len(m.came), m.to.place
	m.came, m.cameTFs = m.came[:from+len(docs)], append(m.cameTFs, tfs[:len(docs)]...)
	came := m.came[from:]
	for i, d := range docs {
		came[i] = place[d]
	}
}

// end leaves the list in docs and tfs, in the new order.
func (m *mover) end() {
	n := len(m.came)
	m.docs, m.tfs = slices.Grow(m.docs[:0], n)[:n], slices.Grow(m.tfs[:0], n)[:n]
	if n > shortList && m.to.parts <= maxParts {
		m.deal()
		return
	}
	m.pairs = m.pairs[:0]
	for i, p := range m.came {
		m.pairs = append(m.pairs, uint64(p)<<32|uint64(m.cameTFs[i]))
	}
	slices.Sort(m.pairs)
	for i, p := range m.pairs {
		m.docs[i], m.tfs[i] = uint32(p>>32), uint32(p)
	}
}

// deal distributes the list to the parts of the new order. Its documents arrive in ascending order
// and keep it within each part, so the result is sorted.
func (m *mover) deal() {
	clear(m.next[:m.to.parts])
	for _, p := range m.came {
		m.next[m.to.partOf(p)]++
	}
	sum := uint32(0)
	for part, n := range m.next[:m.to.parts] {
		m.next[part] = sum
		sum += n
	}
	tfs := m.cameTFs[:len(m.came)]
	for i, p := range m.came {
		next := &m.next[m.to.partOf(p)]
		at := *next
		*next = at + 1
		m.docs[at], m.tfs[at] = p, tfs[i]
	}
}

// moveGaps brings the position gaps into the order of the renumbered list.
func (m *mover) moveGaps(t Term) error {
	if err := errors.Join(m.r.Open(t, &m.c), m.r.OpenPositions(t, &m.positions)); err != nil {
		return err
	}
	// Compute where the gaps of each posting go.
	m.starts = m.starts[:0]
	sum := 0
	for _, tf := range m.tfs {
		m.starts = append(m.starts, sum)
		sum += int(tf)
	}
	m.gaps = slices.Grow(m.gaps[:0], sum)[:sum]
	for m.c.Doc() != End {
		if i, ok := slices.BinarySearch(m.docs, m.to.place[m.c.Doc()]); ok { // else pruned
			appendGaps(m.gaps[m.starts[i]:m.starts[i]], m.positions.Of(&m.c))
			if m.positions.err != nil {
				return m.positions.err
			}
		}
		m.c.Next()
	}
	return m.c.err
}
