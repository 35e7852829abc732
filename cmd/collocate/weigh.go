package main

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/weigh"
)

// weighFlags are the flags of weigh.
type weighFlags struct {
	corpusFlags
	out, index, outFormat, method, variant, dict, unknown string
	k1, b                                                 float64
	profile, repeat                                       bool
}

func newWeighCmd(a *app) *cobra.Command {
	var w weighFlags
	cmd := &cobra.Command{
		Use:         "weigh CORPUS... --out FILE",
		Short:       "Compute the BM25 weight of every word in every document",
		GroupID:     groupSearch,
		Annotations: hasGPU,
		Long: `Compute the BM25 weight of every word in every document that contains it, sorted by word, then
document. The name of FILE says the format: .tsv (- for standard output), .parquet, .npz (a
SciPy CSR matrix, words by documents) or .weights (our own).

All methods give the same weights to the bit:
  sequential  the definition, with maps, on one core
  mapreduce   the papers': pairs of words and documents, combined in hash tables
  primitives  the papers': eight data-parallel steps, words compared as strings
  dictionary  the same steps with numbers instead of words, from a dictionary made first
  invert      our own: tables and sorted runs that are merged, as indexes are built. The fastest
              and, on CPU cores, the only one within --memory
  auto        the same as invert (default)
With --engine gpu there are all but sequential, in chunks that fit --gpu-memory, and --profile
prints the time of each step on the device. --engine auto uses a GPU, if there is one, for
corpora large enough to make up for opening it. With --more-devices, several GPUs share the
documents.

With --dict, words that are not in the dictionary are added, dropped, or merged into one, the
empty word. They always count in the lengths of documents, so the weights of other words do not
change.`,
		Example: `  collocate weigh news.jsonl.zst --out news.parquet
  collocate weigh papers/ --analyzer english --k1 0.9 --b 0.4 --out weights.npz
  collocate weigh news.txt --method primitives --out-format none
  collocate weigh news.txt --engine gpu --method dictionary --profile --out-format none
  collocate weigh news.txt --index news.index`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.index != "" {
				return w.runIndex(cmd, a, args)
			}
			return w.run(cmd, a, args)
		},
	}
	w.register(cmd)
	a.registerSharing(cmd, "the documents")
	f := cmd.Flags()
	f.StringVarP(&w.out, "out", "o", "", "file for the weights, - for standard output")
	f.StringVar(&w.index, "index", "", "write an index to this folder instead: its weights are computed at query time")
	f.StringVar(&w.outFormat, "out-format", "auto",
		"format of the weights: "+strings.Join(weigh.Formats(), ", ")+"; none only counts")
	f.StringVar(&w.method, "method", "auto", "how weights are computed, see above: "+strings.Join(weigh.Methods(), ", "))
	f.Float64Var(&w.k1, "k1", 1.2, "term-frequency saturation (k1)")
	f.Float64Var(&w.b, "b", 0.75, "length normalisation, 0 to 1 (b)")
	f.StringVar(&w.variant, "variant", "papers", "formula: "+strings.Join(bm25.Variants(), ", "))
	f.StringVar(&w.dict, "dict", "", "dictionary that says which words are known")
	f.BoolVar(&w.profile, "profile", false, "with --engine gpu: print the time of each step")
	f.StringVar(&w.unknown, "unknown", "add", "treatment of words that are not in --dict: add, merge or drop")
	f.BoolVar(&w.repeat, "allow-duplicate-ids", false, "accept documents that have the same ID")
	choices(cmd, map[string][]string{
		"out-format": weigh.Formats(), "method": weigh.Methods(), "variant": bm25.Variants(),
		"unknown": {"add", "merge", "drop"},
	})
	a.registerStats(cmd)
	group(cmd, "Engine", "profile")
	group(cmd, "Vocabulary", "dict", "unknown")
	group(cmd, "The papers' algorithms", "method")
	cmd.AddCommand(newWeighCheckCmd(a))
	return cmd
}

// options returns the options of the flags. The caller must call closeDict when done.
func (w *weighFlags) options(a *app) (o weigh.Options, closeDict func() error, err error) {
	usage := func(e error) {
		if err == nil && e != nil {
			err = usageError{e}
		}
	}
	o = weigh.Options{Threads: a.threads, Memory: int64(a.memory)}
	closeDict = func() error { return nil }
	o.Analyzer, err = w.analyzer()
	var e error
	o.Method, e = weigh.ParseMethod(w.method)
	usage(e)
	o.Unknown, e = weigh.ParseUnknown(w.unknown)
	usage(e)
	o.Params.K1, o.Params.B = bm25.Explicit(w.k1), bm25.Explicit(w.b)
	o.Params.Variant, e = weightVariant(w.variant)
	usage(e)
	usage(o.Params.Check())
	if a.engine == engine.Sequential {
		if o.Method != weigh.Auto && o.Method != weigh.Sequential {
			usage(fmt.Errorf("--method %s has no sequential engine; leave out --engine sequential", w.method))
		}
		o.Method = weigh.Sequential
	}
	o.Engine, o.Device, o.Also = a.engine, a.gpu, a.alsoGPUs()
	if a.engine == engine.GPU {
		o.Profile = w.profile
		if o.Method == weigh.Sequential {
			usage(errors.New("--method sequential has no GPU engine; use --engine sequential"))
		}
	} else if w.profile {
		usage(errors.New("--profile needs --engine gpu"))
	}
	if w.dict == "" && o.Unknown != weigh.Add {
		usage(fmt.Errorf("--unknown %s needs --dict", w.unknown))
	}
	if w.dict != "" && err == nil {
		var d *dict.File
		if d, err = openDict(w.dict); err == nil {
			o.Dict, closeDict = d, d.Close
		}
	}
	return o, closeDict, err
}

// weightVariant returns the variant of that name, or an error if weights do not support it.
func weightVariant(name string) (bm25.Variant, error) {
	v, err := bm25.ParseVariant(name)
	if err == nil && v.OnlySearches() {
		return v, usagef("--variant %s is only for searching: want %s", name,
			strings.Join(bm25.Variants(), ", "))
	}
	if err != nil {
		return v, usagef("unknown BM25 variant %q: want %s", name, strings.Join(bm25.Variants(), ", "))
	}
	return v, nil
}

// format returns the output format: --out-format, or the ending of --out.
func (w *weighFlags) format() (weigh.Format, error) {
	f, err := weigh.ParseFormat(w.outFormat)
	if err != nil {
		return f, usageError{err}
	}
	switch {
	case w.out == "" && f != weigh.None:
		return f, usagef("--out is missing: the file for the weights, or - for standard output")
	case w.out == "-" && f == weigh.FormatAuto:
		return weigh.TSV, nil
	case f == weigh.FormatAuto:
		if f, err = weigh.FormatOf(w.out); err != nil {
			return f, usageError{err}
		}
	}
	return f, nil
}

// weighSummary is what --json prints.
type weighSummary struct {
	Method     string  `json:"method"`
	Documents  int     `json:"documents"`
	Words      int64   `json:"words"`
	Terms      int64   `json:"terms"`
	Pairs      int64   `json:"pairs"`
	MeanLength float64 `json:"mean_length"`
	TextBytes  int64   `json:"text_bytes"`
	Seconds    float64 `json:"seconds"`
	MBPerSec   float64 `json:"mb_per_second"`

	Steps  []weigh.Step `json:"steps,omitempty"`
	Energy *energyUse   `json:"energy,omitempty"`
}

func (w *weighFlags) run(cmd *cobra.Command, a *app, args []string) error {
	format, err := w.format()
	if err != nil {
		return err
	}
	o, closeDict, err := w.options(a)
	if err != nil {
		return err
	}
	defer closeDict()
	if w.out == "-" {
		if err := a.rawOutput("weights have a format of their own; with --out FILE, --json prints a summary"); err != nil {
			return err
		}
	}
	if format != weigh.None {
		if err := canWrite(w.out); err != nil {
			return err
		}
	}
	measured := a.meter(a.stats)
	w.hint(cmd, a, args)
	start := time.Now()
	weights, err := weigh.Weigh(cmd.Context(), w.corpus(a, args, w.out), o)
	if err != nil {
		return err
	}
	defer weights.Close()
	if !w.repeat && format != weigh.None {
		if err := uniqueIDs(weights); err != nil {
			return err
		}
	}
	a.log.Info("weighed", "method", weights.Method(), "engine", weights.Engine())
	var counts weigh.Counts
	if w.out == "-" {
		counts, err = weights.Write(cmd.Context(), a.stdout, format, a.threads)
	} else {
		counts, err = weights.WriteFile(cmd.Context(), w.out, format, a.threads)
	}
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	s := weighSummary{
		Method: weights.Method().String(), Documents: weights.Docs(), Words: weights.Tokens(),
		Terms: counts.Terms, Pairs: counts.Pairs, TextBytes: weights.TextBytes(), Seconds: seconds,
		MeanLength: float64(weights.Tokens()) / float64(max(1, weights.Docs())),
		MBPerSec:   float64(weights.TextBytes()) / 1e6 / seconds,
		Steps:      weights.Steps(),
		Energy:     measured(weights.Tokens(), perWords),
	}
	if a.json {
		return a.printJSON(s)
	}
	a.summary("%s, %s, %s, mean length %.1f, %.3g s, %.3g MB/s (%s)",
		counted(s.Documents, "document"), counted(s.Terms, "term"), counted(s.Pairs, "pair"),
		s.MeanLength, s.Seconds, s.MBPerSec, s.Method)
	a.printEnergy(s.Energy)
	return printSteps(a, s.Steps)
}

// uniqueIDs returns an error, as index does, if two documents have the same ID. It names the first
// such document.
func uniqueIDs(weights *weigh.Weights) error {
	type hashed struct {
		hash uint64
		doc  int
	}
	seed := maphash.MakeSeed()
	ids := make([]hashed, weights.Docs())
	for i := range ids {
		ids[i] = hashed{maphash.String(seed, weights.ID(i)), i}
	}
	slices.SortFunc(ids, func(a, b hashed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), a.doc-b.doc) })
	var found *index.DuplicateIDError
	for i := 1; i < len(ids); i++ {
		first, second := ids[i-1], ids[i]
		if first.hash != second.hash || found != nil && second.doc >= found.Second {
			continue
		}
		if id := weights.ID(first.doc); id == weights.ID(second.doc) {
			found = &index.DuplicateIDError{ID: id, First: first.doc, Second: second.doc}
		}
	}
	if found != nil {
		return found
	}
	return nil
}

// printSteps prints the time of each step on the device.
func printSteps(a *app, steps []weigh.Step) error {
	for _, s := range steps {
		note := ""
		if s.Beside {
			note = "  beside other steps"
		}
		if _, err := fmt.Fprintf(a.stderr, "  %-22s %10.3f ms%s\n", s.Name, s.Time.Seconds()*1e3, note); err != nil {
			return err
		}
	}
	return nil
}

// runIndex writes an index instead of weights. It counts words in the same way.
func (w *weighFlags) runIndex(cmd *cobra.Command, a *app, args []string) error {
	for _, name := range []string{"out", "out-format", "method", "k1", "b", "variant", "dict", "unknown", "profile"} {
		if cmd.Flags().Changed(name) {
			return usagef("--index and --%s: give only one of them; an index stores counts, from which searches compute weights", name)
		}
	}
	an, err := w.analyzer()
	if err != nil {
		return err
	}
	measured := a.meter(a.stats)
	w.hint(cmd, a, args)
	err = index.Build(cmd.Context(), w.index, w.corpus(a, args, w.index), index.BuildOptions{
		Analyzer: an, Threads: a.threads, Memory: int64(a.memory), Progress: a.progress("writing"),
		Engine: a.engine, Device: a.gpu, Also: a.alsoGPUs(), AllowDuplicateIDs: w.repeat,
	})
	if err != nil {
		return err
	}
	return a.indexBuilt(w.index, measured)
}
