package coloc

import (
	"context"
	"fmt"
	"strings"
)

// instanceTree is the condensed instance tree of one candidate. Level i has a node for every clique
// of points of the candidate's first i+1 features, with its parent on the previous level. The tree
// is scratch memory of one worker and counts against the memory bound.
type instanceTree struct {
	s      *sgct
	levels [][]treeNode
	seen   []uint32 // by point: stamp of the level that last counted it
	stamp  uint32
}

type treeNode struct{ point, parent int32 }

// treeNodeBytes is the memory of a node and of its marks in participation.
const treeNodeBytes = 10

func newInstanceTree(s *sgct) *instanceTree {
	return &instanceTree{s: s, seen: make([]uint32, s.pts.Len())}
}

// participation counts the points of each feature on paths of full length.
func (t *instanceTree) participation(ctx context.Context, c []int32) ([]int64, error) {
	counts := make([]int64, len(c))
	if len(c) == 2 {
		p := t.s.pairs[[2]int32{c[0], c[1]}]
		counts[0], counts[1] = p[0], p[1]
		return counts, nil
	}
	defer t.shrink()
	for len(t.levels) < len(c) {
		t.levels = append(t.levels, nil)
	}
	for i := range c {
		if err := t.grow(ctx, c, i); err != nil {
			return nil, err
		}
		if len(t.levels[i]) == 0 {
			return counts, nil
		}
	}
	// From the leaves to the root, mark the nodes on paths of full length.
	level := t.levels[len(c)-1]
	alive := make([]bool, len(level))
	for i := range alive {
		alive[i] = true
	}
	for i := len(c) - 1; i >= 0; i-- {
		level = t.levels[i]
		var above []bool
		if i > 0 {
			above = make([]bool, len(t.levels[i-1]))
		}
		t.stamp++
		for k, n := range level {
			if !alive[k] {
				continue
			}
			if t.seen[n.point] != t.stamp {
				t.seen[n.point] = t.stamp
				counts[i]++
			}
			if i > 0 {
				above[n.parent] = true
			}
		}
		alive = above
	}
	return counts, nil
}

// grow makes level i. Level 0 has the points of the first feature. The children of a node are the
// points of the next feature that are neighbours of the node and of all its ancestors.
func (t *instanceTree) grow(ctx context.Context, c []int32, i int) error {
	stars := t.s.stars
	t.levels[i] = t.levels[i][:0]
	if i == 0 {
		lo, hi := stars.points(c[0])
		for a := lo; a < hi; a++ {
			if len(stars.ofFeature(a, c[1])) > 0 {
				if err := t.push(c, 0, treeNode{a, -1}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for k, n := range t.levels[i-1] {
		if k&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, e := range stars.ofFeature(n.point, c[i]) {
			if !t.fits(i-2, n.parent, e) {
				continue
			}
			if err := t.push(c, i, treeNode{e, int32(k)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// push adds a node to a level and counts the memory that it allocates.
func (t *instanceTree) push(c []int32, i int, n treeNode) error {
	level := t.levels[i]
	if len(level) == cap(level) {
		room := max(1024, cap(level)+cap(level)/2)
		if !t.s.memory.take(treeNodeBytes * int64(room)) {
			return fmt.Errorf("sgct: the instance tree of a pattern of size %d (%s) needs more "+
				"than the memory bound at its level %d: use coloc.Options.Algorithm=auto, which lists no "+
				"instances, or raise coloc.Options.Memory or coloc.Options.MinPrevalence", len(c),
				strings.Join(t.s.pts.Names(c), ", "), i+1)
		}
		t.s.memory.give(treeNodeBytes * int64(cap(level)))
		level = append(make([]treeNode, 0, room), level...)
	}
	t.levels[i] = append(level, n)
	return nil
}

// shrink frees large levels, so that one worker does not keep memory that others need.
func (t *instanceTree) shrink() {
	const keep = 1 << 16
	for i, level := range t.levels {
		if cap(level) > keep {
			t.s.memory.give(treeNodeBytes * int64(cap(level)))
			t.levels[i] = nil
		}
	}
}

// fits reports whether e is a neighbour of node at of the given level and of all its ancestors.
func (t *instanceTree) fits(level int, at int32, e int32) bool {
	for ; level >= 0; level-- {
		n := t.levels[level][at]
		if !t.s.stars.joined(n.point, e) {
			return false
		}
		at = n.parent
	}
	return true
}
