package emu

// exits turns a guarded branch to a return into a guarded return: threads that return early then do
// not delay the reconvergence of the others.
func (p *program) exits() {
	for i := range p.code {
		in := &p.code[i]
		if in.kind == branch && in.pred >= 0 && p.code[in.target].kind == exit && p.code[in.target].pred < 0 {
			in.kind = exit
		}
	}
}

// successors returns the successors of instruction i, in a graph without the edges of guarded
// exits.
func (p *program) successors(i int, out []int) []int {
	out = out[:0]
	switch in := &p.code[i]; in.kind {
	case branch:
		out = append(out, int(in.target))
		if in.pred >= 0 {
			out = append(out, i+1)
		}
	case branchTable:
		for _, t := range in.table {
			out = append(out, int(t))
		}
	case exit:
		if in.pred >= 0 {
			out = append(out, i+1)
		}
	default:
		if i+1 < len(p.code) {
			out = append(out, i+1)
		}
	}
	return out
}

// findMeets computes where the sides of every branch reconverge: at its immediate post-dominator,
// the first instruction on all paths from it. Paths that lead only to a return other than the last
// one (or to a trap) do not count, since their lanes do not reconverge.
//
// The algorithm is that of Cooper, Harvey and Kennedy on the reversed graph of basic blocks.
func (p *program) findMeets() {
	leader := make([]bool, len(p.code)+1)
	leader[0] = true
	var succ []int
	for i := range p.code {
		if k := p.code[i].kind; k == branch || k == branchTable || k == exit {
			leader[i+1] = true
			for _, s := range p.successors(i, succ) {
				leader[s] = true
			}
		}
	}
	blockOf := make([]int, len(p.code))
	var starts, ends []int
	for i := range p.code {
		if leader[i] {
			starts = append(starts, i)
			ends = append(ends, i)
		}
		blockOf[i] = len(starts) - 1
		ends[len(ends)-1] = i
	}
	n := len(starts)
	preds := make([][]int, n)
	succs := make([][]int, n)
	for b := range n {
		for _, s := range p.successors(ends[b], succ) {
			succs[b] = append(succs[b], blockOf[s])
			preds[blockOf[s]] = append(preds[blockOf[s]], b)
		}
	}
	root := p.lastExit(blockOf, preds)
	ipdom := postDominators(root, preds, succs)
	for b := range n {
		in := &p.code[ends[b]]
		if in.kind != branch && in.kind != branchTable {
			continue
		}
		in.meet = -1
		if d := ipdom[b]; d >= 0 {
			in.meet = int32(starts[d])
		}
	}
}

// lastExit returns the basic block of the last reachable return.
func (p *program) lastExit(blockOf []int, preds [][]int) int {
	for i := len(p.code) - 1; i > 0; i-- {
		if in := &p.code[i]; in.kind == exit && in.pred < 0 && (len(preds[blockOf[i]]) > 0 || blockOf[i] == 0) {
			return blockOf[i]
		}
	}
	return len(preds) - 1
}

// postDominators returns each block's immediate post-dominator with respect to
// root, or -1 for blocks that cannot reach it.
func postDominators(root int, preds, succs [][]int) []int {
	n := len(preds)
	// Reverse postorder of the reversed graph, with an explicit stack.
	order := make([]int, 0, n) // postorder
	number := make([]int, n)
	for i := range number {
		number[i] = -1
	}
	type frame struct{ node, next int }
	seen := make([]bool, n)
	stack := []frame{{root, 0}}
	seen[root] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.next < len(preds[f.node]) {
			c := preds[f.node][f.next]
			f.next++
			if !seen[c] {
				seen[c] = true
				stack = append(stack, frame{c, 0})
			}
			continue
		}
		number[f.node] = len(order)
		order = append(order, f.node)
		stack = stack[:len(stack)-1]
	}
	dom := make([]int, n)
	for i := range dom {
		dom[i] = -1
	}
	dom[root] = root
	for changed := true; changed; {
		changed = false
		for i := len(order) - 2; i >= 0; i-- { // all but the root
			b := order[i]
			best := -1
			for _, s := range succs[b] {
				if number[s] < 0 || dom[s] < 0 {
					continue
				}
				if best < 0 {
					best = s
					continue
				}
				x, y := s, best
				for x != y {
					for number[x] < number[y] {
						x = dom[x]
					}
					for number[y] < number[x] {
						y = dom[y]
					}
				}
				best = x
			}
			if best >= 0 && dom[b] != best {
				dom[b] = best
				changed = true
			}
		}
	}
	dom[root] = -1
	return dom
}
