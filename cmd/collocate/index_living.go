package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// changed is the JSON result of a verb that changes an index with segments.
type changed struct {
	Index      string `json:"index"`
	Added      int    `json:"added"`
	Replaced   int    `json:"replaced"`
	Deleted    int    `json:"deleted"`
	Merged     int    `json:"merged"`
	Documents  int    `json:"documents"`
	Segments   int    `json:"segments"`
	Generation uint64 `json:"generation"`
}

// tell prints what a verb did and the size of the index after it.
func (a *app) tell(dir string, c changed, what string) error {
	r, err := segments.Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	c.Index, c.Documents, c.Segments, c.Generation = dir, r.Docs(), len(r.Segments()), r.Generation()
	if a.json {
		return a.printJSON(c)
	}
	a.summary("%s; %s in %s of %s", what, counted(c.Documents, "document"), counted(c.Segments, "segment"), dir)
	return nil
}

// change opens an index for writing, calls do, and commits. If merge is set, it then merges
// segments as the policy asks for and commits again. If only that fails, it is a note, since the
// changes of do are complete; if it is interrupted, the error says so.
func (a *app) change(ctx context.Context, dir string, o segments.Options, merge bool, c *changed,
	do func(w *segments.Writer) error) (err error) {
	o.Memory = int64(a.memory)
	w, err := segments.NewWriter(dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := do(w); err != nil {
		return err
	}
	if !merge {
		return w.Commit()
	}
	c.Merged, err = w.CommitAndMerge(ctx)
	if failed := new(segments.MergeError); errors.As(err, &failed) && ctx.Err() == nil {
		a.note(err.Error() + "; 'collocate index merge " + dir + "' tries again")
		return nil
	}
	return err
}

func newIndexAddCmd(a *app) *cobra.Command {
	var (
		flags     = corpusFlags{typed: true} // for a new index
		store     bool
		positions bool
		noMerge   bool
	)
	cmd := &cobra.Command{
		Use:   "add DIR CORPUS...",
		Short: "Add documents to an index, or replace those with the same IDs",
		Long: `Add the documents of files and folders to the index DIR, which is created if it does not exist.
A document replaces an older one with the same ID. The documents become a segment; ten segments
of about the same size are merged into one. A search at the same time sees the index before or
after the change, and a crash leaves one of the two. If only the merge fails, the documents are
added, and a note says so.`,
		Example: `  collocate index add news.index today.jsonl
  collocate index add new.index news.jsonl --analyzer english --store-text`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			o := segments.Options{StoreText: store, Positions: positions}
			is, err := segments.Open(dir)
			switch {
			case err == nil:
				if f := cmd.Flags(); f.Changed("store-text") || f.Changed("positions") {
					is.Close()
					return usagef("--store-text and --positions: %s exists, and keeps the options that it was made with; leave them out", dir)
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
			flags.hint(cmd, a, args[1:])
			var c changed
			err = a.change(cmd.Context(), dir, o, !noMerge, &c, func(w *segments.Writer) error {
				added, replaced, err := w.AddCorpus(cmd.Context(), flags.corpus(a, args[1:], dir), index.BuildOptions{
					Threads: a.threads, Memory: int64(a.memory), Progress: a.progress("writing"),
					Engine: a.engine, Device: a.gpu,
				})
				c.Added, c.Replaced = added, replaced
				return err
			})
			if err != nil {
				return err
			}
			return a.tell(dir, c, counted(c.Added, "document")+" added, replacing "+
				counted(c.Replaced, "document"))
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&store, "store-text", false, "keep the text in a new index, for snippets")
	f.BoolVar(&positions, "positions", false, "keep the positions of words in a new index, for phrases")
	f.BoolVar(&noMerge, "no-merge", false, "do not merge segments")
	return cmd
}

func newIndexDeleteCmd(a *app) *cobra.Command {
	var file, matching string
	cmd := &cobra.Command{
		Use:   "delete DIR ID...",
		Short: "Delete documents from an index by their IDs or by a query",
		Long: `Delete the documents with these IDs or, with --query, all that match a query; 'collocate search
--count' shows how many. A query of several words matches documents with any of them, unless it
says AND. Deleted documents are in no answer; until their segment is merged they still count in
the statistics that scores are computed from. 'index compact' makes the index that the remaining
documents alone would give.`,
		Example: `  collocate index delete news.index 2024-03-01-17
  collocate index delete news.index --ids gone.txt
  collocate index delete news.index --query 'lang:de AND year:<2000'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids := args[1:]
			if file != "" {
				more, err := readIDs(file)
				if err != nil {
					return err
				}
				ids = append(ids, more...)
			}
			byQuery := cmd.Flags().Changed("query")
			switch {
			case byQuery && (len(ids) > 0 || file != ""):
				return usagef("IDs and --query: give only one of them")
			case byQuery && strings.TrimSpace(matching) == "":
				return usagef("--query: the query is empty; * matches all documents")
			case len(ids) == 0 && !byQuery:
				return usagef("no IDs: want IDs, --ids with a file of them, or --query")
			}
			if err := livingOrIndex(args[0]); err != nil {
				return err
			}
			var c changed
			var unknown []string
			err := a.change(cmd.Context(), args[0], segments.Options{}, true, &c, func(w *segments.Writer) (err error) {
				if byQuery {
					c.Deleted, err = a.deleteMatching(cmd.Context(), w, args[0], matching)
					return err
				}
				for _, id := range ids {
					n, err := w.Delete(id)
					if err != nil {
						return err
					}
					if c.Deleted += n; n == 0 {
						unknown = append(unknown, id)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			if len(unknown) > 0 {
				a.note("the index has no document " + unknown[0] + others(len(unknown)-1))
			}
			return a.tell(args[0], c, counted(c.Deleted, "document")+" deleted")
		},
	}
	cmd.Flags().StringVar(&file, "ids", "", "file with one ID per line")
	cmd.Flags().StringVar(&matching, "query", "", "delete all documents that match this query of 'search'")
	return cmd
}

// deleteMatching deletes the documents of the newest generation that match a query. As w is the
// only writer, nobody commits another generation meanwhile. It notes how the query was understood.
func (a *app) deleteMatching(ctx context.Context, w *segments.Writer, dir, words string) (n int, err error) {
	s, err := search.Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var r search.Request
	if err := new(api.Search).Ask(api.AboutIndex(s), &r, words); err != nil {
		return 0, withoutPlain(asFlags(api.SearchQuestion, err))
	}
	found, err := s.Match(ctx, r)
	if err != nil {
		return 0, err
	}
	for _, note := range api.DeleteNotes(words, r.Query, query.Options{Fields: s.Fields()}) {
		a.note(note)
	}
	return w.DeleteDocs(s.Index(), found.Sets)
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

// livingOrIndex returns an error for a folder that is not an index, which a writer would create.
func livingOrIndex(dir string) error {
	r, err := segments.Open(dir)
	if err != nil {
		return err
	}
	return r.Close()
}

func newIndexMergeCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "merge DIR",
		Short: "Merge segments of an index where there are many of about the same size",
		Long: `Merge runs of ten neighbouring segments of about the same size, and rewrite segments of which a
third is deleted. 'index add' and 'index delete' do the same at the end.`,
		Example: `  collocate index merge news.index`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := livingOrIndex(args[0]); err != nil {
				return err
			}
			var c changed
			err := a.change(cmd.Context(), args[0], segments.Options{}, false, &c,
				func(w *segments.Writer) (err error) {
					c.Merged, err = w.Merge(cmd.Context())
					return err
				})
			if err != nil {
				return err
			}
			return a.tell(args[0], c, counted(c.Merged, "segment")+" merged")
		},
	}
}

func newIndexBackupCmd(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "backup DIR --out DIR2",
		Short: "Copy an index, also while others change it",
		Long: `Write the newest generation of an index to DIR2, which appears when it is complete, and replaces an
older backup there. All checksums of what is copied are verified. Other processes may add, delete
and merge meanwhile; to copy the folder with another program then would mix generations. The
result is an index like any other: to restore it, put it in the place of the index.`,
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
			if err := r.Backup(cmd.Context(), out); err != nil {
				return err
			}
			return a.tell(out, changed{}, counted(len(r.Segments()), "segment")+" copied")
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder for the copy")
	return cmd
}

func newIndexCompactCmd(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "compact DIR",
		Short: "Make one segment of an index, without deleted documents",
		Long: `Merge all segments of an index. The result is byte for byte the index that 'collocate index'
makes of the remaining documents. With --out the result is an index without segments, and DIR
stays as it is, unless --out names it.`,
		Example: `  collocate index compact news.index
  collocate index compact news.index --out whole.index`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "" {
				return a.compactTo(cmd.Context(), args[0], out)
			}
			if err := livingOrIndex(args[0]); err != nil {
				return err
			}
			var c changed
			err := a.change(cmd.Context(), args[0], segments.Options{}, false, &c,
				func(w *segments.Writer) (err error) {
					c.Merged, err = w.Compact(cmd.Context())
					return err
				})
			if err != nil {
				return err
			}
			return a.tell(args[0], c, counted(c.Merged, "segment")+" merged")
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder for an index without segments")
	return cmd
}

// compactTo writes an index as one without segments.
func (a *app) compactTo(ctx context.Context, dir, out string) error {
	r, err := segments.Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := a.mergeTo(ctx, r, out); err != nil {
		return err
	}
	return a.indexMade(out)
}

// mergeTo writes the documents of a generation as an index without segments.
func (a *app) mergeTo(ctx context.Context, g *segments.Reader, out string) error {
	var sources []index.Source
	for _, s := range g.Segments() {
		sources = append(sources, index.Source{Reader: s.Reader, Live: s.Live})
	}
	if len(sources) == 0 {
		return usagef("%s has no documents", g.Dir())
	}
	return index.Merge(ctx, out, sources, index.MergeOptions{Memory: int64(a.memory), Root: g.Root()})
}

// openWhole opens an index as one without segments. Several segments, or one with deleted
// documents, are first merged into a temporary index, which close removes. It lies beside the
// output path beside, whose disk should have room, or in the system's temporary folder for "".
func (a *app) openWhole(ctx context.Context, dir, beside string) (r *index.Reader, close func() error, err error) {
	r, err = index.Open(dir)
	if err == nil {
		return r, r.Close, nil
	}
	if !errors.Is(err, index.ErrSegments) {
		return nil, nil, err
	}
	g, err := segments.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer g.Close()
	if s := g.Segments(); len(s) == 1 && s[0].Live == nil {
		if r, err = index.OpenSegment(s[0].Dir()); err != nil {
			return nil, nil, err
		}
		return r, r.Close, nil
	}
	if beside != "" {
		beside = filepath.Dir(filepath.Clean(beside))
		for parent := filepath.Dir(beside); parent != beside; parent = filepath.Dir(parent) {
			if _, err := os.Stat(beside); err == nil {
				break
			}
			beside = parent
		}
	}
	temp, err := os.MkdirTemp(beside, ".collocate-whole-")
	if err != nil {
		return nil, nil, err
	}
	a.note(fmt.Sprintf("%s: merging %s into a temporary index, without %s", dir, counted(len(g.Segments()), "segment"),
		counted(g.Deleted(), "deleted document")))
	whole := filepath.Join(temp, "index")
	if err = a.mergeTo(ctx, g, whole); err == nil {
		r, err = index.Open(whole)
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(temp))
	}
	return r, func() error { return errors.Join(r.Close(), os.RemoveAll(temp)) }, nil
}
