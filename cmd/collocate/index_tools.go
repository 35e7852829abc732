package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/csr"
	"github.com/collocate/collocate/index/segments"
)

func newIndexCheckCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Read all of an index and verify it",
		Long: `Verify every checksum of an index and everything that its format promises: the order
of words and documents, counts, bounds, IDs, stored text.`,
		Example: `  collocate index check news.index`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := segments.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			o := index.CheckOptions{Threads: a.threads, Progress: a.progress("checking")}
			if err := r.Check(cmd.Context(), o); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"index": a.shown(args[0]), "ok": true})
			}
			a.summary("%s: no errors: %s, %s, %s", a.shown(args[0]), counted(r.Docs(), "document"),
				counted(r.Terms(), "word"), counted(r.Postings(), "posting"))
			return nil
		},
	}
	a.inBuckets(cmd, false)
	return cmd
}

func newIndexStatsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats DIR",
		Short:   "Describe an index: what is in it, how large its parts are",
		Example: `  collocate index stats news.index --json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := segments.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			s := r.Stats()
			if a.json {
				return a.printJSON(s)
			}
			return printIndexStats(a.stdout, s)
		},
	}
	a.inBuckets(cmd, false)
	return cmd
}

// printIndexStats prints a table of labels and right-aligned numbers.
func printIndexStats(out io.Writer, s index.Stats) error {
	w := bufio.NewWriter(out)
	row := func(name, number, share string) {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-20s%15s%8s", name, number, share), " "))
	}
	row("analyzer", s.Analyzer, "")
	row("documents", fmt.Sprint(s.Documents), "")
	if p := s.Shard; p != nil {
		row("shard", fmt.Sprintf("%d of %d", p.Number, p.Of), "")
		row("first document", fmt.Sprint(p.FirstDocument), "")
		row("documents in all", fmt.Sprint(p.WholeDocuments), "")
	}
	if s.Generation > 0 {
		row("of these deleted", fmt.Sprint(s.Deleted), "")
		row("segments", fmt.Sprint(s.Segments), "")
		row("generation", fmt.Sprint(s.Generation), "")
	}
	if s.Root != nil && s.Root.Folder != "" {
		fmt.Fprintf(w, "%-20s%s\n", "IDs relative to", s.Root.Folder)
	}
	row("distinct words", fmt.Sprint(s.Terms), "")
	row("postings", fmt.Sprint(s.Postings), "")
	if s.FullPostings > 0 {
		row("pruned from", fmt.Sprint(s.FullPostings),
			fmt.Sprintf("%.1f%%", 100*float64(s.Postings)/float64(s.FullPostings)))
	}
	row("tokens", fmt.Sprint(s.Tokens), "")
	row("mean document length", fmt.Sprintf("%.2f", s.MeanLength), "")
	row("bytes per posting", fmt.Sprintf("%.3f", s.BytesPerPosting), "")
	fmt.Fprintln(w)
	row("part", "bytes", "share")
	for _, p := range s.Parts {
		row(p.Name, fmt.Sprint(p.Bytes), fmt.Sprintf("%.1f%%", 100*float64(p.Bytes)/float64(s.Bytes)))
	}
	row("total", fmt.Sprint(s.Bytes), "100.0%")
	return w.Flush()
}

func newIndexExportCmd(a *app) *cobra.Command {
	var file, matrix, field string
	cmd := &cobra.Command{
		Use:   "export DIR --ciff FILE | --npz FILE",
		Short: "Write an index as a CIFF file for Anserini, PISA, Terrier and others, or for SciPy",
		Long: `Write an index in the Common Index File Format. It holds words, postings, document
IDs and lengths, but no stored text. A name that ends with .gz or .zst compresses it.

With --npz the file is a SciPy CSR matrix of documents by words, for scipy.sparse.load_npz: how often
a document has a word, or the weight of a token. Its arrays terms and ids have the names of columns
and rows, one after the other, and term_ends and id_ends say where each ends. --field takes the words
or weighted tokens of one field.`,
		Example: `  collocate index export news.index --ciff news.ciff.gz
  collocate index export both.index --npz tokens.npz --field v`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case matrix != "" && file != "":
				return usagef("--ciff and --npz: give only one of them")
			case matrix != "":
				return a.exportNPZ(cmd.Context(), args[0], matrix, field)
			case field != "":
				return usagef("--field needs --npz")
			case file == "":
				return usagef("--ciff is missing: the file to write, or - for standard output")
			}
			if file == "-" {
				if err := a.rawOutput("CIFF is a format of its own; with --ciff FILE, --json prints a summary"); err != nil {
					return err
				}
			}
			switch ext := filepath.Ext(file); ext {
			case ".bz2", ".xz", ".zip", ".lz4":
				return usagef("--ciff %s: want the name of a plain file, or of one compressed as .gz or .zst", file)
			}
			if err := canWrite(file); err != nil {
				return err
			}
			beside := file
			if file == "-" {
				beside = ""
			}
			r, done, err := a.openWhole(cmd.Context(), args[0], beside)
			if err != nil {
				return err
			}
			defer done()
			if file == "-" {
				return r.Export(cmd.Context(), a.stdout)
			}
			if err := api.ExportCIFF(cmd.Context(), r, file); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"file": file, "terms": r.Terms(), "documents": r.Docs()})
			}
			a.summary("%s, %s in %s", counted(r.Terms(), "word"), counted(r.Docs(), "document"), file)
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "ciff", "", "file to write, - for standard output")
	cmd.Flags().StringVar(&matrix, "npz", "", "file to write as a SciPy CSR matrix of documents by words")
	cmd.Flags().StringVar(&field, "field", "", "with --npz: the words or weighted tokens of this field")
	return cmd
}

// exportNPZ writes an index as a matrix for SciPy.
func (a *app) exportNPZ(ctx context.Context, dir, file, field string) error {
	if file == "-" {
		return usagef("--npz -: want the name of a file")
	}
	if err := canWrite(file); err != nil {
		return err
	}
	r, done, err := a.openWhole(ctx, dir, file)
	if err != nil {
		return err
	}
	defer done()
	columns, cells, err := api.ExportNPZ(ctx, r, file,
		csr.Options{Field: field, Memory: int64(a.memory / 2)})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"file": file, "documents": r.Docs(), "terms": columns, "entries": cells})
	}
	a.summary("%s by %s, %s in %s", counted(r.Docs(), "document"), counted(columns, "word"),
		counted(cells, "cell"), file)
	return nil
}

func newIndexImportCmd(a *app) *cobra.Command {
	var out, analyzer string
	var repeat bool
	cmd := &cobra.Command{
		Use:   "import FILE --out DIR",
		Short: "Make an index from a CIFF file",
		Long: `Make an index from a file in the Common Index File Format, plain or compressed with gzip or
zstd. CIFF does not say how text was split into words: name the analyzer that treats queries in
the same way. The mean document length is taken from the header.`,
		Example: `  collocate index import robust04.ciff.gz --analyzer english --out robust.index`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := indexFolder(out); err != nil {
				return err
			}
			if analyzer != "" {
				if _, err := (&api.Reading{Analyzer: analyzer}).Split(); err != nil {
					return asFlags(api.ReadingQuestion, err)
				}
			}
			o := index.ImportOptions{Analyzer: analyzer, AllowDuplicateIDs: repeat, Note: a.note,
				Progress: a.progress("importing")}
			if err := index.Import(cmd.Context(), args[0], out, o); err != nil {
				return err
			}
			return a.indexMade(out)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "folder for the index")
	f.BoolVar(&repeat, "allow-duplicate-ids", false, "accept documents that have the same ID")
	f.StringVar(&analyzer, "analyzer", "",
		"analyzer of queries (default whitespace, or the one that 'index export' wrote); "+analyzerHelp())
	return cmd
}

// indexMade prints the size of a new index.
func (a *app) indexMade(dir string) error { return a.indexBuilt(dir, a.meter(false)) }

// indexBuilt prints the size of a new index, and the energy that was measured.
func (a *app) indexBuilt(dir string, measured func(int64, energyUnit) *energyUse) error {
	r, err := index.Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	used := measured(r.Tokens(), perWords)
	if a.json {
		return a.printJSON(struct {
			index.Stats
			Energy *energyUse `json:"energy,omitempty"`
		}{r.Stats(), used})
	}
	pruned := ""
	if s := r.Stats(); s.FullPostings > 0 {
		pruned = fmt.Sprintf(" of %d", s.FullPostings)
	}
	a.summary("%s, %s, %s%s in %s", counted(r.Docs(), "document"), counted(r.Terms(), "word"),
		counted(r.Postings(), "posting"), pruned, dir)
	a.printEnergy(used)
	return nil
}
