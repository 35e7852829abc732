package nearest

import "github.com/collocate/collocate/index/dense"

const (
	lanes = 16 // of a float32 sum
	block = 64 // documents that are tested together
	group = 6  // queries that a kernel multiplies with a block
)

// The inner loops have several versions: plain Go, which defines them, and assembly for each level
// of vector instructions.

// products returns q·x; the lengths are equal and multiples of 16.
func products(q, x []float32) float32 {
	if hasKernels && len(q) > 0 {
		_ = x[len(q)-1]
		return sumKernel(&q[0], &x[0], len(q))
	}
	return dense.Sum(q, x)
}

// distance returns |q - x|²; the lengths are equal and multiples of 16.
func distance(q, x []float32) float32 {
	if hasKernels && len(q) > 0 {
		_ = x[len(q)-1]
		return distanceKernel(&q[0], &x[0], len(q))
	}
	return dense.Distance(q, x)
}

// dots writes the dot products of codes with the rows of some documents. The number of codes is a
// multiple of 64; sum is that of q.
func dots(q []int8, sum int32, rows []int8, docs []uint32, out *[block]int32) {
	if len(docs) == 0 {
		return
	}
	if hasKernels {
		_ = rows[(int(docs[len(docs)-1])+1)*len(q)-1] // documents ascend
		dotsKernel(&q[0], &rows[0], &docs[0], len(docs), len(q), sum, &out[0])
		return
	}
	plainDots(q, rows, docs, out)
}

func plainDots(q, rows []int8, docs []uint32, out *[block]int32) {
	for i, d := range docs {
		row := rows[int(d)*len(q) : (int(d)+1)*len(q)]
		n := int32(0)
		for j, x := range q {
			n += int32(x) * int32(row[j])
		}
		out[i] = n
	}
}

// reach returns the documents of a block that pass a test, as bits. The arrays have n numbers.
func reach(dots *[block]int32, scales, rests, norms []float32, n int, t *test) uint64 {
	if n == block && hasKernels {
		_, _, _ = scales[block-1], rests[block-1], norms[block-1]
		return reachKernel(&dots[0], &scales[0], &rests[0], &norms[0], t)
	}
	return plainReach(dots, scales, rests, norms, n, t)
}

func plainReach(dots *[block]int32, scales, rests, norms []float32, n int, t *test) (found uint64) {
	for i := range n {
		y := float32(t.alpha * float32(scales[i]*float32(dots[i]))) // conversions forbid fused operations
		y = y + float32(t.beta*rests[i])
		w := float32(float32(t.gamma+float32(t.delta*norms[i])) * norms[i])
		if y+w >= t.theta {
			found |= 1 << i
		}
	}
	return found
}

// tile has the codes of a block of documents, transposed: four codes of each document after those
// of the document before, then the next four. Codes are raised by 128.
type tile []uint32

// fill transposes the rows of up to 64 documents of n codes each.
func (t tile) fill(rows []uint32, n, docs int) {
	words := n / 4
	for d := range docs {
		row := rows[d*words : (d+1)*words]
		at := d
		for _, w := range row {
			t[at] = w ^ 0x80808080
			at += block
		}
	}
}
