// Package placesbench is `collocate bench places`: it repeats the figures of the Poznań thesis on
// co-location on this machine, and goes beyond them.
//
// The thesis plots time against three parameters:
//   - the number of points (3,000 to 200,000 on 1000x1000, distance 3, prevalence 0.2), for the
//     whole job and for finding neighbours with and without preparing the data for the GPU;
//   - the distance (2 to 6), on sparse and dense points, uniform and with two clusters;
//   - the prevalence (0.1 to 0.5 at distance 5).
//
// It gives no numbers, so the engines are compared with each other, and with the older algorithms
// that it describes: Co-location Miner, joinless and iCPI-tree, on one core. Like its generator,
// Boiński's, ours plants patterns.
package placesbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
)

// Options say what to measure.
type Options struct {
	GPU     *coloc.GPU // nil means no GPU
	Threads int        // 0 means all cores
	Memory  int64      // of the host; 0 means 8 GB
	Rounds  int        // times are means of this many; 0 means 20, as in the thesis
	// Limit ends a job that takes longer, and leaves a gap in its line; 0 means 20 s.
	Limit time.Duration
	Quick bool // use a hundredth of the points, for a trial
	// Within leaves out what the thesis does not have: up to 10 million points, many patterns.
	Within bool
	Note   func(progress string) // called with what is measured next; may be nil
	// Store keeps figures that were measured; may be nil. Without all of them Run returns
	// report.ErrLeftOut.
	Store *report.Store
}

// aboutWays explains the tables.
const aboutWays = "Memory is the largest heap during a job, without the points, in megabytes. " +
	"SGCT as published writes out all instances on the GPU and finds the distinct ones by sorting and reducing by key, as the thesis does with Thrust, here with our own sort and reduction; " +
	"the other one counts on the tree of instances, with bitmaps. "

// Kept returns the figures that were kept of a run, or nil if there are none, and whether these are
// all. A run with Within has one part less.
func Kept(s *report.Store, within bool) (r *report.Report, whole bool, err error) {
	stopped := &report.Report{Name: "places", Title: title,
		Intro: "This run was stopped: some figures are missing. Times are in milliseconds, " +
			"from points to patterns in memory. " + aboutWays + "A gap is a job that took longer " +
			"than the limit or failed: the number of SGCT's candidates grows exponentially."}
	var parts []string
	for i := range figureParts {
		if i < figureParts-1 || !within {
			parts = append(parts, partName(i))
		}
	}
	return s.Job("places", stopped, parts...)
}

const title = "Co-location: the thesis' figures again"

// figureParts is the number of parts of a run, of which each has one figure or several.
const figureParts = 6

// partName is the name under which a part is kept.
func partName(i int) string { return fmt.Sprintf("places.%d", i+1) }

// features is the number of features. The thesis does not give its own.
const features = 20

// way is an algorithm on an engine: a line in a figure.
type way struct {
	name      string
	algorithm coloc.Algorithm
	engine    engine.Kind
}

// bench is one run.
type bench struct {
	Options
	ctx  context.Context
	ways []way
}

// Run measures all figures.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 8e9
	}
	if o.Rounds <= 0 {
		o.Rounds = 20
	}
	if o.Limit <= 0 {
		o.Limit = 20 * time.Second
	}
	b := &bench{Options: o, ctx: ctx}
	for _, a := range []struct {
		name      string
		algorithm coloc.Algorithm
	}{{"sgct", coloc.SGCT}, {"ours", coloc.Auto}} {
		for _, e := range b.engines() {
			b.ways = append(b.ways, way{a.name + ", " + e.String(), a.algorithm, e})
		}
	}
	r := &report.Report{
		Name: "places", Title: title,
		Intro: fmt.Sprintf("Times are in milliseconds, means of %s (fewer once they took a fifth of the limit together; on a GPU after one that does not count), from points to patterns in memory. "+
			aboutWays+
			"%d threads; %s. A gap is a job that took longer than %v or failed: the number of SGCT's candidates grows exponentially.", report.Count(o.Rounds, "round"), o.Threads, b.deviceName(), o.Limit),
	}
	if o.Quick {
		r.Intro += " **This was a trial:** each job had a hundredth of the points of the thesis' figure."
	}
	figures := []func() (report.Section, error){b.bySize, b.joinBySize, b.preparation, b.byDistance, b.byPrevalence}
	if !o.Within {
		figures = append(figures, b.beyond)
	}
	leftOut := false
	for i, figure := range figures {
		part, err := o.Store.Do(partName(i), func() (*report.Report, error) {
			s, err := figure()
			return &report.Report{Sections: []report.Section{s}}, err
		})
		if errors.Is(err, report.ErrLeftOut) {
			leftOut = true
			continue
		}
		if err != nil {
			return nil, err
		}
		r.Sections = append(r.Sections, part.Sections...)
	}
	if leftOut {
		return nil, report.ErrLeftOut
	}
	return r, o.Store.KeepHead("places", r)
}

func (b *bench) engines() []engine.Kind {
	kinds := []engine.Kind{engine.Sequential, engine.Multicore}
	if b.GPU != nil {
		kinds = append(kinds, engine.GPU)
	}
	return kinds
}

func (b *bench) deviceName() string {
	if b.GPU == nil {
		return "no GPU"
	}
	return "GPU: " + b.GPU.Name()
}

func (b *bench) note(format string, args ...any) {
	if b.Note != nil {
		b.Note(fmt.Sprintf(format, args...))
	}
}

// size returns the number of points, or a hundredth of it with Quick.
func (b *bench) size(n int) int {
	if b.Quick {
		return n / 100
	}
	return n
}

// sizes applies size to the numbers of points of an axis.
func (b *bench) sizes(ns []float64) []float64 {
	out := make([]float64, len(ns))
	for i, n := range ns {
		out[i] = float64(b.size(int(n)))
	}
	return out
}

func (b *bench) options(w way, distance, prevalence float64) coloc.Options {
	o := coloc.Options{Distance: distance, MinPrevalence: prevalence, Algorithm: w.algorithm,
		Engine: w.engine, Threads: b.Threads, Memory: b.Memory}
	if w.engine == engine.GPU {
		o.GPU = b.GPU
	}
	return o
}

// all returns the ways, including the older algorithms and, on a GPU, SGCT that counts distinct
// instances as published: written out and sorted, where ours has bitmaps.
func (b *bench) all() []way {
	ways := slices.Clone(b.ways)
	if b.GPU != nil {
		ways = append(ways, way{"sgct as published, " + engine.GPU.String(), coloc.SGCTRows, engine.GPU})
	}
	for _, a := range []struct {
		name      string
		algorithm coloc.Algorithm
	}{{"joinless", coloc.Joinless}, {"iCPI-tree", coloc.ICPITree}, {"co-location miner", coloc.Miner}} {
		ways = append(ways, way{a.name + ", " + engine.Sequential.String(), a.algorithm, engine.Sequential})
	}
	return ways
}

// cost is what a job takes: milliseconds, and megabytes of heap in addition to those before it. NaN
// means that the job was given up, or that the value was not measured.
type cost struct{ ms, mb float64 }

var gap = cost{math.NaN(), math.NaN()}

// mean returns the mean time of do over the rounds. It returns a gap if a round exceeds the limit,
// or fails, as algorithms that list instances may. Once the rounds took more than a fifth of the
// limit together there are no more. On a GPU a first round, which may load kernels, does not count.
func (b *bench) mean(o coloc.Options, do func(ctx context.Context) (time.Duration, error)) (cost, error) {
	sum, rounds := time.Duration(0), 0
	if o.Engine == engine.GPU {
		rounds--
	}
	for rounds < b.Rounds {
		ctx, cancel := context.WithTimeout(b.ctx, b.Limit)
		took, err := do(ctx)
		cancel()
		switch {
		case b.ctx.Err() != nil:
			return gap, b.ctx.Err()
		case errors.Is(err, context.DeadlineExceeded), err != nil && o.Algorithm != coloc.Auto:
			b.note("%v", err)
			return gap, nil
		case err != nil:
			return gap, err
		}
		if rounds++; rounds > 0 {
			sum += took
		}
		if sum > b.Limit/5 {
			break
		}
	}
	return cost{sum.Seconds() * 1e3 / float64(rounds), math.NaN()}, nil
}

// mine measures a whole job, and its memory in an additional round.
func (b *bench) mine(pts *coloc.Points, o coloc.Options) (cost, error) {
	c, err := b.mean(o, func(ctx context.Context) (time.Duration, error) {
		start := time.Now()
		_, err := coloc.Mine(ctx, pts, o)
		return time.Since(start), err
	})
	if err == nil && !math.IsNaN(c.ms) {
		c.mb, err = peakHeap(func() error {
			_, err := coloc.Mine(b.ctx, pts, o)
			return err
		})
	}
	return c, err
}

// peakHeap returns the largest heap while a job runs, less that before it, in megabytes. It is
// sampled every millisecond.
func peakHeap(job func() error) (float64, error) {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	most := before
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	err := job()
	close(done)
	watching.Wait()
	metrics.Read(sample) // the job may have ended before the first sample
	most = max(most, sample[0].Value.Uint64())
	return float64(most-before) / 1e6, err
}

// lines measures every way at every x. It returns a table of times, one of memory if that was
// measured, and a plot of times.
func (b *bench) lines(name, title, axis string, xs []float64, ways []way,
	measure func(w way, x float64) (cost, error)) ([]report.Table, report.Plot, error) {
	times := report.Table{Name: name, Title: title, Header: []string{axis}}
	memory := report.Table{Name: name + "-memory", Title: title + ": megabytes", Header: []string{axis}}
	p := report.Plot{Name: name, Title: title, X: axis, Y: "milliseconds", LogY: true}
	for _, x := range xs {
		at := strconv.FormatFloat(x, 'f', -1, 64)
		times.Rows, memory.Rows = append(times.Rows, []string{at}), append(memory.Rows, []string{at})
	}
	measured := false
	for _, w := range ways {
		times.Header, memory.Header = append(times.Header, w.name), append(memory.Header, w.name)
		line := report.Series{Name: w.name}
		gaveUp := false
		for i, x := range xs {
			c := gap
			if !gaveUp {
				b.note("%s: %s, %s %v", title, w.name, axis, x)
				var err error
				if c, err = measure(w, x); err != nil {
					return nil, p, fmt.Errorf("%s, %s, %s %v: %w", title, w.name, axis, x, err)
				}
			}
			// Times increase with x, so what exceeded the limit would exceed it again.
			gaveUp = math.IsNaN(c.ms) && (len(xs) < 2 || xs[0] < xs[len(xs)-1])
			measured = measured || !math.IsNaN(c.mb)
			times.Rows[i], memory.Rows[i] = append(times.Rows[i], cell(c.ms)), append(memory.Rows[i], cell(c.mb))
			line.X, line.Y = append(line.X, x), append(line.Y, c.ms)
		}
		p.Series = append(p.Series, line)
	}
	if !measured {
		return []report.Table{times}, p, nil
	}
	return []report.Table{times, memory}, p, nil
}

func cell(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}
