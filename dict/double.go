package dict

import (
	"context"
	"math/bits"

	"github.com/collocate/collocate/internal/sections"
)

// double is a double-array trie over the cut trie. Sections:
//
//	cells   int32 pairs (base, parent). The child of cell s by code c is cell base[s] XOR c, if
//	        its parent is s; the root is cell 0. Code 0 is the end of a word that is a prefix of
//	        others. A leaf has base -1-i for word i. A free cell has parent -1, and the root has
//	        parent -2.
//	leaves  uint32 for each word: its leaf
//	tail-words, tail-starts   the tail of each word
//
// Words are numbered in byte order.
type double struct {
	meta   *meta
	chars  *alphabet
	cells  []int32
	leaves []uint32
	tails  *tails
}

// step returns the child of cell s by a code, and its base.
func (d *double) step(s int, base int32, code int) (int, int32, bool) {
	t := int(base) ^ code
	if base < 0 || uint(2*t+1) >= uint(len(d.cells)) || d.cells[2*t+1] != int32(s) {
		return 0, 0, false
	}
	return t, d.cells[2*t], true
}

func (d *double) ID(word []byte) (uint32, bool) {
	if len(d.cells) < 2 {
		return 0, false
	}
	s, base, ok := 0, d.cells[0], true
	for i, b := range word {
		if base < 0 {
			return d.leaf(base, word[i:])
		}
		c := int(d.chars.code[b])
		if c == 0 {
			return 0, false
		}
		if s, base, ok = d.step(s, base, c); !ok {
			return 0, false
		}
	}
	if base >= 0 {
		if _, base, ok = d.step(s, base, 0); !ok || base >= 0 {
			return 0, false
		}
	}
	return d.leaf(base, nil)
}

func (d *double) leaf(base int32, rest []byte) (uint32, bool) {
	id := int(-1 - base)
	return uint32(id), id < d.meta.words && d.tails.equal(id, rest)
}

func (d *double) Word(dst []byte, id uint32) []byte {
	if int(id) >= len(d.leaves) {
		return dst
	}
	start := len(dst)
	for s := int(d.leaves[id]); s != 0; {
		if 2*s+1 >= len(d.cells) || d.cells[2*s+1] < 0 || len(dst)-start > d.meta.longest {
			return dst[:start]
		}
		p := int(d.cells[2*s+1])
		if 2*p >= len(d.cells) {
			return dst[:start]
		}
		switch c := int(d.cells[2*p]) ^ s; {
		case c > 0 && c <= len(d.chars.chars):
			dst = append(dst, d.chars.chars[c-1])
		case c != 0:
			return dst[:start]
		}
		s = p
	}
	for i, j := start, len(dst)-1; i < j; i, j = i+1, j-1 {
		dst[i], dst[j] = dst[j], dst[i]
	}
	return d.tails.append(dst, int(id))
}

func buildDouble(ctx context.Context, w *Words, m *meta, out *sections.Writer) error {
	t, err := newTrie(ctx, w, true)
	if err != nil {
		return err
	}
	m.nodes, m.whole = t.nodes(), t.whole
	a := w.alphabet()
	kids := newChildren(t)
	word := make([]int32, t.nodes()) // word that ends at a node; -1 for none
	for x := range word {
		word[x] = -1
	}
	for i, x := range t.ends {
		word[x] = int32(i)
	}
	var b doubleBuilder
	b.grow()
	b.take(0, -2)
	leaves := make([]uint32, w.Len())
	cell := make([]uint32, t.nodes())
	var codes []uint16
	for x := range t.nodes() { // parents come first
		if x%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		list := kids.of(x)
		if len(list) == 0 && x > 0 {
			b.cells[2*cell[x]] = -1 - word[x]
			leaves[word[x]] = cell[x]
			continue
		}
		codes = codes[:0]
		if word[x] >= 0 {
			codes = append(codes, 0)
		}
		for _, y := range list {
			codes = append(codes, a.code[t.char[y]])
		}
		base := b.place(codes)
		b.cells[2*cell[x]] = int32(base)
		for _, c := range codes {
			b.take(base^int(c), int32(cell[x]))
		}
		if word[x] >= 0 {
			b.cells[2*base] = -1 - word[x]
			leaves[word[x]] = uint32(base)
		}
		for _, y := range list {
			cell[y] = uint32(base ^ int(a.code[t.char[y]]))
		}
	}
	tails := newTailsWriter(a)
	for i := range w.Len() {
		tails.add(t.tail(w, i))
	}
	if err := out.Section("cells", sections.Bytes(b.cells)); err != nil {
		return err
	}
	if err := out.Section("leaves", sections.Bytes(leaves)); err != nil {
		return err
	}
	return writeTails(out, tails)
}

// children lists the children of each node.
type children struct{ start, list []uint32 }

func newChildren(t *trie) *children {
	c := &children{start: make([]uint32, t.nodes()+1), list: make([]uint32, t.nodes()-1)}
	for _, p := range t.parent[1:] {
		c.start[p+1]++
	}
	for x := range t.nodes() {
		c.start[x+1] += c.start[x]
	}
	next := append([]uint32(nil), c.start...)
	for x := 1; x < t.nodes(); x++ {
		p := t.parent[x]
		c.list[next[p]] = uint32(x)
		next[p]++
	}
	return c
}

func (c *children) of(x int) []uint32 { return c.list[c.start[x]:c.start[x+1]] }

// doubleBuilder allocates cells of the double array. Cells come in blocks of 512, more than there
// are codes, and base XOR code stays in its block. Only the last few blocks are searched, so the
// time is linear; with 5 million generated words, 16 blocks fill 99 % of the cells.
type doubleBuilder struct {
	cells []int32
	free  [][blockCells / 64]uint64
	open  []int // blocks that are still searched
}

const (
	blockCells = 512
	openBlocks = 16
)

func (b *doubleBuilder) grow() {
	for range blockCells {
		b.cells = append(b.cells, 0, -1)
	}
	var all [blockCells / 64]uint64
	for i := range all {
		all[i] = ^uint64(0)
	}
	b.open = append(b.open, len(b.free))
	b.free = append(b.free, all)
	if len(b.open) > openBlocks {
		b.open = append(b.open[:0], b.open[1:]...)
	}
}

func (b *doubleBuilder) take(cell int, parent int32) {
	b.cells[2*cell+1] = parent
	b.free[cell/blockCells][cell%blockCells/64] &^= 1 << (cell % 64)
}

// place finds a base such that the cells of all codes are free.
func (b *doubleBuilder) place(codes []uint16) int {
	if len(codes) == 0 {
		return 0 // the root of an empty dictionary
	}
	for _, block := range b.open {
		free := &b.free[block]
		for i, word := range free {
			for ; word != 0; word &= word - 1 {
				base := (64*i + bits.TrailingZeros64(word)) ^ int(codes[0])
				if fits(free, base, codes[1:]) {
					return block*blockCells + base
				}
			}
		}
	}
	b.grow()
	return b.place(codes)
}

func fits(free *[blockCells / 64]uint64, base int, codes []uint16) bool {
	for _, c := range codes {
		if at := base ^ int(c); free[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

func openDouble(f *sections.File, m *meta, a *alphabet) (Dict, error) {
	r := reader{file: f}
	d := &double{
		meta: m, chars: a,
		cells:  view[int32](&r, "cells", -1),
		leaves: view[uint32](&r, "leaves", m.words),
		tails:  r.tails(a),
	}
	return d, r.err
}
