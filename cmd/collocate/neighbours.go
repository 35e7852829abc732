package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/words"
)

func newNeighboursCmd(a *app) *cobra.Command {
	var (
		ask   api.NeighboursOf
		files pairFlags
	)
	cmd := &cobra.Command{
		Use:     "neighbours MATRIX WORD...",
		Aliases: []string{"neighbors"},
		Short:   "Show the words most strongly associated with a word",
		GroupID: groupWords,
		Long: `Print the words that are most strongly associated with each given word, from a .cooc file
written by 'collocate cooccur'. A word goes through the analyzer that made the matrix.

More:
` + measureHelp + `

A matrix does not say which documents have a pair. --corpus names the corpus that it was made
from, which is then read once more: DOCS is the number of documents that have the pair, and
DPNORM tells how evenly it is distributed over them. 'collocate collocations CORPUS --of WORD'
does the same without a matrix.`,
		Example: `  collocate neighbours counts.cooc cat dog
  collocate neighbours counts.cooc whale --by npmi,g2 --min-count 5 --top 20
  collocate neighbours papers.cooc membrane --corpus papers.jsonl --group '^[^.]+'`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := cooccur.Open(args[0])
			if err != nil {
				return wanting(err, "a .cooc file that 'collocate cooccur' wrote")
			}
			defer r.Close()
			env := a.env()
			env.Matrix = r
			if err := a.besideMatrix(cmd, env, &ask.Files, ask.Corpus); err != nil {
				return err
			}
			all := ask
			all.Words = args[1:]
			if err := files.check(a, cmd, env, &all.Top); err != nil {
				return err
			}
			list, err := all.Do(cmd.Context(), env)
			if list == nil {
				return asFlags(api.NeighboursQuestion, inMatrix(args[0], env, err))
			}
			return errors.Join(a.printNeighbours(list, &ask, &files), inMatrix(args[0], env, err))
		},
	}
	addFlags(cmd, api.NeighboursQuestion, &ask)
	files.register(a, cmd)
	return cmd
}

func (a *app) printNeighbours(list []api.Company, ask *api.NeighboursOf, f *pairFlags) error {
	all := &words.Associations{Measures: ask.By}
	for _, c := range list {
		all.Pairs = append(all.Pairs, c.List.Pairs...)
	}
	table, err := associationTable(all, ask.P)
	if err != nil {
		return err
	}
	defer table.close()
	if err := table.writeFile(a, f.out); err != nil {
		return err
	}
	var top []words.Association
	for i := range list {
		near := list[i].List
		near.Pairs = near.Pairs[:min(len(near.Pairs), ask.Top)]
		top = append(top, near.Pairs...)
	}
	if f.network != "" {
		if err := a.writeNetwork(f.network, top); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(api.Companies{Words: list})
	}
	return printCompany(a.stdout, list, ask.P)
}

func printCompany(out io.Writer, list []api.Company, p bool) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, c := range list {
		t, err := associationTable(c.List, p)
		if err != nil {
			return err
		}
		defer t.close()
		fmt.Fprint(w, c.Word.Word)
		for i, name := range t.names[2:] {
			if i != 1 { // column f1 would be the same in all rows
				fmt.Fprintf(w, "\t%s", name)
			}
		}
		fmt.Fprintln(w)
		for row, err := range t.rows() {
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "  %s", row[1])
			for i, cell := range row[2:] {
				if i != 1 {
					fmt.Fprintf(w, "\t%s", short(cell))
				}
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}
