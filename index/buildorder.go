package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/weigh"
)

// An index without stored text, fields and positions is written in the better document order at
// once: the order is found from the inverted corpus, and lists are renumbered before they are
// encoded. That saves writing the index, reading it and writing it again. Text, fields and
// positions are stored before the order is known, so an index with these is rewritten: see Reorder.
// Both ways produce the same bytes.

// orderShare limits the memory for finding the order, while the inverted corpus is held as well, to
// one in orderShare bytes.
const orderShare = 4

// orderNow reports whether an index that is to be reordered can be written in that order at once.
func (w *Writer) orderNow(o BuildOptions) bool {
	return o.Reorder && w.fields == nil && w.text == nil && !o.Positions && !o.numbered
}

// findOrder finds a better order for the documents of an inverted corpus. It returns nil if their
// own order is good enough, or if there is too little memory to find out; only in the latter case
// does w.ordered stay false.
func (w *Writer) findOrder(ctx context.Context, v *weigh.Inversion, d *Documents,
	o BuildOptions) ([]uint32, error) {
	memory := w.memory / orderShare
	parts := v.PartsWith(ctx, 4*o.Threads, func(df int) bool { return tells(df, v.Docs()) })
	g := gatherer{words: make([][][]uint32, len(parts))}
	g.room.Store((memory - bisectBytes(0, v.Docs(), o.Threads)) / (4 + bytesPerPair))
	if err := g.gather(ctx, parts, o.Threads); err != nil {
		if errors.Is(err, errNoRoom) {
			return nil, nil
		}
		return nil, err
	}
	f := newForward(v.Docs(), slices.Concat(g.words...), o.Threads)
	g.words = nil
	w.ordered = true
	ids := idWriter{docs: v.Docs(), id: d.ids()}
	inOrder, _ := ids.inOrder()
	return f.better(ctx, o.Threads, inOrder, o.Reordering)
}

// roomToReorder returns an error if a finished index could not be reordered within the memory
// bound, so that it is not written first.
func (w *Writer) roomToReorder(ctx context.Context, v *weigh.Inversion, o BuildOptions) error {
	parts := v.PartsWith(ctx, 4*o.Threads, func(df int) bool { return tells(df, v.Docs()) })
	postings := make([]int64, len(parts))
	errs := make([]error, len(parts))
	par.For(o.Threads, len(parts), 1, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for t, err := range parts[i] {
				if err != nil {
					errs[i] = err
					break
				}
				postings[i] += int64(len(t.Docs))
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	all := int64(0)
	for _, n := range postings {
		all += n
	}
	return roomFor(all, v.Docs(), o.Threads, w.memory)
}

// roomFor returns an error if reordering takes more than the memory bound.
func roomFor(postings int64, docs, threads int, memory int64) error {
	if need := 4*postings + bisectBytes(postings, docs, threads); need > memory {
		return fmt.Errorf("reordering needs %s of memory for %d documents and %d postings, and index.ReorderOptions.Memory is %s: "+
			"raise it, or keep the order", bytesize.Size(need), docs, postings, bytesize.Size(memory))
	}
	return nil
}

// gatherer collects the lists of the words that the forward index holds (see tells).
type gatherer struct {
	words [][][]uint32 // by part of the vocabulary and word: its documents
	room  atomic.Int64 // postings for which there is still memory
}

var errNoRoom = errors.New("index: no room to reorder")

func (g *gatherer) gather(ctx context.Context, parts []iter.Seq2[weigh.Term, error],
	threads int) error {
	errs := make([]error, len(parts))
	par.For(threads, len(parts), 1, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			errs[i] = g.gatherPart(ctx, &g.words[i], parts[i])
		}
	})
	return errors.Join(errs...)
}

func (g *gatherer) gatherPart(ctx context.Context, words *[][]uint32,
	part iter.Seq2[weigh.Term, error]) error {
	var docs []uint32 // documents of the current word
	for t, err := range part {
		if err != nil {
			return err
		}
		if docs == nil {
			if g.room.Add(-int64(t.DF)) < 0 {
				return errNoRoom
			}
			docs = make([]uint32, 0, t.DF)
		}
		if docs = append(docs, t.Docs...); len(docs) == t.DF {
			*words, docs = append(*words, docs), nil
		}
	}
	return ctx.Err()
}

// inOrder renumbers the documents: order[d] becomes document d.
func (w *Writer) inOrder(d *Documents, order []uint32, to *renumbering) error {
	lengths := make([]uint32, len(order))
	for i, old := range order {
		lengths[i] = d.Lengths[old]
	}
	// IDs are sorted in corpus order, before renumbering: there they are often sorted already.
	ids := idWriter{docs: len(order), id: d.ids(), run: d.idRun, room: w.memory / idShare, tempDir: w.tempDir}
	defer ids.close()
	if err := ids.rank(); err != nil {
		return err
	}
	if ids.sorted == nil {
		d.byRank = to.place
		if len(ids.byRank) > 0 {
			d.byRank = ids.byRank
			for rank, old := range d.byRank {
				d.byRank[rank] = to.place[old]
			}
		}
	}
	id := d.ids()
	d.Lengths, d.idBytes = lengths, func(doc int) []byte { return id(int(order[doc])) }
	d.idRun = nil
	return nil
}

// inCorpusOrder translates the document numbers of a DuplicateIDError to those of the corpus.
func inCorpusOrder(err error, order []uint32) error {
	var twice *DuplicateIDError
	if order != nil && errors.As(err, &twice) {
		a, b := int(order[twice.First]), int(order[twice.Second])
		twice.First, twice.Second = min(a, b), max(a, b)
	}
	return err
}

// movedTerms yields the words of a part with renumbered documents.
func movedTerms(part iter.Seq2[weigh.Term, error], to *renumbering) iter.Seq2[weigh.Term, error] {
	return func(yield func(weigh.Term, error) bool) {
		m := mover{to: to}
		var word []byte
		left := 0 // postings of the word still to come
		for t, err := range part {
			if err != nil {
				yield(t, err)
				return
			}
			if left == 0 {
				word, left = append(word[:0], t.Word...), t.DF
				m.begin(t.DF)
			}
			m.take(t.Docs, t.TFs)
			if left -= len(t.Docs); left > 0 {
				continue
			}
			m.end()
			if !yield(weigh.Term{Word: word, DF: t.DF, Docs: m.docs, TFs: m.tfs}, nil) {
				return
			}
		}
	}
}
