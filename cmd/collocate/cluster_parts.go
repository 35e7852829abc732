package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/index/segments"
)

func newClusterPutCmd(a *app) *cobra.Command {
	flags := corpusFlags{typed: true}
	var ask api.Building
	var buckets *bucketFlags
	var number int
	cmd := &cobra.Command{
		Use:   "put CORPUS... --to ADDRESS --part N",
		Short: "Index documents into a bucket, without showing them yet",
		Long: `Index the documents of files ("-" for standard input) as a segment of the index at an address,
s3://BUCKET/NAME or file:///FOLDER. Nobody sees the segment until 'cluster commit' has the line that
this command prints. So the tasks of any engine index parts of a collection, and one commit shows
them all. What a failed or repeated task leaves is removed as garbage: see docs/bucket.md.`,
		Example: `  collocate cluster put part7.jsonl --to s3://corpora/news --part 7 >part7
  collocate cluster commit part* --to s3://corpora/news`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := buckets.to(ask.Out)
			if err != nil {
				return err
			}
			if number < 0 {
				return usagef("--part is missing: the number of this part, from 0")
			}
			if err := a.rawOutput("the line for 'cluster commit' has a format of its own"); err != nil {
				return err
			}
			an, err := flags.analyzer()
			if err != nil {
				return err
			}
			defer flags.close()
			p, err := x.PutPart(cmd.Context(), number, func(dir string) error {
				return index.Build(cmd.Context(), dir, flags.corpus(a, args, ask.Out), index.BuildOptions{Analyzer: an,
					StoreText: ask.StoreText, Positions: ask.Positions, Threads: a.threads, Memory: int64(a.memory)})
			})
			if err != nil {
				return err
			}
			line, err := json.Marshal(p)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s\n", line)
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&ask.Out, "to", "", "`ADDRESS` of the index, as in s3://bucket/news")
	fl.IntVar(&number, "part", -1, "`number` of this part, from 0: documents are in the order of their parts")
	fl.BoolVar(&ask.StoreText, "store-text", false, "keep the text, for snippets")
	fl.BoolVar(&ask.Positions, "positions", false, "keep the positions of words, for phrases")
	buckets = a.changesBuckets(cmd)
	flags.register(cmd)
	return cmd
}

func newClusterCommitCmd(a *app) *cobra.Command {
	var to string
	var buckets *bucketFlags
	cmd := &cobra.Command{
		Use:   "commit FILE... --to ADDRESS",
		Short: "Show the documents that 'cluster put' has indexed, by one commit",
		Long: `Make the segments that tasks of 'cluster put' have written part of the index at an address, all by
one commit; without an index it makes one. FILE has the lines that they printed ("-" is standard
input). Documents of the index with the same IDs are replaced. An ID in two parts is an error.`,
		Example: `  collocate cluster commit part* --to s3://corpora/news`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := buckets.to(to)
			if err != nil {
				return err
			}
			var parts []*bucket.Part
			for _, path := range args {
				if parts, err = appendParts(a, parts, path); err != nil {
					return err
				}
			}
			slices.SortStableFunc(parts, func(p, q *bucket.Part) int { return p.Number - q.Number })
			if err := x.CommitParts(cmd.Context(), segments.Options{Memory: int64(a.memory)}, parts); err != nil {
				return err
			}
			var c api.Changed
			if err := buckets.changed(cmd.Context(), x, &c, to); err != nil {
				return err
			}
			return a.tell(c, counted(len(parts), "part")+" committed")
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "`ADDRESS` of the index, as in s3://bucket/news")
	buckets = a.changesBuckets(cmd)
	return cmd
}

// to opens the index at the address of --to.
func (f *bucketFlags) to(address string) (*bucket.Index, error) {
	if !bucket.Is(address) {
		return nil, usagef("--to %s: want the address of an index in a bucket, as in s3://bucket/news or file:///shared/news",
			address)
	}
	return f.open(address)
}

// appendParts appends the parts that a file lists.
func appendParts(a *app, parts []*bucket.Part, path string) ([]*bucket.Part, error) {
	in := io.Reader(a.stdin)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	for {
		p := &bucket.Part{}
		err := d.Decode(p)
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: want lines that 'cluster put' prints: %w", path, err)
		}
		parts = append(parts, p)
	}
}
