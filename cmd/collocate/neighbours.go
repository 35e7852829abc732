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
		measures measureFlags
		read     corpusFlags
		spread   spreadFlags
	)
	cmd := &cobra.Command{
		Use:     "neighbours MATRIX WORD...",
		Aliases: []string{"neighbors"},
		Short:   "Show the words most strongly associated with a word",
		GroupID: groupWords,
		Long: `Print the words that are most strongly associated with each given word, from a .cooc file
written by 'collocate cooccur'. A word goes through the analyzer that made the matrix.

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
			opt, err := measures.options(a, cmd)
			if err != nil {
				return err
			}
			for _, name := range readingFlagNames {
				if cmd.Flags().Changed(name) && len(spread.paths) == 0 {
					return usagef("--%s needs --corpus", name)
				}
			}
			list, err := neighboursOf(args[0], args[1:], opt, func(r *cooccur.Reader, p []words.Association) error {
				return spread.fill(cmd.Context(), a, read, r, p)
			})
			if list == nil {
				return err
			}
			return errors.Join(a.printNeighbours(list, &measures), err)
		},
	}
	measures.register(a, cmd, 10, 0)
	addFlags(cmd, api.FilesQuestion, &read.Files)
	spread.register(cmd)
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

// readingFlagNames are the flags for reading the corpus of a matrix.
var readingFlagNames = []string{"format", "fields", "id-field", "encoding", "max-document", "skip-bad",
	"parts", "group"}

// neighboursOf returns the neighbours of the words that are in the matrix, and an error that names
// the other words. spread sets the document counts of pairs.
func neighboursOf(path string, wanted []string, opt words.Options,
	spread func(*cooccur.Reader, []words.Association) error) ([]company, error) {
	r, err := cooccur.Open(path)
	if err != nil {
		return nil, wanting(err, "a .cooc file that 'collocate cooccur' wrote")
	}
	defer r.Close()
	list := []company{}
	var unknown []error
	found := map[int]*words.Associations{} // by word, so that a repeated word is looked up once
	var distinct []*words.Associations
	var pairs []words.Association // of all words, so that spread reads the corpus once
	for _, word := range wanted {
		id, err := words.Find(r, word)
		if _, ok := errors.AsType[*words.UnknownWord](err); ok {
			unknown = append(unknown, fmt.Errorf("%s: %w", path, err))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		near := found[id]
		if near == nil {
			if near, err = words.Neighbours(r, id, opt); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			found[id] = near
			distinct = append(distinct, near)
			pairs = append(pairs, near.Pairs...)
		}
		list = append(list, company{Word: string(r.Word(id)), Count: r.Count(id), list: near})
	}
	if err := spread(r, pairs); err != nil {
		return nil, err
	}
	for _, near := range distinct {
		n := len(near.Pairs)
		near.Pairs, pairs = pairs[:n:n], pairs[n:]
	}
	for i := range list {
		c := &list[i]
		near := c.list
		table, err := associationTable(near, opt.P)
		if err != nil {
			return nil, err
		}
		c.Neighbours, err = table.objects()
		table.close()
		if err != nil {
			return nil, err
		}
		for i, n := range c.Neighbours {
			n["id"], n["word"] = near.Pairs[i].ID2, n["word2"]
			delete(n, "word1")
			delete(n, "word2")
			delete(n, "f1")
		}
	}
	return list, errors.Join(unknown...)
}

func (a *app) printNeighbours(list []company, f *measureFlags) error {
	all := &words.Associations{Measures: f.opt.By}
	for _, c := range list {
		all.Pairs = append(all.Pairs, c.list.Pairs...)
	}
	table, err := associationTable(all, f.opt.P)
	if err != nil {
		return err
	}
	defer table.close()
	if err := table.writeFile(a, f.out); err != nil {
		return err
	}
	var top []words.Association
	for i := range list {
		c := &list[i]
		n := min(len(c.list.Pairs), f.opt.Top)
		c.Neighbours, c.list.Pairs = c.Neighbours[:n], c.list.Pairs[:n]
		top = append(top, c.list.Pairs...)
	}
	if f.network != "" {
		if err := a.writeNetwork(f.network, top); err != nil {
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
		t, err := associationTable(c.list, p)
		if err != nil {
			return err
		}
		defer t.close()
		fmt.Fprint(w, c.Word)
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
