package main

import (
	"fmt"
	"maps"
	"os"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/bucket"
)

func newIndexCmd(a *app) *cobra.Command {
	flags := corpusFlags{typed: true, encodes: true}
	var ask api.Building
	var buckets *bucketFlags
	cmd := &cobra.Command{
		Use:         "index CORPUS... --out DIR",
		Short:       "Index documents for search, check and describe indexes",
		GroupID:     groupSearch,
		Annotations: hasGPU,
		Long: `Index the documents of files and folders ("-" for standard input) in the folder DIR. The index
appears there when it is complete and replaces an existing one, with segments or without. While
another process changes an index it is not replaced. Data beyond --memory are kept in
temporary files beside DIR. DIR may be the address of a new index in a bucket, s3://BUCKET/NAME: see
docs/bucket.md. With --engine gpu, words are numbered and sorted on a GPU, or on several
(--more-devices), with auto on one if that is faster; the index is the same.`,
		Example: `  collocate index news.jsonl.zst --positions --out news.index
  collocate index news.jsonl.zst --reorder --out ordered.index
  collocate index news.jsonl.zst --fields title:text,text:text,url:stored,lang:keyword,published:date --store-text --out fields.index
  collocate index mail/ --format file --analyzer english --store-text --out mail.index
  collocate index stats news.index`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); err != nil && didYouMean(cmd, args[0]) != "" {
				return withHelp(cmd, unknownVerb(cmd, args[0]))
			}
			if err := indexFolder(ask.Out); err != nil {
				return err
			}
			an, err := flags.analyzer()
			if err != nil {
				return err
			}
			defer flags.close()
			flags.noteAnalyzers(a, an)
			measured := a.meter(a.stats)
			flags.hint(cmd, a, args)
			if ask.Positions && a.engine == engine.GPU {
				a.note("positions of words are found on the cores, not on the GPU")
			}
			build := func(dir string) error {
				return index.Build(cmd.Context(), dir, flags.corpus(a, args, ask.Out), index.BuildOptions{
					Analyzer:          an,
					StoreText:         ask.StoreText,
					Positions:         ask.Positions,
					Reorder:           ask.Reorder,
					AllowDuplicateIDs: ask.AllowDuplicateIDs,
					Threads:           a.threads,
					Memory:            int64(a.memory),
					Progress:          a.progress("writing"),
					Reordering:        a.progress("reordering"),
					Engine:            a.engine,
					Device:            a.gpu,
					Also:              a.alsoGPUs(),
				})
			}
			if bucket.Is(ask.Out) {
				c, err := buckets.put(cmd.Context(), ask.Out, build)
				if err != nil {
					return err
				}
				return a.tell(c, counted(c.Documents, "document")+" indexed")
			}
			if err := build(ask.Out); err != nil {
				return err
			}
			return a.indexBuilt(ask.Out, measured)
		},
	}
	addFlags(cmd, api.BuildingQuestion, &ask)
	buckets = a.changesBuckets(cmd)
	cmd.Annotations = maps.Clone(hasGPU) // which other verbs share
	cmd.Annotations[bucketAnnotation] = "out"
	flags.register(cmd)
	a.registerSharing(cmd, "the documents")
	a.registerStats(cmd)
	cmd.AddCommand(newIndexAddCmd(a), newIndexDeleteCmd(a), newIndexMergeCmd(a), newIndexBackupCmd(a),
		newIndexCompactCmd(a), newIndexReorderCmd(a), newIndexPruneCmd(a), newIndexCheckCmd(a),
		newIndexStatsCmd(a), newIndexExportCmd(a), newIndexImportCmd(a))
	return cmd
}

// indexFolder refuses paths that cannot be the folder of a new index, before anything is read.
func indexFolder(out string) error {
	if out == "" {
		return usagef("--out is missing: the folder for the index")
	}
	if info, err := os.Stat(out); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: it is a file; want a folder for the index", out)
	}
	return nil
}
