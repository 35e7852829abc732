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

// batches is chapter 7: many queries at once, in wall time.
func (b *bench) batches() error {
	queries := b.mixed()
	b.Say("batches of %d", len(queries))
	section := report.Section{Title: fmt.Sprintf("Batches of %d queries", len(queries)), Text: "Wall time of the whole batch, looking words up and results included."}
	base := map[search.Algorithm]float64{}
	one := report.Table{Name: "batch-sequential", Title: "One core, one query after the other", Header: []string{"algorithm", "s"}}
	for _, a := range []search.Algorithm{search.WAND, search.MaxScore} {
		start := time.Now()
		for _, words := range queries {
			if _, err := b.s.Search(b.ctx, search.Request{Words: words, K: b.K, Algorithm: a}); err != nil {
				return err
			}
		}
		base[a] = time.Since(start).Seconds()
		one.Rows = append(one.Rows, []string{a.String(), format(base[a])})
	}
	table := report.Table{Name: "batch-gpu", Title: "On the GPU", Header: []string{"batch", "algorithm", "partition", "policy", "size", "in a row", "s", "speedup", "recall"}}
	add := func(a search.Algorithm, st search.Strategy, p search.Parallel, names ...string) error {
		s, recall, err := b.batch(queries, a, st, p)
		if err != nil {
			return err
		}
		speedup := ""
		if base[a] > 0 {
			speedup = format(base[a] / s)
		}
		table.Rows = append(table.Rows, append(names, format(s), speedup, fmt.Sprintf("%.3f", recall)))
		return nil
	}
	for _, a := range []search.Algorithm{search.WAND, search.MaxScore} {
		for _, p := range []search.Partition{search.Homogeneous, search.Heterogeneous} {
			for _, policy := range policies {
				for _, size := range []int{32, 64, 128} {
					for _, row := range []int{1, 10} {
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
	section.Tables = []report.Table{one, table}
	for _, a := range []search.Algorithm{search.WAND, search.MaxScore} {
		for _, p := range []search.Partition{search.Homogeneous, search.Heterogeneous} {
			plot := report.Plot{Name: fmt.Sprintf("batch-%v-%v", a, p), Title: fmt.Sprintf("Batch, %v, %v, sh-r: time by partitions in a row", a, p), X: "partitions in a row", Y: "s", LogX: true, LogY: true}
			for _, size := range []int{32, 64, 128} {
				s := report.Series{Name: strconv.Itoa(size) + " a partition"}
				for _, row := range []int{1, 10, 50, 100, 250} {
					took, _, err := b.batch(queries, a, search.Asynchronous, search.Parallel{Partition: p, Policy: search.SharedFull, Size: size, Row: row})
					if err != nil {
						return err
					}
					s.X, s.Y = append(s.X, float64(row)), append(s.Y, took)
				}
				plot.Series = append(plot.Series, s)
			}
			section.Plots = append(section.Plots, plot)
		}
	}
	b.report.Sections = append(b.report.Sections, section)
	return nil
}

// batch times a batch: the best of some runs, and its recall.
func (b *bench) batch(queries [][]search.Word, a search.Algorithm, st search.Strategy, p search.Parallel) (seconds, recall float64, err error) {
	requests := make([]search.Request, len(queries))
	for i, words := range queries {
		requests[i] = b.request(words, a, search.Or, p)
		requests[i].Trace = false
	}
	seconds = math.Inf(1)
	for range b.Runs {
		recall = 0
		found := make([]*search.Result, 0, len(requests))
		start := time.Now()
		for r, err := range b.s.SearchBatch(b.ctx, slices.Values(requests), search.Batch{Engine: engine.GPU, Strategy: st}) {
			if err != nil {
				return 0, 0, err
			}
			found = append(found, r)
		}
		seconds = min(seconds, time.Since(start).Seconds())
		for i, r := range found {
			want, err := b.exactOf(queries[i], search.Or)
			if err != nil {
				return 0, 0, err
			}
			if p.Exact() && !slices.Equal(r.Hits, want.Hits) {
				return 0, 0, fmt.Errorf("thesis: batch, %v: query %d has not the exact result", a, i)
			}
			recall += search.Recall(r.Hits, want.Hits) / float64(len(found))
		}
	}
	return seconds, recall, nil
}
