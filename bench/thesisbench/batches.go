package thesisbench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/engine"
	_ "github.com/collocate/collocate/gpu"
	"github.com/collocate/collocate/search"
)

type batchKey struct {
	algorithm search.Algorithm
	schedule  search.Schedule
	cut       search.Parallel
}

type batchFigure struct{ seconds, recall float64 }

var algorithms = []search.Algorithm{search.WAND, search.MaxScore}

// batches measures chapter 7: batches of queries, in wall time.
func (b *bench) batches() error {
	b.Say("7 Batches of %d: %d", len(b.queued[0]), len(b.queued))
	out := report.Section{Title: fmt.Sprintf("7 Batches of %d queries, OR", len(b.queued[0])),
		Text: "Wall time of a whole batch, including looking up words and returning results. Asynchronous: every query is partitioned; on a GPU each has a stream. " +
			"Synchronous: every query has one block, all in one launch, so that the batch takes as long as its longest query; on cores, every core answers a query alone. " +
			"One core's time is the sum of the queries' times. The thesis' four batches were 500 queries each of the Yahoo log, and its times are means of 10 runs; " + b.aboutBatch() + " " + b.aboutRuns()}
	base, err := b.sums()
	if err != nil {
		return err
	}
	out.Tables = append(out.Tables, b.sumsTable(base))
	for i, a := range algorithms {
		t, err := b.asyncTable("table-7."+strconv.Itoa(2+i), a, base[a])
		if err != nil {
			return err
		}
		out.Tables = append(out.Tables, t)
	}
	sync, err := b.syncTable(base)
	if err != nil {
		return err
	}
	for _, c := range batchCurves {
		plots, err := b.batchPlots(c, base[c.algorithm])
		if err != nil {
			return err
		}
		out.Plots = append(out.Plots, plots...)
	}
	best, err := b.bestBatches(base)
	if err != nil {
		return err
	}
	out.Tables = append(out.Tables, sync, best)
	b.report.Add(out)
	return nil
}

func (b *bench) aboutBatch() string {
	n := fmt.Sprintf("here there are %d in %s, ", len(b.queued)*len(b.queued[0]),
		map[bool]string{true: "one batch", false: fmt.Sprintf("%d batches", len(b.queued))}[len(b.queued) == 1])
	if b.Index != "" {
		return n + "the topics in the order of the file."
	}
	return n + "of the four classes above, three eighths short, two medium, two long and one extra."
}

// aboutRuns says how often a batch is answered.
func (b *bench) aboutRuns() string {
	s := fmt.Sprintf("A batch's time is the mean of %s (fewer if they take more than %v)", report.Count(b.Runs, "run"), enough)
	if b.Device != nil {
		s += ", after one that does not count"
	}
	return s + "."
}

// sums returns the mean seconds of a batch on one core, one query after the other.
func (b *bench) sums() (map[search.Algorithm]float64, error) {
	base := map[search.Algorithm]float64{}
	for _, a := range algorithms {
		for _, r := range slices.Concat(b.queued...) {
			s, err := b.one(r, part{a, search.Or})
			if err != nil {
				return nil, err
			}
			base[a] += s / float64(len(b.queued))
		}
	}
	return base, nil
}

func (b *bench) sumsTable(base map[search.Algorithm]float64) report.Table {
	t := report.Table{Name: "table-7.1", Title: "Table 7.1: a batch on one core",
		Header: []string{"algorithm", "s", "thesis: s"}}
	for _, a := range algorithms {
		t.Rows = append(t.Rows, []string{a.String(), format(base[a]), printed(thesisBatch[a].sequential, 3)})
	}
	return t
}

// asyncTable makes table 7.2 or 7.3, with all its cells.
func (b *bench) asyncTable(name string, a search.Algorithm, base float64) (report.Table, error) {
	t := report.Table{Name: name, Title: fmt.Sprintf("Table %s: asynchronous batch, %v", name[len("table-"):], a),
		Header: []string{"partition", "policy", "size", "in a row", "s", "speedup", "recall", "thesis: s", "speedup"}}
	had := thesisBatch[a]
	for cut := range settings(batchSizes) {
		f, err := b.batchOf(a, search.Asynchronous, cut)
		if err != nil {
			return t, err
		}
		at, size, _ := batchCell(cut)
		t.Rows = append(t.Rows, []string{cut.Partition.String(), cut.Policy.String(),
			strconv.Itoa(cut.Size), strconv.Itoa(cut.Row),
			format(f.seconds), format(base / f.seconds), recall(f.recall),
			printed(had.async[at][size], 2), printed(asyncSpeedups[a][at][size], 2)})
	}
	return t, nil
}

// syncTable makes table 7.4. Cores have no blocks of threads, so they get an additional row.
func (b *bench) syncTable(base map[search.Algorithm]float64) (report.Table, error) {
	t := report.Table{Name: "table-7.4", Title: "Table 7.4: synchronous batch",
		Header: []string{"algorithm", "threads a block", "s", "speedup", "thesis: s", "speedup"}}
	for _, a := range algorithms {
		had := thesisBatch[a]
		for i, threads := range blockThreads {
			line := []string{a.String(), strconv.Itoa(threads), "", "", printed(had.sync[i], 3),
				printed(syncSpeedups[a][i], 3)}
			if b.Device != nil {
				f, err := b.batchOf(a, search.Synchronous, search.Parallel{Blocks: search.Blocks{Threads: threads}})
				if err != nil {
					return t, err
				}
				line[2], line[3] = format(f.seconds), format(base[a]/f.seconds)
			}
			t.Rows = append(t.Rows, line)
		}
		if b.Device == nil {
			f, err := b.batchOf(a, search.Synchronous, search.Parallel{})
			if err != nil {
				return t, err
			}
			t.Rows = append(t.Rows, []string{a.String(), fmt.Sprintf("%d cores", b.Threads),
				format(f.seconds), format(base[a] / f.seconds), "", ""})
		}
	}
	return t, nil
}

// bestBatches compares the best times with the thesis': over the settings of its tables, and over
// up to 250 partitions in a row with what its text says about its figures.
func (b *bench) bestBatches(base map[search.Algorithm]float64) (report.Table, error) {
	t := report.Table{Name: "batch-best",
		Title:  "The best of each, s. Tables 7.2 and 7.3 have 1 and 10 partitions in a row, figures 7.1 to 7.8 up to 250, for which the thesis only gives approximate speedups over one core.",
		Header: []string{"", "settings"}}
	for _, a := range algorithms {
		t.Header = append(t.Header, a.String()+", thesis", a.String()+", here")
	}
	line := func(name, settings string, had func(*publishedBatch) float64, here func(search.Algorithm) float64) {
		out := []string{name, settings}
		for _, a := range algorithms {
			p, theirs := thesisBatch[a], ""
			if had != nil && had(&p) > 0 {
				theirs = format(had(&p))
			}
			out = append(out, theirs, format(here(a)))
		}
		t.Rows = append(t.Rows, out)
	}
	seconds := func(a search.Algorithm, st search.Schedule, cut search.Partition, rows []int) float64 {
		return b.bestBatch(a, st, cut, rows).seconds
	}
	line("one core", "", func(p *publishedBatch) float64 { return p.sequential },
		func(a search.Algorithm) float64 { return base[a] })
	for _, cut := range thesisCuts {
		line("async, "+cut.String(), "1 and 10 in a row",
			func(p *publishedBatch) float64 { return p.bestOfTable(cut) },
			func(a search.Algorithm) float64 { return seconds(a, search.Asynchronous, cut, thesisRows) })
		line("async, "+cut.String(), "1 to 250 in a row",
			func(p *publishedBatch) float64 { return p.bestOfAll(cut) },
			func(a search.Algorithm) float64 { return seconds(a, search.Asynchronous, cut, batchRows) })
		if cut == search.Adjusted {
			for _, x := range []struct {
				settings string
				rows     []int
			}{{"1 and 10 in a row", thesisRows}, {"1 to 250 in a row", batchRows}} {
				line("async, "+cut.String()+": recall", x.settings, nil, func(a search.Algorithm) float64 {
					return b.bestBatch(a, search.Asynchronous, cut, x.rows).recall
				})
			}
		}
	}
	line("sync", "", func(p *publishedBatch) float64 { return slices.Min(p.sync[:]) },
		func(a search.Algorithm) float64 {
			return seconds(a, search.Synchronous, search.Documents, []int{0})
		})
	ours := search.Auto
	if b.Device != nil {
		ours = search.Tiles
	}
	f, err := b.batchOf(ours, search.Mixed, search.Parallel{})
	line("our own way", "", nil, func(search.Algorithm) float64 { return f.seconds })
	return t, err
}

// bestBatch returns the least measured time with one of these numbers of partitions in a row, and
// the recall of that setting.
func (b *bench) bestBatch(a search.Algorithm, st search.Schedule, cut search.Partition, rows []int) batchFigure {
	best := batchFigure{seconds: math.Inf(1)}
	for key, f := range b.batched {
		if key.algorithm == a && key.schedule == st && key.cut.Partition == cut && slices.Contains(rows, key.cut.Row) &&
			f.seconds < best.seconds {
			best = f
		}
	}
	return best
}

// batchOf measures the mean time of a batch over some runs and over all batches, and its recall.
func (b *bench) batchOf(a search.Algorithm, st search.Schedule, cut search.Parallel) (batchFigure, error) {
	key := batchKey{a, st, cut}
	if f, ok := b.batched[key]; ok {
		return f, nil
	}
	var f batchFigure
	for i, queries := range b.queued {
		one, err := b.oneBatch(queries, a, st, cut)
		if err != nil {
			return f, fmt.Errorf("thesis: batch %d, %v: %w", i+1, a, err)
		}
		f.seconds += one.seconds / float64(len(b.queued))
		f.recall += one.recall / float64(len(b.queued))
	}
	b.batched[key] = f
	return f, nil
}

// oneBatch measures one of the batches.
func (b *bench) oneBatch(queries []search.Request, a search.Algorithm, st search.Schedule,
	cut search.Parallel) (f batchFigure, err error) {
	requests := make([]search.Request, len(queries))
	for i, r := range queries {
		requests[i] = b.request(r, a, search.Or, cut)
		if st != search.Asynchronous && b.Device == nil {
			requests[i].Parallel = nil
		}
	}
	how := search.Batch{Engine: engine.GPU, Schedule: st}
	if b.Device == nil {
		how = search.Batch{Engine: engine.Multicore, Schedule: st, Threads: b.Threads}
	}
	found := make([]*search.Result, 0, len(requests))
	f.seconds, _, err = b.warmed(func() (time.Duration, error) {
		found = found[:0]
		for r, err := range b.s.SearchBatch(b.ctx, slices.Values(requests), how) {
			if err != nil {
				return 0, err
			}
			found = append(found, r)
		}
		return 0, nil
	})
	if err != nil {
		return f, err
	}
	for i, r := range found {
		want, err := b.exactOf(requests[i], search.Or)
		if err != nil {
			return f, err
		}
		if cut.Exact() && !slices.Equal(r.Hits, want.Hits) {
			return f, fmt.Errorf("query %d: the result is not the exact one", i)
		}
		f.recall += search.Recall(r.Hits, want.Hits) / float64(len(found))
	}
	return f, nil
}

// transfers reports the time of transfers, which the thesis does not count for single queries.
func (b *bench) transfers() error {
	if b.Device == nil {
		return nil
	}
	t := report.Table{Name: "transfers",
		Title: "Heterogeneous WAND with OR, sh-r, partitions of 64, 10 in a row",
		Header: []string{"queries", "on the device, ms", "the whole call, ms",
			"transfers, launches and looking up, ms"}}
	for i, c := range b.classes {
		f, err := b.parallel(i, sections[0].part,
			search.Parallel{Partition: search.Heterogeneous, Policy: search.SharedFull, Size: 64,
				Row: 10})
		if err != nil {
			return err
		}
		t.Rows = append(t.Rows, []string{c.name, format(f.ms), format(f.wall), format(f.wall - f.ms)})
	}
	b.report.Add(report.Section{Title: "Transfers", Tables: []report.Table{t},
		Text: fmt.Sprintf("The times of chapter 5 are those on the device, without copying the index, which took %.2f s.", b.brought.Seconds())})
	return nil
}
