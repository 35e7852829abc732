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

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/words"
)

func newConcordanceCmd(a *app) *cobra.Command {
	var (
		ask api.Concordance
		out string
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
such query, --without those whose context does not. The context ends with the field of the match.

An INDEX with stored text ('collocate index --store-text') answers at once; a CORPUS is read. In
an index of stems, wildcards and expressions read its text until there are enough lines; with
--sort, --sample or --count, they read all of it. --from 50 goes on after the first 50. On a terminal
the matches are in one column; in a pipe, lines are document, left, match and right, separated by
tabs.`,
		Example: `  collocate concordance papers.index 'membrane*' --sort R1,R2
  collocate concordance war-and-peace.txt '"prince andrew"' --sort L1 --top 20
  collocate concordance war-and-peace.txt '*ly' --with 'said' --without '"prince andrew"' --window 5
  collocate concordance papers.jsonl whale --sample 100 --seed 7 --out whale.csv`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths := args[:len(args)-1]
			ask.Query = args[len(args)-1]
			if err := a.checkTableFile(out); err != nil {
				return err
			}
			table := &resultTable{names: []string{"document", "place", "left", "match", "right"}}
			defer table.close()
			env, done, err := a.wordsIn(cmd, &ask.Reading, paths, out)
			if err != nil {
				return err
			}
			defer done()
			table.dir = env.TempDir
			all := ask
			if out != "" && !cmd.Flags().Changed("top") {
				all.Top = mostInFile
			}
			found, err := all.Do(cmd.Context(), env, func(l words.Line) error {
				return table.add(l.Document, l.Place, l.Left, l.Match, l.Right)
			})
			if err != nil {
				return asFlags(api.ConcordanceQuestion, err)
			}
			if err := table.writeFile(a, out); err != nil {
				return err
			}
			table.most = ask.Top
			if found.All {
				a.summary("%d of %d lines, from %s", table.n, found.Total,
					counted(found.Documents, "document"))
			} else {
				a.summary("the first %d lines; --top shows more", table.n)
			}
			if a.json {
				return table.printJSON(a, found, "lines", func(row []any) any { return lineOf(row) })
			}
			return printConcordance(a.stdout, table, terminalWidth())
		},
	}
	addFlags(cmd, api.ConcordanceQuestion, &ask)
	a.tableFlags(cmd, &out, "also write")
	return cmd
}

// mostInFile is the default limit of lines in a file: about as many as spreadsheets open.
const mostInFile = 1_000_000

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
