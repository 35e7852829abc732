// Package energybench is `collocate bench energy`: the energy and the price of a query, of a
// million words and of a million points, on cores and on a GPU.
package energybench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/collocate/collocate/bench/cooccurbench"
	"github.com/collocate/collocate/bench/placesbench"
	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/bench/weighbench"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	_ "github.com/collocate/collocate/gpu"
	"github.com/collocate/collocate/internal/energy"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// Options say what to measure and what it costs.
type Options struct {
	Device  *gpu.Device // nil means CPU cores only
	Threads int         // 0 means one for each core
	Memory  int64
	Quick   bool          // small data
	For     time.Duration // how long each job runs again and again; 0 means 3 s
	Dir     string        // for temporary data; "" means the system's temporary folder
	Prices  Prices
	// Powercap is the folder of the processors' counters; "" means energy.Powercap.
	Powercap string
	Say      func(format string, args ...any)
}

// Prices are assumptions, not measurements.
type Prices struct {
	KWh       float64 // of a kilowatt hour
	CoresHour float64 // of an hour of a machine without a GPU
	GPUHour   float64 // of an hour of a machine with a GPU
	// CoresWatts and GPUWatts are taken where no counter can be read.
	CoresWatts, GPUWatts float64
}

// Defaults are the prices that are assumed if none are given: electricity in dollars as in Europe,
// machines as clouds rent them, and the highest power of a server's processor and of an H200.
var Defaults = Prices{KWh: 0.25, CoresHour: 0.80, GPUHour: 4, CoresWatts: 350, GPUWatts: 700}

// Row is one measurement.
type Row struct {
	Job, Engine string
	Unit        string  // "query", "million words" or "million points"
	Units       float64 // of one run
	Runs        int
	Use         energy.Use
}

// Seconds returns the time of a unit.
func (r *Row) Seconds() float64 { return r.Use.Seconds / r.units() }

func (r *Row) units() float64 { return r.Units * float64(r.Runs) }

// Joules returns the measured energy of a unit: of the cores, and of the GPU.
func (r *Row) Joules() (cores, device float64) { return r.Use.Cores / r.units(), r.Use.GPU / r.units() }

// Price returns what a million queries, words or points cost: energy, measured or assumed, and the
// machine's time.
func (r *Row) Price(p Prices) float64 {
	cores, device := r.Use.Cores, r.Use.GPU
	hour := p.CoresHour
	if cores == 0 {
		cores = p.CoresWatts * r.Use.Seconds
	}
	if r.onGPU() {
		hour = p.GPUHour
		if device == 0 {
			device = p.GPUWatts * r.Use.Seconds
		}
	} else {
		device = 0 // a machine without a GPU
	}
	millions := r.units()
	if r.Unit == query {
		millions /= 1e6
	}
	return 1 / millions * ((cores+device)/3.6e6*p.KWh + r.Use.Seconds/3600*hour)
}

// query is the unit of searches.
const query = "query"

func (r *Row) onGPU() bool { return r.Engine == engine.GPU.String() }

// amount is the size of the data.
type amount struct{ docs, words, queries, tokens, text, points int }

func (o *Options) amount() amount {
	if o.Quick {
		return amount{2000, 50, 20, 2000, 20_000, 60}
	}
	if o.Device == nil {
		return amount{200_000, 20_000, 5000, 2_000_000, 20_000_000, 50_000}
	}
	return amount{500_000, 20_000, 20_000, 50_000_000, 500_000_000, 200_000}
}

// Run measures.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	rows, err := Rows(ctx, o)
	if err != nil {
		return nil, err
	}
	return Page(rows, o.Prices), nil
}

// Rows measures every job on the cores and, if there is one, on the GPU.
func Rows(ctx context.Context, o Options) (rows []Row, err error) {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.For == 0 {
		o.For = 3 * time.Second
	}
	if o.Memory <= 0 {
		o.Memory = 8e9
	}
	if o.Powercap == "" {
		o.Powercap = energy.Powercap
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	var gpus []string
	if o.Device != nil {
		gpus = append(gpus, o.Device.Info().PCI)
	}
	b := &bench{Options: o, ctx: ctx, amount: o.amount(), meter: energy.Open(o.Powercap), gpus: gpus}
	if b.dir, err = os.MkdirTemp(o.Dir, "energy"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	for _, job := range []func() error{b.search, b.cooccur, b.weigh, b.places} {
		if err := job(); err != nil {
			return nil, fmt.Errorf("energy: %w", err)
		}
	}
	return b.rows, nil
}

type bench struct {
	Options
	ctx    context.Context
	amount amount
	meter  *energy.Meter
	gpus   []string // PCI addresses
	dir    string
	rows   []Row
}

// measure runs work once, which does not count, and then again and again.
func (b *bench) measure(job string, e engine.Kind, unit string, units float64, work func() error) error {
	b.Say("energy: %s, %v", job, e)
	if err := work(); err != nil {
		return err
	}
	runs := 0
	use, err := b.meter.Measure(func() error {
		for begin := time.Now(); runs == 0 || time.Since(begin) < b.For; runs++ {
			if err := errors.Join(work(), b.ctx.Err()); err != nil {
				return err
			}
		}
		return nil
	}, b.gpus...)
	b.rows = append(b.rows, Row{job, e.String(), unit, units, runs, use})
	return err
}

// engines are those to measure.
func (b *bench) engines() []engine.Kind {
	if b.Device == nil {
		return []engine.Kind{engine.Multicore}
	}
	return []engine.Kind{engine.Multicore, engine.GPU}
}

// search measures batches of queries of one to five words, top 10.
func (b *bench) search() (err error) {
	shape := thesisbench.Zipf(b.amount.docs, b.amount.words, 5)
	dir := filepath.Join(b.dir, "index")
	if err := shape.Build(b.ctx, dir); err != nil {
		return err
	}
	s, err := search.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if b.Device != nil {
		if err := s.OpenGPU(b.ctx, search.GPUOptions{Device: b.Device.Which(0)}); err != nil {
			return err
		}
	}
	rng := rand.New(rand.NewPCG(4, 4))
	requests := make([]search.Request, b.amount.queries)
	for i := range requests {
		requests[i] = search.Request{Words: shape.Query(rng, 5), K: 10}
	}
	job := fmt.Sprintf("search: %d documents, top 10", b.amount.docs)
	for _, e := range b.engines() {
		err := b.measure(job, e, query, float64(len(requests)), func() error {
			how := search.Batch{Engine: e, Threads: b.Threads}
			for _, err := range s.SearchBatch(b.ctx, slices.Values(requests), how) {
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// discard is a sink that ignores the rows.
type discard struct{}

func (discard) Rows(*cooccur.Rows) error { return nil }

// cooccur measures the vocabulary and the co-occurrence matrix with a window of 2.
func (b *bench) cooccur() (err error) {
	path := filepath.Join(b.dir, "corpus.txt")
	if _, err := cooccurbench.Generate(b.ctx, path, int64(b.amount.tokens), b.Threads); err != nil {
		return err
	}
	corpus := &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines, Threads: b.Threads}}
	vopt := cooccur.VocabularyOptions{Threads: b.Threads, Memory: b.Memory}
	opt := cooccur.Options{Window: 2, Weighting: cooccur.Count, Threads: b.Threads, Memory: b.Memory, Engine: engine.Multicore}
	begin := func(*cooccur.Vocabulary) (cooccur.Sink, error) { return discard{}, nil }
	doing := map[engine.Kind]func() error{engine.Multicore: func() error {
		_, _, err := cooccur.Make(b.ctx, corpus, vopt, opt, begin)
		return err
	}}
	if b.Device != nil {
		g, failed := cooccur.OpenGPU(b.Device.Which(0))
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		doing[engine.GPU] = func() error {
			_, _, err := g.Make(b.ctx, corpus, vopt, opt, begin)
			return err
		}
	}
	for _, e := range b.engines() {
		if err := b.measure("co-occurrence, window 2", e, "million words", float64(b.amount.tokens)/1e6, doing[e]); err != nil {
			return err
		}
	}
	return nil
}

// weigh measures BM25 weights: on the cores from a file, on the GPU from pinned memory, as bench
// weigh does.
func (b *bench) weigh() (err error) {
	path, err := weighbench.TextFile(b.ctx, b.dir, int64(b.amount.text), b.Threads)
	if err != nil {
		return err
	}
	an, err := weighbench.Analyzer()
	if err != nil {
		return err
	}
	o := weigh.Options{Analyzer: an, Engine: engine.Multicore, Threads: b.Threads, Memory: b.Memory}
	doing := map[engine.Kind]func() error{engine.Multicore: func() error {
		_, err := weighbench.OnCPU(b.ctx, path, o, 1)
		return err
	}}
	w, err := weigh.Weigh(b.ctx, weighbench.Corpus(path), o)
	if err != nil {
		return err
	}
	words := float64(w.Tokens()) / 1e6
	if err := w.Close(); err != nil {
		return err
	}
	if b.Device != nil {
		corpus, failed := weigh.PinCorpus(b.ctx, weighbench.Corpus(path), weigh.Options{Analyzer: an, Device: b.Device.Which(0)})
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, corpus.Free()) }()
		weigher, failed := weigh.NewWeigher(corpus, weigh.Options{})
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, weigher.Free()) }()
		doing[engine.GPU] = func() error { return weigher.Weigh(b.ctx) }
	}
	for _, e := range b.engines() {
		if err := b.measure("BM25 weights", e, "million words", words, doing[e]); err != nil {
			return err
		}
	}
	return nil
}

// places measures the patterns of crowded points.
func (b *bench) places() (err error) {
	points := placesbench.Clustered(b.amount.points, 20, 1000)
	o := coloc.Options{Distance: 6, MinPrevalence: 0.1, Threads: b.Threads, Memory: b.Memory}
	if b.Device != nil {
		if o.GPU, err = coloc.OpenGPU(b.Device.Which(0)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, o.GPU.Close()) }()
	}
	for _, e := range b.engines() {
		of := o
		if of.Engine = e; e != engine.GPU {
			of.GPU = nil
		}
		err := b.measure("patterns of crowded points", e, "million points", float64(points.Len())/1e6, func() error {
			_, err := coloc.Mine(b.ctx, points, of)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Page makes the report.
func Page(rows []Row, p Prices) *report.Report {
	t := report.Table{Name: "energy",
		Title: "Energy and price of a unit of work",
		Header: []string{"job", "engine", "unit", "seconds a unit", "cores: joules a unit", "GPU: joules a unit",
			"price of a million"}}
	notes := map[string]bool{}
	var said []string
	note := func(what, s string) {
		if line := what + ": " + s + "."; s != "" && !notes[line] {
			notes[line] = true
			said = append(said, line)
		}
	}
	for _, r := range rows {
		cores, device := r.Joules()
		if !r.onGPU() {
			device = 0 // an idle GPU is no part of the job
		}
		t.Rows = append(t.Rows, []string{r.Job, r.Engine, r.Unit, format(r.Seconds()), format(cores),
			format(device), format(r.Price(p))})
		note("Cores", r.Use.CoresNote)
		if r.onGPU() {
			note("GPU", r.Use.GPUNote)
		}
	}
	text := fmt.Sprintf("Each job ran again and again for some seconds. Joules are those of the whole processor and of the whole device, "+
		"idle power included; what could not be measured is empty. The price is that of the energy, at %g a kWh, and of the machine's time, at %g an hour "+
		"without and %g with a GPU. Where joules are empty it assumes %g W for the processor and %g W for the GPU. These five numbers are assumptions.",
		p.KWh, p.CoresHour, p.GPUHour, p.CoresWatts, p.GPUWatts)
	for _, s := range said {
		text += " " + s
	}
	r := &report.Report{Name: "energy", Title: "Energy", Intro: "Joules and price of queries, words and points."}
	r.Add(report.Section{Title: "Energy and price", Text: text, Tables: []report.Table{t}})
	return r
}

func format(x float64) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
