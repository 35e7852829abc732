package clientbench

import (
	"math/bits"
	"time"
)

// Times are latencies in microseconds. Percentiles are accurate to 3%.
type Times struct {
	Mean float64 `json:"mean_us"`
	P50  float64 `json:"p50_us"`
	P99  float64 `json:"p99_us"`
	Max  float64 `json:"max_us"`
}

// A histogram has 32 cells per doubling of the time, from a nanosecond on. A run has too many
// queries to keep every time.
const (
	cellBits = 5
	cells    = (40 - cellBits + 1) << cellBits // up to 18 minutes
)

type histogram struct {
	counts [cells]uint64
	n      uint64
	sum    time.Duration
	most   time.Duration
}

// cellOf returns the cell of a time: times below 64 ns have cells of their own, the others are
// grouped by their six leading bits.
func cellOf(d time.Duration) int {
	v := uint64(max(d, 0))
	shift := max(0, bits.Len64(v)-cellBits-1)
	return min(shift<<cellBits+int(v>>shift), cells-1)
}

// middle returns the time in the middle of a cell.
func middle(cell int) time.Duration {
	if cell < 2<<cellBits {
		return time.Duration(cell)
	}
	shift := cell>>cellBits - 1
	low := uint64(cell-shift<<cellBits) << shift
	return time.Duration(low + 1<<shift/2)
}

func (h *histogram) add(d time.Duration) {
	h.counts[cellOf(d)]++
	h.n++
	h.sum += d
	h.most = max(h.most, d)
}

func (h *histogram) merge(o *histogram) {
	for i, c := range o.counts {
		h.counts[i] += c
	}
	h.n += o.n
	h.sum += o.sum
	h.most = max(h.most, o.most)
}

// since returns the histogram of the times that were added after the state before. Its maximum is
// only accurate to a cell, unless it is the maximum of all times.
func (h *histogram) since(before *histogram) (out histogram) {
	for i := range h.counts {
		if out.counts[i] = h.counts[i] - before.counts[i]; out.counts[i] > 0 {
			out.most = middle(i)
		}
	}
	out.n, out.sum = h.n-before.n, h.sum-before.sum
	if h.most > before.most {
		out.most = h.most
	}
	return out
}

// percentile returns the time that p per cent of all times do not exceed.
func (h *histogram) percentile(p float64) time.Duration {
	want, sum := uint64(p/100*float64(h.n)+0.999999), uint64(0)
	for i, c := range h.counts {
		if sum += c; sum >= want && c > 0 {
			return min(middle(i), h.most)
		}
	}
	return h.most
}

func (h *histogram) times() Times {
	if h.n == 0 {
		return Times{}
	}
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	return Times{Mean: us(h.sum) / float64(h.n), P50: us(h.percentile(50)), P99: us(h.percentile(99)), Max: us(h.most)}
}
