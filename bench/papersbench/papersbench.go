// Package papersbench is `collocate bench papers`: one page with every table and figure of the five
// documents that Collocate implements, each with the paper's values and ours. The numbers come from
// the benchmarks of the four jobs. Items that cannot be compared are marked, with the reason.
package papersbench

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/collocate/collocate/bench/cooccurbench"
	"github.com/collocate/collocate/bench/energybench"
	"github.com/collocate/collocate/bench/placesbench"
	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/bench/weighbench"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/gpu"
)

// Options say how much to measure.
type Options struct {
	Device  *gpu.Device // nil means CPU cores only
	Places  *coloc.GPU  // the same device for co-location
	Threads int
	Memory  int64
	Quick   bool   // small data, for 3 minutes on two cores
	Tiny    bool   // smaller still, for tests
	Dir     string // for temporary data; "" means the system's temporary folder
	// Pieces is a folder in which the results of jobs and of their parts are kept, so that a run
	// that was stopped can go on; "" means none.
	Pieces string
	// Only names the jobs to measure, or parts of jobs by the names under which they are kept, such
	// as places.5; empty means all. The others are on the page if they were kept.
	Only []string
	Say  func(format string, args ...any)

	store *report.Store
}

// amount is the size of each job's data.
type amount struct {
	thesis       thesisbench.Options
	tokens       int64
	texts        []int64
	vocabularies []int
	lookups      int
	places       time.Duration // limit of a job
	rounds       rounds
	hundredth    bool // use a hundredth of the points
	within       bool // leave out points beyond the thesis'
}

// rounds are the numbers of runs of a job. The papers have 10 for co-occurrence and 20 for places;
// those on term weighting do not say.
type rounds struct{ cooccur, weigh, places int }

func (o *Options) amount() amount {
	switch {
	case o.Tiny:
		return amount{thesisbench.Options{Share: 0.00001, Queries: 1, Runs: 1, Batch: 2, K: 8},
			2000, []int64{20_000}, []int{50, 100}, 1000, 20 * time.Millisecond, rounds{1, 1, 1}, true, false}
	case o.Quick:
		return amount{thesisbench.Options{Share: 0.001, Queries: 4, Runs: 3, Batch: 20}, 1e6,
			[]int64{2e6, 4e6}, []int{1e3, 1e4, 1e5}, 2e5, time.Second, rounds{1, 1, 1}, false, true}
	case o.Device == nil:
		return amount{thesisbench.Options{Share: 0.01, Queries: 8, Runs: 5, Batch: 100}, 50e6,
			[]int64{10e6, 20e6, 50e6}, []int{1e3, 1e4, 1e5, 1e6}, 1e6, 10 * time.Second, rounds{10, 3, 20}, false, false}
	}
	return amount{thesisbench.Options{}, 719e6, []int64{100 << 20, 200 << 20, 300 << 20, 400 << 20, 500 << 20},
		[]int{1e4, 1e5, 1e6, 1e7}, 1e8, 20 * time.Second, rounds{10, 3, 20}, false, false}
}

// Run measures everything and makes the page.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 8e9
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	parts := false
	for _, name := range o.Only {
		if !IsPart(name) {
			return nil, fmt.Errorf("papers: there is no job %q: want %s", name, strings.Join(Jobs, ", "))
		}
		parts = parts || !slices.Contains(Jobs, name)
	}
	if parts && o.Pieces == "" {
		return nil, errors.New("papers: parts of jobs need a folder that keeps them")
	}
	if o.Pieces != "" {
		o.store = &report.Store{Dir: o.Pieces, Say: o.Say, Only: o.wants,
			Settings: o.settings(), Machine: machine(&o), Memory: o.Memory}
	}
	p, err := gather(o.Device != nil, o.store,
		func(job string) (*report.Report, bool, error) { return o.job(ctx, job) })
	if err != nil {
		return nil, err
	}
	for _, name := range o.Only {
		if kept, err := o.store.Has(name); err != nil || !kept && !slices.Contains(Jobs, name) {
			return nil, cmp.Or(err, fmt.Errorf("papers: there is no part %q", name))
		}
	}
	if len(p.machines) == 0 {
		p.machines = []report.MeasuredOn{{Machine: machine(&o)}}
	}
	return page(p, o.Quick || o.Tiny, o.small(), o.amount().rounds), nil
}

// IsPart reports whether a name can be that of a job or of a part of one.
func IsPart(name string) bool {
	job, _, _ := strings.Cut(name, ".")
	return slices.Contains(Jobs, job)
}

// wants reports whether a job or a part of one is to be measured, or some of its parts.
func (o *Options) wants(part string) bool {
	return len(o.Only) == 0 || slices.ContainsFunc(o.Only, func(name string) bool {
		return name == part || strings.HasPrefix(part, name+".") || strings.HasPrefix(name, part+".")
	})
}

// gather collects the reports of all jobs. Of one that is not complete it takes the parts that were
// kept.
func gather(device bool, store *report.Store,
	of func(job string) (r *report.Report, whole bool, err error)) (*pages, error) {
	p := &pages{tables: map[string]*report.Table{}, plots: map[string]*report.Plot{}, device: device}
	reports := map[string]*report.Report{}
	for _, job := range Jobs {
		r, whole, err := of(job)
		if err != nil {
			return nil, fmt.Errorf("papers: %s: %w", job, err)
		}
		if !whole && (job != deviceJob || device) {
			p.missing = append(p.missing, job)
			if r != nil {
				p.begun = append(p.begun, job)
			}
		}
		reports[job] = r
	}
	machines, err := store.Machines("")
	if err != nil {
		return nil, fmt.Errorf("papers: %w", err)
	}
	p.machines = machines
	for _, job := range Jobs {
		if reports[job] == nil {
			continue
		}
		if len(machines) > 1 {
			on, err := store.Machines(job)
			if err != nil {
				return nil, fmt.Errorf("papers: %w", err)
			}
			reports[job].Intro += "\n\n" + measuredOn(on)
		}
		p.adopt(job, reports[job])
	}
	return p, nil
}

// measuredOn names the machines of a job, with the parts that were measured on each.
func measuredOn(machines []report.MeasuredOn) string {
	var out []string
	for _, m := range machines {
		on := m.Machine
		if len(machines) > 1 {
			on += " (" + strings.Join(m.Parts, ", ") + ")"
		}
		out = append(out, on)
	}
	return "Measured on " + strings.Join(out, ", and on ") + "."
}

// settings describe a run: parts of another one are not taken.
func (o *Options) settings() string {
	return fmt.Sprintf("%s; %d threads; %v", withOrWithout(o.Device != nil), o.Threads, o.amount())
}

// String is a part of the settings.
func (a amount) String() string {
	return fmt.Sprintf("share %g, %d queries, %d runs, batch %d, k %d; %d tokens; texts %v; vocabularies %v; %d look-ups; jobs of %v; rounds %d, %d, %d; hundredth %t, within %t",
		a.thesis.Share, a.thesis.Queries, a.thesis.Runs, a.thesis.Batch, a.thesis.K, a.tokens, a.texts,
		a.vocabularies, a.lookups, a.places, a.rounds.cooccur, a.rounds.weigh, a.rounds.places, a.hundredth, a.within)
}

func withOrWithout(gpu bool) string {
	if gpu {
		return "with a GPU"
	}
	return "without a GPU"
}

// measuredIn finds the GPU and the rounds in the settings.
var measuredIn = regexp.MustCompile(`^(with|without) a GPU; .*; rounds (\d+), (\d+), (\d+); .* within (true|false)$`)

// Page makes the page of the parts in a folder, which may have been measured on other machines. It
// measures nothing.
func Page(pieces string) (*report.Report, error) {
	settings, err := report.SettingsOf(pieces)
	if err != nil {
		return nil, fmt.Errorf("papers: %w", err)
	}
	m := measuredIn.FindStringSubmatch(settings)
	if m == nil {
		return nil, fmt.Errorf("papers: the parts in %s are not of this page: %s", pieces, settings)
	}
	device := m[1] == "with"
	store := &report.Store{Dir: pieces, Settings: settings}
	full := Options{}
	if device {
		full.Device = new(gpu.Device)
	}
	quick := !strings.HasSuffix(settings, fmt.Sprintf("; %v", full.amount()))
	p, err := gather(device, store,
		func(job string) (*report.Report, bool, error) { return kept(store, job, m[5] == "true") })
	if err != nil {
		return nil, err
	}
	var of rounds
	for i, to := range []*int{&of.cooccur, &of.weigh, &of.places} {
		if *to, err = strconv.Atoi(m[2+i]); err != nil {
			return nil, fmt.Errorf("papers: %w", err)
		}
	}
	return page(p, quick, quick || !device, of), nil
}

// Jobs are the jobs in the order in which they are measured.
var Jobs = []string{"thesis", "cooccur", "weigh", "dict", deviceJob, "places", "energy"}

// deviceJob needs a GPU.
const deviceJob = "dict-device"

// job returns the report of a job, and whether it is complete: one that was kept, or a new one,
// unless it is not to be measured.
func (o *Options) job(ctx context.Context, job string) (*report.Report, bool, error) {
	run := map[string]func(context.Context, amount) (*report.Report, error){
		"thesis": o.thesis, "cooccur": o.cooccur, "weigh": o.weigh, "dict": o.dictionaries,
		deviceJob: o.dictionariesGPU, "places": o.places, "energy": o.energy,
	}[job]
	r, whole, err := kept(o.store, job, o.amount().within)
	if whole || err != nil || !o.wants(job) {
		return r, whole, err
	}
	measure := func() (*report.Report, error) {
		start := time.Now()
		r, err := run(ctx, o.amount())
		if r != nil && err == nil {
			o.Say("%s: %.0f s", job, time.Since(start).Seconds())
		}
		return r, err
	}
	if job == "thesis" || job == "places" { // they keep their parts
		r, err = measure()
	} else {
		r, err = o.store.Do(job, measure)
	}
	if errors.Is(err, report.ErrLeftOut) {
		r, _, err = kept(o.store, job, o.amount().within)
		return r, false, err
	}
	return r, r != nil, err
}

// kept returns what was kept of a job, or nil, and whether that is all.
func kept(store *report.Store, job string, within bool) (r *report.Report, whole bool, err error) {
	switch job {
	case "thesis":
		return thesisbench.Kept(store)
	case "places":
		return placesbench.Kept(store, within)
	}
	r, err = store.Load(job)
	return r, r != nil, err
}

func (o *Options) thesis(ctx context.Context, a amount) (*report.Report, error) {
	t := a.thesis
	t.Device, t.Threads, t.Dir, t.Say, t.Store = o.Device, o.Threads, o.Dir, o.Say, o.store
	return thesisbench.Run(ctx, t)
}

// enough ends the rounds of an engine of co-occurrence: ten of the slow ones take many minutes.
const enough = 25 * time.Second

func (o *Options) cooccur(ctx context.Context, a amount) (*report.Report, error) {
	c := cooccurbench.Options{Tokens: a.tokens, Sample: min(a.tokens, 5e6), Windows: []int{2}, Write: true,
		Engines: []cooccurbench.Engine{cooccurbench.Multicore, cooccurbench.PaperCores, cooccurbench.Sequential},
		// The paper's sizes: tables of a third of the memory, 768 MB of text a kernel.
		Tables: cooccur.PaperTables{Part: 3, Text: 768 << 20},
		Rounds: a.rounds.cooccur, Enough: enough, Stages: true, Dir: o.Dir, Threads: o.Threads, Memory: o.Memory,
		Weighting: cooccur.Count}
	if _, _, err := cooccurbench.FindGloVe(); err == nil {
		c.Engines = append(c.Engines, cooccurbench.GloVe)
	}
	if o.Device != nil {
		c.Device = o.Device.Which(0)
		c.Engines = append([]cooccurbench.Engine{cooccurbench.GPU, cooccurbench.Paper}, c.Engines...)
	}
	leftOut := false
	c.Kept = func(e cooccurbench.Engine, window int,
		measure func() (cooccurbench.Row, error)) (cooccurbench.Row, error) {
		part := fmt.Sprintf("cooccur.%d.%s", window, strings.ReplaceAll(string(e), " ", "-"))
		row, err := report.DoValue(o.store, part, measure)
		if errors.Is(err, report.ErrLeftOut) {
			leftOut, err = true, nil
		}
		return row, err
	}
	rows, err := cooccurbench.Run(ctx, c)
	if err == nil && leftOut {
		err = report.ErrLeftOut
	}
	if err != nil {
		return nil, err
	}
	return cooccurbench.Page(c, rows), nil
}

func (o *Options) weigh(ctx context.Context, a amount) (*report.Report, error) {
	return weighbench.Run(ctx, weighbench.Options{Sizes: a.texts, Threads: o.Threads,
		Rounds: a.rounds.weigh, Device: o.Device, Memory: o.Memory, Slow: true,
		DictWords: a.vocabularies[len(a.vocabularies)-1], Log: o.Say})
}

func (o *Options) places(ctx context.Context, a amount) (*report.Report, error) {
	return placesbench.Run(ctx, placesbench.Options{GPU: o.Places, Threads: o.Threads,
		Memory: o.Memory, Rounds: a.rounds.places, Limit: a.places, Quick: a.hundredth, Within: a.within,
		Store: o.store})
}

// energy is about no paper: it says what all of it costs.
func (o *Options) energy(ctx context.Context, _ amount) (*report.Report, error) {
	e := energybench.Options{Device: o.Device, Threads: o.Threads, Memory: o.Memory, Dir: o.Dir,
		Quick: o.Quick || o.Tiny, Prices: energybench.Defaults, Say: o.Say}
	if o.Tiny {
		e.For = time.Millisecond
	}
	return energybench.Run(ctx, e)
}

// page makes the report: a list of all tables and figures, then the measurements.
func page(p *pages, quick, small bool, rounds rounds) *report.Report {
	on := p.machines[0].Machine
	if len(p.machines) > 1 {
		on = "several machines: each job names its own"
	}
	r := &report.Report{Name: "papers", Title: "The papers' tables and figures again",
		Intro: fmt.Sprintf("Every table and figure of five documents, with the paper's values and ours, which were measured on %s. All measurements follow the lists.", on)}
	if quick {
		r.Intro += " **This was a quick run on small data:** the last column says what can be compared."
	}
	if len(p.missing) > 0 {
		r.Intro += fmt.Sprintf(" **Not measured yet:** %s.", strings.Join(p.lacks(), ", "))
	}
	for _, paper := range papers() {
		t := report.Table{Name: paper.ID, Prose: true,
			Header: []string{"number", "shows", "the paper", "ours", "what differs", "compared?"}}
		for _, i := range paper.Items {
			ours, err := "", error(nil)
			if i.ours != nil {
				ours, err = i.ours(p)
			}
			t.Rows = append(t.Rows, []string{i.Number, i.Shows, i.Paper, ours,
				i.differs(rounds.of(paper.ID)), i.mark(ours, err, p.device, small)})
		}
		r.Add(report.Section{Title: paper.Title,
			Text:   fmt.Sprintf("The paper's machine: %s.\n\n%s", paper.Machine, paper.Differs),
			Tables: []report.Table{t}})
	}
	r.Sections = append(r.Sections, p.sections...)
	return r
}

// lacks names what was not measured, each with its job.
func (p *pages) lacks() (out []string) {
	for _, job := range p.missing {
		what := map[string]string{"thesis": "retrieval", "cooccur": "vocabulary and co-occurrence",
			"weigh": "term weighting", "dict": "dictionaries on cores", deviceJob: "dictionaries on the GPU",
			"places": "co-location", "energy": "energy"}[job]
		if slices.Contains(p.begun, job) {
			what = "parts of " + what
		}
		out = append(out, fmt.Sprintf("%s (%s)", what, job))
	}
	return out
}

// of returns the rounds of a paper's job.
func (r rounds) of(paper string) int {
	switch paper {
	case "cooccur":
		return r.cooccur
	case "places":
		return r.places
	}
	return r.weigh
}

// small reports whether the data are smaller than the papers'.
func (o *Options) small() bool { return o.Quick || o.Tiny || o.Device == nil }

// machine describes this machine.
func machine(o *Options) string {
	name := runtime.GOARCH
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value)
				break
			}
		}
	}
	name = fmt.Sprintf("%s, %d of %d cores", name, o.Threads, runtime.NumCPU())
	if o.Device != nil {
		i := o.Device.Info()
		return fmt.Sprintf("%s; %s, driver %s", name, i.Name, i.Driver)
	}
	return name + "; no GPU"
}
