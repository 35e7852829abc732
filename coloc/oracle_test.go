package coloc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"
)

// The oracle is the definition in its simplest form: it lists all instances of all sets of
// features.

// oracleNear returns which points are neighbours.
func oracleNear(pts *Points, opt Options) [][]bool { return oracleGraph(pts, opt, false) }

// oracleGraph returns which points are neighbours. If directed, a point's neighbours are only its
// own nearest ones.
func oracleGraph(pts *Points, opt Options, directed bool) [][]bool {
	n := pts.Len()
	d2 := func(i, j int) float64 {
		if opt.Geographic {
			ax, ay, az := unitVector(pts.X[i], pts.Y[i])
			bx, by, bz := unitVector(pts.X[j], pts.Y[j])
			return float64((ax-bx)*(ax-bx)) + float64((ay-by)*(ay-by)) + float64((az-bz)*(az-bz))
		}
		dx, dy := pts.X[i]-pts.X[j], pts.Y[i]-pts.Y[j]
		return float64(dx*dx) + float64(dy*dy)
	}
	limit := opt.Distance * opt.Distance
	switch {
	case opt.Distance == SamePosition:
		limit = 0
	case opt.Geographic:
		limit = chordLimit(opt.Distance)
	}
	if opt.KNN > 0 && opt.Distance == 0 {
		limit = math.Inf(1)
	}
	reach := make([]float64, n) // squared distance of the k-th nearest other point
	if opt.KNN > 0 {
		for i := range n {
			var all []float64
			for j := range n {
				if j != i {
					all = append(all, d2(i, j))
				}
			}
			slices.Sort(all)
			reach[i] = math.Inf(1)
			if len(all) >= opt.KNN {
				reach[i] = all[opt.KNN-1]
			}
		}
	}
	near := make([][]bool, n)
	for i := range near {
		near[i] = make([]bool, n)
		for j := range n {
			near[i][j] = i != j && d2(i, j) <= limit &&
				(opt.Within == 0 || max(pts.Time[i], pts.Time[j])-min(pts.Time[i], pts.Time[j]) <= opt.Within) &&
				(opt.KNN == 0 || d2(i, j) <= reach[i] || !directed && d2(i, j) <= reach[j])
		}
	}
	return near
}

// oracleInstances lists every instance of a set of features.
func oracleInstances(pts *Points, near [][]bool, set []int32) [][]int {
	var out [][]int
	var grow func(inst []int)
	grow = func(inst []int) {
		if len(inst) == len(set) {
			out = append(out, slices.Clone(inst))
			return
		}
		for p := range pts.Len() {
			if pts.Feature[p] != set[len(inst)] {
				continue
			}
			ok := true
			for _, q := range inst {
				ok = ok && near[p][q]
			}
			if ok {
				grow(append(inst, p))
			}
		}
	}
	grow(nil)
	return out
}

// oracle evaluates every set of two features or more.
func oracle(pts *Points, opt Options) []found {
	near := oracleNear(pts, opt)
	total := pts.Totals()
	var out []found
	for m := uint(1); m < 1<<len(pts.Features); m++ {
		var set []int32
		for f := range pts.Features {
			if m>>f&1 != 0 {
				set = append(set, int32(f))
			}
		}
		if len(set) < 2 {
			continue
		}
		instances := oracleInstances(pts, near, set)
		counts := make([]int64, len(set))
		ok := true
		for i, f := range set {
			distinct := map[int]bool{}
			for _, inst := range instances {
				distinct[inst[i]] = true
			}
			counts[i] = int64(len(distinct))
			ok = ok && float64(counts[i])/float64(total[f]) >= opt.MinPrevalence
		}
		if ok {
			out = append(out, found{set, counts})
		}
	}
	if !opt.All {
		all := out
		out = nil
		for _, p := range all {
			inside := slices.ContainsFunc(all, func(q found) bool {
				return len(q.features) > len(p.features) &&
					!slices.ContainsFunc(p.features,
						func(f int32) bool { return !slices.Contains(q.features, f) })
			})
			if !inside {
				out = append(out, p)
			}
		}
	}
	sortFound(out)
	return out
}

// show writes patterns in a form that tests compare and people read.
func show(pts *Points, patterns []Pattern) string {
	total := pts.Totals()
	var b strings.Builder
	for _, p := range patterns {
		for i, f := range p.Features {
			fmt.Fprintf(&b, "%s %d/%d ", pts.Features[f], p.Counts[i], total[f])
		}
		fmt.Fprintf(&b, "= %v\n", p.Index)
	}
	return b.String()
}

func showOracle(pts *Points, opt Options) string {
	total := pts.Totals()
	var patterns []Pattern
	for _, p := range oracle(pts, opt) {
		patterns = append(patterns, Pattern{p.features, p.counts, participationIndex(p, total)})
	}
	return show(pts, patterns)
}

// randomCase draws a small input with what is hard to get right: duplicates, points on a lattice
// with equal distances, clusters, rare features, times.
func randomCase(r *rand.Rand) (*Points, Options) {
	b := &points.Builder{}
	features := 1 + r.IntN(7)
	n := r.IntN(40)
	opt := Options{
		Distance:      []float64{SamePosition, 1, 1.5, 2, 5}[r.IntN(5)],
		MinPrevalence: []float64{0.05, 0.2, 1.0 / 3, 0.5, 0.7, 1}[r.IntN(6)],
		All:           r.IntN(2) == 0,
	}
	style := r.IntN(4)
	opt.Geographic = r.IntN(4) == 0
	if r.IntN(4) == 0 {
		opt.KNN = 1 + r.IntN(5)
		if r.IntN(2) == 0 {
			opt.Distance = 0
		}
		if opt.Distance == SamePosition {
			opt.Distance = 1e-9
		}
	}
	if opt.Geographic && opt.Distance != SamePosition {
		opt.Distance *= 1e5
	}
	for range n {
		var x, y float64
		switch style {
		case 0: // anywhere
			x, y = r.Float64()*10, r.Float64()*10
		case 1: // on a lattice
			x, y = float64(r.IntN(6)), float64(r.IntN(6))
		case 2: // a crowd
			x, y = r.NormFloat64(), r.NormFloat64()
		default: // many points at few positions
			x, y = float64(3*r.IntN(3)), float64(r.IntN(2))
		}
		if opt.Geographic {
			switch r.IntN(3) {
			case 0: // around the antimeridian
				x = 180 - x
				if r.IntN(2) == 0 {
					x = -360 + x
				}
			case 1: // around the pole
				x, y = x*36, 90-y*y/100
			}
			y = max(-90, min(90, y))
		}
		f := r.IntN(features)
		if r.IntN(3) == 0 {
			f = 0
		}
		b.Add(x, y, string(rune('A'+f)))
	}
	pts := b.Set()
	if opt.KNN == 0 && r.IntN(4) == 0 {
		opt.Within = 1 + r.Int64N(8)
		for range pts.X {
			pts.Time = append(pts.Time, r.Int64N(10))
		}
	}
	return pts, opt
}

func describe(pts *Points, opt Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "distance %v knn %d minprev %v geographic %v all %v within %d of %v\n", opt.Distance,
		opt.KNN, opt.MinPrevalence, opt.Geographic, opt.All, opt.Within, pts.Time)
	for i := range pts.X {
		fmt.Fprintf(&b, "%v,%v,%s\n", pts.X[i], pts.Y[i], pts.Features[pts.Feature[i]])
	}
	return b.String()
}

// engines are the algorithms and settings that must all give the same result.
func engines() map[string]func(*Options) {
	return map[string]func(*Options){
		"auto, one core":   func(o *Options) { o.Threads = 1 },
		"auto, two cores":  func(o *Options) { o.Threads = 2; o.Engine = engine.Multicore },
		"profiles only":    func(o *Options) { o.Threads = 1; o.evaluation = &evaluation{steps: 1 << 30} },
		"witnesses only":   func(o *Options) { o.Threads = 1; o.evaluation = &evaluation{} },
		"sgct, one core":   func(o *Options) { o.Threads = 1; o.Algorithm = SGCT },
		"sgct, two cores":  func(o *Options) { o.Threads = 2; o.Engine = engine.Multicore; o.Algorithm = SGCT },
		"joinless":         func(o *Options) { o.Threads = 1; o.Algorithm = Joinless },
		"joinless, two":    func(o *Options) { o.Threads = 2; o.Engine = engine.Multicore; o.Algorithm = Joinless },
		"iCPI-tree":        func(o *Options) { o.Threads = 1; o.Algorithm = ICPITree },
		"iCPI-tree, two":   func(o *Options) { o.Threads = 2; o.Engine = engine.Multicore; o.Algorithm = ICPITree },
		"miner":            func(o *Options) { o.Threads = 1; o.Algorithm = Miner },
		"streaming":        func(o *Options) { o.Threads = 1; o.evaluation = &evaluation{steps: 5, stream: true} },
		"by feature":       func(o *Options) { o.Threads = 2; o.evaluation = &evaluation{steps: 20, byFeature: true} },
		"mixed, two cores": func(o *Options) { o.Threads = 2; o.Engine = engine.Multicore; o.evaluation = &evaluation{steps: 5} },
	}
}

func TestEveryEngineGivesWhatTheDefinitionSays(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for c := range trials.Cases(400) {
		pts, opt := randomCase(r)
		want := showOracle(pts, opt)
		for name, set := range engines() {
			o := opt
			set(&o)
			res, err := Mine(t.Context(), pts, o)
			if err != nil {
				t.Fatalf("case %d, %s: %v\n%s", c, name, err, describe(pts, opt))
			}
			if got := show(pts, res.Patterns); got != want {
				t.Fatalf("case %d, %s:\n%s\ngot\n%s\nwant\n%s", c, name, describe(pts, opt), got, want)
			}
		}
	}
}
