package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/folders"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

func newSyncCmd(a *app) *cobra.Command {
	var ask api.Sync
	var coding encoderFlags
	var buckets *bucketFlags
	cmd := &cobra.Command{
		Use:     "sync FOLDER DIR",
		Aliases: []string{"watch"}, // with --watch
		Short:   "Keep an index in step with a folder of files",
		GroupID: groupSearch,
		Long: `Make the index DIR have the files of FOLDER: add new ones, replace those that changed, delete
those that are gone. The index is created if it does not exist. Text is found in Markdown, HTML,
PDF, Word, OpenDocument, EPUB, mail, notebooks, subtitles, source code and plain text; encrypted,
broken and image-only files are named, and found by their names. IDs are paths under the folder.
Fields are title, name, text, path, extension, kind, modified, size and others: docs/folders.md.

A change is one commit, and a search at the same time sees the index before or after it. A long
run commits every 20,000 files, so one that is killed is continued by the next. DIR may be an
address in a bucket, s3://BUCKET/NAME: see docs/bucket.md.`,
		Example: `  collocate sync ~/notes notes.index
  collocate search notes.index 'solar path:astronomy/*' --show path,title
  collocate sync ~/notes notes.index --passages 200
  collocate sync ~/notes notes.index --embed texts.vec
  collocate sync ~/src src.index --exclude 'vendor/,*.min.js' --analyzer 'code | parts | lower'
  collocate watch ~/notes notes.index`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ask.Watch = ask.Watch || cmd.CalledAs() == "watch"
			if !bucket.Is(args[1]) {
				return a.sync(cmd, &ask, &coding, args[0], args[1], nil, nil)
			}
			return buckets.sync(cmd.Context(), args[1], &ask, func(dir string, to segments.Remote, did func(*folders.Report) error) error {
				return a.sync(cmd, &ask, &coding, args[0], dir, to, did)
			})
		},
	}
	buckets = a.changesBuckets(cmd)
	addFlags(cmd, api.SyncQuestion, &ask)
	coding.register(cmd, "documents", &coding.o.Document)
	return cmd
}

// sync makes the index in dir have the files of a folder. With to, dir is a copy of the index, and
// did completes the report.
func (a *app) sync(cmd *cobra.Command, ask *api.Sync, coding *encoderFlags, folder, dir string, to segments.Remote,
	did func(*folders.Report) error) error {
	analyzer, err := (&api.Reading{Analyzer: ask.Analyzer}).Split()
	if err != nil {
		return asFlags(api.SyncQuestion, err)
	}
	if is, err := segments.Open(dir); err == nil {
		err := madeOtherwise(cmd, ask, is)
		if err := errors.Join(err, is.Close()); err != nil {
			return err
		}
		if !cmd.Flags().Changed("analyzer") {
			analyzer = nil
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	o, err := ask.Options(analyzer)
	if err != nil {
		return asFlags(api.SyncQuestion, err)
	}
	o.Memory, o.Threads, o.Note, o.Remote = int64(a.memory), a.textThreads(), a.note, to
	coder, err := coding.open()
	if err != nil {
		return err
	}
	defer coder.Close()
	if coder != nil {
		if o.Dim, err = coding.dimensions(cmd.Context(), coder); err != nil {
			return err
		}
		o.Finish = func(ctx context.Context, schema *fields.Schema, docs []text.Document) error {
			return coder.Fill(ctx, schema, "", docs)
		}
	}
	if !ask.Watch {
		o.Progress = a.progress("reading")
	}
	err = ask.Do(cmd.Context(), folder, dir, o, func(r *folders.Report, err error) error {
		if err == nil && did != nil {
			err = did(r)
		}
		if err != nil {
			if ask.Watch {
				a.warn("%v; trying again", err)
				return nil
			}
			return err
		}
		if ask.Watch && !r.Changes() && r.Generation > 1 {
			return nil
		}
		return a.synced(r)
	})
	if ask.Watch && errors.Is(err, context.Canceled) {
		return nil // the ordinary end of it
	}
	return err
}

// madeOtherwise returns an error if a flag for a new index is given that an existing one was not
// made with. The same line can so be given again.
func madeOtherwise(cmd *cobra.Command, ask *api.Sync, is *segments.Reader) error {
	positions := "positions"
	if list := is.Segments(); len(list) > 0 && !list[0].HasPositions() {
		positions = "no positions"
	}
	had := fields.Passages{Field: "text"}
	passages := "no passages"
	if s := is.Schema(); s != nil && s.Passages != nil {
		had = *s.Passages
		passages = fmt.Sprintf("passages of %d words of the field %s, with an overlap of %d words, headings %v",
			had.Words, had.Field, had.Overlap, had.Headings)
	}
	for _, f := range []struct {
		name string
		same bool
		has  string
	}{
		{"no-positions", ask.NoPositions == (positions == "no positions"), positions},
		{"passages", ask.Passages == had.Words, passages},
		{"overlap", had.Words*ask.Overlap/100 == had.Overlap, passages},
		{"passage-field", ask.PassageField == had.Field, passages},
		{"headings", ask.Headings == fmt.Sprint(had.Headings), passages},
	} {
		if cmd.Flags().Changed(f.name) && !f.same {
			return usagef("--%s: %s exists and has %s: leave the flag out, or make a new index", f.name, is.Dir(), f.has)
		}
	}
	return nil
}

// synced prints what was done, and names files without text.
func (a *app) synced(r *folders.Report) error {
	for i, p := range r.Problems {
		if i == 20 && !a.verbose {
			a.warn("%s more; 'problem:*' finds them, and --verbose lists them", counted(len(r.Problems)-i, "problem"))
			break
		}
		a.warn("%s: %s", p.Path, p.Why)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Encodings)) {
		a.note(fmt.Sprintf("%s taken for %s", counted(r.Encodings[name], "file"), name))
	}
	if a.json {
		return a.printJSON(r)
	}
	parts := []string{counted(r.Added, "file") + " added", fmt.Sprintf("%d changed", r.Changed)}
	for _, p := range []struct {
		n    int
		what string
	}{{r.Touched, "touched"}, {r.Moved, "moved"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprint(p.n, " ", p.what))
		}
	}
	parts = append(parts, fmt.Sprintf("%d deleted, %d unchanged", r.Deleted, r.Unchanged))
	for _, p := range []struct {
		n    int
		what string
	}{{r.Other, "of no known kind"}, {r.Ignored, "ignored"}, {r.Links, "links not followed"}, {r.Special, "no files"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprint(p.n, " ", p.what))
		}
	}
	what := "document"
	if r.Passages {
		what = "passage"
	}
	a.summary("%s; %s in %s of %s", strings.Join(parts, ", "), counted(r.Documents, what),
		counted(r.Segments, "segment"), r.Index)
	return nil
}
