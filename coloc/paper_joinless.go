package coloc

import "context"

// expandStars is the joinless algorithm (Yoo and Shekhar 2006). The star of a point has its
// neighbours of later features. A star instance of a candidate is a point and one point of its star
// for each other feature. It is a clique if its points after the first are a clique instance of the
// previous level.
func expandStars(ctx context.Context, j *levelwise, c []int32, level map[string]*rows,
	do func(row []int32)) error {
	rest := level[setKey(c[1:])]
	out := make([]int32, len(c))
	lo, hi := j.stars.points(c[0])
	for p := lo; p < hi; p++ {
		if p&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, q := range j.stars.ofFeature(p, c[1]) {
			from, to := rest.starting(q)
		rows:
			for i := from; i < to; i++ {
				row := rest.row(i)
				for _, r := range row[1:] {
					if !j.stars.joined(p, r) {
						continue rows
					}
				}
				out[0] = p
				copy(out[1:], row)
				do(out)
			}
		}
	}
	return nil
}
