package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index/segments"
)

func newShowCmd(a *app) *cobra.Command {
	var ask api.Show
	cmd := &cobra.Command{
		Use:     "show DIR ID...",
		Short:   "Show the stored fields or the text of documents",
		GroupID: groupSearch,
		Long: `Print what the index in DIR stores of the documents with these IDs: their fields, or the text that
'index --store-text' keeps. Several documents are preceded by their IDs. If documents have the same
ID, the first of them is shown, and a note says so.`,
		Example: `  collocate show news.index article-17
  collocate show news.index article-17 --show title,url --json`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := segments.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			for i, id := range args[1:] {
				if len(args) > 2 && !a.json { // several: say which is which
					if i > 0 {
						fmt.Fprintln(a.stdout)
					}
					if _, err := fmt.Fprintf(a.stdout, "== %s ==\n", id); err != nil {
						return err
					}
				}
				ask.ID = id
				if err := a.show(r, &ask); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addFlags(cmd, api.ShowQuestion, &ask)
	a.inBuckets(cmd, false)
	return cmd
}

func (a *app) show(r *segments.Reader, ask *api.Show) error {
	d, err := ask.Do(r)
	switch {
	case err != nil:
		return asFlags(api.ShowQuestion, err)
	case d == nil:
		return fmt.Errorf("no document %q", ask.ID)
	}
	if d.SameID > 1 {
		a.note(fmt.Sprintf("%d documents have the ID %q: this is the first", d.SameID, d.ID))
	}
	switch {
	case a.json:
		return a.printJSON(d)
	case d.Fields != nil:
		for _, f := range d.Lines {
			if f.Name == d.TextField {
				continue // as it is, below
			}
			if _, err := fmt.Fprintf(a.stdout, "%s: %s\n", f.Name, f.Value); err != nil {
				return err
			}
		}
		if d.TextField == "" {
			return nil
		}
		_, err := fmt.Fprintf(a.stdout, "\n%s\n", strings.TrimSuffix(*d.Text, "\n"))
		return err
	case d.Text != nil:
		_, err := fmt.Fprintf(a.stdout, "%s\n", *d.Text)
		return err
	}
	a.summary("document %d, %s: the index stores no text and no fields; build it again with 'collocate index --store-text' or with fields",
		d.Doc, counted(int(d.Length), "word"))
	return nil
}
