// Package cooccurbench repeats Table 1 of the paper on vocabulary and co-occurrence: the times of
// the vocabulary and the matrix of a corpus on one core, on all cores, and on a GPU. The paper's
// corpus is the 1 Billion Word Benchmark, 719 million words of which 2.4 million are distinct; ours
// is generated text with the same numbers.
//
// A time is that of the whole job, from text in the page cache to the vocabulary and all rows of
// the matrix in the host's memory. Nothing is written to disk, as in the paper's row "Vocabulário +
// Matriz". With Options.Write the job is also measured with the vocabulary and the matrix written
// to files, as in its row "Total (+I/O)". The device is opened and its buffers are allocated
// before, as for the second job of a program. GloVe's programs vocab_count and cooccur, if
// installed, run as processes of their own; their output is discarded or goes to files.
package cooccurbench

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/text"
)

// Options say what to measure.
type Options struct {
	Tokens  int64 // number of words of the corpus
	Sample  int64 // number of words for slow engines, whose times are scaled; 0 means all
	Windows []int // words on each side
	Engines []Engine
	Rounds  int // runs of each engine; the paper has 10
	// Enough, if not 0, ends the rounds of an engine once they took so long together.
	Enough    time.Duration
	Write     bool // also measure with files
	Tables    cooccur.PaperTables
	Dir       string // for the generated corpus
	Threads   int
	Memory    int64
	Device    engine.Device
	Weighting cooccur.Weighting
	Stages    bool // also measure the stages on the GPU
	Report    func(Row) error
	// Kept returns a row of an earlier run or measures it; without it every row is measured.
	Kept func(e Engine, window int, measure func() (Row, error)) (Row, error)
}

// Engine is an implementation that is measured.
type Engine string

const (
	Sequential Engine = "sequential"
	Multicore  Engine = "multicore"
	GPU        Engine = "gpu"
	Paper      Engine = "gpu (paper)"
	PaperCores Engine = "multicore (paper)" // Algorithm 3
	GloVe      Engine = "glove"             // Stanford's programs
)

// FindGloVe returns the paths of GloVe's two programs.
func FindGloVe() (vocabCount, cooccurProgram string, err error) {
	if vocabCount, err = exec.LookPath("vocab_count"); err == nil {
		cooccurProgram, err = exec.LookPath("cooccur")
	}
	return vocabCount, cooccurProgram, err
}

// Row is one measurement.
type Row struct {
	Engine   Engine  `json:"engine"`
	Window   int     `json:"window"`
	Tokens   int64   `json:"tokens"`
	Bytes    int64   `json:"bytes"`
	Distinct int64   `json:"distinct"`
	Entries  int64   `json:"entries"`
	Crossed  int64   `json:"crossed,omitempty"` // bytes of text and of rows that crossed the link to the GPU
	Seconds  float64 `json:"seconds"`           // of the fastest round
	First    float64 `json:"first_seconds"`     // of the first round
	Mean     float64 `json:"mean_seconds"`
	SD       float64 `json:"sd_seconds"` // standard deviation, 0 for a single round
	Rounds   int     `json:"rounds"`
	Written  float64 `json:"written_mean_seconds,omitempty"` // mean with files
	WriteSD  float64 `json:"written_sd_seconds,omitempty"`
	// WrittenRounds are the rounds with files.
	WrittenRounds int     `json:"written_rounds,omitempty"`
	Streams       int     `json:"streams,omitempty"`
	Scaled        bool    `json:"scaled,omitempty"` // measured on a sample of Tokens words; times are scaled to the corpus
	Stages        []Stage `json:"stages,omitempty"`
}

// Stage is a part of a job on the GPU.
type Stage struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Run generates the texts and measures.
func Run(ctx context.Context, o Options) (rows []Row, err error) {
	var g *cooccur.GPU
	// Open the GPU first: generating the corpus takes minutes.
	if slices.Contains(o.Engines, GPU) || slices.Contains(o.Engines, Paper) {
		if g, err = cooccur.OpenGPU(o.Device); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
	}
	if slices.Contains(o.Engines, GloVe) {
		if _, _, err := FindGloVe(); err != nil {
			return nil, fmt.Errorf("GloVe's programs vocab_count and cooccur must be on the PATH: %w", err)
		}
	}
	dir, err := os.MkdirTemp(o.Dir, "collocate-bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, window := range o.Windows {
		for _, e := range o.Engines {
			m := measurement{Options: o, g: g, dir: dir, row: Row{Engine: e, Window: window, Tokens: o.Tokens}}
			if (e == Sequential || e == PaperCores || e == GloVe) && o.Sample > 0 && o.Sample < o.Tokens {
				m.row.Tokens, m.row.Scaled = o.Sample, true
			}
			row, err := o.kept(e, window, func() (Row, error) {
				err := m.generate(ctx)
				if err == nil {
					err = m.measure(ctx)
				}
				return m.row, err
			})
			if err != nil {
				return rows, fmt.Errorf("%s, window %d: %w", e, window, err)
			}
			rows = append(rows, row)
			if o.Report != nil {
				if err := o.Report(row); err != nil {
					return rows, err
				}
			}
		}
	}
	return rows, nil
}

func (o *Options) kept(e Engine, window int, measure func() (Row, error)) (Row, error) {
	if o.Kept == nil {
		return measure()
	}
	return o.Kept(e, window, measure)
}

// Generate writes sentences of the given number of words, and returns their size.
func Generate(ctx context.Context, path string, tokens int64, threads int) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = datagen.Text(ctx, w, datagen.TextOptions{Tokens: tokens, Lines: true, Seed: 1, Threads: threads})
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// measurement measures one engine with one window.
type measurement struct {
	Options
	g    *cooccur.GPU
	dir  string
	path string
	row  Row
}

// generate makes the text of the measurement, unless another one made it.
func (m *measurement) generate(ctx context.Context) (err error) {
	m.path = filepath.Join(m.dir, fmt.Sprintf("%d.txt", m.row.Tokens))
	if info, err := os.Stat(m.path); err == nil {
		m.row.Bytes = info.Size()
		return nil
	}
	if m.row.Bytes, err = Generate(ctx, m.path, m.row.Tokens, m.Threads); err != nil {
		return fmt.Errorf("generate the text: %w", err)
	}
	return nil
}

func (m *measurement) measure(ctx context.Context) error {
	rounds := max(m.Rounds, 1)
	scale := 1.0
	if m.row.Scaled {
		scale = float64(m.Tokens) / float64(m.row.Tokens)
	}
	onDevice := m.g != nil && (m.row.Engine == GPU || m.row.Engine == Paper)
	if onDevice { // a round that does not count, since it may load kernels and allocate buffers
		if err := m.once(ctx, false, false); err != nil {
			return err
		}
	}
	all, err := m.rounds(ctx, rounds, false)
	if err != nil {
		return err
	}
	m.row.Rounds, m.row.First, m.row.Seconds = len(all), scale*all[0], scale*slices.Min(all)
	m.row.Mean, m.row.SD = meanAndSD(all, scale)
	if m.Write {
		if all, err = m.rounds(ctx, rounds, true); err != nil {
			return err
		}
		m.row.WrittenRounds = len(all)
		m.row.Written, m.row.WriteSD = meanAndSD(all, scale)
	}
	switch m.row.Engine {
	case Paper:
		m.row.Streams = cmp.Or(m.Tables.Streams, 2)
	case GPU:
		m.row.Streams = 2 // for copies
	}
	if m.Stages && onDevice {
		return m.once(ctx, true, false)
	}
	return nil
}

func (m *measurement) rounds(ctx context.Context, n int, write bool) (all []float64, err error) {
	begin := time.Now()
	for range n {
		start := time.Now()
		if err := m.once(ctx, false, write); err != nil {
			return nil, err
		}
		all = append(all, time.Since(start).Seconds())
		if m.Enough > 0 && time.Since(begin) > m.Enough {
			break
		}
	}
	return all, nil
}

// meanAndSD returns the mean and the sample standard deviation, times a scale.
func meanAndSD(all []float64, scale float64) (mean, sd float64) {
	for _, x := range all {
		mean += x / float64(len(all))
	}
	for _, x := range all {
		sd += (x - mean) * (x - mean)
	}
	if len(all) > 1 {
		sd = math.Sqrt(sd / float64(len(all)-1))
	}
	return scale * mean, scale * sd
}

// once runs the job: the vocabulary and the matrix.
func (m *measurement) once(ctx context.Context, stages, write bool) error {
	if m.row.Engine == GloVe {
		return m.glove(ctx, write)
	}
	corpus := &text.Corpus{Paths: []string{m.path}, Options: text.Options{Format: text.Lines, Threads: m.Threads}}
	vopt := cooccur.VocabularyOptions{Threads: m.Threads, Memory: m.Memory}
	opt := cooccur.Options{Window: m.row.Window, Weighting: m.Weighting, Threads: m.Threads,
		Memory: m.Memory, Device: m.Device}
	begin := func(*cooccur.Vocabulary) (cooccur.Sink, error) { return discard{}, nil }
	var file *cooccur.File
	if write {
		begin = func(v *cooccur.Vocabulary) (_ cooccur.Sink, err error) {
			err = atomicfile.WriteFile(filepath.Join(m.dir, "vocab.txt"),
				func(f *atomicfile.File) error { _, err := v.WriteTo(f); return err })
			if err == nil {
				file, err = cooccur.Create(filepath.Join(m.dir, "cooccurrence.bin"), cooccur.GloVe, v, opt)
			}
			return file, err
		}
		defer func() {
			if file != nil {
				file.Abort()
			}
		}()
	}
	var vs cooccur.VocabularyStats
	var stats cooccur.Stats
	var err error
	switch m.row.Engine {
	case Sequential, Multicore, PaperCores:
		opt.Engine = engine.Multicore
		if m.row.Engine == PaperCores {
			opt.Method = cooccur.Paper
		}
		if m.row.Engine == Sequential {
			opt.Engine = engine.Sequential
		}
		vs, stats, err = cooccur.Make(ctx, corpus, vopt, opt, begin)
	default:
		before := m.g.Crossed()
		defer func() { m.row.Crossed = m.g.Crossed() - before }()
		if m.row.Engine == Paper {
			opt.Method, opt.Tables = cooccur.Paper, m.Tables
		}
		job := func() (err error) {
			vs, stats, err = m.g.Make(ctx, corpus, vopt, opt, begin)
			return err
		}
		if !stages {
			err = job()
			break
		}
		err = m.g.Trace(job, func(stage string, took time.Duration) {
			m.row.Stages = append(m.row.Stages, Stage{stage, took.Seconds()})
		})
	}
	m.row.Distinct, m.row.Entries = vs.Distinct, stats.Entries
	if err == nil && file != nil {
		err = file.Commit()
	}
	return err
}

// discard is a sink that ignores the rows.
type discard struct{}

func (discard) Rows(*cooccur.Rows) error { return nil }
