package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/textfile"
)

// tell prints what a verb did and the size of the index after it.
func (a *app) tell(c api.Changed, what string) error {
	if a.json {
		return a.printJSON(c)
	}
	a.summary("%s; %s in %s of %s", what, counted(c.Documents, "document"), counted(c.Segments, "segment"), c.Index)
	return nil
}

func newIndexAddCmd(a *app) *cobra.Command {
	flags := corpusFlags{typed: true, encodes: true} // for a new index
	var ask api.Adding
	var buckets *bucketFlags
	cmd := &cobra.Command{
		Use:   "add DIR CORPUS...",
		Short: "Add documents to an index, or replace those with the same IDs",
		Long: `Add the documents of files and folders to the index DIR, which is created if it does not exist.
A document replaces an older one with the same ID. The documents become a segment; ten segments
of about the same size are merged into one. A search at the same time sees the index before or
after the change, and a crash leaves one of the two. If only the merge fails, the documents are
added, and a note says so. DIR may be an address in a bucket, s3://BUCKET/NAME, which many processes
may change at once: see docs/bucket.md.`,
		Example: `  collocate index add news.index today.jsonl
  collocate index add s3://corpora/news today.jsonl
  collocate index add new.index news.jsonl --analyzer english --store-text`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := segments.Options{StoreText: ask.StoreText, Positions: ask.Positions, Memory: int64(a.memory)}
			var c api.Changed
			add := func(dir string, o segments.Options) error {
				is, err := segments.Open(dir)
				switch {
				case err == nil:
					if f := cmd.Flags(); f.Changed("store-text") || f.Changed("positions") {
						is.Close()
						return usagef("--store-text and --positions: %s exists, and keeps the options that it was made with; leave them out", args[0])
					}
					if !cmd.Flags().Changed("analyzer") {
						flags.Analyzer = is.Analyzer()
					}
					is.Close()
				case !errors.Is(err, os.ErrNotExist):
					return err
				}
				if o.Analyzer, err = flags.analyzer(); err != nil {
					return err
				}
				defer flags.close()
				flags.hint(cmd, a, args[1:])
				return c.Change(cmd.Context(), dir, o, !ask.NoMerge, a.note, func(w *segments.Writer) error {
					added, replaced, err := w.AddCorpus(cmd.Context(), flags.corpus(a, args[1:], dir), index.BuildOptions{
						Threads: a.threads, Memory: int64(a.memory), Progress: a.progress("writing"),
						Engine: a.engine, Device: a.gpu,
					})
					c.Added, c.Replaced = added, replaced
					return err
				})
			}
			var err error
			if bucket.Is(args[0]) {
				err = buckets.change(cmd.Context(), args[0], o, &c, add)
			} else if err = add(args[0], o); err == nil {
				err = c.Describe(args[0])
			}
			if err != nil {
				return err
			}
			return a.tell(c, counted(c.Added, "document")+" added, replacing "+counted(c.Replaced, "document"))
		},
	}
	addFlags(cmd, api.AddingQuestion, &ask)
	buckets = a.changesBuckets(cmd)
	flags.register(cmd)
	return cmd
}

func newIndexDeleteCmd(a *app) *cobra.Command {
	var ask api.Delete
	var buckets *bucketFlags
	cmd := &cobra.Command{
		Use:   "delete DIR ID...",
		Short: "Delete documents from an index by their IDs or by a query",
		Long: `Delete the documents with these IDs or, with --query, all that match a query; 'collocate search
--count' shows how many. A query of several words matches documents with any of them, unless it
says AND. Deleted documents are in no answer; until their segment is merged they still count in
the statistics that scores are computed from. 'index compact' makes the index that the remaining
documents alone would give. DIR may be an address in a bucket, s3://BUCKET/NAME.`,
		Example: `  collocate index delete news.index 2024-03-01-17
  collocate index delete news.index --ids gone.txt
  collocate index delete news.index --query 'lang:de AND year:<2000'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids := args[1:]
			if ask.IDs != "" {
				more, err := readIDs(ask.IDs)
				if err != nil {
					return err
				}
				ids = append(ids, more...)
			}
			byQuery := cmd.Flags().Changed("query")
			switch {
			case byQuery && (len(ids) > 0 || ask.IDs != ""):
				return usagef("IDs and --query: give only one of them")
			case byQuery && strings.TrimSpace(ask.Query) == "":
				return usagef("--query: the query is empty; * matches all documents")
			case len(ids) == 0 && !byQuery:
				return usagef("no IDs: want IDs, --ids with a file of them, or --query")
			}
			o := segments.Options{Memory: int64(a.memory)}
			var c api.Changed
			var unknown []string
			var err error
			if bucket.Is(args[0]) {
				if err = buckets.mustExist(cmd.Context(), args[0]); err != nil {
					return err
				}
				err = buckets.change(cmd.Context(), args[0], o, &c, func(dir string, o segments.Options) (err error) {
					c, unknown, err = ask.Do(cmd.Context(), dir, ids, o, a.note)
					return err
				})
			} else {
				c, unknown, err = ask.Do(cmd.Context(), args[0], ids, o, a.note)
			}
			if err != nil {
				return withoutPlain(asFlags(api.DeleteQuestion, err))
			}
			if len(unknown) > 0 {
				a.note("the index has no document " + unknown[0] + others(len(unknown)-1))
			}
			return a.tell(c, counted(c.Deleted, "document")+" deleted")
		},
	}
	addFlags(cmd, api.DeleteQuestion, &ask)
	buckets = a.changesBuckets(cmd)
	return cmd
}

// others returns the end of a note for n more unknown IDs.
func others(n int) string {
	if n == 0 {
		return ""
	}
	return ", nor " + counted(n, "other") + " of those given"
}

// readIDs reads an ID from each line of a file.
func readIDs(file string) (ids []string, err error) {
	f, err := textfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if id := strings.TrimSpace(lines.Text()); id != "" {
			ids = append(ids, id)
		}
	}
	return ids, inFile(file, lines.Err())
}

func newIndexMergeCmd(a *app) *cobra.Command {
	var buckets *bucketFlags
	cmd := &cobra.Command{
		Use:   "merge DIR",
		Short: "Merge segments of an index where there are many of about the same size",
		Long: `Merge runs of ten neighbouring segments of about the same size, and rewrite segments of which a
third is deleted. 'index add' and 'index delete' do the same at the end. DIR may be an address in a
bucket, s3://BUCKET/NAME; what was superseded longer ago than its grace period is removed then.`,
		Example: `  collocate index merge news.index`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o := segments.Options{Memory: int64(a.memory)}
			var c api.Changed
			if bucket.Is(args[0]) {
				c, err = buckets.merge(cmd.Context(), args[0], o, false)
			} else {
				c, err = new(api.Merge).Do(cmd.Context(), args[0], o)
			}
			if err != nil {
				return err
			}
			return a.tell(c, counted(c.Merged, "segment")+" merged")
		},
	}
	buckets = a.changesBuckets(cmd)
	return cmd
}

func newIndexBackupCmd(a *app) *cobra.Command {
	var out string
	var buckets *bucketFlags
	cmd := &cobra.Command{
		Annotations: map[string]string{bucketAnnotation: "out"},

		Use:   "backup DIR --out DIR2",
		Short: "Copy an index, also while others change it",
		Long: `Write the newest generation of an index to DIR2, which appears when it is complete, and replaces an
older backup there. All checksums of what is copied are verified. Other processes may add, delete
and merge meanwhile; to copy the folder with another program then would mix generations. The
result is an index like any other: to restore it, put it in the place of the index. DIR and DIR2
may be addresses in buckets, s3://BUCKET/NAME; there DIR2 must be new, and --generation copies an
older generation.`,
		Example: `  collocate index backup news.index --out /backup/news.index`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := indexFolder(out); err != nil {
				return err
			}
			r, err := segments.Open(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			var c api.Changed
			if bucket.Is(out) {
				c, err = buckets.put(cmd.Context(), out, func(dir string) error { return r.Backup(cmd.Context(), dir) })
			} else if err = r.Backup(cmd.Context(), out); err == nil {
				err = c.Describe(out)
			}
			if err != nil {
				return err
			}
			return a.tell(c, counted(len(r.Segments()), "segment")+" copied")
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder for the copy")
	buckets = a.inBuckets(cmd, false)
	return cmd
}

func newIndexCompactCmd(a *app) *cobra.Command {
	var ask api.Compact
	var buckets *bucketFlags
	cmd := &cobra.Command{
		Use:   "compact DIR",
		Short: "Make one segment of an index, without deleted documents",
		Long: `Merge all segments of an index. The result is byte for byte the index that 'collocate index'
makes of the remaining documents. With --out the result is an index without segments, and DIR
stays as it is, unless --out names it. DIR may be an address in a bucket, s3://BUCKET/NAME; --out may
not.`,
		Example: `  collocate index compact news.index
  collocate index compact news.index --out whole.index`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := segments.Options{Memory: int64(a.memory)}
			var c api.Changed
			var err error
			switch inBucket := bucket.Is(args[0]); {
			case inBucket && ask.Out != "":
				return usagef("--out: an index in a bucket is compacted where it is; 'index backup' copies it")
			case inBucket:
				c, err = buckets.merge(cmd.Context(), args[0], o, true)
			default:
				c, err = ask.Do(cmd.Context(), args[0], o)
			}
			if err != nil {
				return asFlags(api.CompactQuestion, err)
			}
			if ask.Out != "" {
				return a.indexMade(ask.Out)
			}
			return a.tell(c, counted(c.Merged, "segment")+" merged")
		},
	}
	addFlags(cmd, api.CompactQuestion, &ask)
	buckets = a.changesBuckets(cmd)
	return cmd
}

// openWhole opens an index as one without segments; see api.OpenWhole.
func (a *app) openWhole(ctx context.Context, dir, beside string) (*index.Reader, func() error, error) {
	return api.OpenWhole(ctx, dir, beside, int64(a.memory), a.note)
}
