package weighbench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu"
)

// DictOptions say which dictionaries to measure on a device.
type DictOptions struct {
	Words   *dict.Words // words of unknown frequency; short ones count as frequent
	Ranked  *Ranked     // replaces Words: a vocabulary by frequency
	Kinds   []dict.Kind
	Lookups int // number of words of the longest text
	Memory  int64
	Log     func(format string, args ...any)
}

// RunDict repeats the papers' figures 8 to 12 on a device: memory, time by length of the text, and
// time by size of the vocabulary, for words drawn by frequency and uniformly.
func RunDict(ctx context.Context, dev *gpu.Device, o DictOptions) (*report.Report, error) {
	if o.Ranked == nil && o.Words != nil {
		o.Ranked = shortFirst(o.Words)
	}
	if o.Ranked == nil || o.Ranked.Len() == 0 || o.Lookups < 1 || len(o.Kinds) == 0 {
		return nil, errors.New("benchmark of dictionaries: want words, look-ups and kinds")
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	b := dictBench{DictOptions: o, dev: dev, series: make([]dictSeries, len(o.Kinds))}
	sizes := steps(o.Ranked.Len(), 100, 4)
	for i, n := range sizes {
		w, err := o.Ranked.Top(n)
		if err != nil {
			return nil, err
		}
		frequent, uniform := o.Ranked.Draw(n, o.Lookups, 1, true), o.Ranked.Draw(n, o.Lookups, 1, false)
		b.lengthsOf(n, frequent, uniform)
		// Figure 9 has 100,000 and 10 million words: the largest size and a hundredth of it.
		byLength := i == len(sizes)-1 || i == max(0, len(sizes)-3)
		texts := []*dict.Text{frequent, uniform, byWordLength(frequent), byWordLength(uniform)}
		for ki, k := range o.Kinds {
			if err := b.kind(ctx, w, k, texts, &b.series[ki], byLength, i == len(sizes)-1); err != nil {
				return nil, err
			}
		}
	}
	return b.report(), nil
}

// dictBench collects the measurements.
type dictBench struct {
	DictOptions
	dev     *gpu.Device
	series  []dictSeries // by kind
	lengths []report.Series
	lines   [][]string
	words   [][]string // Table 3
	blocks  [][]string
}

// kind measures one kind of dictionary with the given words.
func (b *dictBench) kind(ctx context.Context, w *dict.Words, k dict.Kind, texts []*dict.Text,
	s *dictSeries, byLength, last bool) (err error) {
	d, err := b.build(ctx, w, k, s)
	if err != nil || d == nil {
		return err
	}
	g, err := d.OpenGPU(b.dev.Which(0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if err := b.bySize(ctx, g, k, w.Len(), texts, s); err != nil {
		return err
	}
	if last {
		if err := b.byBlocks(ctx, g, k, w.Len(), texts[0]); err != nil {
			return err
		}
	}
	if !byLength {
		return nil
	}
	return b.byLength(ctx, g, k, w.Len(), texts[0])
}

// As in the papers, all combinations of threads per block and blocks per multiprocessor are tried.
var (
	threadsEach = []int{64, 128, 256, 512, 1024}
	blocksEach  = []int{1, 2, 4, 8, 16}
)

// byBlocks measures the papers' look-ups by threads and blocks, and by the method of decoding
// blocks of bits.
func (b *dictBench) byBlocks(ctx context.Context, g *dict.GPU, k dict.Kind, n int, text *dict.Text) error {
	decoders := []string{"table", "on the fly"}
	switch k {
	case dict.STT:
		decoders = []string{""}
	case dict.XBWPaper:
	default:
		return nil
	}
	for _, decoder := range decoders {
		for _, threads := range threadsEach {
			var launches []dict.Launch
			for _, blocks := range blocksEach {
				launches = append(launches,
					dict.Launch{Threads: threads, Blocks: blocks, Compute: decoder == "on the fly"})
			}
			times, err := g.TimeLaunches(ctx, text, b.Lookups, launches)
			if err != nil {
				return err
			}
			row := []string{k.String(), strconv.Itoa(n), decoder, strconv.Itoa(threads)}
			for _, t := range times {
				row = append(row, ms(t))
			}
			b.blocks = append(b.blocks, row)
		}
	}
	return nil
}

// papersLengths are the means and variances of the papers' Table 3, by frequency and uniform. The
// sizes of its vocabularies cannot be read.
var papersLengths = [4][4]string{
	{"4.55", "6.34", "6.66", "6.42"}, {"4.78", "6.91", "7.12", "7.04"},
	{"4.84", "7.09", "7.84", "8.32"}, {"4.86", "7.24", "9.44", "17.2"},
}

// lengthsOf adds a line of Table 3.
func (b *dictBench) lengthsOf(n int, frequent, uniform *dict.Text) {
	row := []string{strconv.Itoa(n)}
	paper := []string{"", "", "", ""}
	if i := len(b.words); i < len(papersLengths) {
		paper = papersLengths[i][:]
	}
	for i, t := range []*dict.Text{frequent, uniform} {
		mean, variance := wordLengths(t)
		row = append(row, fmt.Sprintf("%.2f", mean), paper[2*i], fmt.Sprintf("%.2f", variance), paper[2*i+1])
	}
	b.words = append(b.words, row)
}

// build builds a dictionary. An STT whose table exceeds Memory is not built: only its size is
// recorded.
func (b *dictBench) build(ctx context.Context, w *dict.Words, k dict.Kind, s *dictSeries) (*dict.File, error) {
	if k == dict.STT {
		need, err := dict.TableBytes(ctx, w)
		if err != nil {
			return nil, err
		}
		if need > b.Memory {
			s.memory.add(float64(w.Len()), float64(need)/1e6)
			s.rows = append(s.rows, []string{k.String(), strconv.Itoa(w.Len()), inMB(need),
				"more than --memory", "", "", "", "", "", "", "", "", "", ""})
			return nil, nil
		}
	}
	return build(ctx, w, k)
}

// bySize measures texts drawn by frequency and uniformly.
func (b *dictBench) bySize(ctx context.Context, g *dict.GPU, k dict.Kind, n int, texts []*dict.Text,
	s *dictSeries) error {
	row := []string{k.String(), strconv.Itoa(n)}
	frequent, uniform := texts[0], texts[1]
	for _, c := range []struct {
		text *dict.Text
		name string
		time *points
	}{{frequent, "frequent", &s.frequent}, {uniform, "uniform", &s.uniform}} {
		l, err := g.Time(ctx, c.text, b.Lookups)
		if err != nil {
			return err
		}
		if c.text == frequent {
			row = append(row, inMB(g.Bytes()), inMB(l.Total))
			s.memory.add(float64(n), float64(g.Bytes())/1e6)
			s.total.add(float64(n), float64(l.Total)/1e6)
		}
		ns := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(max(1, c.text.Chars())) }
		row = append(row, ms(l.Plain), ms(l.Cached), fmt.Sprintf("%.4f", ns(l.Plain)),
			fmt.Sprintf("%.4f", ns(l.Cached)))
		c.time.add(float64(n), ns(l.Plain))
		b.Log("%v of %d words, %s: %.3f ms, with cache %.3f ms", k, n, c.name, inMS(l.Plain), inMS(l.Cached))
	}
	for _, t := range texts[2:] {
		l, err := g.Time(ctx, t, b.Lookups)
		if err != nil {
			return err
		}
		row = append(row, ms(l.Plain))
	}
	s.rows = append(s.rows, row)
	return nil
}

// byLength measures one to four quarters of the text.
func (b *dictBench) byLength(ctx context.Context, g *dict.GPU, k dict.Kind, n int, text *dict.Text) error {
	line := report.Series{Name: fmt.Sprintf("%v, %d words", k, n)}
	for quarters := 1; quarters <= 4; quarters++ {
		m := max(1, b.Lookups*quarters/4)
		l, err := g.Time(ctx, text, m)
		if err != nil {
			return err
		}
		line.X, line.Y = append(line.X, float64(m)), append(line.Y, inMS(l.Plain))
		b.lines = append(b.lines, []string{k.String(), strconv.Itoa(n), strconv.Itoa(m), ms(l.Plain), ms(l.Cached)})
	}
	b.lengths = append(b.lengths, line)
	return nil
}

func (b *dictBench) report() *report.Report {
	memory := report.Plot{Name: "memory", Title: "Dictionary on the device",
		X: "words in the vocabulary", Y: "megabytes", LogX: true, LogY: true}
	total := report.Plot{Name: "total-memory", Title: "Memory in all", X: memory.X, Y: memory.Y, LogX: true}
	frequent := report.Plot{Name: "frequent", Title: "Words by frequency", X: memory.X,
		Y: "nanoseconds per character", LogX: true}
	uniform := report.Plot{Name: "uniform", Title: "Words equally often", X: memory.X,
		Y: "nanoseconds per character", LogX: true}
	length := report.Plot{Name: "by-length", Title: "Time by length of the text", X: "words",
		Y: "milliseconds", Series: b.lengths}
	byWords := report.Table{Name: "by-vocabulary",
		Title: fmt.Sprintf("Look-ups of %d words, by words in the vocabulary", b.Lookups),
		Header: []string{"kind", "vocabulary", "MB", "MB in all", "frequent ms", "with cache ms",
			"ns/char", "with cache ns/char", "uniform ms", "with cache ms", "ns/char",
			"with cache ns/char", "frequent by length ms", "uniform by length ms"}}
	byLength := report.Table{Name: "by-length",
		Title:  "Look-ups of frequent words, by length of the text",
		Header: []string{"kind", "vocabulary", "words", "ms", "with cache ms"}, Rows: b.lines}
	for ki, k := range b.Kinds {
		s := &b.series[ki]
		byWords.Rows = append(byWords.Rows, s.rows...)
		memory.Series = append(memory.Series, s.memory.named(k))
		if len(s.total.x) > 0 {
			total.Series = append(total.Series, s.total.named(k))
			frequent.Series = append(frequent.Series, s.frequent.named(k))
			uniform.Series = append(uniform.Series, s.uniform.named(k))
		}
	}
	i := b.dev.Info()
	r := &report.Report{Name: "dict", Title: "Dictionaries on the GPU: the papers' figures again",
		Intro: fmt.Sprintf("Look-ups of words in device memory on %s, driver %s; best of 4. With cache, the time includes looking up one word in 32 first to fill it.", i.Name, i.Driver)}
	r.Add(report.Section{Title: "Memory",
		Text:   "Figures 8 and 10: memory of the dictionary, and of the dictionary with the text.",
		Tables: []report.Table{byWords}, Plots: []report.Plot{memory, total}})
	r.Add(report.Section{Title: "Time by length of the text", Text: "Figure 9, without the cache.",
		Tables: []report.Table{byLength}, Plots: []report.Plot{length}})
	r.Add(report.Section{Title: "Time by size of the vocabulary", Plots: []report.Plot{frequent, uniform},
		Text: "Figures 11 and 12, without the cache. For the columns by length of the table above, words were sorted by length before, which the time does not include; the paper leaves this to future work."})
	words := report.Table{Name: "lengths", Title: "Length of words in a text", Rows: b.words,
		Header: []string{"words", "mean by frequency", "paper", "variance", "paper",
			"mean equally often", "paper", "variance", "paper"}}
	blocks := report.Table{Name: "blocks",
		Title: "Milliseconds for frequent words as the papers look them up, by threads in a block and blocks on a multiprocessor", Rows: b.blocks,
		Header: []string{"kind", "vocabulary", "decoded by", "threads"}}
	for _, n := range blocksEach {
		blocks.Header = append(blocks.Header, strconv.Itoa(n)+" blocks")
	}
	r.Add(report.Section{Title: "Texts and blocks", Tables: []report.Table{words, blocks},
		Text: "Table 3: its sizes of vocabularies are not known, so its four columns are compared with ours in order. The papers show the best of several numbers of threads and blocks, of a kernel in which thread i of N looks up the words i, i+N and so on: the last table has such a kernel. The papers decode blocks of bits by a table of 64 KB, whose offsets they keep in shared memory; here the table itself is there, too. On the fly is the other method they name. Everything else on this page is measured with 512 threads in a block and as many blocks as run at a time."})
	return r
}

// dictSeries has the lines of plots and the rows of tables of one kind.
type dictSeries struct {
	memory, total, frequent, uniform points
	rows                             [][]string
}

type points struct{ x, y []float64 }

func (p *points) add(x, y float64) { p.x, p.y = append(p.x, x), append(p.y, y) }

func (p *points) named(k dict.Kind) report.Series {
	return report.Series{Name: k.String(), X: p.x, Y: p.y}
}

func inMB(bytes int64) string { return fmt.Sprintf("%.2f", float64(bytes)/1e6) }

func inMS(d time.Duration) float64 { return d.Seconds() * 1e3 }

func ms(d time.Duration) string { return fmt.Sprintf("%.3f", inMS(d)) }

// steps returns up to most sizes, each ten times the one before; the last is n, and none is below
// least.
func steps(n, least, most int) (list []int) {
	for ; len(list) < most && (n >= least || len(list) == 0); n /= 10 {
		list = append([]int{n}, list...)
	}
	return list
}
