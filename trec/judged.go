package trec

import "math"

// What an answer's grade is when there is none.
const (
	notInPool = -1 // no judgment at all
	notJudged = -2 // a judgment below 0
)

// judged is a topic's answers seen through its judgments.
type judged struct {
	grades []int // by rank
	level  int   // the smallest grade that is relevant

	rel    int   // relevant documents
	nonrel int   // judged documents that are not
	relRet int   // relevant answers
	levels []int // documents by grade
}

func judge(docs map[string]int, results []Result, o Options) *judged {
	j := &judged{level: o.Level}
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

// relevant counts the relevant ones among the first n answers.
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

// perRelevant divides by the number of relevant documents, or gives 0 where
// there are none.
func (j *judged) perRelevant(total float64) float64 {
	if j.rel == 0 {
		return 0
	}
	return total / float64(j.rel)
}

// averagePrecision of the first cut answers; 0 stands for all.
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

// interpolated is the largest precision at or after the rank at which the recall is reached.
func (j *judged) interpolated(recall float64) float64 {
	want := int(math.Round(recall * float64(j.rel)))
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

// ndcg of the first cut answers. The gain is the grade, whatever the level.
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
