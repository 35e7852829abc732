package coloc

import (
	"fmt"
	"slices"
	"strings"
)

// instanceTree is the condensed instance tree of one candidate: level i has a
// node for every clique of points of the candidate's first i+1 features,
// pointing to its parent on the level before. It is one worker's scratch.
type instanceTree struct {
	s      *sgct
	levels [][]treeNode
	seen   []uint32 // point -> stamp of the level that last counted it
	stamp  uint32
}

type treeNode struct{ point, parent int32 }

func newInstanceTree(s *sgct) *instanceTree {
	return &instanceTree{s: s, seen: make([]uint32, s.pts.Len())}
}

// participation counts the points of each feature on paths of full length.
func (t *instanceTree) participation(c []int32) ([]int64, error) {
	counts := make([]int64, len(c))
	if len(c) == 2 {
		p := t.s.pairs[[2]int32{c[0], c[1]}]
		counts[0], counts[1] = p[0], p[1]
		return counts, nil
	}
	held := int64(0)
	defer func() { t.s.memory.give(held) }()
	for len(t.levels) < len(c) {
		t.levels = append(t.levels, nil)
	}
	first := t.levels[0][:0]
	for a := range t.s.table[[2]int32{c[0], c[1]}] {
		first = append(first, treeNode{a, -1})
	}
	t.levels[0] = first
	for i := 1; i < len(c); i++ {
		if err := t.grow(c, i, &held); err != nil {
			return nil, err
		}
		if len(t.levels[i]) == 0 {
			return counts, nil
		}
	}
	// From the leaves to the root: what lies on a path of full length.
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

// grow makes level i: the neighbours of a node of the level before, of the
// next feature, that neighbour all its ancestors too.
func (t *instanceTree) grow(c []int32, i int, held *int64) error {
	level := t.levels[i][:0]
	tables := make([]map[int32][]int32, i)
	for k := range tables {
		tables[k] = t.s.table[[2]int32{c[k], c[i]}]
	}
	for k, n := range t.levels[i-1] {
		for _, e := range tables[i-1][n.point] {
			if t.fits(tables, i-2, n.parent, e) {
				level = append(level, treeNode{e, int32(k)})
			}
		}
		if grown := 10 * int64(len(level)); grown-*held > 1<<20 {
			ok := t.s.memory.take(grown - *held)
			*held = grown
			if !ok {
				return fmt.Errorf("sgct: the instance tree of a pattern of size %d (%s) needs more than the memory bound at its level %d: use --algorithm auto, which lists no instances, or raise --memory or --min-prevalence", len(c), strings.Join(t.s.pts.Names(c), ", "), i+1)
			}
		}
	}
	t.levels[i] = level
	return nil
}

// fits walks up from the ancestor on the given level.
func (t *instanceTree) fits(tables []map[int32][]int32, level int, at int32, e int32) bool {
	for ; level >= 0; level-- {
		n := t.levels[level][at]
		if _, ok := slices.BinarySearch(tables[level][n.point], e); !ok {
			return false
		}
		at = n.parent
	}
	return true
}
