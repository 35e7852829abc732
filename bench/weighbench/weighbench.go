package weighbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/weigh"
)

// Options say what to measure.
type Options struct {
	Sizes   []int64 // of texts, in bytes
	Threads int
	Rounds  int
	Device  *gpu.Device // nil: only what runs on CPU cores
	Memory  int64       // of the host
	Slow    bool        // MapReduce too, on the CPU and on the GPU
	Log     func(format string, args ...any)
}

// method is a line of the figures.
type method struct {
	name string
	o    weigh.Options
	gpu  bool
	slow bool
}

// The papers' methods and ours, under the papers' names.
var methods = []method{
	{name: "MRP", o: weigh.Options{Method: weigh.MapReduce}, slow: true},
	{name: "CPU auto"},
	{name: "MRM", o: weigh.Options{Method: weigh.MapReduce}, gpu: true, slow: true},
	{name: "ours", gpu: true}, // which makes PPD's dictionary too
	{name: "PP", o: weigh.Options{Method: weigh.Primitives}, gpu: true},
	{name: "PPD", o: weigh.Options{Method: weigh.Dictionary}, gpu: true},
}

// measured is what one method took for all sizes.
type measured struct {
	method
	times []Time
	steps []weigh.Step // of the largest size
}

// Run measures all methods.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	if len(o.Sizes) == 0 || o.Rounds < 1 {
		return nil, errors.New("nothing to measure")
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	slices.Sort(o.Sizes)
	var list []*measured
	for _, m := range methods {
		if (o.Device != nil || !m.gpu) && (o.Slow || !m.slow) {
			list = append(list, &measured{method: m})
		}
	}
	var counts []Counts
	err := Folder(func(dir string) error {
		for _, size := range o.Sizes {
			c, err := o.measure(ctx, dir, size, list)
			if err != nil {
				return err
			}
			counts = append(counts, c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return o.report(list, counts), nil
}

// measure measures all methods on a text of one size.
func (o *Options) measure(ctx context.Context, dir string, size int64, list []*measured) (c Counts, err error) {
	path, err := TextFile(ctx, dir, size, o.Threads)
	if err != nil {
		return c, err
	}
	defer os.Remove(path)
	an, err := Analyzer()
	if err != nil {
		return c, err
	}
	var corpus *weigh.PinnedCorpus
	if o.Device != nil {
		if corpus, err = weigh.PinCorpus(ctx, Corpus(path), weigh.Options{Analyzer: an, Threads: o.Threads, GPU: o.Device.Which(0)}); err != nil {
			return c, err
		}
		defer func() { err = errors.Join(err, corpus.Free()) }()
	}
	var words *dict.File
	for _, m := range list {
		run := m.o
		run.Analyzer, run.Threads, run.Memory = an, o.Threads, o.Memory
		var t Time
		if m.gpu {
			run.Profile = true
			if run.Method == weigh.Dictionary {
				run.Dict = words
			}
			t, m.steps, err = OnGPU(ctx, corpus, run, o.Rounds, func(w *weigh.Weigher) (err error) {
				if m.o.Method == weigh.Auto {
					c, words, err = o.count(ctx, w.Weights())
				}
				return err
			})
		} else {
			run.Engine = engine.Multicore
			t, err = OnCPU(ctx, path, run, o.Rounds)
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", m.name, err)
		}
		o.Log("%d MB, %s: %.4g s", size/1e6, m.name, t.Best)
		m.times = append(m.times, t)
	}
	if o.Device == nil {
		w, err := weigh.Weigh(ctx, Corpus(path), weigh.Options{Analyzer: an, Engine: engine.Multicore, Threads: o.Threads, Memory: o.Memory})
		if err != nil {
			return c, err
		}
		c, _, err = o.count(ctx, w)
		return c, errors.Join(err, w.Close())
	}
	return c, nil
}

// count counts what is in a corpus, and makes a dictionary of its words if there is a
// device: the papers have it ready too.
func (o *Options) count(ctx context.Context, w *weigh.Weights) (c Counts, d *dict.File, err error) {
	c.Words, c.Docs = int(w.Tokens()), w.Docs()
	words := &dict.Words{}
	left := 0
	for x, err := range w.Terms(ctx) {
		if err != nil {
			return c, nil, err
		}
		if left == 0 {
			left = x.DF
			if err := words.Add(x.Word); err != nil {
				return c, nil, err
			}
		}
		left -= len(x.Docs)
		c.Pairs += len(x.Docs)
	}
	c.Terms = words.Len()
	if o.Device != nil {
		d, err = build(ctx, words, dict.XBW)
	}
	return c, d, err
}

func (o *Options) report(list []*measured, counts []Counts) *report.Report {
	intro := fmt.Sprintf("Texts of the papers' law; words with their weights in every document, from CPU memory to CPU memory, copies included. "+
		"%d threads; best of %d rounds.", o.Threads, o.Rounds)
	if o.Device != nil {
		i := o.Device.Info()
		intro += fmt.Sprintf(" GPU: %s, driver %s; its buffers are in place before, as is PPD's dictionary.", i.Name, i.Driver)
	}
	intro += " On the CPU the text is read from a file that the operating system has in memory."
	r := &report.Report{Name: "weigh", Title: "Term weighting: the papers' figures again", Intro: intro}
	r.Add(o.dataSection(counts))
	r.Add(o.timeSection(list))
	if s := stepSection(list, o.Sizes[len(o.Sizes)-1]); len(s.Tables) > 0 {
		r.Add(s)
	}
	return r
}

// The papers' table of texts, by megabytes: words, documents, pairs, words that differ.
var papersTexts = map[int64][4]int{
	100: {17_881_505, 24_411, 11_029_756, 447_663}, 200: {35_767_202, 48_725, 22_074_419, 687_255},
	300: {53_651_412, 73_163, 33_119_396, 882_477}, 400: {71_532_437, 97_683, 44_123_823, 1_051_534},
	500: {89_409_102, 122_178, 55_165_752, 1_203_716},
}

func (o *Options) dataSection(counts []Counts) report.Section {
	t := report.Table{Name: "texts", Title: "Texts", Header: []string{"MB", "words", "documents", "pairs", "terms", "pairs in the paper", "terms in the paper"}}
	for i, c := range counts {
		row := []string{megabytes(o.Sizes[i]), strconv.Itoa(c.Words), strconv.Itoa(c.Docs), strconv.Itoa(c.Pairs), strconv.Itoa(c.Terms), "", ""}
		if p, ok := papersTexts[o.Sizes[i]/1e6]; ok && o.Sizes[i]%1e6 == 0 {
			row[5], row[6] = strconv.Itoa(p[2]), strconv.Itoa(p[3])
		}
		t.Rows = append(t.Rows, row)
	}
	return report.Section{Title: "Texts", Text: "Words and documents drawn as the papers draw them from ClueWeb09-B.", Tables: []report.Table{t}}
}

func megabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'g', 4, 64) }

// timeSection is figure 5: the time of each method by the size of the text.
func (o *Options) timeSection(list []*measured) report.Section {
	t := report.Table{Name: "times", Title: "Time in milliseconds by megabytes of text", Header: []string{"MB"}}
	p := report.Plot{Name: "times", Title: "Time by size of the text", X: "megabytes", Y: "milliseconds", LogY: true}
	for _, m := range list {
		t.Header = append(t.Header, m.name)
		s := report.Series{Name: m.name}
		for i, x := range m.times {
			s.X, s.Y = append(s.X, float64(o.Sizes[i])/1e6), append(s.Y, x.Best*1e3)
		}
		p.Series = append(p.Series, s)
	}
	for i, size := range o.Sizes {
		row := []string{megabytes(size)}
		for _, m := range list {
			row = append(row, fmt.Sprintf("%.2f", m.times[i].Best*1e3))
		}
		t.Rows = append(t.Rows, row)
	}
	text := "The papers' figure 5. MRP and MRM are MapReduce on CPU cores and on the GPU; PP the eight steps with words as strings; PPD with a dictionary. " +
		"On the papers' machine (4 cores, GTX 970) 500 MB took MRP 4.5 s and PPD 0.9 s."
	return report.Section{Title: "Time of the methods", Text: text, Tables: []report.Table{t}, Plots: []report.Plot{p}}
}

// stepSection is figures 6 and 7: where the time goes on the GPU.
func stepSection(list []*measured, size int64) report.Section {
	text := fmt.Sprintf("The papers' figures 6 and 7: the steps of each method on the GPU, %s MB. Steps that run beside others, copies above all, are marked; "+
		"the times of all others add up to the whole.", megabytes(size))
	s := report.Section{Title: "Where the time goes", Text: text}
	for _, m := range list {
		if len(m.steps) == 0 {
			continue
		}
		t := report.Table{Name: "steps-" + fileName(m.name), Title: m.name, Header: []string{"step", "ms", "beside others"}}
		for _, x := range m.steps {
			beside := ""
			if x.Beside {
				beside = "yes"
			}
			t.Rows = append(t.Rows, []string{x.Name, fmt.Sprintf("%.3f", x.Time.Seconds()*1e3), beside})
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// fileName is a method's name in lower case, without blanks.
func fileName(name string) string {
	b := []byte(name)
	for i, c := range b {
		switch {
		case c >= 'A' && c <= 'Z':
			b[i] = c + 'a' - 'A'
		case c == ' ':
			b[i] = '-'
		}
	}
	return string(b)
}
