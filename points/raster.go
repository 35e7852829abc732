package points

import "math"

// raster divides a rectangle into square cells, row by row from its lowest corner.
type raster struct {
	minX, minY, side float64
	nx, ny           int
}

// rasterOver lays about the given number of cells along the longer side of a rectangle.
func rasterOver(minX, minY, width, depth float64, cells int) raster {
	side := max(width, depth) / float64(cells)
	return raster{minX, minY, side, max(1, int(math.Ceil(width/side-1e-9))), max(1, int(math.Ceil(depth/side-1e-9)))}
}

// cell returns the column and row of a position, or those nearest to it.
func (r *raster) cell(x, y float64) (c, w int) {
	return int(max(0, min((x-r.minX)/r.side, float64(r.nx-1)))), int(max(0, min((y-r.minY)/r.side, float64(r.ny-1))))
}

// key returns the number of a position's cell.
func (r *raster) key(x, y float64) int {
	c, w := r.cell(x, y)
	return w*r.nx + c
}

// near returns the squared distance, in cells, of each cell from the nearest one that is marked, by
// the two passes of Felzenszwalb and Huttenlocher.
func near(mark []bool, nx, ny int) []float64 {
	d := make([]float64, len(mark))
	for i, m := range mark {
		if !m {
			d[i] = math.Inf(1)
		}
	}
	n := max(nx, ny)
	line, out := make([]float64, n), make([]float64, n)
	vertex, border := make([]int, n), make([]float64, n+1)
	pass := func(start, step, count int) {
		for i := range count {
			line[i] = d[start+i*step]
		}
		lowest(line[:count], out, vertex, border)
		for i := range count {
			d[start+i*step] = out[i]
		}
	}
	for c := range nx {
		pass(c, nx, ny)
	}
	for w := range ny {
		pass(w*nx, 1, nx)
	}
	return d
}

// lowest fills in the lower envelope of parabolas with the given heights.
func lowest(f, out []float64, vertex []int, border []float64) {
	k := -1
	for q := range f {
		if math.IsInf(f[q], 1) {
			continue
		}
		for k >= 0 {
			v := vertex[k]
			at := ((f[q] + float64(q*q)) - (f[v] + float64(v*v))) / float64(2*q-2*v)
			if at > border[k] {
				k++
				vertex[k], border[k] = q, at
				break
			}
			k--
		}
		if k < 0 {
			k, vertex[0], border[0] = 0, q, math.Inf(-1)
		}
	}
	if k < 0 {
		for i := range f {
			out[i] = math.Inf(1)
		}
		return
	}
	border[k+1] = math.Inf(1)
	for i, j := 0, 0; i < len(f); i++ {
		for border[j+1] < float64(i) {
			j++
		}
		v := vertex[j]
		out[i] = float64((i-v)*(i-v)) + f[v]
	}
}

// blurred returns the values smoothed by a normal kernel, whose standard deviation is given in
// cells. What lies beyond the border counts as 0.
func blurred(v []float64, nx, ny int, sigma float64) []float64 {
	reach := int(math.Ceil(4 * sigma))
	kernel, sum := make([]float64, reach+1), 0.0
	for i := range kernel {
		kernel[i] = math.Exp(-float64(i*i) / (2 * sigma * sigma))
		sum += kernel[i]
		if i > 0 {
			sum += kernel[i]
		}
	}
	for i := range kernel {
		kernel[i] /= sum
	}
	both := make([]float64, 0, 2*reach+1) // the kernel and its mirror image
	for i := -reach; i <= reach; i++ {
		both = append(both, kernel[max(i, -i)])
	}
	// Rows are smoothed and turned into columns, twice.
	pass := func(v []float64, rows, count int) []float64 {
		out := make([]float64, len(v))
		row := make([]float64, count)
		for s := range rows {
			clear(row)
			for i, x := range v[s*count:][:count] {
				if x == 0 {
					continue
				}
				lo, hi := max(0, i-reach), min(count, i+reach+1)
				to := row[lo:hi]
				for j, k := range both[reach-i+lo:][:len(to)] {
					to[j] += float64(x * k)
				}
			}
			for i, x := range row {
				out[i*rows+s] = x
			}
		}
		return out
	}
	return pass(pass(v, ny, nx), nx, ny)
}
