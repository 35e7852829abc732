package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
)

func newShowCmd(a *app) *cobra.Command {
	var show []string
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
				if err := a.show(r, id, show); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&show, "show", nil, "fields to show (default all that are stored)")
	return cmd
}

// shownJSON is a document for --json.
type shownJSON struct {
	ID     string         `json:"id"`
	Doc    int            `json:"doc"`
	Length uint32         `json:"length"`
	Text   *string        `json:"text,omitempty"`
	Fields map[string]any `json:"fields,omitempty"`
}

func (a *app) show(r *segments.Reader, id string, names []string) error {
	doc, found, err := r.FindDoc(id)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("no document %q", id)
	}
	if n, err := r.CountID(id); err != nil {
		return err
	} else if n > 1 {
		a.note(fmt.Sprintf("%d documents have the ID %q: this is the first", n, id))
	}
	length, err := r.Length(doc)
	if err != nil {
		return err
	}
	out := shownJSON{ID: id, Doc: doc, Length: length}
	s := r.Schema()
	stored := s != nil && s.Has(fields.IsStored)
	switch {
	case stored || len(names) > 0:
		return a.showFields(r, names, &out)
	case r.HasText():
		text, err := r.Text(doc)
		if err != nil {
			return err
		}
		if !a.json {
			_, err := fmt.Fprintf(a.stdout, "%s\n", text)
			return err
		}
		body := string(text)
		out.Text = &body
	case !a.json:
		a.summary("document %d, %s: the index stores no text and no fields; build it again with 'collocate index --store-text' or with fields",
			doc, counted(int(out.Length), "word"))
		return nil
	}
	return a.printJSON(out)
}

func (a *app) showFields(r *segments.Reader, names []string, out *shownJSON) error {
	s := r.Schema()
	show, err := s.Shown(names)
	if err != nil {
		return fmt.Errorf("--show: %w", err)
	}
	values, err := r.Stored(out.Doc)
	if err != nil {
		return err
	}
	out.Fields = map[string]any{}
	for _, i := range show {
		f := &s.Fields[i]
		if len(values[i]) == 0 {
			continue
		}
		if !a.json {
			if _, err := fmt.Fprintf(a.stdout, "%s: %s\n", f.Name, f.Line(values[i])); err != nil {
				return err
			}
		}
		out.Fields[f.Name] = f.JSON(values[i])
	}
	if a.json {
		return a.printJSON(out)
	}
	return nil
}
