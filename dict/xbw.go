package dict

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sort"

	"github.com/collocate/collocate/internal/sections"
)

// xbw is a trie in XBW form: see the package comment. Sections:
//
//	C          uint32 for each character: the first node reached by it; then the number of nodes
//	inner      which nodes have children, that is, a row: plain bits. Without this section all
//	           nodes have a row.
//	terminal   which rows end a word: plain bits
//	records, offsets   B_c for each character over rows, as rrr; or
//	lines              B_c as plain bits
//	tail-words, tail-starts   the tail of each leaf
//	heads      uint32 for every string of meta.heads characters, in lexicographic order of codes:
//	           its node + 1, or 0 if it has none. Then the same for all strings of one character
//	           less, and so on down to one. It saves the first steps. Not in xbw-paper.
//
// Word i ends at leaf i, counted in node order. Words that end at a row have the numbers after
// those of the leaves.
type xbw struct {
	meta     *meta
	chars    *alphabet
	first    []uint32 // C
	inner    *plain   // nil: all nodes are rows
	terminal *plain
	down     vectors
	rrr      *rrr   // down, if it is an rrr, to be called without the interface;
	plain    *plain // otherwise down is this
	tails    *tails
	heads    []uint32
	level    [maxHeads + 1]int // index in heads of the strings of each length
}

// row returns the row of node x. For a leaf, ok is false and row is the number of rows before it.
func (d *xbw) row(x int) (row int, ok bool) {
	if d.inner == nil {
		return x, true
	}
	return d.inner.rank(0, x)
}

func (d *xbw) node(row int) (int, bool) {
	if d.inner == nil {
		return row, true
	}
	return d.inner.selectOne(0, row)
}

// child returns the node that is reached from a row by the character with code c.
func (d *xbw) child(row, c int) (x int, ok bool) {
	var r int
	if d.rrr != nil {
		r, ok = d.rrr.rank(c-1, row)
	} else {
		r, ok = d.plain.rank(c-1, row)
	}
	return int(d.first[c-1]) + r, ok
}

func (d *xbw) ID(word []byte) (uint32, bool) {
	x, word := d.head(word)
	row, inner := d.row(x)
	for i, b := range word {
		if !inner {
			return d.leaf(x, row, word[i:])
		}
		c := int(d.chars.code[b])
		if c == 0 {
			return 0, false
		}
		var ok bool
		if x, ok = d.child(row, c); !ok {
			return 0, false
		}
		row, inner = d.row(x)
	}
	if !inner {
		return d.leaf(x, row, nil)
	}
	n, ok := d.terminal.rank(0, row)
	return uint32(d.meta.leaves + n), ok
}

// head takes the first steps of a look-up, if heads has them. It returns the node and the rest of
// the word; otherwise the root and the whole word.
func (d *xbw) head(word []byte) (x int, rest []byte) {
	n := min(len(word), d.meta.heads)
	at := 0
	for _, b := range word[:n] {
		c := int(d.chars.code[b])
		if c == 0 {
			return 0, word
		}
		at = at*d.meta.chars + c - 1
	}
	at += d.level[n]
	if at >= len(d.heads) || d.heads[at] == 0 {
		return 0, word
	}
	return int(d.heads[at]) - 1, word[n:]
}

// headLevels returns where in the section heads the strings of each length begin; that of length 0
// is the end of the section.
func headLevels(chars, heads int) (level [maxHeads + 1]int) {
	size := 1
	for n := range heads {
		for k := range n + 1 { // strings of n+1 characters come before all shorter ones
			level[k] += size * chars
		}
		size *= chars
	}
	return level
}

// leaf ends a look-up at leaf x, with the rest of the word to compare with the tail.
func (d *xbw) leaf(x, rowsBefore int, rest []byte) (uint32, bool) {
	id := x - rowsBefore
	return uint32(id), id < d.meta.leaves && d.tails.equal(id, rest)
}

func (d *xbw) Word(dst []byte, id uint32) []byte {
	if int(id) >= d.meta.words {
		return dst
	}
	var x int
	var ok bool
	leaf := int(id) < d.meta.leaves
	if leaf {
		x, ok = d.inner.selectZero(int(id), d.meta.nodes)
	} else if x, ok = d.terminal.selectOne(0, int(id)-d.meta.leaves); ok {
		x, ok = d.node(x)
	}
	// Climb to the root, which gives the characters in reverse order.
	start := len(dst)
	for ok && x > 0 && len(dst)-start < d.meta.longest {
		c := sort.Search(len(d.first), func(c int) bool { return int(d.first[c]) > x }) - 1
		if c < 0 || c >= len(d.chars.chars) {
			ok = false
			break
		}
		dst = append(dst, d.chars.chars[c])
		var row int
		if row, ok = d.down.selectOne(c, x-int(d.first[c])); ok {
			x, ok = d.node(row)
		}
	}
	if !ok || x != 0 {
		return dst[:start]
	}
	for i, j := start, len(dst)-1; i < j; i, j = i+1, j-1 {
		dst[i], dst[j] = dst[j], dst[i]
	}
	if leaf {
		dst = d.tails.append(dst, int(id))
	}
	return dst
}

// buildXBW writes the sections of an xbw.
func buildXBW(ctx context.Context, w *Words, m *meta, o *Options, out *sections.Writer) error {
	a := w.alphabet()
	t, err := newTrie(ctx, w, o.Kind != XBWPaper)
	if err != nil {
		return err
	}
	order, place, err := xbwOrder(ctx, t, a, o.Threads)
	if err != nil {
		return err
	}
	m.nodes, m.whole, m.rows = t.nodes(), t.whole, t.nodes()
	rows := place // row of each inner node, by node of t
	var inner []uint64
	if t.cut {
		has := t.inner()
		rows = make([]uint32, t.nodes())
		m.rows = 0
		for _, x := range order {
			if has[x] {
				rows[x] = uint32(m.rows)
				m.rows++
			}
		}
		inner = appendPlain(nil, t.nodes(), func(yield func(int) bool) {
			for k, x := range until(ctx, order) {
				if has[x] && !yield(k) {
					return
				}
			}
		})
		m.leaves = t.nodes() - m.rows
	}

	first := make([]uint32, 0, len(a.chars)+1)
	at := 1
	for _, c := range a.chars {
		first = append(first, uint32(at))
		for at < len(order) && t.char[order[at]] == c {
			at++
		}
	}
	first = append(first, uint32(at))
	if err := out.Section("C", sections.Bytes(first)); err != nil {
		return err
	}
	// The ones of B_c are the rows of the parents of the nodes reached by c.
	ones := func(c int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for _, x := range until(ctx, order[first[c]:first[c+1]]) {
				if !yield(int(rows[t.parent[x]])) {
					return
				}
			}
		}
	}
	if err := writeDown(ctx, out, o.Kind, len(a.chars), m.rows, ones); err != nil {
		return err
	}
	if err := writeEnds(ctx, out, w, t, a, m, order, rows, inner); err != nil || !t.cut {
		return err
	}
	list := heads(ctx, t, a, m, place)
	if err := ctx.Err(); err != nil {
		return err
	}
	return out.Section("heads", sections.Bytes(list))
}

// until yields a list with its indexes, but ends early if the context does: look at it afterwards.
func until[T any](ctx context.Context, list []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, x := range list {
			if i%(1<<16) == 0 && ctx.Err() != nil || !yield(i, x) {
				return
			}
		}
	}
}

// Heads have at most maxHeads characters, and there are at least headsShare times as many rows as
// heads of the greatest length. With 5 million words that allows heads of 4 letters, which take 1.9
// bits per word; a look-up takes 0.8 of the time with 3 letters.
const (
	headsShare = 4
	maxHeads   = 4
)

// heads chooses m.heads and returns the nodes of all strings of up to this length.
func heads(ctx context.Context, t *trie, a *alphabet, m *meta, place []uint32) []uint32 {
	size, all := 1, 0
	for m.heads < maxHeads && size*len(a.chars)*headsShare <= m.rows && len(a.chars) > 1 {
		size *= len(a.chars)
		all += size
		m.heads++
	}
	if m.heads == 0 {
		return nil
	}
	level := headLevels(len(a.chars), m.heads)
	list := make([]uint32, all)
	depth, code := make([]uint8, t.nodes()), make([]uint32, t.nodes()) // of nodes up to this depth
	for x, p := range until(ctx, t.parent) {
		if x == 0 {
			continue
		}
		if int(depth[p]) >= m.heads {
			depth[x] = depth[p] // too deep, and so are its descendants
			continue
		}
		depth[x] = depth[p] + 1
		code[x] = code[p]*uint32(len(a.chars)) + uint32(a.code[t.char[x]]) - 1
		list[level[depth[x]]+int(code[x])] = place[x] + 1
	}
	return list
}

// writeDown writes the bit vectors B_c.
func writeDown(ctx context.Context, out *sections.Writer, k Kind, chars, rows int,
	ones func(c int) iter.Seq[int]) error {
	var lines []uint64
	var w rrrWriter
	for c := range chars {
		if k == XBWPlain {
			lines = appendPlain(lines, rows, ones(c))
		} else {
			w.add(rows, ones(c))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if k == XBWPlain {
		return out.Section("lines", sections.Bytes(lines))
	}
	if w.bits > math.MaxUint32 {
		return fmt.Errorf("these words need %d bits of offsets, and this kind allows %d: choose another kind",
			w.bits, uint32(math.MaxUint32))
	}
	w.finish()
	if err := out.Section("records", sections.Bytes(w.records)); err != nil {
		return err
	}
	return out.Section("offsets", sections.Bytes(w.offsets))
}

// writeEnds writes where words end: the rows at which one ends, the leaves, and their tails.
func writeEnds(ctx context.Context, out *sections.Writer, w *Words, t *trie, a *alphabet, m *meta,
	order, rows []uint32, inner []uint64) error {
	wordAt := make([]int32, t.nodes()) // for each node, the number of the word that ends there + 1
	for i, x := range t.ends {
		wordAt[x] = int32(i) + 1
	}
	var has *plain
	if inner != nil {
		has = &plain{inner, linesFor(t.nodes())}
	}
	tails := newTailsWriter(a)
	terminal := appendPlain(nil, m.rows, func(yield func(int) bool) {
		for k, x := range until(ctx, order) {
			if has != nil {
				if _, ok := has.rank(0, k); !ok {
					tails.add(t.tail(w, int(wordAt[x])-1))
					continue
				}
			}
			if wordAt[x] > 0 && !yield(int(rows[x])) {
				return
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := out.Section("terminal", sections.Bytes(terminal)); err != nil {
		return err
	}
	if inner == nil {
		return nil
	}
	if err := out.Section("inner", sections.Bytes(inner)); err != nil {
		return err
	}
	return writeTails(out, tails)
}

func writeTails(out *sections.Writer, t *tailsWriter) error {
	if t.used > math.MaxUint32 {
		return fmt.Errorf("the suffixes of these words have %d characters: want at most %d", t.used, uint32(math.MaxUint32))
	}
	if err := out.Section("tail-words", sections.Bytes(t.words)); err != nil {
		return err
	}
	return out.Section("tail-starts", sections.Bytes(t.starts))
}

// openXBW opens the sections of an xbw.
func openXBW(f *sections.File, m *meta, a *alphabet) (Dict, error) {
	d := &xbw{meta: m, chars: a}
	r := reader{file: f}
	d.first = view[uint32](&r, "C", len(a.chars)+1)
	d.terminal = &plain{view[uint64](&r, "terminal", linesFor(m.rows)*lineWords), linesFor(m.rows)}
	if m.kind == XBWPlain {
		p := &plain{view[uint64](&r, "lines", len(a.chars)*linesFor(m.rows)*lineWords), linesFor(m.rows)}
		d.down, d.plain = p, p
	} else {
		d.rrr = &rrr{
			records: view[uint64](&r, "records", 2*len(a.chars)*supersFor(m.rows)),
			offsets: view[uint64](&r, "offsets", -1),
			per:     supersFor(m.rows), tables: rrrOnce(),
		}
		d.down = d.rrr
	}
	if m.kind != XBWPaper {
		d.inner = &plain{view[uint64](&r, "inner", linesFor(m.nodes)*lineWords), linesFor(m.nodes)}
		d.tails = r.tails(a)
		if m.heads > 0 {
			d.heads, d.level = view[uint32](&r, "heads", -1), headLevels(m.chars, m.heads)
		}
	} else if m.leaves != 0 || m.rows != m.nodes {
		r.fail("an xbw-paper dictionary has leaves")
	}
	return d, r.err
}
