package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/words"
)

func newConcordanceCmd(a *app) *cobra.Command {
	var (
		corpus corpusFlags
		opt    words.ConcordanceOptions
		near   contextFlags
		out    string
	)
	cmd := &cobra.Command{
		Use:     "concordance INDEX|CORPUS... QUERY",
		Short:   "Show words in their contexts",
		GroupID: groupWords,
		Long: `Print every occurrence of a word with its context, one per line. A QUERY consists of
  words          whale, which goes through the analyzer; ' and ’ are the same
  wildcards      lip*, *ing, un*able: a star is any letters or none
  expressions    /colou?rs?/: regular expressions (Go's) that whole words match
  phrases        "lipid dro*", "as * as": any of these in double quotes; * alone is any word
and finds the occurrences of each of them. --with keeps the lines whose context matches another
such query, --without those whose context does not.

An INDEX with stored text ('collocate index --store-text') answers at once; a CORPUS is read. In
an index of stems, wildcards and expressions read its text until there are enough lines; with
--sort or --sample, they read all of it. On a terminal the matches are in one column; in a pipe,
lines are document, left, match and right, separated by tabs.`,
		Example: `  collocate concordance papers.index 'membrane*' --sort R1,R2
  collocate concordance war-and-peace.txt '"prince andrew"' --sort L1 --top 20
  collocate concordance war-and-peace.txt '*ly' --with 'said' --without '"prince andrew"' --window 5
  collocate concordance papers.jsonl whale --sample 100 --seed 7 --out whale.csv`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, query := args[:len(args)-1], args[len(args)-1]
			if opt.Top < 1 || opt.Window < 1 || opt.Sample < 0 {
				return usagef("--top and --window: want at least 1; --sample: want 0 (all) or more")
			}
			if err := a.checkTableFile(out); err != nil {
				return err
			}
			opt.Threads, opt.Memory = a.threads, int64(a.memory)
			table := &resultTable{names: []string{"document", "place", "left", "match", "right"}}
			defer table.close()
			wanted := opt
			if out != "" {
				table.dir = cooccur.ScratchDir(out)
				wanted.TempDir = table.dir
				if !cmd.Flags().Changed("top") {
					wanted.Top = mostInFile
				}
			}
			wanted.Each = func(l words.Line) error {
				return table.add(l.Document, l.Place, l.Left, l.Match, l.Right)
			}
			found, err := a.concordance(cmd, &corpus, paths, query, &near, wanted, out)
			if err != nil {
				return err
			}
			if err := table.writeFile(a, out); err != nil {
				return err
			}
			if found.All {
				a.summary("%d of %d lines, from %s", table.n, found.Total,
					counted(found.Documents, "document"))
			} else {
				a.summary("the first %d lines; --top shows more", table.n)
			}
			for _, w := range found.Unknown {
				a.note(w.Error())
			}
			table.most = opt.Top
			if a.json {
				return table.printJSON(a, found, "lines", func(row []any) any { return lineOf(row) })
			}
			return printConcordance(a.stdout, table, terminalWidth())
		},
	}
	corpus.register(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&opt.Sort, "sort", nil,
		"sort by words around the match: L1 is the first to the left, R2 the second to the right, M the match (default: corpus order)")
	f.IntVar(&opt.Window, "window", 10, "words of context on each side")
	f.IntVar(&opt.Top, "top", 50, "number of lines; unless it is given, up to a million in --out")
	f.StringVar(&near.with, "with", "", "only lines that have a match of this `QUERY` in their context")
	f.StringVar(&near.without, "without", "",
		"only lines that have no match of this `QUERY` in their context")
	f.IntVar(&opt.Sample, "sample", 0, "choose this number of lines at random, then sort; 0 means all")
	f.Uint64Var(&opt.Seed, "seed", 1, "seed of the sample")
	a.tableFlags(cmd, &out, "also write")
	return cmd
}

// mostInFile is the default limit of lines in a file: about as many as spreadsheets open.
const mostInFile = 1_000_000

// contextFlags are queries that the context of a line must match or must not match.
type contextFlags struct{ with, without string }

func (a *app) concordance(cmd *cobra.Command, corpus *corpusFlags, paths []string, query string,
	near *contextFlags, opt words.ConcordanceOptions, out string) (*words.Concordance, error) {
	if len(paths) == 1 && isIndex(paths[0]) {
		for _, name := range []string{"format", "analyzer", "fields", "id-field", "encoding"} {
			if cmd.Flags().Changed(name) {
				return nil, usagef("--%s needs a corpus, and %s is an index; leave it out", name, paths[0])
			}
		}
		r, err := segments.Open(paths[0])
		if err != nil {
			return nil, err
		}
		defer r.Close()
		an, err := text.ParseAnalyzer(r.Analyzer())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", paths[0], err)
		}
		q, err := opt.ParseQueries(query, near.with, near.without, an)
		if err != nil {
			return nil, usageError{err}
		}
		found, err := words.ConcordIndex(cmd.Context(), r, q, opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", paths[0], err)
		}
		return found, nil
	}
	an, err := corpus.analyzer()
	if err != nil {
		return nil, err
	}
	q, err := opt.ParseQueries(query, near.with, near.without, an)
	if err != nil {
		return nil, usageError{err}
	}
	corpus.hint(cmd, a, paths)
	return words.Concord(cmd.Context(), corpus.corpus(a, paths, out), q, opt)
}

// lineOf makes a line of a row of the table.
func lineOf(row []any) words.Line {
	return words.Line{Document: row[0].(string), Place: row[1].(int), Left: row[2].(string),
		Match: row[3].(string), Right: row[4].(string)}
}

// isIndex reports whether a path is the folder of an index.
func isIndex(path string) bool {
	_, err := os.Stat(filepath.Join(path, "postings"))
	return err == nil || segments.Living(path)
}

// terminalWidth returns the number of columns if standard output is a terminal, else 0.
func terminalWidth() int {
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		if width, _, err := term.GetSize(fd); err == nil {
			return max(width, 40)
		}
	}
	return 0
}

// printConcordance prints lines with their matches aligned, cut to the width of the terminal. Width
// 0, for no terminal, separates the columns by tabs instead.
func printConcordance(to io.Writer, table *resultTable, width int) error {
	w := bufio.NewWriter(to)
	longest, match := 0, 0
	if width > 0 {
		for row, err := range table.rows() {
			if err != nil {
				return err
			}
			l := lineOf(row)
			longest = max(longest, utf8.RuneCountInString(l.Document))
			match = max(match, utf8.RuneCountInString(l.Match))
		}
	}
	longest, match = min(longest, width/5), min(match, width/3)
	side := max(5, (width-longest-match-4)/2)
	for row, err := range table.rows() {
		if err != nil {
			return err
		}
		l := lineOf(row)
		if width == 0 {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Document, l.Left, l.Match, l.Right)
			continue
		}
		matched := cutRight(l.Match, match)
		fmt.Fprintf(w, "%s  %*s %s%s%s %s\n", pad(cutRight(l.Document, longest), longest),
			side, cutLeft(l.Left, side),
			boldOn, matched, boldOff, cutRight(l.Right, side+match-utf8.RuneCountInString(matched)))
	}
	return w.Flush()
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// cutLeft keeps the end of a text, cutRight its beginning.
func cutLeft(s string, width int) string {
	for n := utf8.RuneCountInString(s) - width; n > 0; n-- {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	return s
}

func cutRight(s string, width int) string {
	n := 0
	for i := range s {
		if n == width {
			return s[:i]
		}
		n++
	}
	return s
}
