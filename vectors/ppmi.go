package vectors

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/par"
)

// ppmi is the matrix of positive pointwise mutual information, by rows and by columns.
type ppmi struct {
	n          int
	rows, cols compressed
}

// compressed is a sparse matrix by rows (CSR), or by columns (CSC).
type compressed struct {
	ends  []uint64 // of each row, in other and value
	other []uint32 // columns
	value []float32
}

// of returns where the cells of a row begin and end.
func (c *compressed) of(i int) (from, to uint64) {
	if i > 0 {
		from = c.ends[i-1]
	}
	return from, c.ends[i]
}

func newPPMI(ctx context.Context, r Matrix, o *SVDOptions) (*ppmi, error) {
	n := r.Len()
	rowSum, colSum := make([]float64, n), make([]float64, n)
	// One thread sums a column, in the order of the rows, so that sums do not depend on threads.
	parts := max(1, o.Threads)
	if err := eachRow(ctx, o.Threads, parts, 1, func(part int) error {
		lo, hi := columns(n, parts, part)
		for row := range n {
			cols, values, err := r.Row(row)
			if err != nil {
				return err
			}
			from, _ := slices.BinarySearch(cols, lo)
			for k := from; k < len(cols) && cols[k] < hi; k++ {
				if values[k] > 0 {
					colSum[cols[k]] += values[k]
				}
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if err := eachRow(ctx, o.Threads, n, 256, func(row int) error {
		return cellsOf(r, row, func(_ uint32, x float64) { rowSum[row] += x })
	}); err != nil {
		return nil, err
	}
	smooth := 0.0
	for i, c := range colSum {
		if c > 0 {
			colSum[i] = math.Pow(c, o.Smoothing)
		}
		smooth += colSum[i]
	}
	shift := 0.0
	if o.Shift > 1 {
		shift = math.Log(o.Shift)
	}
	m := &ppmi{n: n}
	if err := m.fill(ctx, r, o.Threads, func(row int, col uint32, x float64) float32 {
		return float32(math.Log(x*smooth/(rowSum[row]*colSum[col])) - shift)
	}); err != nil {
		return nil, err
	}
	m.transpose(o.Threads)
	return m, nil
}

// fill sets the rows to the cells whose value is above 0, on several threads.
func (m *ppmi) fill(ctx context.Context, r Matrix, threads int,
	value func(row int, col uint32, x float64) float32) error {
	const grain = 256
	parts := make([]compressed, (m.n+grain-1)/grain)
	if err := eachRow(ctx, threads, m.n, grain, func(row int) error {
		p := &parts[row/grain]
		err := cellsOf(r, row, func(col uint32, x float64) {
			if v := value(row, col, x); v > 0 {
				p.other, p.value = append(p.other, col), append(p.value, v)
			}
		})
		p.ends = append(p.ends, uint64(len(p.other)))
		return err
	}); err != nil {
		return err
	}
	total := 0
	for i := range parts {
		total += len(parts[i].other)
	}
	if total == 0 {
		return errors.New("no pair co-occurs more often than by chance, so there is nothing to factor")
	}
	m.rows = compressed{make([]uint64, 0, m.n), make([]uint32, 0, total), make([]float32, 0, total)}
	for i := range parts {
		p := &parts[i]
		for _, end := range p.ends {
			m.rows.ends = append(m.rows.ends, uint64(len(m.rows.other))+end)
		}
		m.rows.other = append(m.rows.other, p.other...)
		m.rows.value = append(m.rows.value, p.value...)
		*p = compressed{}
	}
	return nil
}

// columns returns a part of the columns, for a thread. The first columns are those of frequent
// words and have most cells, so the first parts have fewer columns.
func columns(n, parts, part int) (lo, hi uint32) {
	at := func(p int) uint32 {
		x := float64(p) / float64(parts)
		return uint32(float64(n) * x * x * x)
	}
	return at(part), at(part + 1)
}

// transpose fills the columns from the rows, a part of the columns per thread.
func (m *ppmi) transpose(threads int) {
	at := make([]uint64, m.n)
	parts := 4 * max(1, threads)
	each := func(fn func(row int, k uint64)) {
		par.For(threads, parts, 1, func(_, part, _ int) {
			lo, hi := columns(m.n, parts, part)
			for row := range m.n {
				from, to := m.rows.of(row)
				first, _ := slices.BinarySearch(m.rows.other[from:to], lo)
				for k := from + uint64(first); k < to && m.rows.other[k] < hi; k++ {
					fn(row, k)
				}
			}
		})
	}
	each(func(_ int, k uint64) { at[m.rows.other[k]]++ })
	sum := uint64(0)
	for i, count := range at {
		at[i], sum = sum, sum+count
	}
	m.cols = compressed{at, make([]uint32, sum), make([]float32, sum)}
	each(func(row int, k uint64) {
		c := m.rows.other[k]
		m.cols.other[at[c]], m.cols.value[at[c]] = uint32(row), m.rows.value[k]
		at[c]++
	})
}

// coreMatrix is a tall matrix on the cores.
type coreMatrix struct {
	*ppmi
	width, threads int
	x, y           []float64 // the matrix, and room for the next product
}

func (c *coreMatrix) rows() ([]float64, error) { return c.x, nil }

func (c *coreMatrix) times(transposed bool) error {
	c.product(transposed)
	c.x, c.y = c.y, c.x
	return nil
}

func (c *coreMatrix) gramOfTimes() ([]float64, error) {
	c.product(true)
	return c.gramOf(c.y), nil
}

func (c *coreMatrix) gram() ([]float64, error) { return c.gramOf(c.x), nil }

// product sets y to M X or M' X. The products of a row are added in the order of its cells.
func (c *coreMatrix) product(transposed bool) {
	m := &c.ppmi.rows
	if transposed {
		m = &c.ppmi.cols
	}
	par.For(c.threads, c.n, 64, func(_, lo, hi int) {
		var x [4][]float64
		var a [4]float64
		for i := lo; i < hi; i++ {
			y := c.y[i*c.width : (i+1)*c.width]
			clear(y)
			for at, to := m.of(i); at < to; at += 4 {
				for k := range a {
					a[k] = 0
					if at+uint64(k) < to {
						a[k] = float64(m.value[at+uint64(k)])
						row := int(m.other[at+uint64(k)])
						x[k] = c.x[row*c.width : (row+1)*c.width]
					} else {
						x[k] = x[0]
					}
				}
				axpy4(y, &x, &a)
			}
		}
	})
}

// turn multiplies X by the small matrix t.
func (c *coreMatrix) turn(t []float64) error {
	par.For(c.threads, c.n, 64, func(_, lo, hi int) {
		var x [4][]float64
		for i := lo; i < hi; i++ {
			from, y := c.x[i*c.width:(i+1)*c.width], c.y[i*c.width:(i+1)*c.width]
			clear(y)
			for k := 0; k < c.width; k += 4 {
				for j := range x {
					x[j] = t[(k+j)*c.width : (k+j+1)*c.width]
				}
				axpy4(y, &x, (*[4]float64)(from[k:]))
			}
		}
	})
	c.x, c.y = c.y, c.x
	return nil
}

// gramRows is the number of rows in a partial sum. It is the same on every engine, because the
// order of additions decides the last bits.
const gramRows = 4096

// gramOf returns X'X. It computes blocks of 8 rows from the diagonal to the right, and mirrors
// them.
func (c *coreMatrix) gramOf(x []float64) []float64 {
	n, w := c.n, c.width
	sum := make([]float64, w*w)
	parts := (n + gramRows - 1) / gramRows
	const blocks = 8 // rows of the result at a time
	for p := range parts {
		lo, hi := p*gramRows, min((p+1)*gramRows, n)
		par.For(c.threads, w/blocks, 1, func(_, b, _ int) {
			var part [blocks][]float64
			first := b * blocks
			all := make([]float64, blocks*(w-first))
			for k := range part {
				part[k] = all[k*(w-first) : (k+1)*(w-first)]
			}
			zero := make([]float64, w)
			var rows [4][]float64
			var right [4][]float64
			var a [4]float64
			for i := lo; i < hi; i += 4 {
				for j := range rows {
					rows[j] = zero
					if i+j < hi {
						rows[j] = x[(i+j)*w : (i+j+1)*w]
					}
					right[j] = rows[j][first:]
				}
				for k := range part {
					for j := range a {
						a[j] = rows[j][first+k]
					}
					axpy4(part[k], &right, &a)
				}
			}
			for k := range part {
				to := sum[(first+k)*w+first : (first+k+1)*w]
				for j, v := range part[k] {
					to[j] += v
				}
			}
		})
	}
	for i := range w {
		for j := range i {
			sum[i*w+j] = sum[j*w+i]
		}
	}
	return sum
}
