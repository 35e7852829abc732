package coloc

import (
	"context"
	"slices"
)

// expandByJoin is Co-location Miner (Shekhar and Huang 2001). It joins the instances of two sets
// that differ in their last feature, on all points but the last. A joined row is an instance of the
// candidate if the two last points are neighbours. Pairs come from the spatial join, which the
// paper found to be faster.
func expandByJoin(ctx context.Context, j *levelwise, c []int32, level map[string]*rows,
	do func(row []int32)) error {
	last := len(c) - 1
	if last == 1 {
		return expandTree(ctx, j, c, level, do)
	}
	left := level[setKey(c[:last])]
	right := level[setKey(append(slices.Clone(c[:last-1]), c[last]))]
	out := make([]int32, len(c))
	same := func(a, b []int32) int { return slices.Compare(a[:last-1], b[:last-1]) }
	for i, k, n := 0, 0, 0; i < left.len() && k < right.len(); n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		a := left.row(i)
		if order := same(a, right.row(k)); order != 0 {
			if order < 0 {
				i++
			} else {
				k++
			}
			continue
		}
		end := k
		for end < right.len() && same(a, right.row(end)) == 0 {
			end++
		}
		for ; i < left.len() && same(left.row(i), right.row(k)) == 0; i++ {
			a := left.row(i)
			copy(out, a)
			for m := k; m < end; m++ {
				if out[last] = right.row(m)[last-1]; j.stars.joined(a[last-1], out[last]) {
					do(out)
				}
			}
		}
		k = end
	}
	return nil
}
