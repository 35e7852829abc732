package main

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/serve"
)

func newServeCmd(a *app) *cobra.Command {
	var addr string
	var maxK int
	var model modelFlags
	cmd := &cobra.Command{
		Use:         "serve DIR",
		Short:       "Answer searches over HTTP",
		GroupID:     groupSearch,
		Annotations: hasGPU,
		Long: `Serve keeps the index in DIR open and answers searches over HTTP, in the JSON of 'collocate search --json':

  GET /search?q=WORDS  one query; also k, mode, model, snippets=1, stats=1
  POST /search         many: [{"q": "WORDS", "k": 5}, ...] in, a line of JSON for each out, in order
  GET /healthz         {"status":"ok","docs":3,"terms":10}
  GET /                a page with a search field

Errors are {"error": "..."} with an HTTP status. --model and its parameters are for queries that name no model.
The cores answer: one query on as many as make it faster, or on one with --engine sequential, on all with multicore.
With --engine gpu the index is brought to the GPU before the first query, and the GPU answers.

Once it answers, the address goes to standard error, or with --json to standard output. Anybody who can reach the address can ask; other machines
cannot unless --addr says so, as in :8080. Ctrl-C or SIGTERM end it after the searches under way, within five seconds, with exit code 0.`,
		Args: cobra.ExactArgs(1),
		Example: `  collocate serve news.index
  curl 'http://127.0.0.1:8080/search?q=solar+eclipse&k=3'
  curl http://127.0.0.1:8080/search -d '[{"q": "solar eclipse"}, {"q": "moon", "mode": "and"}]'
  collocate serve news.index --addr 127.0.0.1:0 --engine gpu --max-k 100`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if maxK < 1 || maxK > search.MaxK {
				return usagef("--max-k %d: want 1 to %d", maxK, search.MaxK)
			}
			m, err := model.parse()
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), args[0], addr, serve.Options{Engine: a.engine, Threads: a.threads, MaxK: maxK, Model: m})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&addr, "addr", "127.0.0.1:8080", "where to listen; port 0 is any that is free")
	fl.IntVar(&maxK, "max-k", serve.DefaultMaxK, "most documents that a query may ask for")
	model.register(cmd)
	return cmd
}

// serveJSON is what --json says of a server that answers.
type serveJSON struct {
	URL   string `json:"url"`
	Docs  int    `json:"docs"`
	Terms int    `json:"terms"`
}

func (a *app) serve(ctx context.Context, dir, addr string, o serve.Options) error {
	s, err := search.Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr) // before the GPU, which takes longer than to say that the address is taken
	if err != nil {
		return fmt.Errorf("--addr %q: %w", addr, err)
	}
	defer l.Close()
	if err := a.onGPU(ctx, s); err != nil {
		return err
	}
	about := serveJSON{"http://" + l.Addr().String(), s.Index().Docs(), s.Index().Terms()}
	if a.json {
		if err := a.printJSON(about); err != nil {
			return err
		}
	} else {
		a.summary("%s and %s at %s", counted(about.Docs, "document"), counted(about.Terms, "word"), about.URL)
	}
	return serve.Run(ctx, l, serve.New(s, o), a.log)
}
