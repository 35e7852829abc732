package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// A generation that nobody holds any more is closed. Who asks meanwhile gets the next one.
func TestClosedGenerationsAreNotHeld(t *testing.T) {
	var ix served
	old, now := new(generation), new(generation)
	now.users.Store(1)
	ix.current.Store(old)
	time.AfterFunc(2*time.Millisecond, func() { ix.current.Store(now) })
	if g := ix.hold(); g != now || now.users.Load() != 2 || old.users.Load() != 0 {
		t.Errorf("the generation has %d users, and the closed one %d; want 2 and 0", now.users.Load(), old.users.Load())
	}
}

// A request that is refused is answered once, and does nothing.
func TestRefusedRequestsEnd(t *testing.T) {
	h := writable(t, Options{Origins: []string{"https://friend.example"},
		Tokens: []Token{{Secret: "look"}, {Secret: "pen", Write: true}}})
	once := func(token, method, path, body string, status int) {
		t.Helper()
		w := as(h, token, method, path, body)
		if w.Code != status {
			t.Errorf("%s %s: status %d %s, want %d", method, path, w.Code, w.Body, status)
		}
		decode[problem](t, w.Body.String()) // which is all of it
	}
	once("pen", "DELETE", "/v1/jobs/nosuch", "", 404)
	once("pen", "POST", "/v1/jobs", strings.Repeat(" ", maxBody+1), 413)
	once("pen", "GET", "/v1/places/points", "", 404)
	once("pen", "GET", "/v1/places/area", "", 404)
	once("pen", "POST", "/mcp", "{}", 404)
	if w := as(h, "pen", "PUT", "/v1/indexes/i", ""); w.Code != 201 {
		t.Fatal(w.Code, w.Body)
	}
	j := decode[jobAnswer](t, as(h, "pen", "POST", "/v1/indexes/i/merge", "").Body.String())
	once("look", "DELETE", "/v1/jobs/"+j.ID, "", 403)
	r := httptest.NewRequest("OPTIONS", "/v1/search", nil)
	r.Header.Set("Origin", "https://friend.example")
	if w := serveOne(h, r); w.Code != 204 || w.Body.Len() > 0 {
		t.Errorf("a preflight request: %d %s, want 204 and nothing else", w.Code, w.Body)
	}
}

// Assistants read an index that is there, and none that was never there or has gone.
func TestReadOfAnIndexThatIsNotThere(t *testing.T) {
	h := New(withFields(t), Options{})
	name := h.Names()[0]
	read := func(name string) (called bool, err error) {
		err = h.Read(name, func(*search.Searcher) error { called = true; return nil })
		return called, err
	}
	if called, err := read(name); !called || err != nil {
		t.Errorf("index %q: called %v, error %v", name, called, err)
	}
	gone := h.first().current.Swap(nil)
	defer h.first().current.Store(gone)
	for _, name := range []string{name, "nosuch"} {
		if called, err := read(name); called || err == nil || err.Error() != fmt.Sprintf("no index %q", name) {
			t.Errorf("index %q: called %v, error %v, want that there is none", name, called, err)
		}
	}
}

// Rows are refused with a status as long as none was sent.
func TestRowsAreRefusedBeforeTheFirst(t *testing.T) {
	h := New(withFields(t), Options{})
	for query, want := range map[string]string{
		"q=moon&sort=nosuch":             "sort",
		"q=moon&k=10000&collapse=best":   "no passages",
		"q=moon&k=5000000&collapse=best": "documents of passages (collapse) come in one page",
	} {
		w := callAs(h, "/v1/search?"+query, "application/x-ndjson")
		if p := decode[problem](t, w.Body.String()); w.Code != 400 || !strings.Contains(p.Detail, want) {
			t.Errorf("%s: status %d %s, want 400 that names %q", query, w.Code, w.Body, want)
		}
	}
}

// The cache of answers about places counts an answer once, and keeps none that would displace most
// others.
func TestMinedCacheCountsOnce(t *testing.T) {
	c := newMinedCache()
	for range 2 {
		c.put("key", []byte("answer"))
	}
	c.put("large", make([]byte, maxMined/4+1))
	if len(c.order) != 1 || c.size != len("key"+"answer") || string(c.get("key")) != "answer" {
		t.Errorf("%q in %d bytes, want one answer", c.order, c.size)
	}
}

// With too many clients some are forgotten, but not all: most still have used what they have used.
func TestFewClientsAreForgotten(t *testing.T) {
	q := newQuotas(Limits{Requests: 3})
	now := time.Now()
	q.now = func() time.Time { return now }
	take := func(n int) error {
		who := quotaKey{token: [sha256.Size]byte{byte(n), byte(n >> 8)}}
		return q.take(q.requests, who, func(u *usage) *level { return &u.requests }, 1)
	}
	for n := range maxClients + 1 {
		if err := take(n); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(q.clients); n > maxClients*3/4+1 || n < maxClients/2 {
		t.Errorf("%d clients are known, want three quarters of %d", n, maxClients)
	}
}

// The API's description names no path twice, and every path has an operation; the reference leaves
// out old names of parameters.
func TestDescriptionHasNoPathTwice(t *testing.T) {
	h := New(elife(t, false), Options{})
	text := call(h, "/v1/openapi.json", "").Body.Bytes()
	var doc struct{ Paths json.RawMessage }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	in := json.NewDecoder(bytes.NewReader(doc.Paths))
	in.Token() // the brace
	seen := map[string]bool{}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			t.Fatal(err)
		}
		var methods map[string]any
		if err := in.Decode(&methods); err != nil {
			t.Fatal(err)
		}
		path := name.(string)
		delete(methods, "parameters")
		if seen[path] || len(methods) == 0 {
			t.Errorf("%s is there twice, or has no operation", path)
		}
		seen[path] = true
	}
	if len(seen) < 20 {
		t.Errorf("%d paths: %v", len(seen), seen)
	}
}

// A server that stops is not ready, with or without indexes.
func TestStoppingServersAreNotReady(t *testing.T) {
	v := New(elife(t, false), Options{})
	for _, v := range []*Server{v, New(nil, Options{})} {
		v.draining.Store(true)
		if w := call(v, "/readyz", ""); w.Code != 503 || !strings.Contains(w.Body.String(), errStopping.Error()) {
			t.Errorf("with %d indexes: status %d %s, want 503", len(v.list()), w.Code, w.Body)
		}
	}
	var none context.Context
	if err := v.Run(none, nil); err == nil {
		t.Error("a server without a context: no error")
	}
}

// Servers that only read have no metrics of writing.
func TestMetricsOfReaders(t *testing.T) {
	const name = "collocate_index_pending"
	if w := call(New(elife(t, false), Options{}), "/metrics", ""); w.Code != 200 || strings.Contains(w.Body.String(), name) {
		t.Errorf("of a server that only reads: %d, with %s", w.Code, name)
	}
	if w := call(writable(t, Options{}), "/metrics", ""); !strings.Contains(w.Body.String(), name) {
		t.Errorf("of a server that writes: no %s in %s", name, w.Body)
	}
}

// A query that a replica calls invalid is not sent to another one, and a batch for which no shard
// answers is an error, not an empty answer.
func TestRepliesThatEndAQuery(t *testing.T) {
	shards := shardServers(t, elife(t, true), 2)
	var status atomic.Int64
	var asked atomic.Int64
	var refuses http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(int(status.Load()))
		io.WriteString(w, `{"error":"year: want a number"}`)
	})
	var replicas [][]*machine
	for _, s := range shards {
		replicas = append(replicas, []*machine{newMachine(t, s), newMachine(t, s)})
	}
	root := rootOver(t, new(strings.Builder), replicas...)
	for _, m := range slices.Concat(replicas...) {
		m.does.Store(&refuses)
	}
	status.Store(http.StatusBadRequest)
	if w := call(root, "/v1/search?q=membrane", ""); w.Code != 400 || asked.Load() > 2 {
		t.Errorf("status %d after %d requests, want 400 after one for each shard: %s", w.Code, asked.Load(), w.Body)
	}
	status.Store(http.StatusInternalServerError)
	if w := call(root, "/v1/search", "{\"q\":\"membrane\"}\n{\"q\":\"cell\"}\n"); w.Code != 503 {
		t.Errorf("a batch: status %d %s, want 503", w.Code, w.Body)
	}
	for h, want := range map[http.Handler]string{root: "each shard has its own engine", New(elife(t, true), Options{}): "only on a GPU"} {
		w := call(h, "/v1/search?q=membrane&algorithm=tiles", "")
		if said := decode[problem](t, w.Body.String()); w.Code != 400 || said.Parameter != "algorithm" ||
			!strings.Contains(said.Detail, want) {
			t.Errorf("an algorithm for GPUs: status %d %s, want 400, its name, and %q", w.Code, w.Body, want)
		}
	}
}

// A writer that breaks while documents are added, deleted or searched for deletion says so, and is
// opened again.
func TestWritersThatBreakInARequest(t *testing.T) {
	h := writable(t, Options{CommitEvery: time.Hour})
	must(t, h, "PUT", "/v1/indexes/i", `{"fields":[{"name":"title","type":"text"},{"name":"tag","type":"keyword"}]}`, 201)
	const docs = "/v1/indexes/i/documents"
	must(t, h, "POST", docs+"?refresh=true", `{"id":"old","title":"bear"}`, 200)
	d := &fullDisk{}
	restore := disk.Use(d)
	defer restore()
	// So long that it is written at once, for its sake alone.
	long := fmt.Sprintf(`{"id":"long","title":%q}`, strings.Repeat("bear ", 1<<18))
	d.full.Store(true)
	if w := send(h, "POST", docs, long+"\n"+long); w.Code != 500 || !strings.Contains(w.Body.String(), errLost.Error()) {
		t.Errorf("on a full disk: %d %s, want 500 and that changes are lost", w.Code, w.Body)
	}
	d.full.Store(false)
	for start := time.Now(); ; time.Sleep(time.Millisecond) { // the writer is opened again
		w := send(h, "POST", docs+"?refresh=true", long)
		if w.Code == 200 {
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatalf("after the disk has room: %d %s", w.Code, w.Body)
		}
	}
	if got := find(t, h, "i", "bear"); !slices.Equal(got, []string{"long", "old"}) {
		t.Errorf("after the disk has room: %q", got)
	}
	// A search that fails deletes nothing.
	c := h.index("i").writer
	w, _, err := c.open(segments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	if n, err := c.deleteMatching(w, func(*search.Searcher) (*search.Within, error) { return nil, failed }); n != 0 ||
		!errors.Is(err, failed) {
		t.Errorf("%d documents are deleted, %v; want none", n, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.waitForMerge()
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("waiting for a merge does not end")
	}
	must(t, h, "DELETE", "/v1/indexes/i", "", 204)
	if _, _, err := c.open(segments.Options{}); !errors.Is(err, errDropped) {
		t.Errorf("the writer of a deleted index: %v", err)
	}
}

// A commit that is asked for while documents are searched for deletion waits: else their numbers
// would be those of an older generation.
func TestDeletionsKeepTheirGeneration(t *testing.T) {
	h := writable(t, Options{CommitEvery: time.Hour})
	must(t, h, "PUT", "/v1/indexes/i", "", 201)
	must(t, h, "POST", "/v1/indexes/i/documents?refresh=true", `{"id":"old","text":"bear"}`, 200)
	c := h.index("i").writer
	w, broken, err := c.open(segments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.deleteMatching(w, func(s *search.Searcher) (*search.Within, error) {
		if err := w.Add(text.Document{ID: "new", Text: []byte("bear")}); err != nil {
			t.Error(err)
		}
		if err := c.changed(t.Context(), 1, 1, broken, refreshNot, new(writeAnswer)); err != nil {
			t.Error(err)
		}
		c.poke()
		time.Sleep(20 * time.Millisecond)
		return s.Match(t.Context(), search.Request{Text: "bear"})
	})
	if n != 1 || err != nil {
		t.Errorf("%d documents are deleted, %v; want the old one", n, err)
	}
	must(t, h, "POST", "/v1/indexes/i/commit", "", 200)
	if got := find(t, h, "i", "bear"); !slices.Equal(got, []string{"new"}) {
		t.Errorf("%q are left, want the new one", got)
	}
}
