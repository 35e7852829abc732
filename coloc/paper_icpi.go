package coloc

import "context"

// expandTree is the iCPI-tree algorithm (Wang, Bao and Lu 2009). The tree has, for
// every feature and every point of it, the neighbours of later features by feature:
// our stars. An instance of a candidate is one of the candidate without its last
// feature and a neighbour, of that feature, of its last point, that is a neighbour
// of the others too.
func expandTree(ctx context.Context, j *levelwise, c []int32, level map[string]*rows, do func(row []int32)) error {
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
