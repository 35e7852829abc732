package searchbench

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// DeviceRow says how long a device and all cores took for all queries together.
type DeviceRow struct {
	Mode    string `json:"mode"`
	K       int    `json:"k"`
	Queries int    `json:"queries"`
	Hits    int    `json:"hits"`     // of all queries; those of device and cores are equal
	OnCores int    `json:"on_cores"` // queries that the device left to the cores
	Threads int    `json:"threads"`
	Rounds  int    `json:"rounds"`
	GPU     Ways   `json:"gpu"`
	Cores   Ways   `json:"cores"`
	// Times is how many times as fast as the cores the device was in each way: by medians, and
	// against the cores in the way in which these were faster.
	Times struct {
		Search float64 `json:"search_batch"`
		Map    float64 `json:"map_batch"`
	} `json:"times"`
}

// Ways are the two calls that answer many requests: who asks may keep the results of SearchBatch,
// those of MapBatch are lent to a function.
type Ways struct {
	Search Took `json:"search_batch"`
	Map    Took `json:"map_batch"`
}

// Took is how long a batch took on average in a turn, in milliseconds.
type Took struct {
	Median float64 `json:"median_ms"`
	Min    float64 `json:"min_ms"`
}

// Device answers all queries with the device that an index is on, and with all cores, for every
// mode and k of the options, and reports a row for each. The cores have the index opened once more,
// on no device, since on one they prepare all queries as it wants them. Batch is the number of
// threads of both.
//
// First every result of every way is compared. Then the ways take turns, in each of which all
// queries are answered for a while, as often as they can be.
func Device(ctx context.Context, onGPU, onCores *search.Searcher, queries []string, o Options,
	report func(DeviceRow) error) error {
	if len(queries) == 0 {
		return errNoQueries
	}
	for _, mode := range o.Modes {
		for _, k := range o.Ks {
			d := device{ctx: ctx, ways: fourWays(onGPU, onCores, o.Batch)}
			for _, q := range queries {
				d.requests = append(d.requests, search.Request{Text: q, K: k, Mode: mode})
			}
			row, err := d.measure(DeviceRow{Mode: mode.String(), K: k, Queries: len(queries),
				Threads: o.Batch, Rounds: o.Rounds})
			if err != nil {
				return fmt.Errorf("mode %v, k %d: %w", mode, k, err)
			}
			if err := report(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// way is one of the ways to answer all queries.
type way struct {
	name  string
	s     *search.Searcher
	batch search.Batch
	lends bool // MapBatch
}

func fourWays(onGPU, onCores *search.Searcher, threads int) [4]way {
	gpu, cores := search.Batch{Engine: engine.GPU, Threads: threads},
		search.Batch{Engine: engine.Multicore, Threads: threads}
	return [4]way{
		{"the GPU's SearchBatch", onGPU, gpu, false}, {"the GPU's MapBatch", onGPU, gpu, true},
		{"the cores' SearchBatch", onCores, cores, false}, {"the cores' MapBatch", onCores, cores, true},
	}
}

// device is a measurement under way, for one mode and k.
type device struct {
	ctx      context.Context
	ways     [4]way
	requests []search.Request
}

// measure compares, and puts the times into the row.
func (d *device) measure(row DeviceRow) (DeviceRow, error) {
	for _, i := range []int{0, 1, 3} {
		hits, left, err := d.compare(&d.ways[i], &d.ways[2])
		if err != nil {
			return row, err
		}
		row.Hits, row.OnCores = hits, max(row.OnCores, left)
	}
	var took [len(d.ways)][]float64
	for round := range row.Rounds {
		for turn := range d.ways {
			i := (turn + round) % len(d.ways)
			t, err := d.turn(&d.ways[i], row.Hits)
			if err != nil {
				return row, err
			}
			took[i] = append(took[i], 1e3*t.Seconds())
		}
	}
	for i, to := range []*Took{&row.GPU.Search, &row.GPU.Map, &row.Cores.Search, &row.Cores.Map} {
		*to = Took{Median: median(took[i]), Min: slices.Min(took[i])}
	}
	best := min(row.Cores.Search.Median, row.Cores.Map.Median)
	row.Times.Search, row.Times.Map = best/row.GPU.Search.Median, best/row.GPU.Map.Median
	return row, nil
}

// turnTime is how long a turn lasts at least: a hundred times what caches and memory of others
// cost, and so long that the collection of a batch's garbage counts.
const turnTime = 200 * time.Millisecond

// turn answers all requests again and again, and says how long that took on average. The first
// time, which finds caches with another's data, does not count unless that is nothing beside it.
func (d *device) turn(w *way, hits int) (time.Duration, error) {
	start := time.Now()
	for n := 0; ; n++ {
		found, err := d.hits(w)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", w.name, err)
		}
		if found != hits {
			return 0, fmt.Errorf("%s: %d documents in all, and once %d", w.name, found, hits)
		}
		if took := time.Since(start); took >= turnTime {
			return took / time.Duration(max(1, n)), nil
		}
		if n == 0 {
			start = time.Now()
		}
	}
}

// hits answers all requests and counts what was found, with nothing between the library and the
// loop.
func (d *device) hits(w *way) (n int, err error) {
	if w.lends {
		count := func(_ int, found *search.Result) (int, error) { return len(found.Hits), nil }
		for found, err := range search.MapBatch(d.ctx, w.s, slices.Values(d.requests), w.batch, count) {
			if err != nil {
				return n, err
			}
			n += found
		}
		return n, nil
	}
	for found, err := range w.s.SearchBatch(d.ctx, slices.Values(d.requests), w.batch) {
		if err != nil {
			return n, err
		}
		n += len(found.Hits)
	}
	return n, nil
}

// answer is a result to keep.
type answer struct {
	hits   []search.Hit
	onCore bool // though a device was asked
}

func answerOf(_ int, found *search.Result) (answer, error) {
	g := found.Stats.GPU
	return answer{slices.Clone(found.Hits), g != nil && g.Fallback != ""}, nil
}

// answers answers all requests in a way.
func (d *device) answers(w *way) iter.Seq2[answer, error] {
	if w.lends {
		return search.MapBatch(d.ctx, w.s, slices.Values(d.requests), w.batch, answerOf)
	}
	return func(yield func(answer, error) bool) {
		for found, err := range w.s.SearchBatch(d.ctx, slices.Values(d.requests), w.batch) {
			var one answer
			if err == nil {
				one, err = answerOf(0, found)
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

// compare compares two ways, result by result, and counts hits, and results that a core gave in
// place of the device. Both batches run at the same time, so that not all results of one must be
// kept.
func (d *device) compare(w, with *way) (hits, onCores int, err error) {
	next, stop := iter.Pull2(d.answers(with))
	defer stop()
	i := 0
	for got, err := range d.answers(w) {
		if err != nil {
			return 0, 0, fmt.Errorf("%s, query %d: %w", w.name, i+1, err)
		}
		want, err, _ := next()
		if err != nil {
			return 0, 0, fmt.Errorf("%s, query %d: %w", with.name, i+1, err)
		}
		if !slices.Equal(got.hits, want.hits) {
			return 0, 0, fmt.Errorf("query %d, %q: the result of %s is not that of %s", i+1,
				d.requests[i].Text, w.name, with.name)
		}
		hits += len(got.hits)
		if got.onCore {
			onCores++
		}
		i++
	}
	if i != len(d.requests) {
		return 0, 0, fmt.Errorf("%s: %d results for %d queries", w.name, i, len(d.requests))
	}
	return hits, onCores, nil
}
