package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/words"
)

func newNeighboursCmd(a *app) *cobra.Command {
	var measures measureFlags
	cmd := &cobra.Command{
		Use:     "neighbours MATRIX WORD...",
		Aliases: []string{"neighbors"},
		Short:   "Show the company that words keep",
		GroupID: groupWords,
		Long: `Print the words that are most strongly associated with each word, from a .cooc file
that 'collocate cooccur' wrote. A word goes through the analyzer that made the matrix.

` + measureHelp + `

'collocate collocations CORPUS --of WORD' also tells in how many documents a pair is.`,
		Example: `  collocate neighbours corpus.cooc cat dog
  collocate neighbours corpus.cooc whale --by npmi,g2 --min-count 5 --top 20`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := measures.options(a)
			if err != nil {
				return err
			}
			list, err := neighboursOf(args[0], args[1:], opt)
			if list == nil {
				return err
			}
			return errors.Join(a.printNeighbours(list, &measures), err)
		},
	}
	measures.register(cmd, 10, 0)
	cmd.Flags().Float64Var(&measures.opt.MinCount, "min-value", 0, "another name of --min-count")
	return cmd
}

// company is a word with its neighbours.
type company struct {
	Word       string           `json:"word"`
	Count      uint64           `json:"count"`
	Neighbours []map[string]any `json:"neighbours"`

	list *words.Associations
}

// neighboursOf finds the company of those words that are known, and an error that names the others.
func neighboursOf(path string, wanted []string, opt words.Options) ([]company, error) {
	r, err := cooccur.Open(path)
	if err != nil {
		return nil, wanting(err, "a .cooc file that 'collocate cooccur' wrote")
	}
	defer r.Close()
	list := []company{}
	var unknown []error
	for _, word := range wanted {
		id, err := words.Find(r, word)
		if _, ok := errors.AsType[*words.UnknownWord](err); ok {
			unknown = append(unknown, fmt.Errorf("%s: %w", path, err))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		near, err := words.Neighbours(r, id, opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		c := company{Word: string(r.Word(id)), Count: r.Count(id), list: near}
		c.Neighbours = associationTable(near, opt.P).objects()
		for i, n := range c.Neighbours {
			n["id"], n["word"] = near.Pairs[i].ID2, n["word2"]
			delete(n, "word1")
			delete(n, "word2")
			delete(n, "f1")
		}
		list = append(list, c)
	}
	return list, errors.Join(unknown...)
}

func (a *app) printNeighbours(list []company, f *measureFlags) error {
	all := &words.Associations{Measures: f.opt.By}
	for _, c := range list {
		all.Pairs = append(all.Pairs, c.list.Pairs...)
	}
	if err := associationTable(all, f.opt.P).writeFile(a, f.out); err != nil {
		return err
	}
	if f.network != "" {
		if err := a.writeNetwork(f.network, all.Pairs); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(list)
	}
	return printCompany(a.stdout, list, f.opt.P)
}

func printCompany(out io.Writer, list []company, p bool) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, c := range list {
		t := associationTable(c.list, p)
		fmt.Fprint(w, c.Word)
		for i, name := range t.names[2:] {
			if i != 1 { // f1 is the same for all
				fmt.Fprintf(w, "\t%s", name)
			}
		}
		fmt.Fprintln(w)
		for _, row := range t.rows {
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
