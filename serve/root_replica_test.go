package serve

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
)

// machine is an HTTP server whose handler can be replaced while it runs.
type machine struct {
	*httptest.Server
	does atomic.Pointer[http.Handler]
}

func newMachine(t testing.TB, does http.Handler) *machine {
	m := new(machine)
	m.does.Store(&does)
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*m.does.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

// hang makes a machine accept requests without answering.
func (m *machine) hang(t testing.TB) {
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	var hung http.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended })
	m.does.Store(&hung)
}

// shardServers returns a server for each shard of an index.
func shardServers(t testing.TB, whole *search.Searcher, shards int) (list []http.Handler) {
	t.Helper()
	from, dir := whole.Index().Segments()[0].Reader, t.TempDir()
	if filepath.Dir(from.Dir()) == elifeFolder { // its shards are kept for other tests
		dir = fmt.Sprint(from.Dir(), "-in-", shards)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for i := range shards {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if _, err := os.Stat(folder); err != nil {
			if err := index.WriteShard(t.Context(), from, folder, i, shards, index.MergeOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := search.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		list = append(list, New(s, Options{Limits: Limits{Hold: -1}}))
	}
	return list
}

// rootOver returns a root over machines: replicas[i] are those of shard i.
func rootOver(t testing.TB, log *strings.Builder, replicas ...[]*machine) *Server {
	t.Helper()
	var list []string
	for _, machines := range replicas {
		var urls []string
		for _, m := range machines {
			urls = append(urls, m.URL)
		}
		list = append(list, strings.Join(urls, "|"))
	}
	root, err := ParseShards(strings.Join(list, ","), RootOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return NewRoot(t.Context(), Options{Root: root, Limits: Limits{Hold: -1, Time: 20 * time.Second},
		Log: slog.New(slog.NewTextHandler(log, nil))})
}

func covered(t testing.TB, root *Server, query string) (api.Answer, api.Coverage) {
	t.Helper()
	w := call(root, "/v1/search?k=1000&q="+query, "")
	if w.Code != http.StatusOK {
		t.Fatalf("status %d %s, want 200", w.Code, w.Body)
	}
	a := decode[api.Answer](t, w.Body.String())
	return a, *a.Shards
}

// A server that has the shard of another by mistake is not used, neither before nor after the root
// has checked it.
func TestMisplacedShards(t *testing.T) {
	shards := shardServers(t, elife(t, true), 3)
	var all [][]*machine
	for _, s := range shards {
		all = append(all, []*machine{newMachine(t, s)})
	}
	var log strings.Builder
	root := rootOver(t, &log, all...)
	want, coverage := covered(t, root, "membrane")
	if coverage.Answered != 3 {
		t.Fatalf("coverage %+v, want 3 shards", coverage)
	}
	all[2][0].does.Store(&shards[1])
	for _, looked := range []string{"before", "after"} {
		got, coverage := covered(t, root, "membrane")
		if coverage.Answered != 2 || coverage.Documents >= coverage.OfDocuments {
			t.Errorf("%s the check: coverage %+v, want 2 shards and fewer documents", looked, coverage)
		}
		seen := map[uint32]bool{}
		for _, h := range got.Hits {
			if seen[h.Doc] {
				t.Errorf("%s the check: document %d is a hit twice", looked, h.Doc)
			}
			seen[h.Doc] = true
		}
		if len(coverage.Missing) != 1 || !strings.HasPrefix(coverage.Missing[0], "shard 2: "+all[2][0].URL) {
			t.Errorf("%s the check: missing %q, want shard 2 with its server", looked, coverage.Missing)
		}
		if err := root.seeShards(t.Context()); err != nil {
			t.Error(err)
		}
		root.o.Root.tell(root.log, root.first().current.Load())
	}
	if said := "it has shard 1 of the index, where shard 2 should be"; !strings.Contains(log.String(), said) ||
		!strings.Contains(call(root, "/v1/status", "").Body.String(), said) {
		t.Errorf("want %q in the log and the status; the log is\n%s", said, log.String())
	}
	if w := call(root, "/v1/ready", ""); w.Code != http.StatusOK {
		t.Errorf("ready with one wrong server: status %d %s, want 200", w.Code, w.Body)
	}
	all[2][0].does.Store(&shards[2])
	if err := root.seeShards(t.Context()); err != nil {
		t.Error(err)
	}
	got, coverage := covered(t, root, "membrane")
	if got.Micros, want.Micros = 0, 0; coverage.Answered != 3 || len(got.Hits) != len(want.Hits) {
		t.Errorf("after the right shard is back: coverage %+v, %d hits; want 3 shards, %d", coverage,
			len(got.Hits), len(want.Hits))
	}
}

// A query that waits for a server that hangs is answered by the next replica when the root finds
// out, even without hedged requests. A shard whose servers all hang is given up after two checks.
func TestServersThatHang(t *testing.T) {
	shards := shardServers(t, elife(t, true), 2)
	one, other, single := newMachine(t, shards[0]), newMachine(t, shards[0]), newMachine(t, shards[1])
	root := rootOver(t, new(strings.Builder), []*machine{one, other}, []*machine{single})
	root.o.Root.lookTime = 100 * time.Millisecond
	one.hang(t)
	answered := make(chan api.Coverage)
	go func() {
		root.o.Root.groups[0].turn.Store(1) // asks the first replica first
		_, coverage := covered(t, root, "membrane")
		answered <- coverage
	}()
	select {
	case coverage := <-answered:
		t.Fatalf("answered with coverage %+v, want that the query waits for the server that hangs", coverage)
	case <-time.After(50 * time.Millisecond):
	}
	root.seeShards(t.Context())
	if coverage := <-answered; coverage.Answered != 2 {
		t.Errorf("one of two replicas hangs: coverage %+v, want 2 shards", coverage)
	}
	single.hang(t)
	other.Close()
	root.seeShards(t.Context())
	root.seeShards(t.Context())
	begin := time.Now()
	w := call(root, "/v1/search?q=membrane", "")
	if took := time.Since(begin); w.Code != http.StatusServiceUnavailable || took > 10*time.Second {
		t.Errorf("all hang: status %d after %v, want 503 within 10 s: %s", w.Code, took, w.Body)
	}
	status := decode[statusAnswer](t, call(root, "/v1/status", "").Body.String())
	for i, s := range status.Shards {
		if s.Number == nil || *s.Number != i {
			t.Errorf("shard %d has the number %v while it is unreachable", i, s.Number)
		}
		for _, r := range s.Replicas {
			if r.Error == "" || strings.Contains(r.Error, strings.TrimPrefix(r.URL, "http://")) {
				t.Errorf("%s: error %q, want the reason without the address", r.URL, r.Error)
			}
		}
	}
	if m := call(root, "/metrics", "").Body.String(); !strings.Contains(m,
		fmt.Sprintf("collocate_shard_server_up{shard=\"1\",server=%q} 0\n", single.URL)) {
		t.Errorf("want collocate_shard_server_up 0 for %s in the metrics:\n%s", single.URL, m)
	}
	if w := call(root, "/v1/documents/elife-00003.4", ""); w.Code != http.StatusServiceUnavailable ||
		!strings.Contains(w.Body.String(), "a shard that may have the document cannot be reached") {
		t.Errorf("a document: status %d %s, want 503 that a shard cannot be reached", w.Code, w.Body)
	}
}

// If a shard is busy, the root passes its 429 on instead of answering without that shard.
func TestBusyShards(t *testing.T) {
	shards := shardServers(t, elife(t, true), 2)
	busy := newMachine(t, shards[1])
	root := rootOver(t, new(strings.Builder), []*machine{newMachine(t, shards[0])}, []*machine{busy})
	var refuses http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":"the server is busy"}`, http.StatusTooManyRequests)
	})
	busy.does.Store(&refuses)
	for _, path := range []string{"/v1/search?q=membrane", "/v1/search?q=membran*",
		"/v1/search?q=membrane&expand=rm3", "/v1/documents/nobody"} {
		w := call(root, path, "")
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: status %d %s, want 429 and Retry-After", path, w.Code, w.Body)
		}
	}
}

// While replicas are given another index one after the other, every answer covers all shards,
// whether the root has checked them since or not.
func TestRollingUpgrade(t *testing.T) {
	was, is := shardServers(t, elife(t, true), 3), shardServers(t, elife(t, false), 3)
	var all [][]*machine
	for _, s := range was {
		all = append(all, []*machine{newMachine(t, s), newMachine(t, s)})
	}
	var log strings.Builder
	root := rootOver(t, &log, all...)
	for replica := range 2 {
		for i := range all {
			all[i][replica].does.Store(&is[i])
			for range 2 {
				for range 4 { // each replica is asked first in turn
					if _, coverage := covered(t, root, "membrane"); coverage.Answered != 3 {
						t.Fatalf("after replica %d of shard %d: coverage %+v, want 3 shards", replica, i, coverage)
					}
				}
				if err := root.seeShards(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		if text := root.first().current.Load().hasText; text {
			t.Error("the old index is served, want the new one, of which all shards are there")
		}
	}
	if strings.Count(log.String(), "the shards have another index, which is served now") != 1 {
		t.Errorf("want one line of the log about another index:\n%s", log.String())
	}
}

// If all shards have another index than the one the root serves, as when replicas share a folder
// that is replaced, queries are answered from that index.
func TestQueriesFollowAChange(t *testing.T) {
	was, is := shardServers(t, elife(t, true), 2), shardServers(t, elife(t, false), 2)
	one, other := newMachine(t, was[0]), newMachine(t, was[1])
	root := rootOver(t, new(strings.Builder), []*machine{one}, []*machine{other})
	one.does.Store(&is[0])
	if _, coverage := covered(t, root, "membrane"); coverage.Answered != 1 {
		t.Errorf("one of two shards is replaced: coverage %+v, want 1 shard", coverage)
	}
	other.does.Store(&is[1])
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, coverage := covered(t, root, "membrane"); coverage.Answered != 2 || coverage.Missing != nil {
				t.Errorf("both shards are replaced: coverage %+v, want both", coverage)
			}
		})
	}
	wg.Wait()
	one.does.Store(&was[0])
	other.does.Store(&was[1])
	body := strings.Repeat("{\"q\":\"membrane\"}\n", 40)
	w := call(root, "/v1/search", body)
	if n := strings.Count(w.Body.String(), `"answered":2,"of":2`); w.Code != http.StatusOK || n != 40 {
		t.Errorf("a batch: status %d, %d complete answers, want 40: %.300s", w.Code, n, w.Body)
	}
}
