package coloc

import (
	"context"
	"fmt"
	"slices"
	"sort"
)

// stars has the pairs of neighbouring points of different features, for the algorithms that list
// instances. Points are renumbered by feature, then input order. Each has the list of its
// neighbours of later features, in ascending order, so that those of one feature are a range. A
// pair takes 12 bytes while the lists are made, and 4 bytes afterwards.
type stars struct {
	first []int32 // by feature: its first point; one more at the end
	point []int32 // number of each point in the input
	start []int64 // start of each point's list; one more at the end
	list  []int32
}

// starBlock is the number of pairs in a block; workers gather pairs in blocks.
const starBlock = 1 << 16

// newStars joins the points. name is that of the algorithm, for the error if the pairs do not fit
// the memory bound.
func newStars(ctx context.Context, pts *Points, j *job, memory *meter,
	name string) (*stars, error) {
	n := pts.Len()
	s := &stars{first: make([]int32, len(pts.Features)+1), point: make([]int32, n),
		start: make([]int64, n+1)}
	for _, f := range pts.Feature {
		s.first[f+1]++
	}
	for f := range pts.Features {
		s.first[f+1] += s.first[f]
	}
	rank := make([]int32, n)
	next := slices.Clone(s.first)
	for p, f := range pts.Feature {
		rank[p] = next[f]
		s.point[next[f]] = int32(p)
		next[f]++
	}
	tooMany := fmt.Errorf("%s: the neighbouring pairs (patterns of size 2) need more than the "+
		"memory bound: raise coloc.Options.Memory, lower coloc.Options.Distance or use coloc.Options.Algorithm=auto, which lists no "+
		"instances", name)
	if !memory.take(16 * int64(n)) {
		return nil, tooMany
	}
	gathered := make([][][]uint64, j.cores.workers)
	err := j.sweepPairs(ctx, pts, func(w int, a, b int32) error {
		blocks := gathered[w]
		last := len(blocks) - 1
		if last < 0 || len(blocks[last]) == starBlock {
			if !memory.take(12 * starBlock) {
				return tooMany
			}
			blocks = append(blocks, make([]uint64, 0, starBlock))
			gathered[w] = blocks
			last++
		}
		blocks[last] = append(blocks[last], uint64(rank[a])<<32|uint64(rank[b]))
		return nil
	})
	if err != nil {
		return nil, err
	}
	blocks := slices.Concat(gathered...)
	for _, block := range blocks {
		for _, pair := range block {
			s.start[pair>>32+1]++
		}
	}
	for p := range n {
		s.start[p+1] += s.start[p]
	}
	s.list = make([]int32, s.start[n])
	fill := slices.Clone(s.start)
	for i, block := range blocks {
		for _, pair := range block {
			at := &fill[pair>>32]
			s.list[*at] = int32(uint32(pair))
			*at++
		}
		blocks[i] = nil
		memory.give(8 * starBlock)
	}
	const some = 1 << 12
	err = j.cores.each(ctx, (n+some-1)/some, func(_, part int) error {
		for p := part * some; p < min(n, (part+1)*some); p++ {
			slices.Sort(s.of(int32(p)))
		}
		return nil
	})
	return s, err
}

// of returns the neighbours of a point that have later features.
func (s *stars) of(p int32) []int32 { return s.list[s.start[p]:s.start[p+1]] }

// ofFeature returns the neighbours of a point that have a later feature f.
func (s *stars) ofFeature(p, f int32) []int32 {
	list := s.of(p)
	lo := lowerBound(list, s.first[f])
	list = list[lo:]
	return list[:lowerBound(list, s.first[f+1])]
}

// joined reports whether b, of a later feature, is a neighbour of a.
func (s *stars) joined(a, b int32) bool {
	list := s.of(a)
	i := lowerBound(list, b)
	return i < len(list) && list[i] == b
}

func lowerBound(list []int32, v int32) int {
	lo, hi := 0, len(list)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); list[mid] < v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// feature returns the feature of a point.
func (s *stars) feature(p int32) int32 {
	return int32(sort.Search(len(s.first)-1, func(f int) bool { return s.first[f+1] > p }))
}

// points returns the range of the points of a feature.
func (s *stars) points(f int32) (lo, hi int32) { return s.first[f], s.first[f+1] }

// pairCounts counts, for every pair of features, the points of either one that have a neighbour of
// the other.
func (s *stars) pairCounts(ctx context.Context, j *job) (map[[2]int32][2]int64, error) {
	features := len(s.first) - 1
	parts := make([]map[int32][2]int64, features) // by first feature: second -> counts
	seen := make([][]int32, j.cores.workers)
	err := j.cores.each(ctx, features, func(w, f int) error {
		if seen[w] == nil {
			seen[w] = make([]int32, len(s.point))
		}
		counts := make(map[int32][2]int64)
		lo, hi := s.points(int32(f))
		for a := lo; a < hi; a++ {
			list := s.of(a)
			for len(list) > 0 {
				g := s.feature(list[0])
				end := lowerBound(list, s.first[g+1])
				c := counts[g]
				c[0]++
				for _, b := range list[:end] {
					if seen[w][b] != int32(f)+1 {
						seen[w][b] = int32(f) + 1
						c[1]++
					}
				}
				counts[g] = c
				list = list[end:]
			}
		}
		parts[f] = counts
		return nil
	})
	out := make(map[[2]int32][2]int64)
	for f, part := range parts {
		for g, c := range part {
			out[[2]int32{int32(f), g}] = c
		}
	}
	return out, err
}
