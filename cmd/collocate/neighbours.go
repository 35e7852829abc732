package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cooccur"
)

func newNeighboursCmd(a *app) *cobra.Command {
	var (
		by       cooccur.Measure
		top      int
		minValue float64
	)
	cmd := &cobra.Command{
		Use:     "neighbours FILE WORD...",
		Aliases: []string{"neighbors"},
		Short:   "Show the company that words keep",
		GroupID: groupWords,
		Long: `Print the strongest neighbours of each word from a .cooc file that 'collocate
cooccur' wrote: with the value m of their cell, and by a measure of association.
With r and c the sums of row and column, n of the matrix, and e = rc/n:
  value  m
  pmi    pointwise mutual information, log2(m/e)
  npmi   the same between -1 and 1: pmi / -log2(m/n)
  ll     Dunning's log-likelihood ratio, below 0 where m < e
  dice   2m/(r+c)
  ppmi   pmi where it is positive, else 0`,
		Example: `  collocate neighbours corpus.cooc cat dog
  collocate neighbours corpus.cooc whale --by npmi --min-value 5 --top 20`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if top < 1 {
				return usagef("--top %d: want at least 1", top)
			}
			list, err := neighboursOf(args[0], args[1:], top, by, minValue)
			if list == nil {
				return err
			}
			if a.json {
				return errors.Join(a.printJSON(list), err)
			}
			return errors.Join(printNeighbours(a.stdout, list, by), err)
		},
	}
	cmd.Flags().Var(&by, "by", "order: value, pmi, npmi, ll, dice or ppmi")
	cmd.Flags().IntVar(&top, "top", 10, "number of neighbours")
	choices(cmd, map[string][]string{"by": {"value", "pmi", "npmi", "ll", "dice", "ppmi"}})
	cmd.Flags().Float64Var(&minValue, "min-value", 0, "leave out neighbours with a smaller value")
	return cmd
}

// company is a word with its neighbours.
type company struct {
	Word       string              `json:"word"`
	Count      uint64              `json:"count"`
	Neighbours []cooccur.Neighbour `json:"neighbours"`
}

// neighboursOf finds the company of those words that are known, and an error that names the others.
func neighboursOf(path string, words []string, top int, by cooccur.Measure, minValue float64) ([]company, error) {
	r, err := cooccur.Open(path)
	if err != nil {
		return nil, wanting(err, "a .cooc file that 'collocate cooccur' wrote")
	}
	defer r.Close()
	list := []company{}
	var unknown []error
	for _, word := range words {
		id, ok := r.Lookup(word)
		if !ok {
			unknown = append(unknown, fmt.Errorf("%s: the word %q is not in the vocabulary", path, word))
			continue
		}
		near, err := r.Neighbours(id, top, by, minValue)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if near == nil {
			near = []cooccur.Neighbour{} // in JSON an empty list
		}
		list = append(list, company{word, r.Count(id), near})
	}
	return list, errors.Join(unknown...)
}

func printNeighbours(out io.Writer, list []company, by cooccur.Measure) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, c := range list {
		if by == cooccur.ByValue {
			fmt.Fprintf(w, "%s\tvalue\n", c.Word)
		} else {
			fmt.Fprintf(w, "%s\tvalue\t%v\n", c.Word, by)
		}
		for _, n := range c.Neighbours {
			fmt.Fprintf(w, "  %s\t%.6g", n.Word, n.Value)
			if by != cooccur.ByValue {
				fmt.Fprintf(w, "\t%.6g", n.Score)
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}
