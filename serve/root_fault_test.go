package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// A shard of another cut of the same index has other documents, some of which other shards have,
// too. It is not used, neither before nor after the root has checked it, and it is named.
func TestShardsOfAnotherCut(t *testing.T) {
	whole := elife(t, true)
	three, four := shardServers(t, whole, 3), shardServers(t, whole, 4)
	var all []*machine
	for _, s := range three {
		all = append(all, newMachine(t, s))
	}
	var log strings.Builder
	root := rootOver(t, &log, all[:1], all[1:2], all[2:])
	want, coverage := covered(t, root, "the")
	if coverage.Answered != 3 {
		t.Fatalf("coverage %+v, want 3 shards", coverage)
	}
	var own string // of a document of shard 2, which the server has no more
	for _, h := range want.Hits {
		if h.Doc >= root.first().current.Load().shards[2].Load().First {
			own = h.ID
		}
	}
	all[2].does.Store(&four[2])
	for _, looked := range []string{"before", "after"} {
		// A document that the server no longer has may exist all the same.
		if w := call(root, "/v1/documents/"+url.PathEscape(own), ""); w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s the check: document %s: status %d %s, want 503", looked, own, w.Code, w.Body)
		}
		got, coverage := covered(t, root, "the")
		if coverage.Answered != 2 || coverage.Documents >= coverage.OfDocuments ||
			len(coverage.Missing) != 1 || !strings.Contains(coverage.Missing[0], all[2].URL) ||
			!strings.Contains(coverage.Missing[0], "shard 2 of ") {
			t.Errorf("%s the check: coverage %+v, want 2 shards, and which server is foreign", looked, coverage)
		}
		seen := map[uint32]bool{}
		for _, h := range got.Hits {
			if seen[h.Doc] {
				t.Errorf("%s the check: document %d is a hit twice", looked, h.Doc)
			}
			seen[h.Doc] = true
		}
		if err := root.seeShards(t.Context()); err != nil {
			t.Error(err)
		}
	}
	root.o.Root.tell(root.log, root.first().current.Load())
	if said := "it has shard 2 of an index in 4 shards"; !strings.Contains(log.String(), said) {
		t.Errorf("want %q in the log:\n%s", said, log.String())
	}
	all[2].does.Store(&three[2])
	if err := root.seeShards(t.Context()); err != nil {
		t.Error(err)
	}
	if _, coverage := covered(t, root, "the"); coverage.Answered != 3 {
		t.Errorf("after the right shard is back: coverage %+v, want 3 shards", coverage)
	}
	// Most servers with another cut do not make the root forget the index that it serves.
	all[1].does.Store(&four[1])
	all[2].does.Store(&four[2])
	if err := root.seeShards(t.Context()); err != nil {
		t.Errorf("two servers of another cut: %v", err)
	}
	if _, coverage := covered(t, root, "the"); coverage.Answered != 1 {
		t.Errorf("two servers of another cut: coverage %+v, want 1 shard", coverage)
	}
}

// liar changes the answers of a shard to some path.
func liar(honest http.Handler, path string, lie func(said map[string]any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			honest.ServeHTTP(w, r)
			return
		}
		said := httptest.NewRecorder()
		honest.ServeHTTP(said, r)
		var parsed map[string]any
		in := json.NewDecoder(said.Body)
		in.UseNumber()
		if err := in.Decode(&parsed); err != nil || said.Code != http.StatusOK {
			w.WriteHeader(said.Code)
			return
		}
		lie(parsed)
		json.NewEncoder(w).Encode(parsed)
	})
}

// An answer that cannot be the one of a shard is a fault of that shard: the others answer, and the
// coverage says why it is missing. With a replica that is in order, nothing is missing.
func TestImpossibleAnswers(t *testing.T) {
	shards := shardServers(t, elife(t, true), 3)
	hits := func(said map[string]any) []any { return said["hits"].([]any) }
	first := func(said map[string]any) map[string]any { return hits(said)[0].(map[string]any) }
	for _, try := range []struct {
		query, want string
		lie         func(said map[string]any)
	}{
		{"membrane", "it answers with document 0, but has", func(said map[string]any) { first(said)["doc"] = 0 }},
		{"membrane", "it answers with document 4000000000, but has",
			func(said map[string]any) { first(said)["doc"] = 4_000_000_000 }},
		{"membrane", "twice", func(said map[string]any) { said["hits"] = append(hits(said)[1:], hits(said)[1]) }},
		{"membrane&k=2", "hits, want", func(said map[string]any) {
			for len(hits(said)) < 5 {
				said["hits"] = append(hits(said), map[string]any{"rank": 9, "id": "x",
					"doc": json.Number(fmt.Sprint(first(said)["doc"])), "score": 0.1})
			}
		}},
		{"membrane", "it answers for 7 documents", func(said map[string]any) { said["documents"] = 7 }},
		{"membrane&count=1", "it has found 1000000 of", func(said map[string]any) { said["total"] = 1_000_000 }},
	} {
		bad := newMachine(t, liar(shards[2], "/internal/shard/search", try.lie))
		good := newMachine(t, shards[2])
		rest := [][]*machine{{newMachine(t, shards[0])}, {newMachine(t, shards[1])}}
		root := rootOver(t, new(strings.Builder), append(rest, []*machine{bad})...)
		w := call(root, "/v1/search?q="+try.query, "")
		got := decode[api.Answer](t, w.Body.String())
		if w.Code != http.StatusOK || got.Shards.Answered != 2 || len(got.Shards.Missing) != 1 ||
			!strings.Contains(got.Shards.Missing[0], try.want) ||
			!strings.Contains(got.Shards.Missing[0], bad.URL) {
			t.Errorf("%s: status %d, coverage %+v; want 2 shards and %q", try.query, w.Code, got.Shards, try.want)
		}
		root = rootOver(t, new(strings.Builder), append(rest, []*machine{bad, good})...)
		for range 2 { // each replica is asked first in turn
			w := call(root, "/v1/search?q="+try.query, "")
			if got := decode[api.Answer](t, w.Body.String()); got.Shards.Answered != 3 {
				t.Errorf("%s, with a replica: coverage %+v, want 3 shards", try.query, got.Shards)
			}
		}
	}
}

// Servers that describe ranges of documents that overlap, or that cannot be, are named.
func TestOverlappingRanges(t *testing.T) {
	shards := shardServers(t, elife(t, true), 2)
	for want, lie := range map[string]func(said map[string]any){
		"it describes a shard that cannot be":       func(said map[string]any) { said["documents"] = 1 << 30 },
		"some documents are in both, or in neither": func(said map[string]any) { said["documents"], said["numbers"] = 3, 3 },
		"shard -1 of 2": func(said map[string]any) { said["number"] = -1 },
		"it describes a shard that cannot be: shard ": func(said map[string]any) { said["whole"] = "" },
	} {
		bad := newMachine(t, liar(shards[0], "/internal/shard", lie))
		root := rootOver(t, new(strings.Builder), []*machine{bad}, []*machine{newMachine(t, shards[1])})
		err := root.seeShards(t.Context())
		said := call(root, "/v1/status", "").Body.String()
		if !strings.Contains(fmt.Sprint(err, said), want) || !strings.Contains(fmt.Sprint(err, said), bad.URL) {
			t.Errorf("error %v, status %s; want %q", err, said, want)
		}
		if w := call(root, "/v1/search?q=membrane", ""); w.Code == http.StatusOK &&
			decode[api.Answer](t, w.Body.String()).Shards.Answered == 2 {
			t.Errorf("%s: both shards have answered, want one at most", want)
		}
	}
}

// endless is an answer that never ends.
func endless(begin, middle string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, begin)
		for more := []byte(strings.Repeat(middle, 1<<16/len(middle))); ; {
			if _, err := w.Write(more); err != nil {
				return
			}
		}
	})
}

// A shard whose answer is too long, has something behind it, ends in the middle, or trickles, is
// missing. The answer comes in time, and the root does not read on.
func TestFloods(t *testing.T) {
	shards := shardServers(t, elife(t, true), 2)
	raw := func(answer string) http.Handler { // bytes of a connection
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, answer)
		})
	}
	for name, does := range map[string]struct {
		http.Handler
		want string
	}{
		"endless hits":    {endless(`{"documents":1,"hits":[`, `{"rank":1,"id":"a","doc":1,"score":1},`), "longer than"},
		"endless blanks":  {endless(`{"documents":1,"hits":[]}`, " "), "longer than"},
		"endless refusal": {endless(`{"error":"`, "no"), "longer than"},
		"endless headers": {raw("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 1<<14)), "longer than"},
		"a long length":   {raw("HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n{"), "longer than"},
		"cut off":         {raw("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"), "EOF"},
		"something else behind it": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			said := httptest.NewRecorder()
			shards[1].ServeHTTP(said, r)
			io.WriteString(w, said.Body.String()+`{"documents":0}`)
		}), "more data after its answer"},
		"a trickle": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for err := error(nil); err == nil; time.Sleep(10 * time.Millisecond) {
				if _, err = io.WriteString(w, " "); err == nil {
					err = http.NewResponseController(w).Flush()
				}
			}
		}), "no answer in time"},
	} {
		bad := newMachine(t, shards[1])
		root := rootOver(t, new(strings.Builder), []*machine{newMachine(t, shards[0])}, []*machine{bad})
		root.o.Limits.Time = 2 * time.Second
		bad.does.Store(&does.Handler)
		begin := time.Now()
		got, coverage := covered(t, root, "membrane")
		if took := time.Since(begin); took > 6*time.Second {
			t.Errorf("%s: answered after %v, want 2 s at most", name, took)
		}
		if coverage.Answered != 1 || len(coverage.Missing) != 1 || len(got.Hits) == 0 ||
			!strings.Contains(coverage.Missing[0], does.want) {
			t.Errorf("%s: coverage %+v, want one shard and %q", name, coverage, does.want)
		}
	}
}

// The client reads no more than it is told to, whatever the server says about the length.
func TestShardClientReadsNoMore(t *testing.T) {
	c, _, opened := testClient(t, func(w http.ResponseWriter, r *http.Request) {
		size := len(r.URL.RawQuery)
		if r.URL.Path == "/under/chunks" {
			w.(http.Flusher).Flush()
		}
		w.Write(bytes.Repeat([]byte{'x'}, size))
	})
	for _, path := range []string{"/plain?", "/chunks?"} {
		if _, said, err := c.do(t.Context(), http.MethodGet, path+strings.Repeat("a", 100), "", nil, 100); err != nil || len(said) != 100 {
			t.Errorf("%s: %d bytes, %v; want 100", path, len(said), err)
		}
		if _, _, err := c.do(t.Context(), http.MethodGet, path+strings.Repeat("a", 101), "", nil, 100); !errors.Is(err, errTooLong) {
			t.Errorf("%s: error %v, want %v", path, err, errTooLong)
		}
	}
	if n := opened.Load(); n != 2 { // one for each answer that was not read to its end
		t.Errorf("%d connections, want 2", n)
	}
}

// A query of several stages is answered in time although a shard hangs: with patterns, expansion
// and details of hits. The answer says which shard is missing.
func TestHungShardInEveryStage(t *testing.T) {
	shards := shardServers(t, elife(t, true), 3)
	for _, query := range []string{"membrane", "membran*", "membrane&expand=rm3", "membrane&snippets=1",
		"membran*+cell&snippets=1&explain=1", "membrane&expand=bo1&snippets=1"} {
		hung := newMachine(t, shards[2])
		root := rootOver(t, new(strings.Builder), []*machine{newMachine(t, shards[0])},
			[]*machine{newMachine(t, shards[1])}, []*machine{hung})
		root.o.Limits.Time = 3 * time.Second
		hung.hang(t)
		begin := time.Now()
		w := call(root, "/v1/search?k=5&q="+query, "")
		took := time.Since(begin)
		if w.Code != http.StatusOK || took > root.o.Limits.Time {
			t.Errorf("%s: status %d after %v, want 200 within %v: %s", query, w.Code, took, root.o.Limits.Time, w.Body)
			continue
		}
		got := decode[api.Answer](t, w.Body.String())
		if got.Shards.Answered != 2 || len(got.Shards.Missing) == 0 || len(got.Hits) != 5 ||
			!strings.Contains(got.Shards.Missing[0], hung.URL+": no answer in time") {
			t.Errorf("%s: %d hits, coverage %+v; want 5 hits, 2 shards and that one is late", query, len(got.Hits), got.Shards)
		}
		if strings.Contains(query, "snippets") && (len(got.Hits) == 0 || got.Hits[0].Snippet == nil) {
			t.Errorf("%s: no snippets, want those of the shards that answer", query)
		}
	}
}

// A query that a shard refuses is the client's fault: the root answers with the status and the
// message of the shard. An internal error of all shards is not called unreachable.
func TestShardsRefuse(t *testing.T) {
	shards := shardServers(t, elife(t, true), 2)
	for status, want := range map[int]struct {
		status int
		text   string
	}{
		http.StatusBadRequest:          {http.StatusBadRequest, "year: want a number"},
		http.StatusInternalServerError: {http.StatusServiceUnavailable, "no shard has answered the query: shard "},
	} {
		one, other := newMachine(t, shards[0]), newMachine(t, shards[1])
		root := rootOver(t, new(strings.Builder), []*machine{one}, []*machine{other})
		var refuses http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, `{"error":"year: want a number"}`)
		})
		one.does.Store(&refuses)
		other.does.Store(&refuses)
		for _, query := range []string{"membrane", "membran*", "membrane&expand=rm3"} {
			if w := call(root, "/v1/search?q="+query, ""); w.Code != want.status ||
				!strings.Contains(w.Body.String(), want.text) || !strings.Contains(w.Body.String(), "want a number") {
				t.Errorf("%s: status %d %s, want %d %q", query, w.Code, w.Body, want.status, want.text)
			}
		}
	}
}

// A root over a living index with deleted documents answers as that index does: documents keep
// their numbers, which may be larger than the number of documents left.
func TestRootOverDeletedDocuments(t *testing.T) {
	an, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: an, StoreText: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 60 {
		body := fmt.Sprintf("moon comet dust%d %s", i%5, strings.Repeat("ring ", i%7))
		if err := w.Add(text.Document{ID: fmt.Sprint("d", i), Text: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if _, err := w.Delete(fmt.Sprint("d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := &cluster{whole: New(s, Options{Limits: Limits{Hold: -1}})}
	c.root = rootOver(t, new(strings.Builder), []*machine{newMachine(t, c.whole)})
	for _, query := range []string{"moon", "moon&snippets=1&k=50", "ring+dust3&explain=1", "ring&expand=rm3&k=30",
		"dust*&count=1", "comet&expand=bo1&snippets=1"} {
		if got := c.same(t, "/v1/search?q="+query); len(got.Hits) == 0 || got.Shards.Missing != nil {
			t.Errorf("%s: %d hits, coverage %+v; want hits and nothing missing", query, len(got.Hits), got.Shards)
		}
	}
}
