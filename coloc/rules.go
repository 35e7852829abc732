package coloc

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/collocate/collocate/internal/given"
)

// Rule states that where the features If occur together, so do the features Then. Its conditional
// probability is the share of the instances of If that are part of an instance of If and Then
// together (Huang, Shekhar and Xiong 2004).
type Rule struct {
	If, Then  []int32 // indices into Points.Features, ascending; no feature is in both
	Index     float64 // participation index of If and Then together
	Holding   uint64  // instances of If that extend
	Instances uint64  // instances of If
}

// Probability returns the rule's conditional probability.
func (r Rule) Probability() float64 { return float64(r.Holding) / float64(r.Instances) }

// Rules returns the rules of the patterns: all ways to split a pattern into If and Then. If has at
// most largest features (0 means any number), and the probability is at least least. Rules are in
// the order of the patterns, then of the size of If, then of its names. Instances at the same
// places are counted together, so duplicate points take no extra time. If two or more features in
// If have too many instances to count, Rules returns an error.
func (s *Survey) Rules(ctx context.Context, patterns []Pattern, largest int, least float64) ([]Rule, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	g, err := s.graph(ctx)
	if err != nil {
		return nil, err
	}
	placeOf := make([]int32, len(g.feat))
	byFeature := make([][]int32, len(g.total))
	for i := range int32(g.len()) {
		for k := g.first[i]; k < g.first[i+1]; k++ {
			placeOf[k] = i
			byFeature[g.feat[k]] = append(byFeature[g.feat[k]], k)
		}
	}
	c := ruleCounter{g: g, placeOf: placeOf, byFeature: byFeature, s: s}
	var out []Rule
	for _, p := range patterns {
		n := len(p.Features)
		if n > 30 && largest == 0 {
			return nil, fmt.Errorf("a pattern of %d features has 2^%d rules: bound the size of the antecedent (coloc.Survey.Rules.largest)", n, n)
		}
		top := n - 1
		if largest > 0 {
			top = min(top, largest)
		}
		for size := 1; size <= top; size++ {
			for split := range subsetsOf(n, size) {
				r := Rule{Index: p.Index}
				var share int64
				for i, f := range p.Features {
					if split[i] {
						r.If = append(r.If, f)
						share = p.Counts[i]
					} else {
						r.Then = append(r.Then, f)
					}
				}
				if size == 1 {
					r.Holding, r.Instances = uint64(share), uint64(g.total[r.If[0]])
				} else if err := c.count(ctx, &r); err != nil {
					return nil, err
				}
				if r.Probability() >= least {
					out = append(out, r)
				}
			}
		}
	}
	return out, nil
}

// subsetsOf yields the subsets of {0..n-1} of a size in lexicographic order.
func subsetsOf(n, size int) func(yield func([]bool) bool) {
	return func(yield func([]bool) bool) {
		in := make([]bool, n)
		var pick func(from, left int) bool
		pick = func(from, left int) bool {
			if left == 0 {
				return yield(in)
			}
			for i := from; i+left <= n; i++ {
				in[i] = true
				more := pick(i+1, left-1)
				in[i] = false
				if !more {
					return false
				}
			}
			return true
		}
		pick(0, size)
	}
}

type ruleCounter struct {
	s         *Survey
	g         *neighbours
	placeOf   []int32
	byFeature [][]int32
}

// count counts the instances of If, and those that extend to Then. It visits cliques of feature
// entries. Each clique stands for as many instances as the product of its weights.
func (c *ruleCounter) count(ctx context.Context, r *Rule) error {
	w := walker{
		g: c.g, features: r.If, steps: instanceSteps, ctx: ctx,
		place: func(item int32) int32 { return c.placeOf[item] },
		items: func(place, f int32, out []int32) []int32 {
			if k, ok := c.g.entry(place, f); ok {
				out = append(out, k)
			}
			return out
		},
	}
	further := w
	var clique []int32
	for _, first := range c.byFeature[r.If[0]] {
		if err := ctx.Err(); err != nil {
			return err
		}
		var failure error
		_, err := w.from(first, func(items []int32) bool {
			clique = append(clique[:0], items...)
			many := uint64(1)
			for _, k := range clique {
				hi, lo := bits.Mul64(many, uint64(c.g.weight[k]))
				if hi != 0 || lo > math.MaxUint64-r.Instances {
					failure = fmt.Errorf("more than 2^64 instances")
					return false
				}
				many = lo
			}
			r.Instances += many
			ok, err := c.extends(&further, clique, r.Then)
			if ok {
				r.Holding += many
			}
			failure = err
			return err == nil
		})
		if err == nil {
			err = failure
		}
		if err != nil {
			return fmt.Errorf("count the instances of %s (size %d) for rules: %w: bound the size of the antecedent (coloc.Survey.Rules.largest), or raise coloc.Options.MinPrevalence", strings.Join(c.s.pts.Names(r.If), ", "), len(r.If), err)
		}
	}
	return nil
}

// extends reports whether an entry of each feature of then can be added to the clique so that all
// of them are neighbours.
func (c *ruleCounter) extends(w *walker, clique []int32, then []int32) (bool, error) {
	n := len(then) + 1
	w.features = append(w.features[:0:0], c.g.feat[clique[0]])
	w.features = append(w.features, then...)
	for len(w.lists) < n {
		w.lists = append(w.lists, nil)
	}
	for i := range w.lists {
		for len(w.lists[i]) < n {
			w.lists[i] = append(w.lists[i], nil)
		}
	}
	at := c.placeOf[clique[0]]
	var list []int32
	list, w.buf = c.g.of(at, w.buf)
	for k := 1; k < n; k++ {
		out := w.lists[0][k][:0]
		for i := -1; i < len(list); i++ {
			place := at
			if i >= 0 {
				place = list[i]
			}
			entry, ok := c.g.entry(place, then[k-1])
			for _, other := range clique[1:] {
				p := c.placeOf[other]
				ok = ok && (p == place || c.g.adjacent(p, place))
			}
			if ok {
				out = append(out, entry)
			}
		}
		w.lists[0][k] = out
		if len(out) == 0 {
			return false, nil
		}
	}
	w.chosen = append(w.chosen[:0], clique[0])
	w.steps = instanceSteps
	found := false
	_, err := w.walk(1, func([]int32) bool {
		found = true
		return false
	})
	return found, err
}
