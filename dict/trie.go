package dict

import (
	"context"
	"fmt"
	"math"
)

// trie is a trie in memory. Nodes are in preorder, with children in order of their characters; node
// 0 is the root.
type trie struct {
	parent []uint32
	char   []byte
	// ends[i] is the node at which word i ends, or is cut.
	ends []uint32
	// whole is the number of nodes if no word were cut.
	whole int
	cut   bool
}

// depth returns the number of characters of word i that become nodes: all of them or, with cut,
// only as many as are needed to distinguish it from its neighbours.
func depth(w *Words, i, before, after int, cut bool) int {
	n := len(w.At(i))
	if cut {
		n = min(n, max(before, after)+1)
	}
	return n
}

// newTrie builds the trie of the words; with cut, each word is cut after its shortest unique
// prefix.
func newTrie(ctx context.Context, w *Words, cut bool) (*trie, error) {
	nodes, whole := 1, 1
	each := func(visit func(i, before, depth int)) error {
		before := 0 // characters shared with the word before
		for i := range w.Len() {
			after := 0
			if i+1 < w.Len() {
				after = common(w.At(i), w.At(i+1))
			}
			visit(i, before, depth(w, i, before, after, cut))
			before = after
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	}
	err := each(func(i, before, depth int) {
		nodes += max(0, depth-before)
		whole += len(w.At(i)) - before
	})
	if err != nil {
		return nil, err
	}
	if nodes > math.MaxInt32 {
		return nil, fmt.Errorf("the trie of these words has %d nodes: want at most %d", nodes, math.MaxInt32)
	}

	t := &trie{
		parent: make([]uint32, 1, nodes), char: make([]byte, 1, nodes),
		ends: make([]uint32, w.Len()), whole: whole, cut: cut,
	}
	path := make([]uint32, w.longest()+1) // path[d] is the node of the first d characters
	err = each(func(i, before, depth int) {
		word := w.At(i)
		for d := before; d < depth; d++ {
			path[d+1] = uint32(len(t.parent))
			t.parent = append(t.parent, path[d])
			t.char = append(t.char, word[d])
		}
		t.ends[i] = path[depth]
	})
	return t, err
}

func (t *trie) nodes() int { return len(t.parent) }

// inner tells for each node whether it has children. The root counts as inner.
func (t *trie) inner() []bool {
	inner := make([]bool, t.nodes())
	inner[0] = true
	for _, p := range t.parent[1:] {
		inner[p] = true
	}
	return inner
}

// tail returns the rest of word i after the characters of its node.
func (t *trie) tail(w *Words, i int) []byte {
	d := 0
	for x := t.ends[i]; x != 0; x = t.parent[x] {
		d++
	}
	return w.At(i)[d:]
}
