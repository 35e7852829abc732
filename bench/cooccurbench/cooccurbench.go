// Package cooccurbench makes Table 1 of the paper on vocabulary and co-occurrence
// again: how long the vocabulary and the matrix of a corpus take with one core,
// with all of them, and with a GPU. The paper's corpus is the 1 Billion Word
// Benchmark, 719 million words of which 2.4 million are distinct; ours is generated
// text of the same numbers.
//
// A time is that of the whole job, from text in the page cache to the vocabulary
// and all rows of the matrix in the host's memory. Nothing is written to disk. The
// device is open before, and its buffers are made, as they are for the second job
// of a program.
package cooccurbench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/text"
)

// Options are what to measure.
type Options struct {
	Tokens    int64 // words of the corpus
	Sample    int64 // words for the sequential engine, whose time is scaled; 0: all
	Windows   []int // words on each side
	Engines   []Engine
	Rounds    int    // how often the faster engines run; the best counts
	Dir       string // where the corpus is made
	Threads   int
	Memory    int64
	GPU       engine.Device
	Weighting cooccur.Weighting
	Stages    bool // say where the GPU's time goes
	Report    func(Row) error
}

// Engine is one way to make the matrix.
type Engine string

const (
	Sequential Engine = "sequential"
	Multicore  Engine = "multicore"
	GPU        Engine = "gpu"
	Paper      Engine = "gpu (paper)"
)

// Row is one measurement.
type Row struct {
	Engine   Engine  `json:"engine"`
	Window   int     `json:"window"`
	Tokens   int64   `json:"tokens"`
	Bytes    int64   `json:"bytes"`
	Distinct int64   `json:"distinct"`
	Entries  int64   `json:"entries"`
	Crossed  int64   `json:"crossed,omitempty"` // bytes of text and of rows that crossed the link to the GPU
	Seconds  float64 `json:"seconds"`           // the best round
	First    float64 `json:"first_seconds"`     // the first one
	Scaled   bool    `json:"scaled,omitempty"`  // measured on a sample, whose size Tokens is; Seconds is for all
	Stages   []Stage `json:"stages,omitempty"`
}

// Stage is a part of a job on the GPU.
type Stage struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Run makes the corpus and measures.
func Run(ctx context.Context, o Options) (rows []Row, err error) {
	var g *cooccur.GPU
	if slices.Contains(o.Engines, GPU) || slices.Contains(o.Engines, Paper) { // before minutes are spent on the corpus
		if g, err = cooccur.OpenGPU(o.GPU); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
	}
	dir, err := os.MkdirTemp(o.Dir, "collocate-bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	whole := filepath.Join(dir, "corpus.txt")
	bytes, err := Generate(ctx, whole, o.Tokens, o.Threads)
	if err != nil {
		return nil, fmt.Errorf("make the corpus: %w", err)
	}
	for _, window := range o.Windows {
		for _, e := range o.Engines {
			m := measurement{Options: o, g: g, path: whole, row: Row{Engine: e, Window: window, Tokens: o.Tokens, Bytes: bytes}}
			if e == Sequential && o.Sample > 0 && o.Sample < o.Tokens {
				m.path = filepath.Join(dir, "sample.txt")
				m.row.Tokens, m.row.Scaled = o.Sample, true
				if m.row.Bytes, err = Generate(ctx, m.path, o.Sample, o.Threads); err != nil {
					return rows, fmt.Errorf("make the sample: %w", err)
				}
			}
			if err := m.measure(ctx); err != nil {
				return rows, fmt.Errorf("%s, window %d: %w", e, window, err)
			}
			rows = append(rows, m.row)
			if o.Report != nil {
				if err := o.Report(m.row); err != nil {
					return rows, err
				}
			}
		}
	}
	return rows, nil
}

// Generate writes sentences of so many words, and returns their size.
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

// measurement is one engine at one window.
type measurement struct {
	Options
	g    *cooccur.GPU
	path string
	row  Row
}

func (m *measurement) measure(ctx context.Context) error {
	rounds := max(m.Rounds, 1)
	if m.row.Engine == Sequential || m.row.Engine == Multicore {
		rounds = 1
	}
	for i := range rounds {
		start := time.Now()
		if err := m.once(ctx, false); err != nil {
			return err
		}
		seconds := time.Since(start).Seconds()
		if i == 0 {
			m.row.First, m.row.Seconds = seconds, seconds
		}
		m.row.Seconds = min(m.row.Seconds, seconds)
	}
	if m.row.Scaled {
		m.row.Seconds *= float64(m.Tokens) / float64(m.row.Tokens)
	}
	if m.Stages && m.g != nil && (m.row.Engine == GPU || m.row.Engine == Paper) {
		return m.once(ctx, true)
	}
	return nil
}

// once makes the vocabulary and the matrix.
func (m *measurement) once(ctx context.Context, stages bool) error {
	corpus := &text.Corpus{Paths: []string{m.path}, Options: text.Options{Format: text.Lines, Threads: m.Threads}}
	vopt := cooccur.VocabularyOptions{Threads: m.Threads, Memory: m.Memory}
	opt := cooccur.Options{Window: m.row.Window, Weighting: m.Weighting, Threads: m.Threads, Memory: m.Memory, GPU: m.GPU}
	begin := func(*cooccur.Vocabulary) (cooccur.Sink, error) { return discard{}, nil }
	var vs cooccur.VocabularyStats
	var stats cooccur.Stats
	var err error
	switch m.row.Engine {
	case Sequential, Multicore:
		opt.Engine = engine.Multicore
		if m.row.Engine == Sequential {
			opt.Engine = engine.Sequential
		}
		vs, stats, err = cooccur.Make(ctx, corpus, vopt, opt, begin)
	default:
		before := m.g.Crossed()
		defer func() { m.row.Crossed = m.g.Crossed() - before }()
		if stages {
			last := time.Now()
			m.g.Trace(func(stage string) {
				now := time.Now()
				m.row.Stages = append(m.row.Stages, Stage{stage, now.Sub(last).Seconds()})
				last = now
			})
			defer m.g.Trace(nil)
		}
		if m.row.Engine == Paper {
			opt.Method = cooccur.Paper
		}
		vs, stats, err = m.g.Make(ctx, corpus, vopt, opt, begin)
	}
	m.row.Distinct, m.row.Entries = vs.Distinct, stats.Entries
	return err
}

// discard is a sink that is content with having seen the rows.
type discard struct{}

func (discard) Rows(*cooccur.Rows) error { return nil }
