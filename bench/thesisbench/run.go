package thesisbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search"
)

// Options say what to measure. The zero value measures what the thesis does, on CPU cores.
type Options struct {
	Device  *gpu.Device // nil means CPU cores
	Threads int         // on CPU cores; 0 means one for each core
	Share   float64     // size of the collection, relative to the thesis'; 0 means 1
	Queries int         // of each class, including the fastest and the slowest, which do not count; 0 means 20
	Runs    int         // of each query; 0 means 10
	Batch   int         // number of queries in a batch; 0 means 500
	Batches int         // number of batches, whose times are averaged; 0 means 4 if there are so many topics, else 1
	K       int         // number of answers; 0 means 128
	Dir     string      // for the generated collection; "" means the system's temporary folder
	// Index and Topics, if set, replace the generated collection and its queries.
	Index  string
	Topics []string
	// Store keeps the parts that were measured; may be nil. Without all of them Run returns
	// report.ErrLeftOut.
	Store *report.Store
	// Say is called with messages on the progress.
	Say func(format string, args ...any)
}

func (o Options) withDefaults() Options {
	if o.Share == 0 {
		o.Share = 1
	}
	for _, x := range []struct {
		to   *int
		zero int
	}{{&o.Queries, 20}, {&o.Runs, 10}, {&o.Batch, 500}, {&o.K, 128}, {&o.Threads, runtime.GOMAXPROCS(0)}} {
		if *x.to == 0 {
			*x.to = x.zero
		}
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	return o
}

func (o *Options) check() error {
	if !(o.Share > 0 && o.Share <= 1) || o.Queries < 1 || o.Runs < 1 || o.Batch < 1 || o.Batches < 0 || o.K < 1 ||
		o.K > 1024 || o.Threads < 1 {
		return fmt.Errorf("thesis: share %v, %d queries, %d runs, batches of %d, k %d, %d threads: want positive numbers, a share of at most 1 and a k of at most 1024",
			o.Share, o.Queries, o.Runs, o.Batch, o.K, o.Threads)
	}
	if (o.Index == "") != (len(o.Topics) == 0) {
		return errors.New("thesis: an index and topics go together: give both, or neither to generate a collection")
	}
	return nil
}

const title = "Parallel retrieval, as the thesis measured it"

// bench is a run of all measurements; it keeps times that several tables and figures use.
type bench struct {
	Options
	ctx     context.Context
	s       *search.Searcher
	classes []class
	queued  [][]search.Request // the queries of the batches
	exact   map[string]*search.Result
	alone   map[aloneKey]float64     // seconds of a query on one core
	figures map[figureKey]figure     // of single queries
	batched map[batchKey]batchFigure // of batches
	report  *report.Report
	brought time.Duration // the time of copying the index to the device
	leftOut bool          // some parts
}

// Run generates the collection, copies it to the device if there is one, and measures.
func Run(ctx context.Context, o Options) (_ *report.Report, err error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	b := &bench{Options: o, ctx: ctx, exact: map[string]*search.Result{}, alone: map[aloneKey]float64{},
		figures: map[figureKey]figure{}, batched: map[batchKey]batchFigure{}}
	dir := o.Index
	var shape Shape
	if dir == "" {
		made, err := os.MkdirTemp(o.Dir, "thesis")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(made)
		shape, dir = Thesis(o.Share, 2*o.Queries), filepath.Join(made, "index")
		o.Say("generating a collection of %d documents", shape.Documents)
		if err := shape.Build(ctx, dir); err != nil {
			return nil, err
		}
	}
	if b.s, err = search.Open(dir); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.s.Close()) }()
	if o.Index == "" {
		b.generated(&shape)
	} else if err := b.topics(); err != nil {
		return nil, err
	}
	if o.Device != nil {
		start := time.Now()
		if err := b.s.OpenGPU(ctx, search.GPUOptions{Device: o.Device.Which(0)}); err != nil {
			return nil, err
		}
		b.brought = time.Since(start)
	}
	b.report = &report.Report{Name: "thesis", Title: title, Intro: b.intro()}
	for i, s := range sections {
		if err := b.keep(parts[i], func() error { return b.single(s) }); err != nil {
			return nil, err
		}
	}
	if err := b.keep(parts[4], b.batches); err != nil {
		return nil, err
	}
	if err := b.keep(parts[5], func() error { return errors.Join(b.blocks(), b.transfers()) }); err != nil {
		return nil, err
	}
	if err := b.keep(parts[6], b.schedules); err != nil {
		return nil, err
	}
	if err := b.keep(parts[7], b.compressed); err != nil {
		return nil, err
	}
	if b.leftOut {
		return nil, report.ErrLeftOut
	}
	return b.report, errors.Join(addBSP(b.report), b.Store.KeepHead("thesis", b.report))
}

// parts are the names under which the parts of a run are kept, in their order.
var parts = []string{"thesis.1", "thesis.2", "thesis.3", "thesis.4", "thesis.batches", "thesis.blocks",
	"thesis.schedules", "thesis.compressed"}

// Kept returns what was kept of a run, or nil if there is nothing, and whether that is all.
func Kept(s *report.Store) (r *report.Report, whole bool, err error) {
	r, whole, err = s.Job("thesis", &report.Report{Name: "thesis", Title: title,
		Intro: "This run was stopped: some sections are missing.\n\n" + aboutRecall}, parts...)
	if r != nil {
		err = errors.Join(err, addBSP(r))
	}
	return r, whole, err
}

// keep takes the sections that measure would add from the store, if they are there.
func (b *bench) keep(part string, measure func() error) error {
	before := len(b.report.Sections)
	r, err := b.Store.Do(part, func() (*report.Report, error) {
		err := measure()
		return &report.Report{Sections: b.report.Sections[before:]}, err
	})
	if errors.Is(err, report.ErrLeftOut) {
		b.leftOut = true
		return nil
	}
	if err != nil {
		return err
	}
	b.report.Sections = append(b.report.Sections[:before:before], r.Sections...)
	return nil
}

// machine describes what the parallel algorithms run on.
func (b *bench) machine() string {
	if b.Device != nil {
		return b.Device.Info().Name
	}
	return fmt.Sprintf("%d threads of this machine's cores", b.Threads)
}

func (b *bench) intro() string {
	what := "generated documents, queries of two words with lists of four lengths"
	if b.Index != "" {
		what = "documents of a given index, its topics in four classes by the mean length of their lists"
	}
	clock := "Times of single queries are those of the whole call."
	if b.Device != nil {
		clock = "Times of single queries on the GPU are those on the device, between two events; the time of transfers is at the end."
	}
	like := ""
	switch {
	case b.Device == nil:
		like = " This run used cores instead of a GPU: neither times nor speedups can be compared with the thesis', and recall only for lists of about the same length."
	case b.Share != 1 || b.Index != "":
		like = " The collection is not the thesis': compare speedups, not times, and recall only for lists of about the same length."
	}
	return fmt.Sprintf("%d %s, k = %d, on %s; sequential algorithms on one core of the same machine. %s As in the thesis, a query's time is the mean of %d runs "+
		"(fewer if they take more than %v), and a class has %d queries, without the fastest and the slowest. "+
		"The thesis had 50.2 million documents of the web, a Titan Xp, and Java on one core of an i7-5820K.%s\n\n%s",
		b.s.Index().Docs(), what, b.K, b.machine(), clock, b.Runs, enough, b.Queries, like, aboutRecall)
}

// aboutRecall explains which partitions are compared with the thesis'.
const aboutRecall = `Homogeneous partitions cut all lists at the same positions. Two unrelated lists reach a document at
positions that differ by about the square root of the position, and soon by more than a partition's
size: then hardly any document has all its postings in one partition. Lists of real text drift apart
even more. The thesis shifted the ranges of its homogeneous partitions to begin at about the same
document (its section 4.5.4; at most 5 document numbers before the largest of them), and its recall of 0.73 to 0.91 is that of shifted ranges. They are
called adjusted here, and are compared with the thesis' "homogeneous". Plain homogeneous partitions
are only in the tables of recall.`

// request returns a request for the device or for the cores.
func (b *bench) request(r search.Request, a search.Algorithm, mode search.Mode, p search.Parallel) search.Request {
	p.Engine = engine.GPU
	if b.Device == nil {
		p.Engine, p.Threads = engine.Multicore, b.Threads
	}
	if p.Partition == search.Adjusted {
		p.Slack = Slack
	}
	if a != search.Tiles && b.Device != nil { // as in the thesis
		p.Blocks.Start = mode == search.And
	}
	r.K, r.Mode, r.Algorithm, r.Parallel = b.K, mode, a, &p
	return r
}

// exactOf returns the exact result of a query.
func (b *bench) exactOf(r search.Request, mode search.Mode) (*search.Result, error) {
	key := fmt.Sprint(r.Text, r.Words, mode)
	if found := b.exact[key]; found != nil {
		return found, nil
	}
	r.K, r.Mode, r.Algorithm, r.Parallel = b.K, mode, search.Auto, nil
	found, err := b.s.Search(b.ctx, r)
	b.exact[key] = found
	return found, err
}
