package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
)

// cluster is a server of an index, and a root over servers of its shards, with replicas.
type cluster struct {
	whole, root *Server
	replicas    [][]*httptest.Server
}

func newCluster(t testing.TB, shards, replicas int, o RootOptions) *cluster {
	t.Helper()
	return newClusterOf(t, elife(t, true), shards, replicas, o)
}

func newClusterOf(t testing.TB, s *search.Searcher, shards, replicas int, o RootOptions) *cluster {
	t.Helper()
	c := &cluster{whole: New(s, Options{Limits: Limits{Hold: -1}})}
	var list []string
	for _, part := range shardServers(t, s, shards) {
		var servers []*httptest.Server
		var urls []string
		for range replicas {
			one := httptest.NewServer(part)
			t.Cleanup(one.Close)
			servers, urls = append(servers, one), append(urls, one.URL)
		}
		c.replicas, list = append(c.replicas, servers), append(list, strings.Join(urls, "|"))
	}
	root, err := ParseShards(strings.Join(list, ","), o)
	if err != nil {
		t.Fatal(err)
	}
	c.root = NewRoot(t.Context(), Options{Root: root, Limits: Limits{Hold: -1}})
	return c
}

// same compares the answers of the root and of one index; only times and stats may differ.
func (c *cluster) same(t testing.TB, path string) (got api.Answer) {
	t.Helper()
	want := call(c.whole, path, "")
	from := call(c.root, path, "")
	if want.Code != from.Code {
		t.Fatalf("%s: status %d, want %d: %s", path, from.Code, want.Code, from.Body)
	}
	got = decode[api.Answer](t, from.Body.String())
	plain := got
	plain.Shards, plain.Micros, plain.Stats = nil, 0, nil
	one := decode[api.Answer](t, want.Body.String())
	one.Micros, one.Stats = 0, nil
	if (plain.Next == "") != (one.Next == "") {
		t.Errorf("%s: next %q, want %q", path, plain.Next, one.Next)
	}
	plain.Next, one.Next = "", "" // a cursor names its index, or the cut into shards
	a, _ := json.Marshal(plain)
	b, _ := json.Marshal(one)
	if string(a) != string(b) {
		t.Errorf("%s:\n got %s\nwant %s", path, a, b)
	}
	return got
}

var clusterQuestions = []string{
	"lipid droplets kill bacteria", "neurons", "the cell membrane", "membrane", "zebra fish embryos", "nosuchwordatall",
	"the of and in to a", "-the cell", "+neurons +the", "cell -membrane the",
	"neur*", "+membran* -cell*", "lip?d^2 drop*", "neuron~ cell", "zebrafihs~2 OR nosuchword*",
}

// A root answers as one index does, with any number of shards asked first.
func TestShardsAnswerAsOneIndex(t *testing.T) {
	for _, first := range []int{0, 2, -1} {
		c := newCluster(t, 3, 2, RootOptions{First: first})
		docs := uint64(c.whole.first().current.Load().docs)
		for n, q := range clusterQuestions {
			for i, more := range []string{
				"", "&k=1", "&k=100&mode=and", "&k=3&from=4", "&k=3&offset=4", "&k=1000", "&snippets=1&k=5",
				"&count=1&k=2", "&model=dirichlet", "&model=dph&k=7&plain=1",
			} {
				if (i+n)%trials.Every(8) != 0 {
					continue
				}
				got := c.same(t, "/v1/search?q="+url.QueryEscape(q)+more)
				if want := (api.Coverage{Answered: 3, Of: 3, Documents: docs,
					OfDocuments: docs}); got.Shards == nil || !equalCoverage(*got.Shards, want) {
					t.Errorf("%s: coverage %+v, want %+v", q, got.Shards, want)
				}
			}
		}
		got := c.same(t, "/v1/search?q=cell+membrane&explain=1&k=3")
		if len(got.Hits) != 3 || got.Hits[0].Explain == nil {
			t.Errorf("answer %+v, want 3 hits with explanations", got)
		}
		for _, id := range []string{got.Hits[0].ID, got.Hits[2].ID, "nobody"} {
			path := "/v1/documents/" + url.PathEscape(id)
			if want, is := call(c.whole, path, ""), call(c.root, path, ""); want.Code != is.Code ||
				want.Code == 200 && want.Body.String() != is.Body.String() {
				t.Errorf("%s: status %d %s, want %d %s", path, is.Code, is.Body, want.Code, want.Body)
			}
		}
	}
}

func equalCoverage(a, b api.Coverage) bool {
	return a.Answered == b.Answered && a.Of == b.Of && a.Documents == b.Documents && a.OfDocuments == b.OfDocuments &&
		slices.Equal(a.Missing, b.Missing)
}

// A root answers a batch as one index does.
func TestBatchesInShards(t *testing.T) {
	c := newCluster(t, 3, 1, RootOptions{})
	var body strings.Builder
	for _, q := range slices.Repeat(clusterQuestions, 8/trials.Every(4)) {
		fmt.Fprintf(&body, "{\"q\":%q,\"k\":4}\n", q)
	}
	want, got := call(c.whole, "/v1/search", body.String()), call(c.root, "/v1/search", body.String())
	wants, gots := strings.Split(want.Body.String(), "\n"), strings.Split(got.Body.String(), "\n")
	if len(wants) != len(gots) || got.Code != http.StatusOK {
		t.Fatalf("status %d, %d lines; want 200, %d: %s", got.Code, len(gots), len(wants), got.Body)
	}
	for i := range wants {
		// A cursor comes last, before the shards. It names its index, or the cut into shards.
		want, cursor, next := strings.Cut(wants[i], `,"next":"`)
		without, _, _ := strings.Cut(gots[i], `,"shards":`)
		without, _, also := strings.Cut(without, `,"next":"`)
		if next != also || without != strings.TrimSuffix(want, "}") || next != strings.HasSuffix(cursor, `"}`) {
			t.Errorf("line %d:\n got %s\nwant %s", i, gots[i], wants[i])
		}
	}
}

// If one of two replicas is gone, answers stay the same. If a shard is gone, answers, the plain
// page, the access log and the metrics say so. Without any shard the status is 503.
func TestKilledReplicasAndShards(t *testing.T) {
	c := newCluster(t, 3, 2, RootOptions{})
	all := c.whole.first().current.Load().docs
	c.replicas[1][0].Close()
	for range 3 / trials.Every(3) {
		for _, q := range clusterQuestions {
			if got := c.same(t, "/v1/search?q="+url.QueryEscape(q)); got.Shards.Answered != 3 ||
				got.Shards.Missing != nil {
				t.Errorf("%s: coverage %+v, want all 3 shards", q, got.Shards)
			}
		}
	}
	c.replicas[1][1].Close()
	for range 4 { // each replica is asked first in turn
		w := call(c.root, "/v1/search?q=membrane&k=1000", "")
		got := decode[api.Answer](t, w.Body.String())
		if w.Code != http.StatusOK || got.Shards.Answered != 2 || got.Shards.Of != 3 || len(got.Shards.Missing) != 1 ||
			got.Shards.Documents >= uint64(all) || got.Shards.OfDocuments != uint64(all) || len(got.Hits) == 0 {
			t.Fatalf("status %d %s, want 200, 2 of 3 shards and fewer than %d documents", w.Code, w.Body, all)
		}
		lo, hi := all/3, 2*all/3
		for _, h := range got.Hits {
			if int(h.Doc) >= lo && int(h.Doc) < hi {
				t.Errorf("document %d is of the shard that is gone", h.Doc)
			}
		}
	}
	if w := call(c.root, "/plain?q=membrane", ""); !strings.Contains(w.Body.String(),
		"Incomplete: 2 of 3 shards answered") {
		t.Errorf("want \"Incomplete: 2 of 3 shards answered\" on the plain page: %s", w.Body)
	}
	var log strings.Builder
	c.root.o.Access = slog.New(slog.NewTextHandler(&log, nil))
	call(c.root, "/v1/search?q=membrane", "")
	if c.root.o.Access = nil; !strings.Contains(log.String(), "missing_shards=1") {
		t.Errorf("access log %q, want missing_shards=1", log.String())
	}
	if w := call(c.root, "/metrics", ""); !strings.Contains(w.Body.String(), "collocate_shard_missing_total 6") {
		t.Errorf("want collocate_shard_missing_total 6 in the metrics: %s", w.Body)
	}
	for _, servers := range c.replicas {
		for _, one := range servers {
			one.Close()
		}
	}
	if w := call(c.root, "/v1/search?q=membrane", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("search without any shard: status %d %s, want 503", w.Code, w.Body)
	}
	c.root.o.Root.look(t.Context())
	if w := call(c.root, "/v1/ready", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("ready without any shard: status %d %s, want 503", w.Code, w.Body)
	}
}

// With the k-th score of a first shard as threshold, the others score fewer postings.
func TestThresholdIsForwarded(t *testing.T) {
	scored := func(first int) (n int64) {
		c := newCluster(t, 3, 1, RootOptions{First: first})
		for range 3 {
			for _, q := range clusterQuestions[:5] {
				w := call(c.root, "/v1/search?plain=1&stats=1&algorithm=maxscore&q="+url.QueryEscape(q), "")
				n += decode[api.Answer](t, w.Body.String()).Stats.Scored
			}
		}
		return n
	}
	with, without := scored(1), scored(-1)
	if t.Logf("%d postings scored with a forwarded threshold, %d without", with, without); with >= without {
		t.Errorf("%d postings scored with a forwarded threshold, want fewer than %d", with, without)
	}
}

// If a replica takes longer than usual, another is asked too, for at most one query in 20.
func TestSlowReplicasAreHedged(t *testing.T) {
	c := newCluster(t, 1, 1, RootOptions{})
	part := c.replicas[0][0].Config.Handler
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			io.Copy(io.Discard, r.Body) // without that the end of the connection is not noticed
			<-r.Context().Done()
			return
		}
		part.ServeHTTP(w, r)
	}))
	defer slow.Close()
	root, err := ParseShards(slow.URL+"|"+c.replicas[0][0].URL, RootOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v := NewRoot(t.Context(), Options{Root: root, Limits: Limits{Time: time.Second}})
	g := root.groups[0]
	for range 64 {
		g.times.add(5 * time.Millisecond)
	}
	g.hedges.twentieths.Store(40) // for two queries
	answered, queries := 0, 5
	if testing.Short() {
		queries = 2 // the others would time out
	}
	for range queries {
		g.turn.Store(1) // asks the slow replica first
		if w := call(v, "/v1/search?q=membrane", ""); w.Code == http.StatusOK {
			answered++
		}
	}
	if answered != 2 || root.hedged.Load() != 2 {
		t.Errorf("%d answers, %d hedged requests; want 2, 2", answered, root.hedged.Load())
	}
	var b hedgeBudget
	spent := 0
	for range 1000 {
		if b.earn(); b.spend() {
			spent++
		}
	}
	if spent != 50 {
		t.Errorf("%d of 1000 queries were hedged, want 50", spent)
	}
}

// Errors in the list of shards, and requests that shards cannot answer, are refused with the
// reason.
func TestWrongShards(t *testing.T) {
	c := newCluster(t, 3, 1, RootOptions{})
	u := func(i int) string { return c.replicas[i][0].URL }
	for list, want := range map[string]string{
		u(0) + "," + u(1):                     "has 3 shards, but 2 are listed",
		u(0) + "|" + u(1) + "," + u(2) + ",x": "want a URL such as",
		u(0) + "," + u(0) + "," + u(1):        "listed twice",
		"ftp://a":                             "want a URL such as",
		"":                                    "want a URL such as",
		u(0) + "|" + u(1) + ",http://127.0.0.1:1,http://127.0.0.1:2": "listed as a replica",
		"http://127.0.0.1:1,http://127.0.0.1:2":                      "no shard can be reached",
	} {
		r, err := ParseShards(list, RootOptions{})
		if err == nil {
			v := NewRoot(t.Context(), Options{Root: r})
			err = v.seeShards(t.Context())
			if w := call(v, "/v1/search?q=cell", ""); w.Code != http.StatusServiceUnavailable ||
				!strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: status %d %s, want 503 %q", list, w.Code, w.Body, want)
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", list, err, want)
		}
	}
	for path, want := range map[string]int{
		"/v1/search?q=cel*": 200, "/v1/search?q=cell&model=cosine": 400, "/v1/search?q=": 400,
		"/v1/words?prefix=a":           404,
		"/v1/search?q=cell&engine=gpu": 400, "/v1/search?q=cell&engine=sequential": 400,
		"/v1/status": 200, "/healthz": 200, "/v1/ready": 200,
		"/plain?q=cell": 200, "/": 200,
	} {
		if w := call(c.root, path, ""); w.Code != want {
			t.Errorf("%s: status %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
	if said := decode[problem](t, call(c.root, "/v1/search?q=cell&model=cosine", "").Body.String()).Detail; strings.Count(said, "not supported for a shard") != 1 {
		t.Errorf("error %s, want \"not supported for a shard\" once", said)
	}
	part := c.replicas[0][0].Config.Handler
	for body, want := range map[string]int{
		`{`: 400, `{"whole":"other","ask":{"q":"cell"}}`: 409, `{}`: 409,
	} {
		if w := call(part, "/internal/shard/search", body); w.Code != want {
			t.Errorf("shard request %s: status %d, want %d: %s", body, w.Code, want, w.Body)
		}
	}
	// A shard answers for itself alone: neither questions for another one, nor about its documents.
	g := part.(*Server).first().hold()
	defer part.(*Server).letGo(g)
	ask := func(more string) string { return `{"whole":"` + g.shard.Whole + `","ask":{"q":"cell"}` + more + `}` }
	for _, try := range []struct {
		path, body string
		want       int
	}{
		{"?shard=0", ask(""), 200}, {"", ask(""), 200}, {"?shard=1", ask(""), 409},
		{"", ask(fmt.Sprint(`,"docs":[`, g.shard.end()-1, `]`)), 200},
		{"", ask(fmt.Sprint(`,"docs":[`, g.shard.end(), `]`)), 400},
		{"", ask(`,"x":"` + strings.Repeat("x", maxBody) + `"`), 413},
	} {
		w := call(part, "/internal/shard/search"+try.path, try.body)
		if w.Code != try.want || !json.Valid(w.Body.Bytes()) { // one answer, not two
			t.Errorf("%s %.80s: status %d, want %d: %.200s", try.path, try.body, w.Code, try.want, w.Body)
		}
	}
}

// A server that is to stop is not ready for a while, in which it still answers, before it stops.
func TestDrain(t *testing.T) {
	v := New(elife(t, false), Options{Drain: 300 * time.Millisecond})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx, l) }()
	status := func(path string) int {
		r, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			return 0
		}
		defer r.Body.Close()
		return r.StatusCode
	}
	if got := status("/v1/ready"); got != 200 {
		t.Fatalf("ready before it stops: status %d, want 200", got)
	}
	stop()
	time.Sleep(50 * time.Millisecond)
	if ready, search, shard := status("/v1/ready"), status("/v1/search?q=cell"),
		status("/internal/shard"); ready != 503 || search != 200 || shard != 503 {
		t.Errorf("while draining: status of ready %d, search %d, shard %d; want 503, 200, 503", ready, search,
			shard)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := status("/v1/ready"); got != 0 {
		t.Errorf("after it has stopped: status %d, want no connection", got)
	}
}

// Shards are quick if the median time of recent answers is below worthAFirst.
func TestQuickShards(t *testing.T) {
	var times recentTimes
	if times.quick() {
		t.Error("quick without any answer, want not")
	}
	for range 32 {
		times.add(worthAFirst / 2)
	}
	if !times.quick() {
		t.Error("not quick after 32 quick answers, want quick")
	}
	for range 256 {
		times.add(worthAFirst)
	}
	if times.quick() {
		t.Error("quick after 256 slow answers, want not")
	}
}

// The median and the 95th percentile are those of the last answers, in any order.
func TestRecentTimes(t *testing.T) {
	var times recentTimes
	if at, known := times.p95(); known {
		t.Errorf("p95 of no answers is %v, want none", at)
	}
	for i := range 320 { // the last 256 are a permutation of 1 to 256 ms
		times.add(time.Duration(1+i*37%256) * time.Millisecond)
	}
	if at, known := times.p95(); !known || at != 244*time.Millisecond || times.half != 129*time.Millisecond {
		t.Errorf("p95 %v, %v, median %v; want 244ms, true, 129ms", at, known, times.half)
	}
}
