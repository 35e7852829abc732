package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/mcptools"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/vectors"
)

// mcpFlags are the flags of `collocate mcp`.
type mcpFlags struct {
	matrix, points string
	vectors        string
	timeout        time.Duration
	read           api.PointsReading
}

func newMCPCmd(a *app) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:     "mcp [DIR]",
		Short:   "Offer an index, words and places as tools to assistants (MCP)",
		GroupID: groupTools,
		Long: `Speak the Model Context Protocol over standard input and output, for assistants and editors that
start programs and call their tools:

  search, document, concordance  the index in DIR; the last two if it stores its text
  collocations, ngrams, wordlist, keywords, dispersion
                                 words of the index; all but the last if it stores its text
  company, words                 the words that a word is associated with, from --matrix
  similar, analogy               words with similar vectors, from --vectors
  places, places_summary,        kinds of places that are together, from --points
  places_pairs, places_curve

All tools only read, and no port is opened. Documents that are added to the index are found by
the next call. The program ends when the client closes its standard input. Add an entry such as
the following to the client's list of servers:

  {"mcpServers": {"papers": {"command": "collocate", "args": ["mcp", "/home/me/papers.index"]}}}`,
		Args: cobra.MaximumNArgs(1),
		Example: `  collocate mcp papers.index
  collocate mcp papers.index --matrix papers.cooc --points shops.csv --geographic`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := ""
			if len(args) == 1 {
				dir = args[0]
			}
			if dir == "" && f.matrix == "" && f.vectors == "" && f.points == "" {
				return usagef("nothing to offer: want the folder of an index, --matrix, --vectors or --points")
			}
			if f.timeout <= 0 {
				return usagef("--timeout %v: want more than 0", f.timeout)
			}
			if f.points == "-" {
				return usagef("--points -: standard input is used for calls: want a file")
			}
			if _, err := readingFlags(cmd, f.points); err != nil {
				return err
			}
			return f.run(cmd.Context(), a, dir)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.matrix, "matrix", "",
		"a .cooc `FILE` of 'collocate cooccur', for associated words")
	fl.StringVar(&f.vectors, "vectors", "", "a `FILE` of word vectors, as for 'collocate similar'")
	fl.StringVar(&f.points, "points", "",
		"a `FILE` of points, as for 'collocate places', for co-located kinds of places")
	fl.DurationVar(&f.timeout, "timeout", 5*time.Minute, "longest time for a call")
	addReading(cmd, &f.read)
	return cmd
}

func (f *mcpFlags) run(ctx context.Context, a *app, dir string) (err error) {
	o := mcptools.Options{Threads: a.threads, Memory: int64(a.memory), Version: versionName(),
		Time: f.timeout, Log: a.serverLog()}
	if dir != "" {
		if o.Searcher, err = search.Open(dir); err != nil {
			return err
		}
		defer o.Searcher.Close()
		o.Index = filepath.Base(filepath.Clean(dir))
	}
	if f.matrix != "" {
		if o.Words, err = cooccur.Open(f.matrix); err != nil {
			return wanting(err, "a .cooc file that 'collocate cooccur' wrote")
		}
		defer o.Words.Close()
		o.Matrix = filepath.Base(f.matrix)
	}
	if f.vectors != "" {
		if o.Vectors, err = vectors.Open(f.vectors); err != nil {
			return err
		}
		defer o.Vectors.Close()
		o.VectorFile = filepath.Base(f.vectors)
	}
	if f.points != "" {
		in, err := a.readPoints(ctx, &f.read, 2, []string{f.points})
		if err != nil {
			return err
		}
		o.Places, o.Points = in.Set, filepath.Base(f.points)
	}
	server, err := mcptools.New(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	err = server.Run(ctx, mcptools.Lines(a.stdin, a.stdout))
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return nil // the client closed the connection
	}
	return err
}
