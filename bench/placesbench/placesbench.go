// Package placesbench is `collocate bench places`: the figures of the Poznań
// thesis on co-location again, on this machine, and beyond them.
//
// The thesis draws time against the number of points (3,000 to 200,000 on
// 1000x1000, distance 3, prevalence 0.2), for the whole job and for finding
// neighbours with and without preparing the data for the GPU; against the
// distance (2 to 6) on sparse and dense points, even and with two clusters; and
// against the prevalence (0.1 to 0.5 at distance 5). It gives no numbers, so there
// is nothing to compare with but the engines among themselves.
package placesbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
)

// Options say what to measure.
type Options struct {
	Device  *coloc.GPU // nil: no GPU
	Threads int        // zero: all cores
	Memory  int64      // of the host; zero: 8 GB
	Rounds  int        // the best of so many; zero: 3
	// Limit ends a job that takes longer, and leaves a gap in its line; zero: 20 s.
	Limit time.Duration
	Quick bool                  // a hundredth of the points, to see that it works
	Note  func(progress string) // told what is measured next; may be nil
}

// Features of the points. The thesis does not say how many there are.
const features = 20

// way is a way to mine: a line in a figure.
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

// Run measures everything.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 8e9
	}
	if o.Rounds <= 0 {
		o.Rounds = 3
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
		Name: "places", Title: "Co-location: the thesis' figures again",
		Intro: fmt.Sprintf("Times in milliseconds, the best of %d rounds, points in memory at the start and patterns at the end. "+
			"%d threads; %s. A gap is a job that took longer than %v or refused: SGCT splits candidates from the top, which grows exponentially.", o.Rounds, o.Threads, b.deviceName(), o.Limit),
	}
	if o.Quick {
		r.Intro += " **This was a trial:** each job had a hundredth of the points that its figure names, 200 at least."
	}
	for _, figure := range []func() (report.Section, error){b.bySize, b.joinBySize, b.preparation, b.byDistance, b.byPrevalence, b.beyond} {
		s, err := figure()
		if err != nil {
			return nil, err
		}
		r.Add(s)
	}
	return r, nil
}

func (b *bench) engines() []engine.Kind {
	kinds := []engine.Kind{engine.Sequential, engine.Multicore}
	if b.Device != nil {
		kinds = append(kinds, engine.GPU)
	}
	return kinds
}

func (b *bench) deviceName() string {
	if b.Device == nil {
		return "no GPU"
	}
	return "GPU: " + b.Device.Name()
}

func (b *bench) note(format string, args ...any) {
	if b.Note != nil {
		b.Note(fmt.Sprintf(format, args...))
	}
}

// size is a number of points as asked for, or the quick one.
func (b *bench) size(n int) int {
	if b.Quick {
		return max(200, n/100)
	}
	return n
}

func (b *bench) options(w way, distance, prevalence float64) coloc.Options {
	o := coloc.Options{Distance: distance, MinPrevalence: prevalence, Algorithm: w.algorithm, Engine: w.engine, Threads: b.Threads, Memory: b.Memory}
	if w.engine == engine.GPU {
		o.Device = b.Device
	}
	return o
}

// best is the least time of do over the rounds in milliseconds, or NaN if one
// takes too long, or refuses, which SGCT may. A job that takes a fifth of the
// limit is run once.
func (b *bench) best(o coloc.Options, do func(ctx context.Context) (time.Duration, error)) (float64, error) {
	least := time.Duration(math.MaxInt64)
	for range b.Rounds {
		ctx, cancel := context.WithTimeout(b.ctx, b.Limit)
		took, err := do(ctx)
		cancel()
		switch {
		case b.ctx.Err() != nil:
			return 0, b.ctx.Err()
		case errors.Is(err, context.DeadlineExceeded), err != nil && o.Algorithm == coloc.SGCT:
			b.note("%v", err)
			return math.NaN(), nil
		case err != nil:
			return 0, err
		}
		least = min(least, took)
		if took > b.Limit/5 {
			break
		}
	}
	return least.Seconds() * 1e3, nil
}

// mine measures a whole job.
func (b *bench) mine(pts *coloc.Points, o coloc.Options) (float64, error) {
	return b.best(o, func(ctx context.Context) (time.Duration, error) {
		start := time.Now()
		_, err := coloc.Mine(ctx, pts, o)
		return time.Since(start), err
	})
}

// lines measures every way at every x.
func (b *bench) lines(name, title, axis string, xs []float64, ways []way, measure func(w way, x float64) (float64, error)) (report.Table, report.Plot, error) {
	t := report.Table{Name: name, Title: title, Header: []string{axis}}
	p := report.Plot{Name: name, Title: title, X: axis, Y: "milliseconds", LogY: true}
	rows := make([][]string, len(xs))
	for i, x := range xs {
		rows[i] = []string{strconv.FormatFloat(x, 'g', -1, 64)}
	}
	for _, w := range ways {
		t.Header = append(t.Header, w.name)
		line := report.Series{Name: w.name}
		gaveUp := false
		for i, x := range xs {
			ms := math.NaN()
			if !gaveUp {
				b.note("%s: %s, %s %v", title, w.name, axis, x)
				var err error
				if ms, err = measure(w, x); err != nil {
					return t, p, fmt.Errorf("%s, %s, %s %v: %w", title, w.name, axis, x, err)
				}
			}
			// What is too much stays too much along a line that rises.
			gaveUp = math.IsNaN(ms) && (len(xs) < 2 || xs[0] < xs[len(xs)-1])
			rows[i] = append(rows[i], cell(ms))
			line.X, line.Y = append(line.X, x), append(line.Y, ms)
		}
		p.Series = append(p.Series, line)
	}
	t.Rows = rows
	return t, p, nil
}

func cell(ms float64) string {
	switch {
	case math.IsNaN(ms):
		return "-"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 2, 64)
	}
	return strconv.FormatFloat(ms, 'f', 1, 64)
}
