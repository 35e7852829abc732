package coloc

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// SGCT, step by step: (1) the table of size-2 instances by a plane sweep, (2)
// the prevalent pairs of features, (3) the maximal cliques of their graph as
// candidates, (4) the candidates, longest first: each gets its condensed
// instance tree, and a candidate that is not prevalent is split into its
// subsets of one feature less, unless these lie in an accepted pattern or have
// been seen. On several cores every worker has its own instance table, the
// tables are merged, and cores take cliques and candidates as they come free;
// the caches are shared.

// sgctCandidates bounds the splitting. Starting from the top means rejecting
// every superset of the truth: 20 mutually prevalent features whose largest
// pattern has 11 cost at least 263,950 rejections, 50 features some 10^15.
const sgctCandidates = 1 << 20

// insTable is the table of size-2 instances: pair of features, then point of
// the lower feature, then its neighbours of the higher feature.
type insTable map[[2]int32]map[int32][]int32

func mineSGCT(ctx context.Context, pts *Points, j *job) ([]found, error) {
	s := &sgct{job: j, pts: pts, total: pts.Totals(), memory: newMeter(j.budget)}
	s.evaluate = s.growTrees
	if err := s.fillTable(ctx); err != nil {
		return nil, err
	}
	adj, err := s.prevalentPairs(ctx)
	if err != nil {
		return nil, err
	}
	cliques, err := maximalCliques(ctx, adj, j.crew)
	if err != nil {
		return nil, err
	}
	j.logf("sgct: %d candidate cliques", len(cliques))
	patterns, err := s.split(ctx, cliques)
	if err != nil || !j.All {
		return patterns, err
	}
	return s.subsets(ctx, patterns)
}

type sgct struct {
	*job
	pts    *Points
	total  []int64
	table  insTable
	pairs  map[[2]int32][2]int64 // participating points of prevalent pairs
	memory *meter
	trees  []*instanceTree // of each worker

	// evaluate counts the participating points of candidates of one length.
	evaluate func(ctx context.Context, candidates [][]int32) ([][]int64, error)
}

// growTrees makes the instance tree of every candidate.
func (s *sgct) growTrees(ctx context.Context, candidates [][]int32) ([][]int64, error) {
	if s.trees == nil {
		s.trees = make([]*instanceTree, s.crew.workers)
	}
	results := make([][]int64, len(candidates))
	err := s.crew.each(ctx, len(candidates), func(w, i int) error {
		if s.trees[w] == nil {
			s.trees[w] = newInstanceTree(s)
		}
		var err error
		results[i], err = s.trees[w].participation(candidates[i])
		return err
	})
	return results, err
}

// fillTable is step 1.
func (s *sgct) fillTable(ctx context.Context) error {
	tables := make([]insTable, s.crew.workers)
	for w := range tables {
		tables[w] = make(insTable)
	}
	err := s.sweepPairs(ctx, s.pts, func(w int, a, b int32) error {
		key := [2]int32{s.pts.Feature[a], s.pts.Feature[b]}
		of := tables[w][key]
		if of == nil {
			of = make(map[int32][]int32)
			tables[w][key] = of
		}
		of[a] = append(of[a], b)
		if !s.memory.take(24) {
			return fmt.Errorf("sgct: the table of instances of size 2 needs more than the memory bound: raise --memory, take a smaller --distance or --algorithm auto, which lists no instances")
		}
		return nil
	})
	if err != nil {
		return err
	}
	keys := make(map[[2]int32]struct{})
	for _, t := range tables {
		for key := range t {
			keys[key] = struct{}{}
		}
	}
	order := slices.Collect(maps.Keys(keys))
	merged := make([]map[int32][]int32, len(order))
	err = s.crew.each(ctx, len(order), func(_, i int) error {
		for _, t := range tables {
			of := t[order[i]]
			if merged[i] == nil {
				merged[i] = of
				continue
			}
			for a, list := range of {
				merged[i][a] = append(merged[i][a], list...)
			}
		}
		for _, list := range merged[i] {
			slices.Sort(list)
		}
		return nil
	})
	s.table = make(insTable, len(order))
	for i, key := range order {
		s.table[key] = merged[i]
	}
	return err
}

// prevalentPairs is step 2: it drops the other pairs from the table and
// returns the graph of those left.
func (s *sgct) prevalentPairs(ctx context.Context) ([][]int32, error) {
	order := slices.Collect(maps.Keys(s.table))
	counts := make([][2]int64, len(order))
	err := s.crew.each(ctx, len(order), func(_, i int) error {
		of := s.table[order[i]]
		distinct := make(map[int32]struct{})
		for _, list := range of {
			for _, b := range list {
				distinct[b] = struct{}{}
			}
		}
		counts[i] = [2]int64{int64(len(of)), int64(len(distinct))}
		return nil
	})
	adj := make([][]int32, len(s.total))
	s.pairs = make(map[[2]int32][2]int64)
	for i, key := range order {
		if !s.reaches(key[:], counts[i][:]) {
			delete(s.table, key)
			continue
		}
		s.pairs[key] = counts[i]
		adj[key[0]] = append(adj[key[0]], key[1])
		adj[key[1]] = append(adj[key[1]], key[0])
	}
	for _, list := range adj {
		slices.Sort(list)
	}
	return adj, err
}

// split is step 4. Candidates of one length are independent of one another:
// none lies in another, and their subsets come later.
func (s *sgct) split(ctx context.Context, cliques [][]int32) ([]found, error) {
	accepted := newStore(s.budget)
	seen := make(map[string]struct{})
	var byLength [][][]int32
	push := func(c []int32) {
		for len(byLength) <= len(c) {
			byLength = append(byLength, nil)
		}
		byLength[len(c)] = append(byLength[len(c)], c)
	}
	for _, c := range cliques {
		push(c)
	}
	tried := 0
	for length := len(byLength) - 1; length >= 2; length-- {
		candidates := slices.DeleteFunc(byLength[length], accepted.holdsSet)
		if tried += len(candidates); tried > sgctCandidates {
			return nil, tooManyCandidates(tried, length)
		}
		results, err := s.evaluate(ctx, candidates)
		if err != nil {
			return nil, err
		}
		for i, c := range candidates {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if len(seen) > 4*sgctCandidates {
				return nil, tooManyCandidates(len(seen), length)
			}
			if s.reaches(c, results[i]) {
				accepted.add(c, results[i])
				continue
			}
			for drop := range c {
				sub := slices.Delete(slices.Clone(c), drop, drop+1)
				k := setKey(sub)
				if _, ok := seen[k]; !ok && !accepted.holds(sub) {
					seen[k] = struct{}{}
					push(sub)
				}
			}
		}
		byLength[length] = nil
	}
	return accepted.patterns, accepted.failure()
}

func tooManyCandidates(n, length int) error {
	return fmt.Errorf("sgct: %d candidates, now at patterns of size %d: splitting from the top grows exponentially with the features that are prevalent in pairs; use --algorithm auto, or raise --min-prevalence", n, length)
}

func (s *store) holdsSet(features []int32) bool { return s.holds(features) }

func (s *sgct) reaches(c []int32, counts []int64) bool {
	for i, f := range c {
		if !prevalent(counts[i], s.total[f], s.MinPrevalence) {
			return false
		}
	}
	return true
}

// subsets adds what maximal patterns imply: all their subsets, each counted.
func (s *sgct) subsets(ctx context.Context, patterns []found) ([]found, error) {
	all := newStore(s.budget)
	seen := make(map[string]struct{})
	var byLength [][][]int32
	push := func(c []int32) {
		k := setKey(c)
		if _, ok := seen[k]; ok {
			return
		}
		seen[k] = struct{}{}
		for len(byLength) <= len(c) {
			byLength = append(byLength, nil)
		}
		byLength[len(c)] = append(byLength[len(c)], c)
	}
	for _, p := range patterns {
		push(p.features)
	}
	for length := len(byLength) - 1; length >= 2; length-- {
		counts, err := s.evaluate(ctx, byLength[length])
		if err != nil {
			return nil, err
		}
		for i, c := range byLength[length] {
			all.add(c, counts[i])
			for drop := range c {
				if length > 2 {
					push(slices.Delete(slices.Clone(c), drop, drop+1))
				}
			}
		}
		if err := all.failure(); err != nil {
			return nil, err
		}
		byLength[length] = nil
	}
	return all.patterns, nil
}

func setKey(features []int32) string {
	b := make([]byte, 0, 4*len(features))
	for _, f := range features {
		b = binary.LittleEndian.AppendUint32(b, uint32(f))
	}
	return string(b)
}
