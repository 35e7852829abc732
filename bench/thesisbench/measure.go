package thesisbench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/collocate/collocate/search"
)

// figure has the means of a class's queries.
type figure struct {
	ms     float64 // time on the device, or of the whole call on cores
	wall   float64 // time of the whole call, in milliseconds
	recall float64
	spread float64 // standard deviation of the recall
}

type figureKey struct {
	class int
	part
	cut search.Parallel
}

type aloneKey struct {
	query string
	part
}

// enough bounds the time of measuring a query: no run begins after it.
const enough = 500 * time.Millisecond

// timed calls run several times and returns two means in seconds: of the durations that run
// returns, and of the whole calls. A duration of 0 means that of the whole call.
func (b *bench) timed(run func() (time.Duration, error)) (took, wall float64, err error) {
	n := 0
	begin := time.Now()
	for n < b.Runs && (n == 0 || time.Since(begin) < enough) {
		start := time.Now()
		d, err := run()
		if err != nil {
			return 0, 0, err
		}
		whole := time.Since(start)
		if d == 0 {
			d = whole
		}
		took, wall, n = took+d.Seconds(), wall+whole.Seconds(), n+1
	}
	return took / float64(n), wall / float64(n), nil
}

// warmed is timed, on a device after a call that does not count: it may load kernels and copy lists
// to the device.
func (b *bench) warmed(run func() (time.Duration, error)) (took, wall float64, err error) {
	if b.Device != nil {
		if _, err := run(); err != nil {
			return 0, 0, err
		}
	}
	return b.timed(run)
}

// trimmed returns the mean without the largest and the smallest value.
func trimmed(values []float64) float64 {
	all := slices.Sorted(slices.Values(values))
	if len(all) > 2 {
		all = all[1 : len(all)-1]
	}
	return mean(all)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func deviation(values []float64) float64 {
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(values)))
}

// one returns the time of a query on one core, in seconds.
func (b *bench) one(r search.Request, p part) (float64, error) {
	key := aloneKey{fmt.Sprint(r.Text, r.Words), p}
	if s, ok := b.alone[key]; ok {
		return s, nil
	}
	r.K, r.Mode, r.Algorithm = b.K, p.mode, p.algorithm
	s, _, err := b.timed(func() (time.Duration, error) {
		_, err := b.s.Search(b.ctx, r)
		return 0, err
	})
	b.alone[key] = s
	return s, err
}

// sequential returns the mean time of a class's queries on one core, in milliseconds.
func (b *bench) sequential(class int, p part) (float64, error) {
	var all []float64
	for _, r := range b.classes[class].queries {
		s, err := b.one(r, p)
		if err != nil {
			return 0, err
		}
		all = append(all, s*1e3)
	}
	return trimmed(all), nil
}

// parallel measures an algorithm on the device or the cores. If the partition is exact, the result
// must be too.
func (b *bench) parallel(class int, p part, cut search.Parallel) (figure, error) {
	key := figureKey{class, p, cut}
	if f, ok := b.figures[key]; ok {
		return f, nil
	}
	var ms, wall, recalls []float64
	for _, r := range b.classes[class].queries {
		want, err := b.exactOf(r, p.mode)
		if err != nil {
			return figure{}, err
		}
		r = b.request(r, p.algorithm, p.mode, cut)
		r.Trace = b.Device != nil        // for the time on the device
		got, err := b.s.Search(b.ctx, r) // not measured: it may copy lists to the device
		if err != nil {
			return figure{}, err
		}
		if r.Parallel.Exact() && !slices.Equal(got.Hits, want.Hits) {
			return figure{}, fmt.Errorf("thesis: %v, %v, %v, %v: the result is not the exact one", p.algorithm,
				p.mode, cut.Partition, cut.Policy)
		}
		recalls = append(recalls, search.Recall(got.Hits, want.Hits))
		took, whole, err := b.timed(func() (time.Duration, error) {
			found, err := b.s.Search(b.ctx, r)
			if err != nil || found.Stats.GPU == nil {
				return 0, err
			}
			return found.Stats.GPU.Time, nil
		})
		if err != nil {
			return figure{}, err
		}
		ms, wall = append(ms, took*1e3), append(wall, whole*1e3)
	}
	f := figure{ms: trimmed(ms), wall: trimmed(wall), recall: mean(recalls),
		spread: deviation(recalls)}
	b.figures[key] = f
	return f, nil
}

func format(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// printed formats a number with as many decimals as the thesis prints.
func printed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

func recall(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
