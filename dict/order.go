package dict

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/internal/par"
)

// xbwOrder sorts the nodes by their reversed prefixes: order[k] is the k-th node, place its
// inverse.
//
// First the nodes are sorted by the last characters of each prefix, as many as fit into 64 bits: 12
// of them for 26 letters, after which few nodes are still tied. These are sorted by the place that
// their ancestor has so far, over distances that double, as in suffix sorting by prefix doubling.
func xbwOrder(ctx context.Context, t *trie, a *alphabet, threads int) (order, place []uint32, err error) {
	n := t.nodes()
	width := max(1, bits.Len(uint(len(a.chars)))) // codes begin at 1; 0 is "no more characters"
	fit := 64 / width
	keys := make([]uint64, n)
	order, place = make([]uint32, n), make([]uint32, n)
	top := (fit - 1) * width
	for x, from := range until(ctx, t.parent) {
		order[x] = uint32(x)
		if x > 0 {
			keys[x] = uint64(a.code[t.char[x]])<<top | keys[from]>>width
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	par.RadixSortPairs(threads, keys, order, nil, nil, 0, fit*width)

	// Nodes with equal keys form a group; the place of all of them is the start of the group.
	var groups []span
	for i := 0; i < n; {
		j := i
		for ; j < n && keys[j] == keys[i]; j++ {
			place[order[j]] = uint32(i)
		}
		if j-i > 1 {
			groups = append(groups, span{i, j})
		}
		i = j
	}
	if len(groups) == 0 {
		return order, place, nil
	}
	keys = nil

	up := make([]uint32, n) // the ancestor at the distance sorted so far
	for x := range up {
		up[x] = uint32(x)
		for range fit {
			up[x] = t.parent[up[x]]
		}
	}
	type item struct{ key, node uint32 }
	var items []item
	for len(groups) > 0 {
		var left []span
		for _, g := range until(ctx, groups) {
			items = items[:0]
			for _, x := range order[g.from:g.to] {
				items = append(items, item{place[up[x]], x})
			}
			slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.key, b.key) })
			for i := 0; i < len(items); {
				j := i
				for ; j < len(items) && items[j].key == items[i].key; j++ {
					order[g.from+j] = items[j].node
				}
				if j-i > 1 {
					left = append(left, span{g.from + i, g.from + j})
				}
				i = j
			}
			// Places are refined only now, after all keys of the group were read.
			at := g.from
			for i := range items {
				if i > 0 && items[i].key != items[i-1].key {
					at = g.from + i
				}
				place[items[i].node] = uint32(at)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		groups = left
		next := make([]uint32, n)
		for x := range next {
			next[x] = up[up[x]]
		}
		up = next
	}
	return order, place, nil
}

type span struct{ from, to int }
