package thesisbench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

type batchKey struct {
	algorithm search.Algorithm
	strategy  search.Strategy
	parallel  search.Parallel
}

type batchFigure struct{ seconds, recall float64 }

var (
	cutOrNot   = []search.Partition{search.Homogeneous, search.Adjusted, search.Heterogeneous}
	batchRows  = []int{1, 10, 50, 100, 250}
	algorithms = []search.Algorithm{search.WAND, search.MaxScore}
)

// batches is chapter 7: many queries at once, in wall time.
func (b *bench) batches() error {
	queries := b.mixed()
	b.Say("batches of %d", len(queries))
	section := report.Section{Title: fmt.Sprintf("Batches of %d queries", len(queries)),
		Text: "Wall time of the whole batch, looking words up and results included. Asynchronous: every query has a stream and is spread over the device. Synchronous: every query has " +
			"one block of one warp, all in one launch, so that the batch takes as long as its longest query. One core's time is the sum of the queries' times above. The thesis' queries were people's, " +
			"500 from a log; these are of the four classes above, three eighths short, two eighths medium, two eighths long and one eighth extra."}
	base, err := b.sums(queries)
	if err != nil {
		return err
	}
	all := report.Table{Name: "batch-gpu", Title: "All variants on the GPU", Header: []string{"batch", "algorithm", "partition", "policy", "size", "in a row", "s", "speedup", "recall"}}
	add := func(a search.Algorithm, st search.Strategy, p search.Parallel, names ...string) error {
		f, err := b.batch(queries, a, st, p)
		if err != nil {
			return err
		}
		speedup := ""
		if base[a] > 0 {
			speedup = format(base[a] / f.seconds)
		}
		all.Rows = append(all.Rows, append(names, format(f.seconds), speedup, fmt.Sprintf("%.3f", f.recall)))
		return nil
	}
	for _, a := range algorithms {
		for _, p := range cutOrNot {
			for _, policy := range policies {
				for _, size := range sizes {
					for _, row := range []int{1, 10} {
						if p == search.Adjusted && policy != search.SharedFull {
							continue
						}
						err := add(a, search.Asynchronous, search.Parallel{Partition: p, Policy: policy, Size: size, Row: row},
							"async", a.String(), p.String(), policy.String(), strconv.Itoa(size), strconv.Itoa(row))
						if err != nil {
							return err
						}
					}
				}
			}
		}
		if err := add(a, search.Synchronous, search.Parallel{}, "sync", a.String(), "", "", "", ""); err != nil {
			return err
		}
	}
	if err := add(search.Tiles, search.Mixed, search.Parallel{}, "ours", "tiles", "", "", "", ""); err != nil {
		return err
	}
	for _, a := range algorithms {
		for _, p := range []search.Partition{search.Homogeneous, search.Heterogeneous} {
			plot, err := b.batchPlot(queries, a, p)
			if err != nil {
				return err
			}
			section.Plots = append(section.Plots, plot)
		}
	}
	section.Tables = []report.Table{b.bestBatches(base), all}
	b.report.Sections = append(b.report.Sections, section)
	return nil
}

// sums are the seconds of a batch on one core, one query after the other.
func (b *bench) sums(queries []asked) (map[search.Algorithm]float64, error) {
	base := map[search.Algorithm]float64{}
	for _, a := range algorithms {
		for _, q := range queries {
			s, err := b.one(aloneKey{q, a, search.Or})
			if err != nil {
				return nil, err
			}
			base[a] += s
		}
	}
	return base, nil
}

// bestBatches sets the best of all variants beside what the thesis had.
func (b *bench) bestBatches(base map[search.Algorithm]float64) report.Table {
	t := report.Table{Name: "batch-best", Title: "The best of each, s", Header: []string{""}}
	for _, a := range algorithms {
		if b.Share == 1 && b.Batch == 500 {
			t.Header = append(t.Header, a.String()+", thesis")
		}
		t.Header = append(t.Header, a.String()+", here")
	}
	best := func(a search.Algorithm, st search.Strategy, parts ...search.Partition) string {
		best := math.Inf(1)
		for key, f := range b.batched {
			if key.algorithm == a && key.strategy == st && (st != search.Asynchronous || slices.Contains(parts, key.parallel.Partition)) && key.parallel.Policy != search.SharedHalf {
				best = min(best, f.seconds)
			}
		}
		return format(best)
	}
	line := func(name string, had func(publishedBatch) float64, here func(search.Algorithm) string) {
		out := []string{name}
		for _, a := range algorithms {
			if b.Share == 1 && b.Batch == 500 {
				v := ""
				if had != nil {
					v = format(had(thesisBatch[a]))
				}
				out = append(out, v)
			}
			out = append(out, here(a))
		}
		t.Rows = append(t.Rows, out)
	}
	line("one core", func(p publishedBatch) float64 { return p.core }, func(a search.Algorithm) string { return format(base[a]) })
	line("async, homogeneous", func(p publishedBatch) float64 { return p.homogeneous }, func(a search.Algorithm) string { return best(a, search.Asynchronous, search.Homogeneous) })
	line("async, adjusted", nil, func(a search.Algorithm) string { return best(a, search.Asynchronous, search.Adjusted) })
	line("async, heterogeneous", func(p publishedBatch) float64 { return p.heterogeneous }, func(a search.Algorithm) string { return best(a, search.Asynchronous, search.Heterogeneous) })
	line("sync", func(p publishedBatch) float64 { return p.sync }, func(a search.Algorithm) string { return best(a, search.Synchronous) })
	line("tiles", nil, func(search.Algorithm) string { return best(search.Tiles, search.Mixed) })
	return t
}

// batchPlot is how the number of partitions in a row matters.
func (b *bench) batchPlot(queries []asked, a search.Algorithm, p search.Partition) (report.Plot, error) {
	plot := report.Plot{Name: fmt.Sprintf("batch-%v-%v", a, p), Title: fmt.Sprintf("Batch, %v, %v, sh-r: time by partitions in a row", a, p), X: "partitions in a row", Y: "s", LogX: true, LogY: true}
	for _, size := range sizes {
		s := report.Series{Name: strconv.Itoa(size) + " a partition"}
		for _, row := range batchRows {
			f, err := b.batch(queries, a, search.Asynchronous, search.Parallel{Partition: p, Policy: search.SharedFull, Size: size, Row: row})
			if err != nil {
				return plot, err
			}
			s.X, s.Y = append(s.X, float64(row)), append(s.Y, f.seconds)
		}
		plot.Series = append(plot.Series, s)
	}
	return plot, nil
}

// longBatch is how many seconds of batches are enough to know how long one takes.
const longBatch = 0.2

// batch times a batch: the best of some runs, and its recall.
func (b *bench) batch(queries []asked, a search.Algorithm, st search.Strategy, p search.Parallel) (batchFigure, error) {
	key := batchKey{a, st, p}
	if f, ok := b.batched[key]; ok {
		return f, nil
	}
	requests := make([]search.Request, len(queries))
	for i, q := range queries {
		requests[i] = b.request(b.queries[q.class][q.query], a, search.Or, p)
		requests[i].Trace = false
	}
	f := batchFigure{seconds: math.Inf(1)}
	found := make([]*search.Result, 0, len(requests))
	for run, all := 0, 0.0; run < b.Runs && all < longBatch; run++ {
		found = found[:0]
		start := time.Now()
		for r, err := range b.s.SearchBatch(b.ctx, slices.Values(requests), search.Batch{Engine: engine.GPU, Strategy: st}) {
			if err != nil {
				return f, err
			}
			found = append(found, r)
		}
		took := time.Since(start).Seconds()
		all += took
		f.seconds = min(f.seconds, took)
	}
	for i, r := range found {
		want, err := b.exactOf(requests[i].Words, search.Or)
		if err != nil {
			return f, err
		}
		if p.Exact() && !slices.Equal(r.Hits, want.Hits) {
			return f, fmt.Errorf("thesis: batch, %v: query %d has not the exact result", a, i)
		}
		f.recall += search.Recall(r.Hits, want.Hits) / float64(len(found))
	}
	b.batched[key] = f
	return f, nil
}
