package coloc

import (
	"context"
	"errors"
	"slices"
)

// maximalCliques lists the maximal cliques of a graph, each in ascending order. It is the algorithm
// of Bron and Kerbosch (1973), with the outer loop in degeneracy order and the pivot of Tomita,
// Tanaka and Takahashi (2006). Single vertices are left out. There can be 3^(n/3) cliques, so they
// count against the memory bound.
func maximalCliques(ctx context.Context, adj [][]int32, c cores, memory *meter) ([][]int32, error) {
	order, _ := degeneracyOrder(adj)
	rank := make([]int, len(adj))
	for i, v := range order {
		rank[v] = i
	}
	lists := make([][][]int32, len(order))
	err := c.each(ctx, len(order), func(_, i int) error {
		v := order[i]
		var later, earlier []int32
		for _, u := range adj[v] {
			if rank[u] > i {
				later = append(later, u)
			} else {
				earlier = append(earlier, u)
			}
		}
		b := bronKerbosch{ctx: ctx, adj: adj, memory: memory}
		b.extend(later, []int32{v}, earlier)
		lists[i] = b.cliques
		return b.err
	})
	return slices.Concat(lists...), err
}

type bronKerbosch struct {
	ctx     context.Context
	adj     [][]int32
	memory  *meter
	cliques [][]int32
	err     error
}

// extend adds the maximal cliques that contain clique, further vertices of may, and none of not.
// All lists are ascending.
func (b *bronKerbosch) extend(may, clique, not []int32) {
	if b.err != nil {
		return
	}
	if len(may) == 0 && len(not) == 0 {
		if len(b.cliques)&1023 == 0 {
			b.err = b.ctx.Err()
		}
		if len(clique) > 1 {
			if !b.memory.take(cliqueBytes + 4*int64(len(clique))) {
				b.err = errTooManyCliques
				return
			}
			c := slices.Clone(clique)
			slices.Sort(c)
			b.cliques = append(b.cliques, c)
		}
		return
	}
	pivot, most := int32(-1), -1
	for _, side := range [][]int32{may, not} {
		for _, u := range side {
			if n := len(intersect(may, b.adj[u])); n > most {
				pivot, most = u, n
			}
		}
	}
	for _, v := range subtract(may, b.adj[pivot]) {
		b.extend(intersect(may, b.adj[v]), append(slices.Clip(clique), v), intersect(not, b.adj[v]))
		may = subtract(may, []int32{v})
		at, _ := slices.BinarySearch(not, v)
		not = slices.Insert(slices.Clone(not), at, v)
	}
}

// cliqueBytes is the memory of a clique besides its vertices.
const cliqueBytes = 72

var errTooManyCliques = errors.New("the cliques of features that are prevalent in pairs, candidates for patterns, need more than the memory bound: use coloc.Options.Algorithm=auto, or raise coloc.Options.Memory or coloc.Options.MinPrevalence")

// intersect and subtract work on ascending lists.
func intersect(a, b []int32) []int32 {
	var out []int32
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			out = append(out, a[i])
			i++
			j++
		}
	}
	return out
}

func subtract(a, b []int32) []int32 {
	var out []int32
	j := 0
	for _, v := range a {
		for j < len(b) && b[j] < v {
			j++
		}
		if j == len(b) || b[j] != v {
			out = append(out, v)
		}
	}
	return out
}
