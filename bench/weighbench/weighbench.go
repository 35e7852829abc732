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
	Device  *gpu.Device // nil means CPU cores only
	Memory  int64       // of the host
	Slow    bool        // also measure MapReduce, on the CPU and on the GPU
	// Frequencies are words with frequencies, from which texts are drawn; nil means datagen.Web.
	Frequencies *Ranked
	// DictWords makes PPD's dictionary beforehand, as in the papers: of this many words, the most
	// frequent ones. It lacks some words of a text and has many others. The words that it lacks are
	// numbered after it, so all methods give the same weights. 0 means a dictionary of exactly the
	// text's words.
	DictWords int
	Log       func(format string, args ...any)
}

// method is a line of the figures.
type method struct {
	name string
	o    weigh.Options
	gpu  bool
	slow bool
	// published uses the papers' dictionary, which is copied to the device each time.
	published bool
}

// methods are the papers' methods, under their names there, and ours.
var methods = []method{
	{name: "MRP", o: weigh.Options{Method: weigh.MapReduce}, slow: true},
	{name: "CPU auto"},
	{name: "MRM", o: weigh.Options{Method: weigh.MapReduce}, gpu: true, slow: true},
	{name: "ours", gpu: true}, // before PPD, which needs the dictionary of its result
	{name: "PP", o: weigh.Options{Method: weigh.Primitives}, gpu: true},
	{name: "PPD", o: weigh.Options{Method: weigh.Dictionary}, gpu: true},
	{name: "PPD published", o: weigh.Options{Method: weigh.Dictionary, OnePiece: true,
		MergeSort: true}, gpu: true, published: true},
}

// measured has the times of one method for all sizes.
type measured struct {
	method
	times []Time
	steps [][]weigh.Step // by size
}

// Run measures all methods.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	if len(o.Sizes) == 0 || o.Rounds < 1 {
		return nil, errors.New("benchmark of weights: want at least one size and one round")
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
	given, err := o.dictionaries(ctx)
	if err != nil {
		return nil, err
	}
	var counts []counts
	err = Folder(func(dir string) error {
		for _, size := range o.Sizes {
			c, err := o.measure(ctx, dir, size, list, given)
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
func (o *Options) measure(ctx context.Context, dir string, size int64, list []*measured,
	given dictionaries) (c counts, err error) {
	path, err := o.text(ctx, dir, size)
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
		if corpus, err = weigh.PinCorpus(ctx, Corpus(path),
			weigh.Options{Analyzer: an, Threads: o.Threads, Device: o.Device.Which(0)}); err != nil {
			return c, err
		}
		defer func() { err = errors.Join(err, corpus.Free()) }()
	}
	used := given
	for _, m := range list {
		run := m.o
		run.Analyzer, run.Threads, run.Memory = an, o.Threads, o.Memory
		var t Time
		var steps []weigh.Step
		if m.gpu {
			run.Profile = true
			if run.Method == weigh.Dictionary {
				if run.Dict = used.ours; m.published {
					run.Dict = used.published
				}
			}
			t, steps, err = OnGPU(ctx, corpus, run, o.Rounds, func(w *weigh.Weigher) (err error) {
				if m.o.Method == weigh.Auto {
					c, used, err = o.count(ctx, w.Weights(), given)
				}
				return err
			})
			if err == nil && m.published {
				t, steps, err = withCopy(ctx, o.Device, used.published, t, steps)
			}
		} else {
			run.Engine = engine.Multicore
			run.Profile = run.Method == weigh.MapReduce
			t, steps, err = onCPU(ctx, path, run, o.Rounds)
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", m.name, err)
		}
		o.Log("%d MB, %s: %.4g s", size/1e6, m.name, t.Best)
		m.times, m.steps = append(m.times, t), append(m.steps, steps)
	}
	if o.Device == nil {
		w, err := weigh.Weigh(ctx, Corpus(path),
			weigh.Options{Analyzer: an, Engine: engine.Multicore, Threads: o.Threads,
				Memory: o.Memory})
		if err != nil {
			return c, err
		}
		c, _, err = o.count(ctx, w, given)
		return c, errors.Join(err, w.Close())
	}
	return c, nil
}

// dictionaries are PPD's dictionary in our form and in the papers'. They are nil without a device,
// or if they are to be made of the text's words.
type dictionaries struct{ ours, published *dict.File }

// dictionaries makes the dictionaries of DictWords words.
func (o *Options) dictionaries(ctx context.Context) (d dictionaries, err error) {
	if o.Device == nil || o.DictWords <= 0 {
		return d, nil
	}
	from := o.Frequencies
	if from == nil {
		from = Generated(o.DictWords)
	}
	words, err := from.Top(min(o.DictWords, from.Len()))
	if err != nil {
		return d, err
	}
	return dictionariesOf(ctx, words)
}

func dictionariesOf(ctx context.Context, w *dict.Words) (d dictionaries, err error) {
	if d.ours, err = build(ctx, w, dict.XBW); err != nil {
		return d, err
	}
	d.published, err = build(ctx, w, dict.XBWPaper)
	return d, err
}

// count returns the sizes of a corpus, and the given dictionaries. If these are nil and there is a
// device, it builds them of the words. As in the papers, that time is not measured.
func (o *Options) count(ctx context.Context, w *weigh.Weights, given dictionaries) (c counts,
	d dictionaries, err error) {
	c.Words, c.Docs, d = int(w.Tokens()), w.Docs(), given
	words := &dict.Words{}
	left := 0
	known := true
	for x, err := range w.Terms(ctx) {
		if err != nil {
			return c, d, err
		}
		if left == 0 {
			left = x.DF
			if c.Terms++; given.ours == nil {
				if err := words.Add(x.Word); err != nil {
					return c, d, err
				}
			} else if _, known = given.ours.ID(x.Word); !known {
				c.UnknownTerms++
			}
		}
		left -= len(x.Docs)
		c.Pairs += len(x.Docs)
		if !known {
			for _, tf := range x.TFs {
				c.Unknown += int(tf)
			}
		}
	}
	if o.Device != nil && given.ours == nil {
		d, err = dictionariesOf(ctx, words)
	}
	return c, d, err
}

func (o *Options) report(list []*measured, counts []counts) *report.Report {
	texts := "Texts of the papers' law"
	if o.Frequencies != nil {
		texts = fmt.Sprintf("Texts whose words are drawn by the real frequencies of %d words, in documents as long as the papers'", o.Frequencies.Len())
	}
	intro := fmt.Sprintf("%s; words with their weights in every document, from CPU memory to CPU memory, copies included. "+
		"%d threads; best of %s.", texts, o.Threads, report.Count(o.Rounds, "round"))
	if o.Device != nil {
		i := o.Device.Info()
		intro += fmt.Sprintf(" GPU: %s, driver %s; its buffers are allocated and PPD's dictionary is built before", i.Name, i.Driver)
		if o.DictWords > 0 {
			intro += fmt.Sprintf(", of the %d most frequent words; PPD numbers the words that it lacks after these", o.DictWords)
		} else {
			intro += ", of exactly the text's words"
		}
		intro += "."
	}
	intro += " On the CPU the text is read from a file in the page cache."
	r := &report.Report{Name: "weigh", Title: "Term weighting: the papers' figures again", Intro: intro}
	r.Add(o.dataSection(counts))
	r.Add(o.timeSection(list))
	if s := stepSection(list, o.Sizes); len(s.Tables) > 0 {
		r.Add(s)
	}
	return r
}

// papersTexts is the papers' table of texts, by MiB: with words of 4.86 letters, the mean of their
// Table 3, and a blank after each, 100 MiB have as many words as their 100 MB. By MiB: words,
// documents, pairs, distinct words.
var papersTexts = map[int64][4]int{
	100: {17_881_505, 24_411, 11_029_756, 447_663}, 200: {35_767_202, 48_725, 22_074_419, 687_255},
	300: {53_651_412, 73_163, 33_119_396, 882_477}, 400: {71_532_437, 97_683, 44_123_823, 1_051_534},
	500: {89_409_102, 122_178, 55_165_752, 1_203_716},
}

func (o *Options) dataSection(counts []counts) report.Section {
	t := report.Table{Name: "texts", Title: "Texts",
		Header: []string{"MB", "words", "documents", "pairs", "terms", "pairs in the paper",
			"terms in the paper"}}
	given := o.Device != nil && o.DictWords > 0
	if given {
		t.Header = append(t.Header, "terms not in the dictionary", "words not in the dictionary")
	}
	for i, c := range counts {
		row := []string{megabytes(o.Sizes[i]), strconv.Itoa(c.Words), strconv.Itoa(c.Docs),
			strconv.Itoa(c.Pairs), strconv.Itoa(c.Terms), "", ""}
		if p, ok := papersTexts[o.Sizes[i]>>20]; ok && o.Sizes[i]%(1<<20) == 0 {
			row[5], row[6] = strconv.Itoa(p[2]), strconv.Itoa(p[3])
		}
		if given {
			row = append(row, strconv.Itoa(c.UnknownTerms), strconv.Itoa(c.Unknown))
		}
		t.Rows = append(t.Rows, row)
	}
	text := "Words and documents drawn as the papers draw them from ClueWeb09-B, words of lengths as in their Table 3. Their MB are MiB: only so do their numbers of words agree with the mean length there."
	if o.Frequencies != nil {
		text = "Words drawn from the given vocabulary, documents' lengths as the papers draw them."
	}
	return report.Section{Title: "Texts", Text: text, Tables: []report.Table{t}}
}

func megabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'g', 4, 64) }

// timeSection makes figure 5: the time of each method by the size of the text.
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
		"PPD published is as in the papers: their XBW without a cache, one thread per word, copied to the device with the text, which is weighed in one piece; the numbers of words are sorted by merging. The time of copying the dictionary is measured apart and added. " + ppdLacks(o) +
		"The papers' times are not known: of figure 5, a picture, only the ticks of its axis can be read, up to 5 s; " +
		"4.5 s for MRP and 0.9 s for PPD at 500 MB, as quoted elsewhere, are guesses from these. The ratios are in their text. Their machine had 4 cores and a GTX 970."
	return report.Section{Title: "Time of the methods", Text: text,
		Tables: []report.Table{t, o.ratios(list)}, Plots: []report.Plot{p}}
}

// ppdLacks says how PPD as published differs from the papers', if its dictionary lacks words.
func ppdLacks(o *Options) string {
	if o.DictWords == 0 {
		return ""
	}
	return "Words that the dictionary lacks get numbers of their own here, which takes time; in the papers they all have one number. "
}

// ratios makes a table of the speedups that the papers' text gives.
func (o *Options) ratios(list []*measured) report.Table {
	t := report.Table{Name: "ratios", Title: "How many times as fast", Header: []string{"MB"}}
	at := map[string]*measured{}
	for _, m := range list {
		at[m.name] = m
	}
	var pairs [][2]*measured
	for _, p := range []struct{ slow, fast, paper string }{
		{"MRP", "PPD published", "paper: 5.0 to 5.1"}, {"PP", "PPD published", "paper: 3.8 to 4.5"},
		{"MRP", "MRM", "paper: below 1"},
		{"MRP", "PPD", ""}, {"PP", "PPD", ""}, {"MRP", "ours", ""}, {"MRP", "CPU auto", ""},
		// Our method on cores is faster than the papers' baseline, and so the harder comparison.
		{"CPU auto", "PPD published", ""}, {"CPU auto", "ours", ""},
	} {
		if at[p.slow] == nil || at[p.fast] == nil {
			continue
		}
		name := p.fast + " against " + p.slow
		if p.paper != "" {
			name += " (" + p.paper + ")"
		}
		t.Header = append(t.Header, name)
		pairs = append(pairs, [2]*measured{at[p.slow], at[p.fast]})
	}
	for i, size := range o.Sizes {
		row := []string{megabytes(size)}
		for _, p := range pairs {
			row = append(row, fmt.Sprintf("%.2f", p[0].times[i].Best/p[1].times[i].Best))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// stepSection makes figures 6 and 7: times of the steps on the GPU, and of MapReduce on cores.
func stepSection(list []*measured, sizes []int64) report.Section {
	last := len(sizes) - 1
	text := fmt.Sprintf("The papers' figures 6 and 7: the steps of each method at %s MB, and below at all sizes. Steps that run at the same time as others, mostly copies, are marked; "+
		"the times of all others add up to the whole. MRP's shuffle is in its map and reduce, as in the papers.", megabytes(sizes[last]))
	s := report.Section{Title: "Where the time goes", Text: text}
	var bySize []report.Table
	for _, m := range list {
		if len(m.steps[last]) == 0 {
			continue
		}
		t := report.Table{Name: "steps-" + fileName(m.name), Title: m.name,
			Header: []string{"step", "ms", "beside others"}}
		all := report.Table{Name: t.Name + "-by-size", Title: m.name +
			", milliseconds by megabytes of text", Header: []string{"step"}}
		p := report.Plot{Name: t.Name, Title: m.name, X: "megabytes", Y: "milliseconds"}
		for _, size := range sizes {
			all.Header = append(all.Header, megabytes(size))
		}
		for _, x := range m.steps[last] {
			beside := ""
			if x.Beside {
				beside = "yes"
			}
			t.Rows = append(t.Rows, []string{x.Name, fmt.Sprintf("%.3f", x.Time.Seconds()*1e3), beside})
			row, line := []string{x.Name}, report.Series{Name: x.Name}
			for i, size := range sizes {
				k := slices.IndexFunc(m.steps[i],
					func(y weigh.Step) bool { return y.Name == x.Name && y.Beside == x.Beside })
				if k < 0 {
					row = append(row, "")
					continue
				}
				ms := m.steps[i][k].Time.Seconds() * 1e3
				row = append(row, fmt.Sprintf("%.3f", ms))
				line.X, line.Y = append(line.X, float64(size)/1e6), append(line.Y, ms)
			}
			all.Rows = append(all.Rows, row)
			p.Series = append(p.Series, line)
		}
		s.Tables = append(s.Tables, t)
		bySize = append(bySize, all)
		s.Plots = append(s.Plots, p)
	}
	s.Tables = append(s.Tables, bySize...)
	return s
}

// fileName returns a method's name in lower case, without blanks.
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
