package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/heap"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/serve"
	"github.com/collocate/collocate/vectors"
)

// serveFlags are the flags of `collocate serve`.
type serveFlags struct {
	addr, debugAddr string
	matrix, vectors string
	points          string
	pointsFlags     string
	read            api.Served
	tokenFile       string
	token           followed[[]serve.Token]
	rootToken       followed[string]
	setShardToken   func(string)
	proxies         []string
	trusted         []netip.Prefix // the parsed proxies
	tlsCert, tlsKey string
	accessLog       string
	trace           string
	hosts, origins  []string
	maxK            int
	writable        bool
	indexes         string
	deletable       bool
	commitEvery     time.Duration
	maxDocument     bytesize.Size
	quotaBytes      bytesize.Size
	limits          serve.Limits
	ranking         api.Ranking
	reloadEvery     time.Duration   // how often to look for a new index
	arrived         <-chan struct{} // newer generations of indexes in buckets
	drain           time.Duration
	root            bool
	shards          string
	shardToken      string
	about           []string
	askFirst        int
	encoder         encoderFlags
	reranking       rerankerFlags
}

func newServeCmd(a *app) *cobra.Command {
	f := serveFlags{reloadEvery: 2 * time.Second, maxDocument: 16 * bytesize.MB}
	cmd := &cobra.Command{
		Use:         "serve [NAME=]DIR... | serve --root --shards URL,...",
		Short:       "Answer searches over HTTP",
		GroupID:     groupSearch,
		Annotations: hasGPU,
		Long: `Keep the index in DIR open, or several, and answer requests over HTTP, in JSON:

  GET /                 a page for browsers
  GET /v1/openapi.json  what programs can ask: searches, batches, documents and, with
                        --matrix, --vectors and --points, associated and similar words, and
                        co-located places; GET /docs shows it as a page
  GET /search?q=WORDS   one query, in the JSON of 'collocate search --json'
  POST /search          many: [{"q": "WORDS", "k": 5}, ...] in, a line of JSON for each out
  POST /mcp             the Model Context Protocol, for assistants: the tools of 'collocate mcp'
  GET /healthz, /readyz whether the server runs, and whether it can read its indexes
  GET /metrics          for Prometheus

Each index has a name: that of its folder, or NAME. Requests to /v1/indexes/NAME/search and the
like are about that index, those to /v1/search about the first one; GET /v1/indexes lists them.
With --points, --matrix or --vectors the server needs no index. --indexes serves all indexes in a
folder. DIR may be the address of an index in a bucket, s3://BUCKET/NAME, which is followed: see
docs/bucket.md.

Once the server is ready, it prints its address on standard error, or with --json on standard
output. It listens on this machine only, unless --addr says otherwise, as in :8080; then use
--token-file and --tls-cert, or anybody who can reach the address can send requests. The Host
header must be an IP address, localhost or one of --host, and pages of other sites are refused
unless --cors-origin allows them. Under overload, clients with few requests go first and others
get status 429.

More:
With --writable clients add, replace and delete documents (POST and DELETE to
/v1/indexes/NAME/documents) and, with --indexes, make indexes in that folder (PUT
/v1/indexes/NAME). A change is durable and visible after --commit-every, or at once with
?refresh=true: see docs/serving.md. The server holds the lock of an index from its first change
on, so that no other process changes it. An index in a bucket has no such lock: many servers may
change it at once.

Errors are problems of RFC 9457, with an HTTP status, a "code" and a "detail". --model and its
parameters apply to queries that name no model. A query runs on as many CPU cores as make it
faster, on one with --engine sequential, and on all with multicore. With --engine gpu the index
is copied to the GPU before the first query, and the GPU answers.

With --root there is no DIR: the server asks the servers of --shards, each of which serves a
shard made by 'collocate shard', and merges their answers into those of the whole index. Commas
separate shards, | separates replicas of a shard. If a replica fails or is slow, the next one is
asked; answers say how many shards and documents they cover ("shards"). See docs/cluster.md.

A token in the file of --token-file may do everything. If the file has several, each line is
"read TOKEN NAME" or "write TOKEN NAME"; the name, for the access log, may be left out.

A renewed certificate is used without a restart. With --drain the server reports for a while
that it is not ready (/readyz), and closes connections after their answers, so that a load
balancer sends requests elsewhere before it stops.

The server collects garbage only when there are 128 MB, or a 32nd of the memory. GOGC or
GOMEMLIMIT in the environment override that.

When the index in DIR is replaced, or on SIGHUP or SIGUSR1, the server switches to the new one
without refusing a request. Under nohup only SIGUSR1 does that, since SIGHUP is ignored there. A
new token in the file of --token-file or --shard-token-file is used at once, too. Behind a proxy,
name its address with --proxy: otherwise all its clients count as one. A proxy may add a path before
the page. Ctrl-C or SIGTERM ends the server after running requests, within five seconds, with exit
code 0.`,
		Args: cobra.ArbitraryArgs,
		Example: `  collocate serve news.index
  collocate serve news.index old=/archive/news.index
  collocate serve --points shops.csv --geographic
  collocate serve --indexes /data/indexes --writable --token-file tokens
  curl 'http://127.0.0.1:8080/search?q=solar+eclipse&k=3'
  curl http://127.0.0.1:8080/search -d '[{"q": "solar eclipse"}, {"q": "moon", "mode": "and"}]'
  collocate serve news.index --matrix news.cooc --vectors news.vec --points shops.csv --geographic
  collocate serve --root --shards 'http://a:8081|http://b:8081,http://c:8082'
  collocate serve news.index --addr :8443 --tls-cert cert.pem --tls-key key.pem --token-file token`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(a, cmd); err != nil {
				return err
			}
			if f.root || f.shards != "" {
				return f.runRoot(a, cmd, args)
			}
			if len(args) == 0 && f.points == "" && f.matrix == "" && f.vectors == "" && f.indexes == "" {
				return usagef("DIR is missing: the folder of an index; or --indexes, --points, --matrix, " +
					"--vectors, or --root with --shards")
			}
			indexes, err := namedIndexes(args)
			if err != nil {
				return err
			}
			f.arrived = a.arrived
			return f.run(a, cmd.Context(), indexes)
		},
	}
	f.register(cmd)
	a.inBuckets(cmd, true)
	return cmd
}

// register adds the flags to the verb.
func (f *serveFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.addr, "addr", "127.0.0.1:8080", "address to listen on; port 0 means any free port")
	fl.StringVar(&f.vectors, "vectors", "",
		"a `FILE` of 'collocate embed' or other word vectors, for requests about similar words")
	fl.StringVar(&f.matrix, "matrix", "", "a .cooc `FILE` of 'collocate cooccur', for requests about associated words")
	fl.StringVar(&f.points, "points", "",
		"a `FILE` of points, as for 'collocate places', for requests about co-located places")
	addFlags(cmd, api.ServedQuestion, &f.read)
	fl.StringVar(&f.debugAddr, "debug-addr", "", "address for Go's profiles (/debug/pprof/), such as 127.0.0.1:6060")
	fl.StringVar(&f.tokenFile, "token-file", "",
		"`FILE` with a token that clients must send (Authorization: Bearer TOKEN), or several with rights")
	fl.StringVar(&f.indexes, "indexes", "", "a `FOLDER` of indexes, all of which are served")
	fl.BoolVar(&f.writable, "writable", false, "let clients add and delete documents and, with --indexes, make indexes")
	fl.BoolVar(&f.deletable, "deletable", false, "let clients delete the indexes in the folder of --indexes")
	fl.DurationVar(&f.commitEvery, "commit-every", time.Second, "longest time until a change is durable and visible")
	fl.Var(&f.maxDocument, "max-document", "largest `size` of a document that is added")
	fl.IntVar(&f.limits.Requests, "quota-requests", 0,
		"largest number of requests of a client in a minute, by token or else by address; 0 means any")
	fl.Var(&f.quotaBytes, "quota-bytes", "largest `size` of the documents that a client adds in a day; 0B means any")
	fl.StringSliceVar(&f.proxies, "proxy", nil,
		"addresses or networks (CIDR) of proxies, whose X-Forwarded-For names the client; of others it is ignored")
	fl.StringVar(&f.tlsCert, "tls-cert", "", "certificate `FILE`, for HTTPS")
	fl.StringVar(&f.tlsKey, "tls-key", "", "key `FILE` of the certificate")
	fl.StringVar(&f.accessLog, "access-log", "",
		"append a line of JSON for each request to `FILE`; - is standard error")
	fl.StringVar(&f.trace, "trace", "",
		"append a line for each request to `FILE`: its spans in OpenTelemetry's JSON; - is standard error")
	fl.StringArrayVar(&f.hosts, "host", nil,
		"a host name for requests, besides IP addresses and localhost; * means any")
	fl.StringArrayVar(&f.origins, "cors-origin", nil, "an origin whose pages may send requests, such as https://example.org")
	fl.IntVar(&f.maxK, "max-k", serve.DefaultMaxK, "largest number of documents per query")
	fl.DurationVar(&f.limits.Time, "timeout", 10*time.Second, "longest time for a query")
	fl.IntVar(&f.limits.Words, "max-words", 256, "largest number of words in a query")
	fl.IntVar(&f.limits.Queries, "max-queries", 10_000, "largest number of queries in a batch")
	fl.IntVar(&f.limits.Waiting, "max-waiting", 512, "largest number of requests that wait for a core; others get status 429")
	fl.IntVar(&f.limits.Connections, "max-connections", 16_384, "largest number of open connections; beyond it, idle ones are closed")
	fl.DurationVar(&f.drain, "drain", 0, "how long to report that the server is not ready before it stops, for load balancers")
	fl.BoolVar(&f.root, "root", false, "serve no index, but ask the servers of --shards")
	fl.StringVar(&f.shards, "shards", "",
		"`URLS` of all shards of an index, as in 'http://a:8081|http://b:8081,http://c:8081'")
	fl.StringVar(&f.shardToken, "shard-token-file", "", "`FILE` with the token of the shards' servers")
	fl.IntVar(&f.askFirst, "ask-first", 1,
		"number of shards to ask before the others, which then only need to find hits that are as good; 0 means none")
	addAbout(cmd, &f.about)
	f.encoder.register(cmd, "queries", &f.encoder.o.Query)
	f.reranking.register(cmd)
	fl.StringVar(&f.encoder.o.Document, "encoder-document-prefix", "",
		"text that the model wants before each document that is put in without a vector")
	group(cmd, "Vectors", "encoder-document-prefix")
	addFlags(cmd, api.RankingQuestion, &f.ranking)
	group(cmd, "Documents over HTTP", "indexes", "writable", "deletable", "commit-every", "max-document")
	group(cmd, "Access", "token-file", "tls-cert", "tls-key", "host", "cors-origin", "proxy")
	group(cmd, "Limits", "max-k", "timeout", "max-words", "max-queries", "max-waiting", "max-connections",
		"quota-requests", "quota-bytes")
	group(cmd, "Operation", "access-log", "trace", "debug-addr", "drain")
	group(cmd, "Shards", "root", "shards", "shard-token-file", "ask-first")
	group(cmd, "Points", "columns", "crs", "feature", "geographic", "geometry", "layer", "min-points", "planar",
		"skip-bad", "time", "x", "y")
}

// check validates the flags before anything is opened.
func (f *serveFlags) check(a *app, cmd *cobra.Command) error {
	if f.maxK < 1 || f.maxK > search.MaxK {
		return usagef("--max-k %d: want 1 to %d", f.maxK, search.MaxK)
	}
	for _, n := range []struct {
		flag  string
		value int
	}{
		{"max-words", f.limits.Words}, {"max-queries", f.limits.Queries},
		{"max-waiting", f.limits.Waiting}, {"max-connections", f.limits.Connections},
	} {
		if n.value < 1 {
			return usagef("--%s %d: want at least 1", n.flag, n.value)
		}
	}
	switch {
	case !f.writable && (f.deletable || cmd.Flags().Changed("commit-every") || cmd.Flags().Changed("max-document")):
		return usagef("--deletable, --commit-every and --max-document need --writable")
	case !f.writable && cmd.Flags().Changed("encoder-document-prefix"):
		return usagef("--encoder-document-prefix needs --writable")
	case f.writable && a.engine == engine.GPU:
		return usagef("--writable with --engine gpu: a new index is empty, and cannot be on a GPU; leave one out")
	case f.deletable && f.indexes == "":
		return usagef("--deletable needs --indexes: only indexes in its folder are deleted")
	case f.commitEvery <= 0:
		return usagef("--commit-every %v: want more than 0", f.commitEvery)
	case f.maxDocument <= 0:
		return usagef("--max-document %v: want more than 0", f.maxDocument)
	case f.limits.Requests < 0 || f.quotaBytes < 0:
		return usagef("--quota-requests and --quota-bytes: want 0 or more")
	}
	f.limits.Document, f.limits.Written = int64(f.maxDocument), int64(f.quotaBytes)
	if f.drain < 0 {
		return usagef("--drain %v: want 0 or more", f.drain)
	}
	if f.limits.Time <= 0 {
		return usagef("--timeout %v: want more than 0", f.limits.Time)
	}
	if (f.tlsCert == "") != (f.tlsKey == "") {
		return usagef("--tls-cert and --tls-key go together")
	}
	for _, said := range f.proxies {
		p, err := parseNetwork(said)
		if err != nil {
			return usagef("--proxy %q: want an address or a network, such as 10.0.0.0/8", said)
		}
		f.trusted = append(f.trusted, p)
	}
	var err error
	f.pointsFlags, err = readingFlags(cmd, f.points)
	return err
}

// parseNetwork parses a network in CIDR notation, or a single address.
func parseNetwork(s string) (netip.Prefix, error) {
	if at, err := netip.ParseAddr(s); err == nil {
		return at.Unmap().Prefix(at.Unmap().BitLen())
	}
	return netip.ParsePrefix(s)
}

// namedIndex is an argument of the verb.
type namedIndex struct{ name, dir string }

// namedIndexes parses DIR or NAME=DIR. A folder whose name contains = is meant as it is.
func namedIndexes(args []string) (list []namedIndex, err error) {
	where := map[string]string{}
	for _, arg := range args {
		ix := namedIndex{filepath.Base(filepath.Clean(arg)), arg}
		_, err := os.Stat(arg)
		if name, dir, ok := strings.Cut(arg, "="); ok && err != nil && !strings.Contains(name, "/") {
			if name == "" || dir == "" {
				return nil, usagef("%q: want NAME=DIR", arg)
			}
			ix = namedIndex{name, dir}
			_, err = os.Stat(dir)
		}
		if err != nil {
			return nil, fmt.Errorf("open index: %w", err)
		}
		if other, twice := where[ix.name]; twice {
			return nil, usagef("%s and %s have the same name %q: write NAME=%[2]s", other, ix.dir, ix.name)
		}
		where[ix.name] = ix.dir
		list = append(list, ix)
	}
	return list, nil
}

// serveJSON describes a server that is ready, for --json.
type serveJSON struct {
	URL     string   `json:"url"`
	Docs    int      `json:"docs"`
	Terms   int      `json:"terms"`
	Indexes []string `json:"indexes,omitempty"` // if there are several
}

func (f *serveFlags) run(a *app, ctx context.Context, indexes []namedIndex) error {
	o := f.options(a)
	o.Writable, o.CommitEvery, o.Dir, o.Deletable = f.writable, f.commitEvery, f.indexes, f.deletable
	var err error
	if o.Model, err = f.ranking.Of(nil); err != nil {
		return asFlags(api.RankingQuestion, err)
	}
	// Listen before the slow steps, so that an address in use is reported at once.
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return fmt.Errorf("--addr %q: %w", f.addr, err)
	}
	defer l.Close()
	closeAll, err := f.open(ctx, a, &o)
	defer closeAll()
	if err != nil {
		return err
	}
	var sizes indexSizes
	o.Opened = func(ctx context.Context, name string, s *search.Searcher) error {
		sizes.set(name, s)
		return a.onGPU(ctx, s)
	}
	about, err := abouts(f.about, func(name string) bool {
		return f.indexes != "" || slices.ContainsFunc(indexes, func(x namedIndex) bool { return x.name == name })
	})
	if err != nil {
		return err
	}
	o.MCP = func(v *serve.Server) http.Handler { return a.assistants(v, &o, about) }
	server := serve.New(nil, o)
	closed := false
	defer func() {
		if !closed {
			server.Close()
		}
	}()
	for _, ix := range indexes {
		if v, ok := a.views[ix.dir]; ok {
			err = server.OpenCopy(ctx, ix.name, v)
		} else {
			err = server.Open(ctx, ix.name, ix.dir)
		}
		if err != nil {
			return err
		}
	}
	if f.indexes != "" {
		if err := server.OpenAll(ctx); err != nil {
			return fmt.Errorf("--indexes: %w", err)
		}
	}
	stopDebug, err := f.debug(a, ctx)
	if err != nil {
		return err
	}
	defer stopDebug()
	f.warnIfOpen(a, l.Addr())
	if err := f.announce(a, &sizes, f.url(l.Addr())); err != nil {
		return err
	}
	defer relaxGC()()
	// While all Ps are busy, Go's scheduler polls the network only every 10 ms. With two spare Ps
	// the operating system wakes a thread for a request at once.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2))
	closed = true
	return f.serve(ctx, server, l, o.Log, func(names []string) {
		for _, name := range names {
			size, several := sizes.of(name)
			if several {
				name = " " + name
			} else {
				name = ""
			}
			a.summary("%s and %s from the new index%s", counted(size.docs, "document"),
				counted(size.terms, "word"), name)
		}
	})
}

// indexSizes are the sizes of the indexes that a server has opened.
type indexSizes struct {
	mu    sync.Mutex
	names []string // in order
	sizes map[string]indexSize
}

type indexSize struct{ docs, terms int }

func (l *indexSizes) set(name string, s *search.Searcher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sizes == nil {
		l.sizes = map[string]indexSize{}
	}
	if _, known := l.sizes[name]; !known {
		l.names = append(l.names, name)
	}
	l.sizes[name] = indexSize{s.Index().Docs(), s.Index().Terms()}
}

// of returns the size of an index, and whether there are several.
func (l *indexSizes) of(name string) (size indexSize, several bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sizes[name], len(l.names) > 1
}

// announce says that the server is ready, and what it has.
func (f *serveFlags) announce(a *app, has *indexSizes, url string) error {
	about, names := serveJSON{URL: url}, has.names
	for _, size := range has.sizes {
		about.Docs, about.Terms = about.Docs+size.docs, about.Terms+size.terms
	}
	if len(names) > 1 {
		about.Indexes = names
	}
	switch {
	case a.json:
		return a.printJSON(about)
	case len(names) == 0:
		a.summary("no index at %s", url)
	case len(names) == 1:
		a.summary("%s and %s at %s", counted(about.Docs, "document"), counted(about.Terms, "word"), url)
	default:
		a.summary("%d indexes (%s) with %s at %s", len(names), strings.Join(names, ", "),
			counted(about.Docs, "document"), url)
	}
	return nil
}

// serve runs a server until ctx is done, or on SIGHUP if the terminal was closed. It looks for new
// indexes and tokens now and then, and on a signal to reload; tell is called with the names of
// indexes that were opened again.
func (f *serveFlags) serve(ctx context.Context, server *serve.Server, l net.Listener, log *slog.Logger,
	tell func(names []string)) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var follower sync.WaitGroup
	follower.Go(func() {
		f.follow(running, server, log, tell)
		stop()
	})
	err := server.Run(running, l)
	stop()
	follower.Wait()
	return errors.Join(err, server.Close())
}

// relaxGC makes the garbage collector of a server run less often, unless GOGC or GOMEMLIMIT is set.
// The index is mapped, so the heap is small. Under load it was collected a hundred times a second,
// and each collection emptied the pools of reusable memory. The heap grows by up to 128 MB, or a
// 32nd of the memory if that is less. The returned function restores the usual pace.
func relaxGC() (restore func()) {
	var space heap.Space
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		space.Take(int(min(128<<20, heap.Memory()/32)))
	}
	return func() { runtime.KeepAlive(&space) }
}

// options returns the options that servers of an index and of shards have in common.
func (f *serveFlags) options(a *app) serve.Options {
	return serve.Options{
		Engine: a.engine, Device: a.gpu, Threads: a.threads, MaxK: f.maxK, Hosts: f.hosts, Origins: f.origins, Proxies: f.trusted, Limits: f.limits,
		Version: versionName(), TLSCert: f.tlsCert, TLSKey: f.tlsKey, Log: a.serverLog(), Drain: f.drain,
	}
}

// url returns the server's URL for this machine: the loopback address if it listens on all.
func (f *serveFlags) url(at net.Addr) string {
	scheme := "http://"
	if f.tlsCert != "" {
		scheme = "https://"
	}
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return scheme + net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return scheme + at.String()
}

// open opens the files that are served besides the index.
func (f *serveFlags) open(ctx context.Context, a *app, o *serve.Options) (closeAll func(), err error) {
	var closers []func() error
	closeAll = func() {
		for _, c := range closers {
			c()
		}
	}
	read := func() ([]serve.Token, error) { return readTokens(f.tokenFile) }
	if o.Tokens, err = f.token.read(f.tokenFile, read); err != nil {
		return closeAll, err
	}
	if f.tlsCert != "" {
		if _, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey); err != nil {
			return closeAll, fmt.Errorf("--tls-cert: %w", err)
		}
	}
	for _, log := range []struct {
		flag, name string
		use        func(io.Writer)
	}{
		{"access-log", f.accessLog, func(to io.Writer) { o.Access = slog.New(slog.NewJSONHandler(to, nil)) }},
		{"trace", f.trace, func(to io.Writer) { o.Trace = to }},
	} {
		if log.name == "" {
			continue
		}
		out := a.stderr
		if log.name != "-" {
			file, err := os.OpenFile(log.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
			if err != nil {
				return closeAll, fmt.Errorf("--%s: %w", log.flag, err)
			}
			closers = append(closers, file.Close)
			out = file
		}
		log.use(&requestLog{to: out, log: o.Log, flag: log.flag})
	}
	if f.matrix != "" {
		m, err := cooccur.Open(f.matrix)
		if err != nil {
			return closeAll, wanting(err, "a .cooc file that 'collocate cooccur' wrote")
		}
		closers = append(closers, m.Close)
		o.Matrix, o.MatrixName = m, filepath.Base(f.matrix)
	}
	if f.vectors != "" {
		v, err := vectors.Open(f.vectors)
		if err != nil {
			return closeAll, err
		}
		closers = append(closers, v.Close)
		o.Vectors, o.VectorsName = v, filepath.Base(f.vectors)
	}
	if o.Encoder, err = f.encoder.open(); err != nil {
		return closeAll, err
	}
	closers = append(closers, o.Encoder.Close)
	if o.Reranker, err = f.reranking.open(); err != nil {
		return closeAll, err
	}
	closers = append(closers, o.Reranker.Close)
	if f.points != "" {
		in, err := a.readServed(ctx, &f.read, f.points)
		if err != nil {
			return closeAll, err
		}
		o.Points, o.PointsName, o.PointsFlags = in.Set, points.SourceName(f.points), f.pointsFlags
	}
	return closeAll, nil
}

// warnIfOpen warns what other machines may do or see if they can reach the address.
func (f *serveFlags) warnIfOpen(a *app, at net.Addr) {
	switch {
	case onlyHere(at):
	case f.tokenFile == "" && f.writable:
		a.warn("anyone who can reach %s can change the indexes: see --token-file and --tls-cert", f.addr)
	case f.tokenFile == "":
		a.warn("anyone who can reach %s can send requests: see --token-file and --tls-cert", f.addr)
	case f.tlsCert == "":
		a.warn("the token and all answers are not encrypted at %s: see --tls-cert, or use a proxy with TLS", f.addr)
	}
}

// onlyHere reports whether only this machine can reach an address.
func onlyHere(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// debug serves profiles if --debug-addr is set; stop ends that.
func (f *serveFlags) debug(a *app, ctx context.Context) (stop func(), err error) {
	if f.debugAddr == "" {
		return func() {}, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.debugAddr)
	if err != nil {
		return nil, fmt.Errorf("--debug-addr %q: %w", f.debugAddr, err)
	}
	if !onlyHere(l.Addr()) {
		a.warn("anyone who can reach %s can read profiles of the server without a token", f.debugAddr)
	}
	debugging, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- serve.RunDebug(debugging, l) }()
	return func() {
		cancel()
		<-ended
	}, nil
}

// follow opens indexes again when their folders were replaced, when a newer generation was
// committed or has arrived from a bucket, and on a signal to reload; also the token, when its file
// changes. A root, which has no folders, checks its shards by itself. follow returns when the
// server is to stop: when ctx is done, or on SIGHUP if the terminal was closed.
func (f *serveFlags) follow(ctx context.Context, server *serve.Server, log *slog.Logger, tell func([]string)) {
	told := make(chan os.Signal, 1)
	atTerminal := term.IsTerminal(int(os.Stdin.Fd()))
	notifyReload(told)
	defer signal.Stop(told)
	look := time.NewTicker(f.reloadEvery)
	defer look.Stop()
	for {
		forced := false
		select {
		case <-ctx.Done():
			return
		case signal := <-told:
			if hungUp(signal, atTerminal) {
				return
			}
			forced = true
		case <-look.C:
		case <-f.arrived:
		}
		f.token.look(server.SetTokens, log, forced)
		f.rootToken.look(f.setShardToken, log, forced)
		if names, err := server.Look(ctx, forced); err == nil {
			tell(names)
		}
	}
}

// hungUp reports whether a signal means that the terminal was closed.
func hungUp(signal os.Signal, atTerminal bool) bool {
	return signal == syscall.SIGHUP && atTerminal && !term.IsTerminal(int(os.Stdin.Fd()))
}

// requestLog is the access log or the traces. The first failure to write is logged; on a full disk
// the server goes on.
type requestLog struct {
	to     io.Writer
	log    *slog.Logger
	flag   string
	failed bool
}

// Write is called by one goroutine at a time.
func (r *requestLog) Write(p []byte) (int, error) {
	n, err := r.to.Write(p)
	if err != nil && !r.failed {
		r.log.Error("the file of --"+r.flag+" is incomplete", "error", err)
	}
	r.failed = err != nil
	return n, err
}

// serverLog returns a log that shows errors even without --verbose, since a server does not end to
// report them.
func (a *app) serverLog() *slog.Logger {
	if a.verbose {
		return a.log
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
