package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/weighbench"
	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/textfile"
)

// benchRow is a line of the table of dict bench.
type benchRow struct {
	Kind        string  `json:"kind"`
	Bytes       int64   `json:"bytes"`
	BitsPerKey  float64 `json:"bits_per_key"`
	BuildSecs   float64 `json:"build_seconds,omitempty"`
	FreqNs      float64 `json:"freq_ns_per_word,omitempty"`
	FreqCharNs  float64 `json:"freq_ns_per_char,omitempty"`
	UnifNs      float64 `json:"unif_ns_per_word,omitempty"`
	UnifCharNs  float64 `json:"unif_ns_per_char,omitempty"`
	NotMeasured string  `json:"not_measured,omitempty"`
}

func newDictBenchCmd(a *app) *cobra.Command {
	var lookups int
	var names []string
	var out string
	var generate countFlag
	var lists wordLists
	cmd := &cobra.Command{
		Use:         "bench WORDS...",
		Short:       "Compare the kinds of dictionaries: size and speed",
		Annotations: hasGPU,
		Long: `Build a dictionary of each kind from files with one word per line, and look words up: by
frequency, and all equally often. Frequencies are those of a vocabulary (--vocab), the papers'
law for words that are made up (--generate), or else Zipf's law, short words first. Prints
bytes, bits per word, and nanoseconds per look-up and per character, the best of several rounds.
A table of next nodes (stt) that would not fit --memory is not built; its size is known anyway.

With --engine gpu, words are looked up on the device: the papers' figures of memory, time by length
of the text and time by size of the vocabulary, as a page of tables, or with --out as a folder with plots.`,
		Example: `  collocate dict bench words.txt
  collocate dict bench words.txt --kinds xbw,hash --lookups 100000
  collocate dict bench words.txt --engine gpu --kinds stt,xbw --lookups 100000000 --out figures
  collocate dict bench --generate 10M --engine gpu`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if lookups < 1 {
				return usagef("--lookups %d: want at least 1", lookups)
			}
			if (len(args) > 0) == (generate > 0) {
				return usagef("want files with one word per line, or --generate with a number of words")
			}
			var kinds []dict.Kind
			for _, name := range names {
				k, err := dict.ParseKind(name)
				if err != nil {
					return usageError{err}
				}
				kinds = append(kinds, k)
			}
			var words *dict.Words
			var ranked *weighbench.Ranked
			var err error
			if generate > 0 {
				ranked = weighbench.Generated(int(generate))
				words, err = ranked.Top(ranked.Len())
			} else {
				words, err = lists.read(cmd, a, args)
			}
			if err == nil && lists.vocab {
				ranked, err = frequencies(args)
			}
			if err != nil {
				return err
			}
			if words.Len() == 0 {
				return fmt.Errorf("%s: no words: want one per line", strings.Join(args, ", "))
			}
			if a.engine == engine.GPU {
				if !cmd.Flags().Changed("kinds") {
					kinds = []dict.Kind{dict.STT, dict.XBW, dict.XBWPlain, dict.XBWPaper}
				}
				return a.benchDictsGPU(cmd.Context(),
					weighbench.DictOptions{Words: words, Ranked: ranked, Kinds: kinds,
						Lookups: lookups, Memory: int64(a.memory)}, out)
			}
			if out != "" {
				return usagef("--out needs --engine gpu")
			}
			rows, err := benchDicts(cmd, a, words, ranked, kinds, lookups)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(rows)
			}
			return printBench(a.stdout, words, rows)
		},
	}
	lists.register(cmd)
	cmd.Flags().Var(&generate, "generate",
		"make up this many words, such as 10M, as 'generate text --long-words' does, instead of reading files")
	cmd.Flags().IntVar(&lookups, "lookups", 1000000, "words to look up in a round")
	cmd.Flags().StringVarP(&out, "out", "o", "", "with --engine gpu: folder for the page with CSV files and plots")
	cmd.Flags().StringSliceVar(&names, "kinds", dict.Kinds(), "kinds to compare")
	choices(cmd, map[string][]string{"kinds": dict.Kinds()})
	return cmd
}

// benchRounds is the number of measurements of each dictionary; in a round they take turns.
const benchRounds = 7

// frequencies reads vocabularies, words with their counts.
func frequencies(paths []string) (*weighbench.Ranked, error) {
	var all []datagen.WordCount
	for _, path := range paths {
		if path == "-" {
			return nil, usagef("--vocab -: standard input cannot be read twice, for the counts: name a file")
		}
		f, err := textfile.Open(path)
		if err != nil {
			return nil, err
		}
		list, err := datagen.ReadCounts(f, path)
		f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return weighbench.Counted(all), nil
}

func benchDicts(cmd *cobra.Command, a *app, words *dict.Words, ranked *weighbench.Ranked,
	kinds []dict.Kind, lookups int) ([]benchRow, error) {
	dir, err := os.MkdirTemp("", "collocate-dict-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	rows := make([]benchRow, len(kinds))
	open := make([]*dict.File, len(kinds))
	for i, k := range kinds {
		rows[i].Kind = k.String()
		if k == dict.STT {
			size, err := dict.TableBytes(cmd.Context(), words)
			if err != nil {
				return nil, err
			}
			if size > int64(a.memory) {
				rows[i].Bytes, rows[i].NotMeasured = size, "larger than --memory"
				rows[i].BitsPerKey = float64(8*size) / float64(words.Len())
				continue
			}
		}
		path := filepath.Join(dir, k.String())
		start := time.Now()
		if err := dict.BuildFile(cmd.Context(), words,
			dict.Options{Kind: k, Threads: a.threads, Memory: int64(a.memory)}, path); err != nil {
			return nil, err
		}
		rows[i].BuildSecs = time.Since(start).Seconds()
		d, err := dict.Open(path)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		open[i] = d
		rows[i].Bytes, rows[i].BitsPerKey = d.Stats().Bytes, d.Stats().BitsPerKey
	}
	// The papers decode blocks of the XBW with a table; computing them on the fly is their
	// alternative.
	for i := range len(open) {
		if open[i] == nil {
			continue
		}
		if d, ok := open[i].OnTheFly(); ok {
			row := rows[i]
			row.Kind, row.BuildSecs = row.Kind+" on the fly", 0
			open, rows = append(open, d), append(rows, row)
		}
	}
	freq, unif := weighbench.ByFrequency(words, lookups, 1), weighbench.Uniform(words, lookups, 1)
	if ranked != nil {
		freq, unif = ranked.Draw(ranked.Len(), lookups, 1, true), ranked.Draw(ranked.Len(), lookups, 1, false)
	}
	times := make([]struct{ freq, unif weighbench.Timing }, len(open))
	for range benchRounds {
		for i, d := range open {
			if d == nil {
				continue
			}
			_, err := times[i].freq.Round(cmd.Context(), freq, d)
			if err == nil {
				_, err = times[i].unif.Round(cmd.Context(), unif, d)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	for i := range rows {
		r, f, u := &rows[i], float64(times[i].freq.Total()), float64(times[i].unif.Total())
		r.FreqNs, r.FreqCharNs = f/float64(freq.Len()), f/float64(max(1, freq.Chars()))
		r.UnifNs, r.UnifCharNs = u/float64(unif.Len()), u/float64(max(1, unif.Chars()))
	}
	return rows, nil
}

func printBench(to io.Writer, words *dict.Words, rows []benchRow) error {
	fmt.Fprintf(to, "%d words, %d characters\n\n", words.Len(), words.Bytes())
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kind\tMB\tbits/word\tbuild s\tfrequent ns/word\tns/char\tuniform ns/word\tns/char\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t", r.Kind, float64(r.Bytes)/1e6, r.BitsPerKey)
		if r.NotMeasured != "" {
			fmt.Fprintf(w, "-\t-\t-\t-\t-\t\n")
			continue
		}
		fmt.Fprintf(w, "%.2f\t%.0f\t%.1f\t%.0f\t%.1f\t\n", r.BuildSecs, r.FreqNs, r.FreqCharNs, r.UnifNs, r.UnifCharNs)
	}
	return w.Flush()
}
