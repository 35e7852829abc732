package coloc

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// SGCT, step by step: (1) the table of size-2 instances by a plane sweep, (2)
// the prevalent pairs of features, (3) the maximal cliques of their graph as
// candidates, (4) the candidates, longest first: each gets its condensed
// instance tree, and a candidate that is not prevalent is split into its
// subsets of one feature less, unless these lie in an accepted pattern or have
// been seen. On several cores every worker gathers pairs of its own, these
// are merged, and cores take cliques and candidates as they come free;
// the caches are shared.

// sgctCandidates bounds the splitting. Starting from the top means rejecting
// every superset of the truth: 20 mutually prevalent features whose largest
// pattern has 11 cost at least 263,950 rejections, 50 features some 10^15.
const sgctCandidates = 1 << 20

func mineSGCT(ctx context.Context, pts *Points, j *job) ([]found, error) {
	s := &sgct{job: j, pts: pts, total: pts.Totals(), memory: newMeter(j.budget)}
	s.evaluate = s.growTrees
	var err error
	if s.stars, err = newStars(ctx, pts, j, s.memory, "sgct"); err != nil {
		return nil, err
	}
	adj, err := s.prevalentPairs(ctx)
	if err != nil {
		return nil, err
	}
	cliques, err := maximalCliques(ctx, adj, j.cores, s.memory)
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
	stars  *stars
	pairs  map[[2]int32][2]int64 // participating points of prevalent pairs
	memory *meter
	trees  []*instanceTree // of each worker

	// evaluate counts the participating points of candidates of one length.
	evaluate func(ctx context.Context, candidates [][]int32) ([][]int64, error)
}

// growTrees makes the instance tree of every candidate.
func (s *sgct) growTrees(ctx context.Context, candidates [][]int32) ([][]int64, error) {
	if s.trees == nil {
		s.trees = make([]*instanceTree, s.cores.workers)
	}
	results := make([][]int64, len(candidates))
	err := s.cores.at("instance trees").each(ctx, len(candidates), func(w, i int) error {
		if s.trees[w] == nil {
			s.trees[w] = newInstanceTree(s)
		}
		var err error
		results[i], err = s.trees[w].participation(ctx, candidates[i])
		return err
	})
	return results, err
}

// prevalentPairs is step 2: the graph of the pairs that are.
func (s *sgct) prevalentPairs(ctx context.Context) ([][]int32, error) {
	counts, err := s.stars.pairCounts(ctx, s.job)
	adj := make([][]int32, len(s.total))
	s.pairs = make(map[[2]int32][2]int64)
	for key, c := range counts {
		if s.reaches(key[:], c[:]) {
			s.pairs[key] = c
			adj[key[0]] = append(adj[key[0]], key[1])
			adj[key[1]] = append(adj[key[1]], key[0])
		}
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
					if s.memory != nil && !s.memory.take(candidateBytes+8*int64(len(sub))) {
						return nil, tooManyCandidates(len(seen), length)
					}
					seen[k] = struct{}{}
					push(sub)
				}
			}
		}
		byLength[length] = nil
	}
	return accepted.patterns, accepted.failure()
}

// candidateBytes is what a candidate seen takes beside its features, twice.
const candidateBytes = 112

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
