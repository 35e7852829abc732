package points

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/internal/given"
)

// CoOccurrence says how much more often than by chance a point of B is within each distance of a
// point of A. It is the share of B among the points around those of A, divided by the share of B
// among the points around any point. It is squidpy's co_occurrence.
type CoOccurrence struct {
	Distances []float64 // ascending, up to CoOccurrenceOptions.Most
	// Ratio is indexed by A, B and distance. It is NaN where there are no points.
	Ratio [][][]float64
	Pairs []int64 // unordered pairs of points within each distance
}

// CoOccurrenceOptions are the options of CoOccurrences.
type CoOccurrenceOptions struct {
	Most   float64 // the largest distance; it must be set, and more than 0
	Steps  int     // number of distances, evenly spaced up to Most; 0 means 50
	Rings  bool    // count each ring between two distances separately
	Engine Engine  // where to compute; the zero value chooses
	Memory int64   // bound in bytes; 0 means 2 GB. What does not fit is an error
	// Progress, unless it is nil, is called while pairs of points are counted on CPU cores, from
	// any goroutine.
	Progress func(stage string, done, total int64)
}

// CoOccurrences computes the co-occurrence of all pairs of features, in one pass over the pairs of
// points up to the largest distance.
func CoOccurrences(ctx context.Context, p *Set, o CoOccurrenceOptions) (out *CoOccurrence, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	most, steps := o.Most, cmp.Or(o.Steps, 50)
	if !(most > 0) || steps < 1 {
		return nil, fmt.Errorf("distance %v in %d steps: want more than 0 and at least 1", most, steps)
	}
	k := len(p.Features)
	// Sums of each thread and of all, and the ratios.
	need := float64Bytes(8*float64(k)*float64(k)*float64(steps)*(float64(o.Engine.cores()+1)/2+1) +
		float64(planeBytes(p)) + cellBytesPerPoint*float64(p.Len()))
	if need > memoryOr(o.Memory) {
		return nil, fmt.Errorf("co-occurrences of %d points of %d features at %d distances need %d MB, "+
			"more than the memory bound: leave rare features out, take fewer distances or raise points.CoOccurrenceOptions.Memory",
			p.Len(), k, steps, need/1e6)
	}
	l, err := newPlane(p)
	if err != nil {
		return nil, err
	}
	l.watch(o.Progress)
	engine, done, err := o.Engine.open(ctx, pairsTime(l, most, 1))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	sums, err := engine.of(ctx, l, steps, most, false, nil)
	if err != nil {
		return nil, err
	}
	out = &CoOccurrence{Ratio: make([][][]float64, k), Pairs: make([]int64, steps)}
	for a := range out.Ratio {
		out.Ratio[a] = make([][]float64, k)
		for b := range out.Ratio[a] {
			out.Ratio[a][b] = make([]float64, steps)
		}
	}
	ordered := make([]int64, k*k)
	for bin := range steps {
		if o.Rings {
			clear(ordered)
		}
		for a := range k {
			for b := range k {
				n := sums.count[sums.unordered(int32(a), int32(b))+bin]
				if a == b {
					n *= 2 // either point may be the first
				}
				ordered[a*k+b] += n
			}
		}
		column, all := make([]int64, k), int64(0)
		for i, n := range ordered {
			column[i%k] += n
			all += n
		}
		out.Distances = append(out.Distances, radius(bin, steps, most))
		out.Pairs[bin] = all / 2
		for a := range k {
			row := int64(0)
			for b := range k {
				row += ordered[a*k+b]
			}
			for b := range k {
				out.Ratio[a][b][bin] = float64(ordered[a*k+b]) / float64(row) / (float64(column[b]) / float64(all))
			}
		}
	}
	return out, nil
}

// EnrichmentOptions are the options of Enrich.
type EnrichmentOptions struct {
	// Distance is the largest distance of neighbours. Either it or KNN must be set.
	Distance float64
	KNN      int    // a point's neighbours are its KNN nearest; ties by their order
	Rounds   int    // random permutations, at least 2; 0 means 999
	Seed     uint64 // seed of the permutations; any value will do, the command's default is 1
	Engine   Engine // where to compute; the zero value chooses
	Memory   int64  // bound in bytes; 0 means 2 GB. What does not fit is an error
	// Progress, unless it is nil, is called once for each permutation, from any goroutine.
	Progress func(stage string, done, total int64)
}

// Enrichment counts the neighbours of feature B that points of feature A have, and says by how many
// standard deviations the count exceeds that of randomly permuted labels. It is squidpy's
// nhood_enrichment.
type Enrichment struct {
	Count [][]int64   // observed, indexed by A and B, as are the others
	Mean  [][]float64 // mean over the rounds
	Z     [][]float64 // NaN if all rounds agree
}

// Enrich counts neighbours between features and compares the counts with those of permuted labels.
func Enrich(ctx context.Context, p *Set, o EnrichmentOptions) (out *Enrichment, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	l, err := newPlane(p)
	if err != nil {
		return nil, err
	}
	if o.Rounds == 0 {
		o.Rounds = 999
	}
	if (o.Distance > 0) == (o.KNN > 0) {
		return nil, errors.New("want either a distance or a number of nearest neighbours, to say which points are neighbours")
	}
	g, err := l.neighbours(ctx, o)
	if err != nil {
		return nil, err
	}
	return g.enrich(ctx, p.Feature, len(p.Features), o)
}

// EnrichGraph is like Enrich, with neighbours that the caller provides: those of point i are
// to[start[i]:start[i+1]], and its feature, below k, is label[i].
func EnrichGraph(ctx context.Context, start []int64, to, label []int32, k int, o EnrichmentOptions) (*Enrichment, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	n := len(label)
	if len(start) != n+1 || start[0] != 0 || !slices.IsSorted(start) || start[n] != int64(len(to)) {
		return nil, fmt.Errorf("start of the neighbours: want %d ascending numbers from 0 to %d", n+1, len(to))
	}
	for _, j := range to {
		if j < 0 || int(j) >= n {
			return nil, fmt.Errorf("neighbour %d: want 0 to %d, a point", j, n-1)
		}
	}
	for _, f := range label {
		if f < 0 || int(f) >= k {
			return nil, fmt.Errorf("label %d: want 0 to %d, a feature", f, k-1)
		}
	}
	if o.Rounds == 0 {
		o.Rounds = 999
	}
	g := &edges{start: start, to: to}
	return g.enrich(ctx, label, k, o)
}

// enrich compares the numbers of edges between features with those of permuted labels.
func (g *edges) enrich(ctx context.Context, label []int32, k int, o EnrichmentOptions) (out *Enrichment, err error) {
	// The counts of each round and of the observed labels, and three numbers of each pair.
	need := float64Bytes(8*float64(k)*float64(k)*float64(o.Rounds+4) +
		4*float64(len(g.to)) + 4*float64(len(label))*float64(o.Engine.cores()))
	if need > memoryOr(o.Memory) {
		return nil, fmt.Errorf("%d rounds of all pairs of %d features need %d MB, more than the memory "+
			"bound: leave rare features out, make fewer rounds or raise points.EnrichmentOptions.Memory", o.Rounds, k, need/1e6)
	}
	observed := g.countEdges(label, k)
	// CPU cores always permute the labels; a device only counts. So only counting, about a
	// nanosecond per edge, is estimated.
	engine, done, err := o.Engine.open(ctx, time.Duration(o.Rounds)*time.Duration(len(g.to)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	rounds, err := engine.edgeRounds(ctx, g, label, k, o)
	if err != nil {
		return nil, err
	}
	out = &Enrichment{}
	for a := range k {
		var count []int64
		var means, zs []float64
		for b := range k {
			at := a*k + b
			sum, square := int64(0), 0.0
			for _, r := range rounds {
				sum += r[at]
			}
			mean := float64(sum) / float64(o.Rounds)
			for _, r := range rounds { // in order, so that rounding does not depend on threads
				d := float64(r[at]) - mean
				square += float64(d * d)
			}
			z := (float64(observed[at]) - mean) / math.Sqrt(square/float64(o.Rounds))
			if square == 0 {
				z = math.NaN()
			}
			count, means, zs = append(count, observed[at]), append(means, mean), append(zs, z)
		}
		out.Count, out.Mean, out.Z = append(out.Count, count), append(out.Mean, means), append(out.Z, zs)
	}
	return out, nil
}

// edges has the neighbours of each point i: to[start[i]:start[i+1]].
type edges struct {
	start []int64
	to    []int32
}

// countEdges counts edges from feature to feature.
func (g *edges) countEdges(label []int32, k int) []int64 {
	counts := make([]int64, k*k)
	for i := range label {
		row := counts[int(label[i])*k:][:k]
		for _, j := range g.to[g.start[i]:g.start[i+1]] {
			row[label[j]]++
		}
	}
	return counts
}

// relabelled appends the permuted labels of a round, which depend only on the seed and the round.
func relabelled(label []int32, seed uint64, round int, to []int32) []int32 {
	to = append(to, label...)
	rng := rand.New(rand.NewPCG(seed, uint64(round)))
	rng.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
	return to
}

// edgeRounds counts the edges between features with the labels of each round.
func (s sums) edgeRounds(ctx context.Context, g *edges, label []int32, k int, o EnrichmentOptions) ([][]int64, error) {
	rounds := make([][]int64, o.Rounds)
	var drawn atomic.Int64
	progress := func() {
		if o.Progress != nil {
			o.Progress("relabelling", drawn.Add(1), int64(o.Rounds))
		}
	}
	if s.gpu != nil {
		return rounds, s.gpu.edgeRounds(ctx, s.threads, g, label, k, o, progress, rounds)
	}
	buffers := make([][]int32, s.threads)
	return rounds, each(ctx, s.threads, o.Rounds, func(w, round int) {
		progress()
		buffers[w] = relabelled(label, o.Seed, round, buffers[w][:0])
		rounds[round] = g.countEdges(buffers[w], k)
	})
}

// neighbours lists the neighbours of every point.
func (l *plane) neighbours(ctx context.Context, o EnrichmentOptions) (*edges, error) {
	n := len(l.x)
	lists := make([][]int32, n)
	side := o.Distance
	k := min(o.KNN, n-1)
	var c *cells
	if o.KNN > 0 {
		c = newCells(l, 0)
	} else {
		c = newCells(l, side)
	}
	var held atomic.Int64
	full := func() bool { return 8*held.Load()+40*int64(n) > memoryOr(o.Memory) }
	err := each(ctx, o.Engine.cores(), (n+blockPoints-1)/blockPoints, func(_, b int) {
		for at := b * blockPoints; at < min(n, (b+1)*blockPoints) && ctx.Err() == nil && !full(); at++ {
			i := c.point[at]
			if o.KNN > 0 {
				lists[i] = c.nearestPoints(c.x[at], c.y[at], int32(at), k)
			} else {
				lists[i] = c.pointsWithin(int32(at), side*side)
			}
			held.Add(int64(len(lists[i])))
		}
	})
	if err == nil && full() {
		err = errors.New("the neighbours of all points need more than the memory bound: raise points.EnrichmentOptions.Memory, or lower points.EnrichmentOptions.Distance or points.EnrichmentOptions.KNN")
	}
	if err != nil {
		return nil, err
	}
	g := &edges{start: make([]int64, n+1), to: make([]int32, 0, held.Load())}
	for i, list := range lists {
		g.to = append(g.to, list...)
		g.start[i+1] = int64(len(g.to))
		lists[i] = nil
	}
	return g, nil
}

// pointsWithin returns the points within a distance of a point, at most a cell's side. limit is the
// distance squared.
func (c *cells) pointsWithin(at int32, limit float64) (out []int32) {
	x, y := c.x[at], c.y[at]
	for _, span := range c.around(c.key(x, y)) {
		for j := span[0]; j < span[1]; j++ {
			dx, dy := c.x[j]-x, c.y[j]-y
			if j != at && float64(dx*dx)+float64(dy*dy) <= limit {
				out = append(out, c.point[j])
			}
		}
	}
	return out
}

// nearestPoints returns the k points nearest to a position, without self. Ties are broken by the
// lower number.
func (c *cells) nearestPoints(x, y float64, self int32, k int) []int32 {
	type reached struct {
		d2    float64
		point int32
	}
	best := make([]reached, 0, k+1)
	less := func(a, b reached) bool { return a.d2 < b.d2 || a.d2 == b.d2 && a.point < b.point }
	col, row := c.place(x, y)
	look := func(r, q int) {
		if r < 1 || r >= c.rows-1 || q < 1 || q >= c.cols-1 {
			return
		}
		cell := r*c.cols + q
		for j := c.start[cell]; j < c.start[cell+1]; j++ {
			if j == self {
				continue
			}
			dx, dy := c.x[j]-x, c.y[j]-y
			v := reached{float64(dx*dx) + float64(dy*dy), c.point[j]}
			if len(best) == k && !less(v, best[k-1]) {
				continue
			}
			at := len(best)
			best = append(best, v)
			for ; at > 0 && less(v, best[at-1]); at-- {
				best[at] = best[at-1]
			}
			best[at] = v
			best = best[:min(len(best), k)]
		}
	}
	for ring := 0; ring <= max(c.cols, c.rows); ring++ {
		for q := col - ring; q <= col+ring; q++ {
			look(row-ring, q)
			if ring > 0 {
				look(row+ring, q)
			}
		}
		for r := row - ring + 1; r < row+ring; r++ {
			look(r, col-ring)
			look(r, col+ring)
		}
		if reach := float64(ring) * c.side / slack; len(best) == k && best[k-1].d2 < reach*reach {
			break
		}
	}
	out := make([]int32, len(best))
	for i, v := range best {
		out[i] = v.point
	}
	return out
}
