package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/atomicfile"
)

func newIndexCheckCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check DIR",
		Short: "Read all of an index and verify it",
		Long: `Verify every checksum of an index and everything that its format promises: the order
of words and documents, counts, bounds, IDs, stored text.`,
		Example: `  collocate index check news.index`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := index.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			o := index.CheckOptions{Threads: a.threads, Progress: a.progress("checking")}
			if err := r.Check(cmd.Context(), o); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"index": args[0], "ok": true})
			}
			a.summary("%s: all is well: %d documents, %d words, %d postings", args[0], r.Docs(), r.Terms(), r.Postings())
			return nil
		},
	}
}

func newIndexStatsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "stats DIR",
		Short:   "Describe an index: what is in it, how large its parts are",
		Example: `  collocate index stats news.index --json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := index.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			s := r.Stats()
			if a.json {
				return a.printJSON(s)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintf(w, "analyzer\t%s\n", s.Analyzer)
			fmt.Fprintf(w, "documents\t%d\n", s.Documents)
			fmt.Fprintf(w, "words\t%d\n", s.Terms)
			fmt.Fprintf(w, "postings\t%d\n", s.Postings)
			fmt.Fprintf(w, "tokens\t%d\n", s.Tokens)
			fmt.Fprintf(w, "mean length\t%.2f\n", s.MeanLength)
			fmt.Fprintf(w, "bytes\t%d\n", s.Bytes)
			fmt.Fprintf(w, "bytes per posting\t%.3f\n", s.BytesPerPosting)
			fmt.Fprintf(w, "\nsize by part\tbytes\tshare\n")
			for _, p := range s.Parts {
				fmt.Fprintf(w, "%s\t%d\t%.1f%%\n", p.Name, p.Bytes, 100*float64(p.Bytes)/float64(s.Bytes))
			}
			return w.Flush()
		},
	}
}

func newIndexExportCmd(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "export DIR --ciff FILE",
		Short: "Write an index as a CIFF file for Anserini, PISA, Terrier and others",
		Long: `Write an index in the Common Index File Format. It holds words, postings, document
IDs and lengths, but no stored text.`,
		Example: `  collocate index export news.index --ciff news.ciff`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return usagef("--ciff is missing: the file to write, or - for standard output")
			}
			r, err := index.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			if file == "-" {
				return r.Export(cmd.Context(), a.stdout)
			}
			err = atomicfile.WriteFile(file, func(f *atomicfile.File) error { return r.Export(cmd.Context(), f) })
			if err != nil {
				return err
			}
			a.summary("%d words, %d documents in %s", r.Terms(), r.Docs(), file)
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "ciff", "", "file to write")
	return cmd
}

func newIndexImportCmd(a *app) *cobra.Command {
	var out, analyzer string
	cmd := &cobra.Command{
		Use:   "import FILE --out DIR",
		Short: "Make an index from a CIFF file",
		Long: `Make an index from a file in the Common Index File Format, plain or compressed with
gzip or zstd. CIFF does not say how text became words: name the analyzer that treats queries the same way.`,
		Example: `  collocate index import robust04.ciff.gz --analyzer english --out robust.index`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out is missing: the folder for the index")
			}
			if analyzer != "" {
				if _, err := (&corpusFlags{analyzerName: analyzer}).analyzer(); err != nil {
					return err
				}
			}
			o := index.ImportOptions{Analyzer: analyzer, Progress: a.progress("importing")}
			if err := index.Import(cmd.Context(), args[0], out, o); err != nil {
				return err
			}
			return a.indexMade(out)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "folder for the index")
	f.StringVar(&analyzer, "analyzer", "", "what makes words of queries (default whitespace, or what an export of ours says)")
	return cmd
}

// indexMade tells about a new index.
func (a *app) indexMade(dir string) error {
	r, err := index.Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	if a.json {
		return a.printJSON(r.Stats())
	}
	a.summary("%d documents, %d words, %d postings in %s", r.Docs(), r.Terms(), r.Postings(), dir)
	return nil
}
