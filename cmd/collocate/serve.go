package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/serve"
)

func newServeCmd(a *app) *cobra.Command {
	var addr, debugAddr string
	var maxK int
	var model modelFlags
	var hosts []string
	var limits serve.Limits
	cmd := &cobra.Command{
		Use:         "serve DIR",
		Short:       "Answer searches over HTTP",
		GroupID:     groupSearch,
		Annotations: hasGPU,
		Long: `Serve keeps the index in DIR open and answers searches over HTTP, in the JSON
of 'collocate search --json':

  GET /search?q=WORDS  one query; also k, mode, model, snippets=1, stats=1
  POST /search         many: [{"q": "WORDS", "k": 5}, ...] in, a line of JSON for each out
  GET /healthz         {"status":"ok","docs":3,"terms":10}
  GET /readyz          {"status":"ready"}, or 503 when the index cannot be read
  GET /                a page with a search field

Errors are {"error": "..."} with an HTTP status. --model and its parameters are for queries
that name no model. The cores answer: one query on as many as make it faster, or on one with
--engine sequential, on all with multicore. With --engine gpu the index is brought to the GPU
before the first query, and the GPU answers.

Once it answers, the address goes to standard error, or with --json to standard output. Other
machines cannot ask unless --addr says so, as in :8080; then anybody who can reach the address
can. Requests that name another host than an address, localhost or one of --host are refused,
and so are those of other sites' pages. When more is asked than the cores can answer, clients
that ask little go first and others get status 429. Ctrl-C or SIGTERM end the server after the
searches under way, within five seconds, with exit code 0.`,
		Args: cobra.ExactArgs(1),
		Example: `  collocate serve news.index
  curl 'http://127.0.0.1:8080/search?q=solar+eclipse&k=3'
  curl http://127.0.0.1:8080/search -d '[{"q": "solar eclipse"}, {"q": "moon", "mode": "and"}]'
  collocate serve news.index --addr 127.0.0.1:0 --engine gpu --max-k 100`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if maxK < 1 || maxK > search.MaxK {
				return usagef("--max-k %d: want 1 to %d", maxK, search.MaxK)
			}
			for _, n := range []struct {
				flag  string
				value int
			}{
				{"max-words", limits.Words}, {"max-queries", limits.Queries},
				{"max-waiting", limits.Waiting}, {"max-connections", limits.Connections},
			} {
				if n.value < 1 {
					return usagef("--%s %d: want at least 1", n.flag, n.value)
				}
			}
			if limits.Time <= 0 {
				return usagef("--timeout %v: want more than 0", limits.Time)
			}
			m, err := model.parse()
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), args[0], addr, debugAddr, serve.Options{
				Engine: a.engine, Threads: a.threads, MaxK: maxK, Model: m, Hosts: hosts, Limits: limits,
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&addr, "addr", "127.0.0.1:8080", "where to listen; port 0 is any that is free")
	fl.StringVar(&debugAddr, "debug-addr", "", "where to serve Go's profiles (/debug/pprof/), as in 127.0.0.1:6060")
	fl.IntVar(&maxK, "max-k", serve.DefaultMaxK, "most documents that a query may ask for")
	fl.StringArrayVar(&hosts, "host", nil, "a name under which clients may ask, beside addresses and localhost; * is any")
	fl.DurationVar(&limits.Time, "timeout", 10*time.Second, "longest time for a query")
	fl.IntVar(&limits.Words, "max-words", 256, "most words of a query")
	fl.IntVar(&limits.Queries, "max-queries", 10_000, "most queries of a batch")
	fl.IntVar(&limits.Waiting, "max-waiting", 512, "most requests that wait for a core; others get status 429")
	fl.IntVar(&limits.Connections, "max-connections", 16_384, "most open connections; beyond, idle ones are closed")
	model.register(cmd)
	return cmd
}

// serveJSON is what --json says of a server that answers.
type serveJSON struct {
	URL   string `json:"url"`
	Docs  int    `json:"docs"`
	Terms int    `json:"terms"`
}

func (a *app) serve(ctx context.Context, dir, addr, debugAddr string, o serve.Options) error {
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
	o.Log = a.serverLog()
	if debugAddr != "" {
		d, err := new(net.ListenConfig).Listen(ctx, "tcp", debugAddr)
		if err != nil {
			return fmt.Errorf("--debug-addr %q: %w", debugAddr, err)
		}
		debugging, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- serve.RunDebug(debugging, d) }()
		defer func() {
			stop()
			<-ended
		}()
	}
	return serve.New(s, o).Run(ctx, l)
}

// serverLog tells what goes wrong even without --verbose: nobody waits for a server to end.
func (a *app) serverLog() *slog.Logger {
	if a.verbose {
		return a.log
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
