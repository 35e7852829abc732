package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/weigh"
)

// newCheckCmd makes the verb check for one kind of file. The function check reads the whole file
// and returns a summary of its contents.
func newCheckCmd(a *app, use, about, example string,
	check func(ctx context.Context, path string) (string, error)) *cobra.Command {
	return &cobra.Command{
		Use:     use,
		Short:   "Read all of a file and verify it",
		Long:    about,
		Example: "  " + example,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := check(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"file": args[0], "ok": true})
			}
			a.summary("%s: no errors: %s", args[0], content)
			return nil
		},
	}
}

func newDictCheckCmd(a *app) *cobra.Command {
	about := "Verify every checksum of a dictionary, and look up every word by its number and back."
	return newCheckCmd(a, "check FILE", about, "collocate dict check words.dict",
		func(ctx context.Context, path string) (string, error) {
			d, err := openDict(path)
			if err != nil {
				return "", err
			}
			defer d.Close()
			return counted(d.Len(), "word"), inFile(path, d.Check(ctx))
		})
}

func newCooccurCheckCmd(a *app) *cobra.Command {
	about := "Verify every checksum of a .cooc file, its words, its rows and their sums."
	return newCheckCmd(a, "check FILE", about, "collocate cooccur check news.cooc",
		func(ctx context.Context, path string) (string, error) {
			r, err := cooccur.Open(path)
			if err != nil {
				return "", wanting(err, "a .cooc file that 'collocate cooccur' wrote")
			}
			defer r.Close()
			return counted(r.Len(), "word") + ", " + counted(int64(r.Entries()), "cell"), inFile(path, r.Check(ctx))
		})
}

func newWeighCheckCmd(a *app) *cobra.Command {
	about := "Verify every checksum of a .weights file, the order of its terms and documents, and every weight."
	return newCheckCmd(a, "check FILE", about, "collocate weigh check news.weights",
		func(ctx context.Context, path string) (string, error) {
			f, err := weigh.OpenFile(path)
			if err != nil {
				return "", wanting(err, "a .weights file that 'collocate weigh' wrote")
			}
			defer f.Close()
			return counted(len(f.Lengths), "document") + ", " + counted(f.Len(), "term"), inFile(path, f.Check(ctx))
		})
}

// inFile adds the file's name to an error.
func inFile(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}
