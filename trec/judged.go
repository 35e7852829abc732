package trec

import (
	"math"
	"slices"
)

// Grades of answers without a judgment.
const (
	notInPool = -1 // no judgment at all
	notJudged = -2 // a judgment below 0
)

// judged has the grades of a topic's answers.
type judged struct {
	grades []int // by rank
	level  int   // the smallest grade that is relevant
	up     bool  // Options.RoundUp

	rel    int   // number of relevant documents
	nonrel int   // number of judged documents that are not relevant
	relRet int   // number of relevant answers
	levels []int // number of documents by grade
}

func judge(docs map[string]int, results []Result, o Options) *judged {
	j := &judged{level: o.Level, up: o.RoundUp}
	for _, g := range docs {
		if g < 0 {
			continue
		}
		for g >= len(j.levels) {
			j.levels = append(j.levels, 0)
		}
		j.levels[g]++
		if g >= j.level {
			j.rel++
		} else {
			j.nonrel++
		}
	}
	if o.Depth > 0 && len(results) > o.Depth {
		results = results[:o.Depth]
	}
	if o.JudgedOnly {
		results = slices.DeleteFunc(slices.Clone(results), func(r Result) bool {
			g, ok := docs[r.Doc]
			return !ok || g < 0
		})
	}
	for _, r := range results {
		g, ok := docs[r.Doc]
		switch {
		case !ok:
			g = notInPool
		case g < 0:
			g = notJudged
		}
		j.grades = append(j.grades, g)
		if g >= j.level {
			j.relRet++
		}
	}
	return j
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// relevant returns the number of relevant documents among the first n answers.
func (j *judged) relevant(n int) int {
	count := 0
	for _, g := range j.grades[:min(n, len(j.grades))] {
		if g >= j.level {
			count++
		}
	}
	return count
}

func (j *judged) precision(n int) float64 { return ratio(j.relevant(n), n) }

func (j *judged) unjudged(n int) int {
	count := 0
	for _, g := range j.grades[:min(n, len(j.grades))] {
		if g < 0 {
			count++
		}
	}
	return count
}

// perRelevant divides by the number of relevant documents; it returns 0 if there are none.
func (j *judged) perRelevant(total float64) float64 {
	if j.rel == 0 {
		return 0
	}
	return total / float64(j.rel)
}

// averagePrecision returns the average precision of the first cut answers; a cut of 0 means all.
func (j *judged) averagePrecision(cut float64) float64 {
	seen, total := 0, 0.0
	for i, g := range j.grades {
		if cut > 0 && i >= int(cut) {
			break
		}
		if g >= j.level {
			seen++
			total += float64(seen) / float64(i+1)
		}
	}
	return j.perRelevant(total)
}

func (j *judged) bpref(float64) float64 {
	before, total := 0, 0.0
	for _, g := range j.grades {
		switch {
		case g < 0:
		case g < j.level:
			before++
		case before == 0:
			total++
		default:
			total += 1 - float64(min(before, j.rel))/float64(min(j.nonrel, j.rel))
		}
	}
	return j.perRelevant(total)
}

func (j *judged) recipRank(float64) float64 {
	for i, g := range j.grades {
		if g >= j.level {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// interpolated returns the largest precision at or after the rank at which the recall is reached.
func (j *judged) interpolated(recall float64) float64 {
	want := int(math.Round(recall * float64(j.rel)))
	if j.up {
		want = int(recall*float64(j.rel) + 0.9) // as trec_eval 9 rounds up
	}
	if want > j.relRet {
		return 0
	}
	seen, best := j.relRet, 0.0
	for i := len(j.grades); i > 0 && seen > 0; i-- {
		best = max(best, float64(seen)/float64(i))
		if j.grades[i-1] >= j.level {
			if seen == want {
				break
			}
			seen--
		}
	}
	return best
}

// infAP is trec_eval's inferred average precision for pools judged in part.
func (j *judged) infAP(float64) float64 {
	const epsilon = 0.00001
	rel, nonrel, pool, total := 0.0, 0.0, 0.0, 0.0
	for i, g := range j.grades {
		switch {
		case g == notInPool:
		case g == notJudged:
			pool++
		case g < j.level:
			nonrel++
		case i == 0:
			total++
			rel++
		default:
			f := float64(i)
			total += 1/(f+1) + f/(f+1)*((rel+nonrel+pool)/f)*((rel+epsilon)/(rel+nonrel+2*epsilon))
			rel++
		}
	}
	return j.perRelevant(total)
}

func (j *judged) binG(float64) float64 {
	seen, total := 0, 0.0
	for i, g := range j.grades {
		if g >= j.level {
			seen++
			total += 1 / math.Log2(float64(3+i-seen))
		}
	}
	return j.perRelevant(total)
}

// ndcg returns nDCG of the first cut answers. The gain is the grade, whatever the level.
func (j *judged) ndcg(cut float64) float64 {
	got := 0.0
	for i, g := range j.grades {
		if float64(i) >= cut {
			break
		}
		if g > 0 {
			got += float64(g) / math.Log2(float64(i+2))
		}
	}
	best, i := 0.0, 0
	for g := len(j.levels) - 1; g > 0; g-- {
		for n := j.levels[g]; n > 0 && float64(i) < cut; n-- {
			best += float64(g) / math.Log2(float64(i+2))
			i++
		}
	}
	if best == 0 {
		return 0
	}
	return got / best
}

// ideal is the ideal ranking of the judged documents: their grades above 0, in decreasing order.
// The gain at later ranks is 0.
type ideal struct {
	levels []int
	grade  int
	left   int // documents of that grade still to come
}

func (j *judged) ideal() ideal {
	return ideal{levels: j.levels, grade: len(j.levels)}
}

func (i *ideal) next() int {
	for i.left == 0 {
		if i.grade <= 1 {
			i.grade = 0
			return 0
		}
		i.grade--
		i.left = i.levels[i.grade]
	}
	i.left--
	return i.grade
}

// gains returns the sum of the grades of the ideal ranking.
func (j *judged) gains() (sum float64) {
	for g, n := range j.levels {
		sum += float64(g * n)
	}
	return sum
}

// gain is trec_eval's G: a document's gain is discounted by the gain that the answers before it
// missed.
func (j *judged) gain(float64) float64 {
	best := j.ideal()
	got, cost, total := 0.0, 0.0, 0.0
	for _, g := range j.grades {
		gain := float64(max(g, 0))
		got += gain
		cost += float64(max(best.next(), 1))
		if gain > 0 {
			total += gain / math.Log2(2+cost-got)
		}
	}
	if sum := j.gains(); sum > 0 {
		return total / sum
	}
	return 0
}

// ndcgRel is the mean of nDCG at the rank of each document with a grade above 0, relative to the
// whole ideal ranking. For documents that are not among the answers it is nDCG at the end of the
// answers.
func (j *judged) ndcgRel(float64) float64 {
	best := j.ideal()
	got, most, total := 0.0, 0.0, 0.0
	rel, seen := 0, 0
	rank := 0
	for ; rank < len(j.grades); rank++ {
		if b := best.next(); b > 0 {
			rel++
			most += float64(b) / math.Log2(float64(rank+2))
		}
		if g := j.grades[rank]; g > 0 {
			got += float64(g) / math.Log2(float64(rank+2))
			total += got / most
			seen++
		}
	}
	for b := best.next(); b > 0; b = best.next() {
		rel++
		most += float64(b) / math.Log2(float64(rank+2))
		rank++
	}
	if rel == 0 {
		return 0
	}
	return (total + float64(rel-seen)*got/most) / float64(rel)
}

// ndcgLevels is trec_eval's Rndcg: the mean of nDCG at the ranks where the ideal ranking goes from
// one grade to a smaller one, and at the end of the answers if that comes later.
func (j *judged) ndcgLevels(float64) float64 {
	if j.rel == 0 {
		return 0
	}
	best := j.ideal()
	got, most, total := 0.0, 0.0, 0.0
	points, last := 0, len(j.levels)-1
	point := func() {
		if most > 0 {
			total += got / most
			points++
		}
	}
	rank := 0
	for more := true; more; rank++ {
		b := best.next()
		if b != last {
			point()
			last = b
		}
		more = b > 0
		if rank < len(j.grades) {
			if g := j.grades[rank]; g > 0 {
				got += float64(g) / math.Log2(float64(rank+2))
			}
		}
		if b > 0 {
			most += float64(b) / math.Log2(float64(rank+2))
		}
	}
	if rank < len(j.grades) {
		for ; rank < len(j.grades); rank++ {
			if g := j.grades[rank]; g > 0 {
				got += float64(g) / math.Log2(float64(rank+2))
			}
		}
		point()
	}
	return total / float64(points)
}

// persistence is the probability in RBP that a reader proceeds to the next answer.
const persistence = 0.9

// rbp is rank-biased precision (Moffat and Zobel 2008), with grades divided by the topic's largest
// grade.
func (j *judged) rbp(float64) float64 {
	most, total, weight := 1.0, 0.0, 1.0
	for g, n := range j.levels {
		if n > 0 {
			most = max(most, float64(g))
		}
	}
	for _, g := range j.grades {
		total += float64(max(g, 0)) / most * weight
		weight *= persistence
	}
	return (1 - persistence) * total
}

// rbpResidual is the increase of rbp if all answers without a judgment, and all that could follow
// the last one, had the best grade. As in trec_eval, it is 0 if all answers are judged.
func (j *judged) rbpResidual(float64) float64 {
	total, weight, unjudged := 0.0, 1.0, false
	for _, g := range j.grades {
		if g < 0 {
			unjudged = true
			total += weight
		}
		weight *= persistence
	}
	if !unjudged {
		return 0
	}
	return weight + (1-persistence)*total
}
