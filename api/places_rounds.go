package api

import (
	"fmt"
	"math"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/points"
)

// leastQ is the least q-value that rounds can give the patterns of a size in a part of the map.
type leastQ struct {
	part   string
	size   int // 0 means any
	q      float64
	rounds int     // needed before it can be 0.05
	max    float64 // the same by the step-down maximum
}

// leastQ returns those of a part that are above 0.05.
func (q *Mine) leastQ(m *Mined, parts int) (few []leastQ) {
	if q.Significance == 0 || len(m.Result.Patterns) == 0 {
		return nil
	}
	// p of two sides is twice a share of rounds, and q counts all parts.
	times := float64(parts)
	if q.Alternative == coloc.Both {
		times *= 2
	}
	byMax, needed := m.Survey.LeastMaxQ(q.Significance, m.Result.Patterns)
	add := func(size int, least, needed float64) {
		if least *= times; least > 0.05 {
			few = append(few, leastQ{m.Report.Region, size, min(1, least), int(min(1<<53, math.Ceil(needed*times))) - 1,
				byMax * times})
		}
	}
	if q.Adjust == coloc.MaxT {
		add(0, byMax, float64(needed+1))
		return few
	}
	found := make(map[int]bool)
	for _, p := range m.Result.Patterns {
		found[len(p.Features)] = true
	}
	for size := range 64 {
		if found[size] {
			tests := m.Survey.TestsAPattern(size, m.Result.Patterns)
			add(size, tests/float64(1+q.Significance), tests/0.05)
		}
	}
	return few
}

// reach tells if there are too few rounds for q-values to reach 0.05: a line for each size, or one
// for all parts of the map.
func (q *Mine) reach(few []leastQ, parts int, tell func(string)) {
	if len(few) == 0 {
		return
	}
	or := points.MaxAdvice(q.Significance)
	for _, l := range few {
		if q.Alternative != coloc.Attraction || l.max > 0.05 { // it tests attraction only
			or = ""
		}
	}
	if parts == 1 {
		for _, l := range few {
			of := "q"
			if l.size > 0 {
				of = fmt.Sprintf("q of patterns of size %d", l.size)
			}
			tell(fmt.Sprintf("with %d rounds, %s cannot be less than %.2g: use %d rounds or more%s", q.Significance, of, l.q, l.rounds, or))
		}
		return
	}
	in, best, needed := make(map[string]bool), 1.0, 0
	for _, l := range few {
		in[l.part] = true
		best, needed = min(best, l.q), max(needed, l.rounds)
	}
	tell(fmt.Sprintf("with %d rounds, q counts all %d parts of the map, and cannot be less than %.2g in %s with patterns: "+
		"use %d rounds or more for all%s", q.Significance, parts, best, counted(len(in), "part"), needed, or))
}
