package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// cut builds an index of a corpus with segments of given sizes.
func cut(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("cut", flag.ExitOnError)
	to := f.String("to", "", "the new index")
	sizes := f.String("sizes", "1,1,1,1,1,1,1,1,1,1", "of the segments, in proportion to each other")
	analyzer := f.String("analyzer", "english", "analyzer")
	f.Parse(args)
	if *to == "" || f.NArg() == 0 {
		return errors.New("cut: want -to INDEX and a corpus")
	}
	parts, err := numbers(*sizes)
	if err != nil {
		return err
	}
	a, err := text.ParseAnalyzer(*analyzer)
	if err != nil {
		return err
	}
	c := text.Corpus{Paths: f.Args()}
	docs := 0
	for _, err := range c.All(ctx) {
		if err != nil {
			return err
		}
		docs++
	}
	w, err := segments.NewWriter(*to, segments.Options{Analyzer: a, MergeFactor: math.MaxInt32})
	if err != nil {
		return err
	}
	defer w.Close()
	next, stop := iter.Pull2(c.All(ctx))
	defer stop()
	all, sum, from := 0, 0, 0
	for _, p := range parts {
		all += p
	}
	for _, p := range parts {
		sum += p
		end := docs * sum / all
		part := &text.Corpus{Source: batches(next, end-from)}
		if _, _, err := w.AddCorpus(ctx, part, index.BuildOptions{}); err != nil {
			return err
		}
		from = end
	}
	return w.Commit()
}

// batches yields the next n documents, a thousand at a time.
func batches(next func() (text.Document, error, bool), n int) func(context.Context) iter.Seq2[[]text.Document, error] {
	return func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			for n > 0 {
				var docs []text.Document
				for ; len(docs) < 1000 && n > 0; n-- {
					d, err, ok := next()
					if !ok || err != nil {
						yield(nil, err)
						return
					}
					d.Text = append([]byte(nil), d.Text...)
					docs = append(docs, d)
				}
				if !yield(docs, nil) {
					return
				}
			}
		}
	}
}

func numbers(list string) (out []int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("%q: want numbers separated by commas", list)
		}
		out = append(out, n)
	}
	return out, nil
}
