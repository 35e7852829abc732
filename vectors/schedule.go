package vectors

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/collocate/collocate/internal/par"
)

// schedule has the cells of a matrix in an order in which many can be trained on at once, with the
// result of one after the other (stratified gradient descent, Gemulla et al. 2011).
//
// Rows and columns are each divided into groups with about the same number of cells. Group g of
// the rows and group h of the columns make a block. The blocks with the same h-g, modulo the number
// of groups, make a stratum: no two of them share a row or a column. So the blocks of a stratum may
// be trained on at the same time. The cells of a block are trained on one after the other, and so
// are the strata, in a random order for each epoch.
//
// Cells are sorted by stratum, then by group of rows, then by row in a random order. A row's cells
// in a block lie together, so its vector stays in registers or in the cache for all of them.
type schedule struct {
	groups int
	ends   []uint64 // ends of blocks in cells: that of stratum s, group g of rows at s*groups+g
	cells  []cell
}

// cell is an entry of the matrix, ready for training.
type cell struct {
	row, col    uint32
	log, weight float32 // ln X and f(X)
}

var (
	// blockCells is the mean number of cells of a block: the larger the blocks, the fewer can be
	// trained on at once. docs/experiments.md has the speed with others.
	blockCells = 256
	// mostGroups bounds the table of ends: there are as many blocks as the square of the groups.
	mostGroups = 2048
)

func groupsOf(cells, words int) int {
	return max(1, min(int(math.Sqrt(float64(cells)/float64(blockCells))), words, mostGroups))
}

// newSchedule orders the cells of a matrix. It depends on the matrix and the seed only.
func newSchedule(ctx context.Context, m Matrix, o *GloVeOptions) (*schedule, error) {
	n := m.Len()
	rows, cols := make([]uint64, n), make([]uint64, n)
	if err := eachRow(ctx, o.Threads, n, 256, func(i int) error {
		return cellsOf(m, i, func(col uint32, _ float64) {
			rows[i]++
			atomic.AddUint64(&cols[col], 1)
		})
	}); err != nil {
		return nil, err
	}
	total := uint64(0)
	for _, count := range rows {
		total += count
	}
	if total == 0 {
		return nil, errors.New("the matrix has no cells to train on")
	}
	s := &schedule{groups: groupsOf(int(total), n)}
	rowGroup, colGroup := balanced(rows, s.groups), balanced(cols, s.groups)
	members := make([][]int, s.groups) // rows of each group, in random order
	for _, row := range rand.New(rand.NewPCG(o.Seed, 0x6f72646572)).Perm(n) {
		members[rowGroup[row]] = append(members[rowGroup[row]], row)
	}
	// The blocks of a group of rows are filled by one thread, in the order of its rows.
	at := make([]uint64, s.groups*s.groups)
	each := func(fn func(block, row int, col uint32, x float64)) error {
		return eachRow(ctx, o.Threads, s.groups, 1, func(g int) error {
			for _, row := range members[g] {
				if err := cellsOf(m, row, func(col uint32, x float64) {
					fn((int(colGroup[col])+s.groups-g)%s.groups*s.groups+g, row, col, x)
				}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := each(func(block, _ int, _ uint32, _ float64) { at[block]++ }); err != nil {
		return nil, err
	}
	sum := uint64(0)
	for i, count := range at {
		at[i], sum = sum, sum+count
	}
	s.cells = make([]cell, total)
	s.ends = at
	return s, each(func(block, row int, col uint32, x float64) {
		s.cells[at[block]] = cell{uint32(row), col, float32(math.Log(x)),
			float32(min(1, math.Pow(x/o.XMax, o.Alpha)))}
		at[block]++
	})
}

// begin returns the index of a block's first cell.
func (s *schedule) begin(block int) uint64 {
	if block == 0 {
		return 0
	}
	return s.ends[block-1]
}

// balanced divides words into groups of about the same number of cells. In descending order of
// their cells, each word goes to the group that has the fewest.
func balanced(cells []uint64, groups int) []uint32 {
	order := make([]uint32, len(cells))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(cells[b], cells[a]) })
	// A heap of groups, the one with the fewest cells first, ties by number.
	heap, load := make([]uint32, groups), make([]uint64, groups)
	for g := range heap {
		heap[g] = uint32(g)
	}
	before := func(a, b uint32) bool { return load[a] < load[b] || load[a] == load[b] && a < b }
	group := make([]uint32, len(cells))
	for _, word := range order {
		g := heap[0]
		group[word] = g
		load[g] += cells[word]
		for i := 0; ; {
			child := 2*i + 1
			if child+1 < groups && before(heap[child+1], heap[child]) {
				child++
			}
			if child >= groups || !before(heap[child], heap[i]) {
				break
			}
			heap[i], heap[child] = heap[child], heap[i]
			i = child
		}
	}
	return group
}

// cellsOf calls fn for the values above 0 of a row.
func cellsOf(m Matrix, row int, fn func(col uint32, x float64)) error {
	cols, values, err := m.Row(row)
	if err != nil {
		return err
	}
	for k, c := range cols {
		if values[k] > 0 {
			fn(c, values[k])
		}
	}
	return nil
}

// eachRow calls fn for all rows on several threads, the given number of rows at a time, until one
// fails.
func eachRow(ctx context.Context, threads, n, grain int, fn func(i int) error) error {
	errs := make([]error, max(1, threads))
	var failed atomic.Bool
	par.For(threads, n, grain, func(w, lo, hi int) {
		for i := lo; i < hi && !failed.Load(); i++ {
			err := ctx.Err()
			if err == nil {
				err = fn(i)
			}
			if err != nil {
				errs[w] = err
				failed.Store(true)
			}
		}
	})
	return errors.Join(errs...)
}
