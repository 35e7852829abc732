package thesisbench

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// schedules measures the thesis' future work on batches (9.2): schedulers that order the queries of
// a batch before they are sent, and batches that wait in a buffer.
func (b *bench) schedules() error {
	b.Say("9.2 Schedulers of queries")
	t := report.Table{Name: "schedules",
		Title:  "The same queries with every schedule and order",
		Header: []string{"on", "schedule", "order", "queries a batch", "s", "queries/s", "mean ms", "95% ms", "99% ms", "last ms"}}
	sizes := [][][]search.Request{b.queued}
	if len(b.queued) > 1 {
		sizes = append(sizes, [][]search.Request{slices.Concat(b.queued...)})
	}
	for _, batches := range sizes {
		for _, w := range b.schedulers() {
			for _, o := range orders {
				f, err := b.scheduled(batches, w, o)
				if err != nil {
					return fmt.Errorf("thesis: %s, %v, %s: %w", w.name, w.batch.Schedule, o.name, err)
				}
				n := len(batches[0])
				t.Rows = append(t.Rows, []string{w.name, w.batch.Schedule.String(), o.name, strconv.Itoa(n),
					format(f.seconds), format(float64(n) / f.seconds), format(f.mean), format(f.p95), format(f.p99), format(f.last)})
			}
		}
	}
	b.report.Add(report.Section{Title: "9.2 Schedulers of queries", Tables: []report.Table{t},
		Text: "The thesis leaves schedulers of queries to future work. All queries of a batch arrive at once; a query's time is from then until its answer is ready. " +
			"Schedule async answers one query after the other, each on all cores or partitioned over the device, where streams overlap them; sync gives a query one core or one block of threads; auto is our own: every core answers " +
			"queries alone and helps with the last ones, and on a GPU our tiles answer many queries in a launch. On a GPU, async is WAND as in the thesis with heterogeneous partitions of 128, sh-r, 10 in a row, and sync its WAND with one block a query; their answers come back together, at the end of the batch. " +
			"Orders are that of the log, and by the postings of a query's lists. All answers are the exact ones. " + b.aboutRuns() + " Times of queries are those of the last run." + b.aboutBuffer()})
	return nil
}

// aboutBuffer explains the last rows, if there are several batches.
func (b *bench) aboutBuffer() string {
	if len(b.queued) == 1 {
		return ""
	}
	return " The last rows have all batches in one, as from a buffer."
}

// scheduler answers batches in one way.
type scheduler struct {
	name      string
	batch     search.Batch
	algorithm search.Algorithm
	cut       *search.Parallel // nil means none
}

func (b *bench) schedulers() (out []scheduler) {
	kinds := []search.Schedule{search.Asynchronous, search.Synchronous, search.Mixed}
	for _, s := range kinds {
		out = append(out, scheduler{fmt.Sprintf("%d cores", b.Threads),
			search.Batch{Engine: engine.Multicore, Schedule: s, Threads: b.Threads}, search.Auto, nil})
	}
	if b.Device == nil {
		return out
	}
	for _, s := range kinds {
		w := scheduler{"GPU", search.Batch{Engine: engine.GPU, Schedule: s}, search.WAND,
			&search.Parallel{Engine: engine.GPU, Partition: search.Heterogeneous, Policy: search.SharedFull, Size: 128, Row: 10}}
		switch s {
		case search.Synchronous:
			w.cut = &search.Parallel{Engine: engine.GPU}
		case search.Mixed:
			w.algorithm, w.cut = search.Tiles, &search.Parallel{Engine: engine.GPU}
		}
		out = append(out, w)
	}
	return out
}

// orders arrange the queries of a batch by their numbers of postings.
var orders = []struct {
	name string
	less func(a, b int64) int // nil means the order of the log
}{
	{"log", nil},
	{"shortest first", func(a, b int64) int { return cmp.Compare(a, b) }},
	{"longest first", func(a, b int64) int { return cmp.Compare(b, a) }},
}

// scheduleFigure is the mean over batches: seconds of a batch, and milliseconds of a query.
type scheduleFigure struct{ seconds, mean, p95, p99, last float64 }

func (b *bench) scheduled(batches [][]search.Request, w scheduler, o struct {
	name string
	less func(a, b int64) int
}) (f scheduleFigure, err error) {
	for _, queries := range batches {
		one, err := b.scheduledBatch(queries, w, o.less)
		if err != nil {
			return f, err
		}
		n := float64(len(batches))
		f.seconds, f.mean, f.p95 = f.seconds+one.seconds/n, f.mean+one.mean/n, f.p95+one.p95/n
		f.p99, f.last = f.p99+one.p99/n, f.last+one.last/n
	}
	return f, nil
}

func (b *bench) scheduledBatch(queries []search.Request, w scheduler, less func(a, b int64) int) (f scheduleFigure, err error) {
	type query struct {
		request search.Request
		want    *search.Result
	}
	all := make([]query, len(queries))
	for i, r := range queries {
		if all[i].want, err = b.exactOf(r, search.Or); err != nil {
			return f, err
		}
		r.K, r.Mode, r.Algorithm, r.Parallel = b.K, search.Or, w.algorithm, w.cut
		all[i].request = r
	}
	if less != nil {
		slices.SortStableFunc(all, func(x, y query) int { return less(x.want.Stats.Postings, y.want.Stats.Postings) })
	}
	requests := make([]search.Request, len(all))
	for i := range all {
		requests[i] = all[i].request
	}
	var start time.Time
	times := make([]float64, len(all)) // of the last run, each by the worker that answered
	done := func(i int, found *search.Result) (bool, error) {
		times[i] = time.Since(start).Seconds() * 1e3
		return slices.Equal(found.Hits, all[i].want.Hits), nil
	}
	f.seconds, _, err = b.warmed(func() (time.Duration, error) {
		start = time.Now()
		i := 0
		for same, err := range search.MapBatch(b.ctx, b.s, slices.Values(requests), w.batch, done) {
			if err != nil {
				return 0, err
			}
			if !same {
				return 0, fmt.Errorf("query %d: the result is not the exact one", i)
			}
			i++
		}
		return 0, nil
	})
	if err != nil {
		return f, err
	}
	slices.Sort(times)
	at := func(share float64) float64 { return times[min(int(share*float64(len(times))), len(times)-1)] }
	f.mean, f.p95, f.p99, f.last = mean(times), at(0.95), at(0.99), times[len(times)-1]
	return f, nil
}
