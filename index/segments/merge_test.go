package segments

import "testing"

// chooseBySize picks neighbours of similar size, as many as the merge factor, or else one segment
// of which more than a third is deleted.
func TestChooseBySize(t *testing.T) {
	for _, c := range []struct {
		what      string
		live, all []int // documents; all is live if it is nil
		from, to  int
	}{
		{"none", nil, nil, 0, 0},
		{"too few", []int{1000, 1000}, nil, 0, 0},
		{"small ones are of one size", []int{1, 999, 30}, nil, 0, 3},
		{"no more than the factor", []int{1000, 1000, 1000, 1000, 1000}, nil, 0, 3},
		{"behind a large one", []int{100_000, 1000, 1000, 1000}, nil, 1, 4},
		{"before a large one, with it", []int{1000, 1000, 100_000, 1000}, nil, 0, 3},
		{"apart, too few on each side", []int{1000, 100_000, 1000, 1000}, nil, 0, 0},
		{"the sizes may differ by 3 to the power of 0.75", []int{6800, 3000, 3000}, nil, 0, 3},
		{"and by no more", []int{6900, 3000, 3000}, nil, 0, 0},
		{"runs go down in size", []int{90_000, 90_000, 9000, 9000, 9000}, nil, 2, 5},
		{"sizes are of what is left", []int{2000, 2000, 2000}, []int{2000, 2900, 2000}, 0, 3},
		{"a third is deleted", []int{1000, 667}, []int{1000, 1000}, 0, 0},
		{"more than a third is", []int{1000, 666}, []int{1000, 1000}, 1, 2},
		{"all of a small one is", []int{0, 1000}, []int{5, 1000}, 0, 1},
		{"a run comes before it", []int{10, 1000, 1000}, []int{1000, 1000, 1000}, 0, 3},
	} {
		all := c.all
		if all == nil {
			all = c.live
		}
		if from, to := chooseBySize(c.live, all, 3); from != c.from || to != c.to {
			t.Errorf("%s: of %v live of %v documents, segments %d to %d, want %d to %d", c.what, c.live, all,
				from, to, c.from, c.to)
		}
	}
}
