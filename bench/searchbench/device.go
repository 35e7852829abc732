package searchbench

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	_ "github.com/collocate/collocate/gpu"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// DeviceRow has the times of a device and of all cores for a batch of all queries.
type DeviceRow struct {
	Mode string `json:"mode"`
	K    int    `json:"k"`
	// Within is the share of the documents that the queries are limited to, in percent; 0: all.
	Within  float64 `json:"within_percent,omitempty"`
	Queries int     `json:"queries"`
	Hits    int     `json:"hits"`     // of all queries; those of device and cores are equal
	OnCores int     `json:"on_cores"` // queries that the device left to the cores
	Threads int     `json:"threads"`
	Rounds  int     `json:"rounds"`
	GPU     Ways    `json:"gpu"`
	Cores   Ways    `json:"cores"`
	// Times is the device's speedup over the cores for each call: by medians, and over the faster
	// call on the cores.
	Times struct {
		Search float64 `json:"search_batch"`
		Map    float64 `json:"map_batch"`
	} `json:"times"`
}

// Ways has the times of the two calls for batches: the caller may keep the results of SearchBatch,
// while MapBatch lends each to a function.
type Ways struct {
	Search Took `json:"search_batch"`
	Map    Took `json:"map_batch"`
}

// Took has the mean times of a batch in a turn, in milliseconds.
type Took struct {
	Median float64 `json:"median_ms"`
	Min    float64 `json:"min_ms"`
}

// Device answers all queries on the device that holds an index, and on all cores, for every mode
// and k of the options, and reports a row for each. onCores is the same index, opened without a
// device: with one, a Searcher prepares all queries for it. Batch is the number of threads of both.
//
// First all results of all ways are compared. Then the ways take turns. In a turn, a way answers
// all queries as often as possible for a while.
func Device(ctx context.Context, onGPU, onCores *search.Searcher, queries []string, o Options,
	report func(DeviceRow) error) error {
	if len(queries) == 0 {
		return errNoQueries
	}
	shares := append([]float64{0}, o.Within...)
	for _, mode := range o.Modes {
		for _, k := range o.Ks {
			for _, share := range shares {
				d := device{ctx: ctx, ways: fourWays(onGPU, onCores, o.Batch)}
				within := someOf(onGPU, share)
				for _, q := range queries {
					r := search.Request{Text: q, K: k, Mode: mode, Within: within}
					if o.Language {
						var err error
						if r.Query, err = query.Parse(q, query.Options{And: mode == search.And}); err != nil {
							return fmt.Errorf("query %q: %w", q, err)
						}
						r.Text, r.Mode = "", search.Or
					}
					d.requests = append(d.requests, r)
				}
				row, err := d.measure(DeviceRow{Mode: mode.String(), K: k, Within: share,
					Queries: len(queries), Threads: o.Batch, Rounds: o.Rounds})
				if err != nil {
					return fmt.Errorf("mode %v, k %d, within %g%%: %w", mode, k, share, err)
				}
				if err := report(row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// someOf returns a random share of the documents, in percent; nil if it is 0.
func someOf(s *search.Searcher, share float64) *search.Within {
	if share == 0 {
		return nil
	}
	w := &search.Within{}
	rng := rand.New(rand.NewPCG(1, 52))
	for _, segment := range s.Index().Segments() {
		set := docset.New(segment.Reader.Docs())
		for doc := range set.Len() {
			if rng.Float64() < share/100 {
				set.Add(uint32(doc))
			}
		}
		w.Sets = append(w.Sets, set)
	}
	return w
}

// way is a call on an engine that answers all queries.
type way struct {
	name  string
	s     *search.Searcher
	batch search.Batch
	lends bool // by MapBatch instead of SearchBatch
}

func fourWays(onGPU, onCores *search.Searcher, threads int) [4]way {
	gpu, cores := search.Batch{Engine: engine.GPU, Threads: threads},
		search.Batch{Engine: engine.Multicore, Threads: threads}
	return [4]way{
		{"the GPU's SearchBatch", onGPU, gpu, false}, {"the GPU's MapBatch", onGPU, gpu, true},
		{"the cores' SearchBatch", onCores, cores, false}, {"the cores' MapBatch", onCores, cores, true},
	}
}

// device is a measurement for one mode and k.
type device struct {
	ctx      context.Context
	ways     [4]way
	requests []search.Request
}

// measure compares the results and fills in the times of the row.
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

// turnTime is the least duration of a turn: a hundred times the cost of finding another way's data
// in the caches, and long enough to include the collection of a batch's garbage.
const turnTime = 200 * time.Millisecond

// turn answers all requests repeatedly and returns the mean time. The first time, when the caches
// have another way's data, does not count, unless it takes the whole turn.
func (d *device) turn(w *way, hits int) (time.Duration, error) {
	start := time.Now()
	for n := 0; ; n++ {
		found, err := d.hits(w)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", w.name, err)
		}
		if found != hits {
			return 0, fmt.Errorf("%s: %d documents in all, want %d as before", w.name, found, hits)
		}
		if took := time.Since(start); took >= turnTime {
			return took / time.Duration(max(1, n)), nil
		}
		if n == 0 {
			start = time.Now()
		}
	}
}

// hits answers all requests and counts the documents. Its loops do nothing else, since it is timed.
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

// answer is a copy of a result.
type answer struct {
	hits   []search.Hit
	onCore bool // answered by a core instead of the device
}

func answerOf(_ int, found *search.Result) (answer, error) {
	g := found.Stats.GPU
	return answer{slices.Clone(found.Hits), g != nil && g.Fallback != ""}, nil
}

// answers yields the answers to all requests.
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

// compare compares the results of two ways. It counts hits, and answers by a core instead of the
// device. Both batches run concurrently, so that the results of one need not be kept.
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
