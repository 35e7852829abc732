package coloc

import "context"

// expandTree is the iCPI-tree algorithm (Wang, Bao and Lu 2009). Its tree lists, for every point,
// the neighbours of later features, grouped by feature; type stars has these lists. An instance of
// a candidate extends an instance of the candidate without its last feature. It adds a point of
// that feature that is a neighbour of all others. Such points are found among the neighbours of the
// last point.
func expandTree(ctx context.Context, j *levelwise, c []int32, level map[string]*rows,
	do func(row []int32)) error {
	last := len(c) - 1
	shorter := level[setKey(c[:last])]
	out := make([]int32, len(c))
	for i := range shorter.len() {
		if i&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row := shorter.row(i)
		copy(out, row)
	neighbours:
		for _, q := range j.stars.ofFeature(row[last-1], c[last]) {
			for _, p := range row[:last-1] {
				if !j.stars.joined(p, q) {
					continue neighbours
				}
			}
			out[last] = q
			do(out)
		}
	}
	return nil
}
