package weigh

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/given"
)

// Terms yields the words in byte order. It may be called repeatedly.
func (v *Inversion) Terms(ctx context.Context) iter.Seq2[Term, error] {
	if err := given.Context(ctx); err != nil {
		return given.Failed[Term](err)
	}
	return v.terms(ctx, nil, nil, nil)
}

// Parts divides the words into up to n ranges with about as many postings each, which can be read
// at the same time. Concatenated, they are Terms.
func (v *Inversion) Parts(ctx context.Context, n int) []iter.Seq2[Term, error] {
	return v.PartsWith(ctx, n, nil)
}

// PartsWith is like Parts, restricted to the words whose document frequency satisfies keep; nil
// keeps all.
func (v *Inversion) PartsWith(ctx context.Context, n int, keep func(df int) bool) []iter.Seq2[Term, error] {
	if err := given.Context(ctx); err != nil {
		return []iter.Seq2[Term, error]{given.Failed[Term](err)}
	}
	var all []sample
	total := int64(0)
	for _, r := range v.runs {
		all = append(all, r.index...)
		for _, s := range r.index {
			total += s.weight
		}
	}
	slices.SortFunc(all, func(a, b sample) int { return bytes.Compare(a.word, b.word) })
	var parts []iter.Seq2[Term, error]
	var from []byte
	done := int64(0)
	for _, s := range all {
		done += s.weight
		if done*int64(n) >= total*int64(len(parts)+1) && len(parts) < n-1 && !bytes.Equal(s.word, from) {
			parts = append(parts, v.terms(ctx, from, s.word, keep))
			from = s.word
		}
	}
	return append(parts, v.terms(ctx, from, nil, keep))
}

// pieceLen is the maximum number of postings yielded and merged at a time.
const pieceLen = 1 << 13

// planReading divides memory among the cursors of all spilled runs for each of some threads:
// two thirds for the bytes of the run, a third for postings, which take 8 bytes each.
func (v *Inversion) planReading(memory int64, threads int) {
	spilled := 0
	for _, r := range v.runs {
		if r.spilled != nil {
			spilled++
		}
	}
	v.buffer, v.piece = spillBuffer, pieceLen
	if spilled > 0 {
		each := memory / int64(spilled*threads)
		v.buffer = int(max(minSpillBuffer, min(each/3*2, spillBuffer)))
		v.piece = max(minSpillBuffer/16, min(v.buffer/16, pieceLen))
		if v.placed {
			v.piece = max(groupLen, v.piece/4)
		}
	}
}

// terms yields the words w with from <= w < to, where nil means no bound, whose document frequency
// satisfies keep, where nil keeps all.
func (v *Inversion) terms(ctx context.Context, from, to []byte, keep func(df int) bool) iter.Seq2[Term, error] {
	return func(yield func(Term, error) bool) {
		m := merger{keep: keep, docs: make([]uint32, 0, pieceLen), tfs: make([]uint32, 0, pieceLen)}
		for _, r := range v.runs {
			c, err := v.newCursor(ctx, r, from, to)
			if err != nil {
				yield(Term{}, err)
				return
			}
			defer c.close()
			m.push(c)
		}
		for n := 0; len(m.heap) > 0; n++ {
			if n%1024 == 0 && ctx.Err() != nil {
				yield(Term{}, ctx.Err())
				return
			}
			more, err := m.term(yield)
			if err != nil {
				yield(Term{}, err)
			}
			if !more {
				return
			}
		}
	}
}

// merger merges runs: a heap of cursors by their current word.
type merger struct {
	keep      func(df int) bool // selects words by document frequency; nil means all
	heap      []*cursor
	same      []*cursor // cursors at the word being merged
	turn      []*cursor // those of them that have postings left, sorted by their next document
	docs, tfs []uint32
	gaps      []uint32
}

// before reports whether a cursor's word is less than that of another.
func (c *cursor) before(d *cursor) bool {
	if c.head != d.head {
		return c.head < d.head
	}
	return bytes.Compare(c.word, d.word) < 0
}

func (m *merger) push(c *cursor) {
	if c.done {
		return
	}
	m.heap = append(m.heap, c)
	for i := len(m.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !m.heap[i].before(m.heap[up]) {
			break
		}
		m.heap[up], m.heap[i] = m.heap[i], m.heap[up]
		i = up
	}
}

func (m *merger) pop() *cursor {
	c := m.heap[0]
	last := len(m.heap) - 1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < last && m.heap[down].before(m.heap[least]) {
				least = down
			}
		}
		if least == i {
			return c
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// term yields the least word, with the postings of all runs that have it.
func (m *merger) term(yield func(Term, error) bool) (more bool, err error) {
	m.same = append(m.same[:0], m.pop())
	for len(m.heap) > 0 && m.heap[0].head == m.same[0].head && bytes.Equal(m.heap[0].word, m.same[0].word) {
		m.same = append(m.same, m.pop())
	}
	if !m.wanted() {
		more = true
	} else if len(m.same) == 1 {
		more, err = m.same[0].yieldAll(yield)
	} else {
		more, err = m.mergePostings(yield)
	}
	if !more || err != nil {
		return false, err
	}
	for _, c := range m.same {
		if err := c.next(); err != nil {
			return false, err
		}
		m.push(c)
	}
	return true, nil
}

// wanted reports whether the word of the cursors in m.same satisfies keep.
func (m *merger) wanted() bool {
	if m.keep == nil {
		return true
	}
	df := 0
	for _, c := range m.same {
		df += c.left
	}
	return m.keep(df)
}

// mergePostings yields the postings of the cursors in m.same by document. Runs alternate by whole
// batches, so it copies stretches: from the cursor with the lowest document, up to the lowest of
// all others.
func (m *merger) mergePostings(yield func(Term, error) bool) (bool, error) {
	t := Term{Word: m.same[0].word}
	m.docs, m.tfs, m.gaps = m.docs[:0], m.tfs[:0], m.gaps[:0]
	m.turn = append(m.turn[:0], m.same...)
	for _, c := range m.turn {
		t.DF += c.left
		if err := c.fill(); err != nil {
			return false, err
		}
	}
	slices.SortFunc(m.turn, func(a, b *cursor) int { return cmp.Compare(a.docs[0], b.docs[0]) })
	for len(m.turn) > 0 {
		c := m.turn[0]
		n := len(c.docs)
		if len(m.turn) > 1 {
			limit := m.turn[1].docs[0]
			n = 1
			for n+16 <= len(c.docs) && c.docs[n+15] < limit {
				n += 16
			}
			for n < len(c.docs) && c.docs[n] < limit {
				n++
			}
		}
		used := 1
		if n < fewPostings && len(m.turn) > 1 && !c.placed {
			m.interleave()
			used = 2
		} else {
			m.copy(c, n)
		}
		if len(m.docs) == cap(m.docs) || len(m.gaps) >= 4*pieceLen {
			t.Docs, t.TFs, t.Gaps = m.docs, m.tfs, m.gaps
			if !yield(t, nil) {
				return false, nil
			}
			m.docs, m.tfs, m.gaps = m.docs[:0], m.tfs[:0], m.gaps[:0]
		}
		for used--; used >= 0; used-- {
			if err := m.settle(used); err != nil {
				return false, err
			}
		}
	}
	if len(m.docs) == 0 {
		return true, nil
	}
	t.Docs, t.TFs, t.Gaps = m.docs, m.tfs, m.gaps
	return yield(t, nil), nil
}

// copy copies up to n postings of a cursor, as far as there is room.
func (m *merger) copy(c *cursor, n int) {
	n = min(n, cap(m.docs)-len(m.docs))
	m.docs = append(m.docs, c.docs[:n]...)
	m.tfs = append(m.tfs, c.tfs[:n]...)
	if c.placed {
		occurrences := 0
		for _, tf := range c.tfs[:n] {
			occurrences += int(tf)
		}
		m.gaps = append(m.gaps, c.gaps[:occurrences]...)
		c.gaps = c.gaps[occurrences:]
	}
	c.docs, c.tfs = c.docs[n:], c.tfs[n:]
}

// fewPostings is the length below which copying stretches does not pay.
const fewPostings = 8

// interleave merges the postings of the first two cursors until one has no more decoded, another
// cursor is next, or there is no room. A rare word is in few documents of each batch, so which
// cursor is next is unpredictable, and no branch depends on it. Merging lists of one in 3,000
// documents took five times as long in stretches.
func (m *merger) interleave() {
	c, d, limit := m.turn[0], m.turn[1], uint32(math.MaxUint32)
	if len(m.turn) > 2 {
		limit = m.turn[2].docs[0]
	}
	x, xTFs, y, yTFs := c.docs, c.tfs[:len(c.docs)], d.docs, d.tfs[:len(d.docs)]
	docs, n := m.docs[len(m.docs):cap(m.docs)], 0
	tfs := m.tfs[len(m.tfs):cap(m.tfs)][:len(docs)]
	i, j := 0, 0
	for i < len(x) && j < len(y) && n < len(docs) {
		a, b := x[i], y[j]
		first := (uint64(a) - uint64(b)) >> 63 // 1 if a < b, else 0
		doc := b ^ (a^b)&-uint32(first)
		if doc >= limit {
			break
		}
		docs[n], tfs[n] = doc, yTFs[j]^(xTFs[i]^yTFs[j])&-uint32(first)
		i, j, n = i+int(first), j+1-int(first), n+1
	}
	c.docs, c.tfs, d.docs, d.tfs = x[i:], xTFs[i:], y[j:], yTFs[j:]
	m.docs, m.tfs = m.docs[:len(m.docs)+n], m.tfs[:len(m.tfs)+n]
}

// settle moves cursor i of m.turn to its place in the order of next documents, or drops it if it
// has none. The cursors after it must be sorted.
func (m *merger) settle(i int) error {
	c := m.turn[i]
	if len(c.docs) == 0 {
		if err := c.fill(); err != nil {
			return err
		}
	}
	if len(c.docs) == 0 {
		m.turn = append(m.turn[:i], m.turn[i+1:]...)
		return nil
	}
	for ; i+1 < len(m.turn) && m.turn[i+1].docs[0] < c.docs[0]; i++ {
		m.turn[i], m.turn[i+1] = m.turn[i+1], c
	}
	return nil
}
