package coloc

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// SGCT has four steps:
//
//  1. List the instances of size 2 by a plane sweep.
//  2. Find the prevalent pairs of features.
//  3. Take the maximal cliques of the graph of these pairs as candidates.
//  4. Evaluate the candidates, longest first, each by its condensed instance tree. Split a
//     candidate that is not prevalent into its subsets with one feature fewer, unless an accepted
//     pattern contains them or they were seen before.
//
// On several cores, each worker gathers pairs, which are then merged. Idle workers take the next
// clique or candidate.

// sgctCandidates bounds the number of candidates. Starting from the top means rejecting every
// superset of the maximal patterns. With 20 features that are prevalent in pairs and a largest
// pattern of 11, these are at least 263,950 sets; with 50 features, some 10^15.
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

// growTrees evaluates candidates by their instance trees, on CPU cores.
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

// prevalentPairs is step 2. It returns the graph of the prevalent pairs.
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

// split is step 4. Candidates of one length do not depend on each other: none contains another, and
// their subsets come later.
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
		candidates := slices.DeleteFunc(byLength[length], accepted.holds)
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

// candidateBytes is the memory of a candidate in seen and byLength, besides its features, which
// both of them hold.
const candidateBytes = 112

func tooManyCandidates(n, length int) error {
	return fmt.Errorf("sgct: %d candidates, now at patterns of size %d: splitting from the top "+
		"grows exponentially with the features that are prevalent in pairs; use coloc.Options.Algorithm="+
		"auto, or raise coloc.Options.MinPrevalence", n, length)
}

func (s *sgct) reaches(c []int32, counts []int64) bool {
	for i, f := range c {
		if !prevalent(counts[i], s.total[f], s.MinPrevalence) {
			return false
		}
	}
	return true
}

// subsets returns maximal patterns and all their subsets, each with its counts.
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
