package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/mcptools"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/serve"
	"github.com/collocate/collocate/vectors"
)

// mcpFlags are the flags of `collocate mcp`.
type mcpFlags struct {
	matrix, points string
	vectors        string
	timeout        time.Duration
	about          []string
	read           api.Served
	encoder        encoderFlags
	reranking      rerankerFlags
}

func newMCPCmd(a *app) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:     "mcp [[NAME=]DIR...]",
		Short:   "Offer indexes, words and places as tools to assistants (MCP)",
		GroupID: groupTools,
		Long: `Speak the Model Context Protocol over standard input and output, for assistants and editors that
start programs and call their tools:

  describe, search, document     the documents of the indexes: what there is, the best for a query,
                                 and their text, if it is stored; documents are also resources
  concordance, analyze           words in context, and as the analyzer makes them
  collocations, ngrams, wordlist, keywords, dispersion
                                 words of an index; all but the last if it stores its text
  company, words                 the words that a word is associated with, from --matrix
  similar, analogy               words with similar vectors, from --vectors
  places, places_summary,        kinds of places that are together, from --points
  places_pairs, places_curve

The name of an index is that of its folder, or NAME, and --about says in a sentence what it is. Of
several indexes each call names one. Prompts are answer and overview. All tools only read, and no
port is opened. Documents that are added are found by the next call. The program ends when the
client closes its standard input. Add an entry such as the following to the client's list of
servers:

  {"mcpServers": {"papers": {"command": "collocate", "args": ["mcp", "/home/me/papers.index"]}}}

Over HTTP, 'collocate serve' answers the same at /mcp: see docs/assistants.md.`,
		Args: cobra.ArbitraryArgs,
		Example: `  collocate mcp notes.index --about 'notes.index=my notes since 2015'
  collocate mcp papers.index mail=/home/me/mail.index
  collocate mcp papers.index --matrix papers.cooc --points shops.csv --geographic`,
		RunE: func(cmd *cobra.Command, args []string) error {
			indexes, err := namedIndexes(args)
			if err != nil {
				return err
			}
			if len(args) == 0 && f.matrix == "" && f.vectors == "" && f.points == "" {
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
			return f.run(cmd.Context(), a, indexes)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.matrix, "matrix", "",
		"a .cooc `FILE` of 'collocate cooccur', for associated words")
	fl.StringVar(&f.vectors, "vectors", "", "a `FILE` of word vectors, as for 'collocate similar'")
	fl.StringVar(&f.points, "points", "",
		"a `FILE` of points, as for 'collocate places', for co-located kinds of places")
	addAbout(cmd, &f.about)
	fl.DurationVar(&f.timeout, "timeout", 5*time.Minute, "longest time for a call")
	addFlags(cmd, api.ServedQuestion, &f.read)
	f.encoder.register(cmd, "queries", &f.encoder.o.Query)
	f.reranking.register(cmd)
	return cmd
}

// addAbout adds the flag that says what indexes are.
func addAbout(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "about", nil,
		"tell assistants in a sentence what an index is: `NAME=TEXT`")
}

// abouts parses the values of --about.
func abouts(list []string, known func(name string) bool) (map[string]string, error) {
	of := map[string]string{}
	for _, said := range list {
		name, text, ok := strings.Cut(said, "=")
		switch {
		case !ok || text == "":
			return nil, usagef("--about %q: want NAME=TEXT", said)
		case len(text) > 500:
			return nil, usagef("--about %s: %d bytes: want at most 500", name, len(text))
		case !known(name):
			return nil, usagef("--about %q: no index has the name %q", said, name)
		}
		of[name] = text
	}
	return of, nil
}

func (f *mcpFlags) run(ctx context.Context, a *app, indexes []namedIndex) (err error) {
	o := mcptools.Options{Threads: a.threads, Memory: int64(a.memory), Version: versionName(),
		Time: f.timeout, Log: a.serverLog()}
	about, err := abouts(f.about, func(name string) bool {
		return slices.ContainsFunc(indexes, func(x namedIndex) bool { return x.name == name })
	})
	if err != nil {
		return err
	}
	var sources []mcptools.Source
	for _, x := range indexes {
		s, err := search.Open(x.dir)
		if err != nil {
			return err
		}
		defer s.Close()
		followed := mcptools.Follow(s)
		followed.Log = o.Log
		defer followed.Close()
		sources = append(sources, mcptools.Source{Name: x.name, About: about[x.name], Read: followed.Read})
	}
	if sources != nil {
		o.Indexes = func() []mcptools.Source { return sources }
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
		in, err := a.readServed(ctx, &f.read, f.points)
		if err != nil {
			return err
		}
		o.Places, o.Points = in.Set, points.SourceName(f.points)
	}
	if o.Encoder, err = f.encoder.open(); err != nil {
		return err
	}
	defer o.Encoder.Close()
	if o.Reranker, err = f.reranking.open(); err != nil {
		return err
	}
	defer o.Reranker.Close()
	server, err := mcptools.New(o)
	if err != nil {
		return err
	}
	err = server.Run(ctx, mcptools.Lines(a.stdin, a.stdout))
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return nil // the client closed the connection
	}
	return err
}

// assistants answers the same over HTTP, from what a server serves.
func (a *app) assistants(v *serve.Server, from *serve.Options, about map[string]string) http.Handler {
	o := mcptools.Options{Threads: 1, Memory: 256 << 20, Version: from.Version, Log: from.Log,
		Words: from.Matrix, Matrix: from.MatrixName, Vectors: from.Vectors, VectorFile: from.VectorsName,
		Places: from.Points, Points: from.PointsName, Encoder: from.Encoder}
	o.Indexes = func() (list []mcptools.Source) {
		for _, name := range v.Names() {
			list = append(list, mcptools.Source{Name: name, About: about[name],
				Read: func(fn func(*search.Searcher) error) error { return v.Read(name, fn) }})
		}
		return list
	}
	server, err := mcptools.New(o)
	if err != nil {
		panic(err) // cannot happen: there is a list of indexes
	}
	return server.Handler()
}
