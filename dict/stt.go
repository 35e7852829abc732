package dict

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/sections"
)

// stt is a trie as a state transition table. Sections:
//
//	next    int32 for each node and character, at node*characters + code-1: the child, or -1.
//	        Nodes are in preorder, the root is 0.
//	number  int32 for each node: the number of the word that ends there, or -1
//	end     uint32 for each word: the node at which it ends
//	up      uint32 for each node: its parent; 0 for the root
//
// Words are numbered in byte order. Only Word needs the last two sections.
type stt struct {
	meta   *meta
	chars  *alphabet
	next   []int32
	number []int32
	end    []uint32
	up     []uint32
}

// sttBytes returns the size of a trie's table as the papers count it.
func sttBytes(nodes, chars int) int64 { return int64(nodes) * int64(chars) * 4 }

func (d *stt) ID(word []byte) (uint32, bool) {
	x, n := 0, d.meta.chars
	for _, b := range word {
		c := int(d.chars.code[b])
		if c == 0 {
			return 0, false
		}
		if x = int(d.next[x*n+c-1]); uint(x) >= uint(d.meta.nodes) {
			return 0, false
		}
	}
	if x >= len(d.number) {
		return 0, false
	}
	id := d.number[x]
	return uint32(id), id >= 0
}

func (d *stt) Word(dst []byte, id uint32) []byte {
	if uint64(id) >= uint64(len(d.end)) {
		return dst
	}
	start := len(dst)
	for x := d.end[id]; x != 0; {
		if int(x) >= len(d.up) || d.up[x] >= x { // preorder: parents come first
			return dst[:start]
		}
		p := int(d.up[x])
		row := d.next[p*d.meta.chars : (p+1)*d.meta.chars]
		for c, y := range row {
			if y == int32(x) {
				dst = append(dst, d.chars.chars[c])
			}
		}
		x = uint32(p)
	}
	for i, j := start, len(dst)-1; i < j; i, j = i+1, j-1 {
		dst[i], dst[j] = dst[j], dst[i]
	}
	return dst
}

func buildSTT(ctx context.Context, w *Words, m *meta, o *Options, out *sections.Writer) error {
	t, err := newTrie(ctx, w, false)
	if err != nil {
		return err
	}
	m.nodes, m.whole, m.rows = t.nodes(), t.whole, t.nodes()
	if need := sttBytes(m.nodes, m.chars); need > o.Memory {
		return fmt.Errorf("the table of %d nodes and %d characters takes %d bytes, more than the memory of %d: try another kind or more memory",
			m.nodes, m.chars, need, o.Memory)
	}
	a := w.alphabet()
	next := make([]int32, m.nodes*m.chars)
	number := make([]int32, m.nodes)
	for i := range next {
		next[i] = -1
	}
	for x, from := range until(ctx, t.parent) {
		number[x] = -1
		if x > 0 {
			next[int(from)*m.chars+int(a.code[t.char[x]])-1] = int32(x)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, x := range t.ends {
		number[x] = int32(i)
	}
	for _, s := range []struct {
		name string
		data []byte
	}{
		{"next", sections.Bytes(next)}, {"number", sections.Bytes(number)},
		{"end", sections.Bytes(t.ends)}, {"up", sections.Bytes(t.parent)},
	} {
		if err := out.Section(s.name, s.data); err != nil {
			return err
		}
	}
	return nil
}

func openSTT(f *sections.File, m *meta, a *alphabet) (Dict, error) {
	r := reader{file: f}
	d := &stt{
		meta: m, chars: a,
		next:   view[int32](&r, "next", m.nodes*m.chars),
		number: view[int32](&r, "number", m.nodes),
		end:    view[uint32](&r, "end", m.words),
		up:     view[uint32](&r, "up", m.nodes),
	}
	return d, r.err
}

// TableBytes returns the size of the table of an stt of the words, without building it.
func TableBytes(ctx context.Context, w *Words) (int64, error) {
	if err := given.Context(ctx); err != nil {
		return 0, err
	}
	nodes := 1
	before := []byte(nil)
	for i := range w.Len() {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		word := w.At(i)
		nodes += len(word) - common(before, word)
		before = word
	}
	return sttBytes(nodes, len(w.alphabet().chars)), nil
}
