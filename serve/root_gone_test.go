package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A look at the shards that is given up says so, and not that no shard can be reached.
func TestLookAtShardsGivenUp(t *testing.T) {
	shards := shardServers(t, elife(t, true), 2)
	root := rootOver(t, new(strings.Builder), []*machine{newMachine(t, shards[0])},
		[]*machine{newMachine(t, shards[1])})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := root.seeShards(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if err := root.seeShards(t.Context()); err != nil {
		t.Errorf("another look: %v", err)
	}
}

// Asking the shards of documents: one that no shard has gets an error of its own beside the answers
// for others, and a busy shard refuses the whole question.
func TestOwnersOfDocuments(t *testing.T) {
	shards := shardServers(t, elife(t, true), 2)
	busy := newMachine(t, shards[1])
	root := rootOver(t, new(strings.Builder), []*machine{newMachine(t, shards[0])}, []*machine{busy})
	x := &exchange{Server: root, g: root.first().hold(), r: httptest.NewRequest(http.MethodGet, "/", nil)}
	q := &shardAsk{Whole: x.g.shard.Whole, Ask: searchParams{late: new(lateShards)}}
	q.Ask.Query, q.Ask.K, q.Ask.SnippetSize, q.Ask.SnippetCount = "membrane", 1, 100, 1
	q.Ask.Depth, q.Ask.VectorWeight, q.Ask.WordWeight, q.Ask.SparseWeight = 100, 1, 1, 1
	q.Ask.Partial = "allow"
	last := uint32(x.g.docs - 1)
	var failed []error
	answers := 0
	ask := func() error {
		return x.eachOwner(t.Context(), []uint32{0, last + 7, last}, q,
			func(_ []int, _ *shardAnswer, err error) {
				if answers++; err != nil {
					failed = append(failed, err)
				}
			})
	}
	if err := ask(); err != nil || answers != 3 || len(failed) != 1 ||
		!strings.Contains(failed[0].Error(), "no shard has document") {
		t.Errorf("%v: %d answers, failed %v; want three, one of them that no shard has it", err, answers, failed)
	}
	var refuses http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":"the server is busy"}`, http.StatusTooManyRequests)
	})
	busy.does.Store(&refuses)
	if err := ask(); !errors.Is(err, errBusy) {
		t.Errorf("a shard is busy: error %v, want %v", err, errBusy)
	}
}

// The latest latencies are those of searches that were answered, and of nothing else.
func TestLatenciesAreOfSearches(t *testing.T) {
	m := newMetrics()
	m.count(requestKey{verb: "document", status: http.StatusOK}, time.Second)
	m.count(requestKey{verb: "search", status: http.StatusBadRequest}, time.Second)
	if l := m.lately(60); l.Searches != 0 {
		t.Errorf("%d searches before the first", l.Searches)
	}
	m.count(requestKey{verb: "search", status: http.StatusOK}, time.Millisecond)
	if l := m.lately(60); l.Searches != 1 || l.P50 != 1000 {
		t.Errorf("%+v after one search of a millisecond", l)
	}
}

// leaver is a client that goes away when it has the first part of an answer, or seems to.
type leaver struct {
	httptest.ResponseRecorder
	leave func()
}

func (l *leaver) Write(b []byte) (int, error) {
	l.leave()
	return l.ResponseRecorder.Write(b)
}

// If a request ends in the middle of a batch, the error is the last line of its answer.
func TestBatchEndsWithOneError(t *testing.T) {
	v := New(elife(t, true), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body := strings.Repeat(`{"q":"membrane","k":1}`+"\n", 4*partQueries)
	r := local(httptest.NewRequest(http.MethodPost, "/v1/search", strings.NewReader(body))).WithContext(ctx)
	w := &leaver{ResponseRecorder: *httptest.NewRecorder(), leave: cancel}
	v.ServeHTTP(w, r)
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	if n := strings.Count(w.Body.String(), `"status":503`); n != 1 || !strings.Contains(lines[len(lines)-1], `"status":503`) {
		t.Errorf("%d lines, %d errors, the last line is %s; want one error, at the end", len(lines), n, lines[len(lines)-1])
	}
}

// Who asks for whole answers gets an error instead of one that lacks a shard.
func TestPartialAnswersAreRefused(t *testing.T) {
	c := newCluster(t, 3, 1, RootOptions{})
	whole := call(c.root, "/search?q=the&partial=refuse", "")
	if whole.Code != http.StatusOK || !strings.Contains(whole.Body.String(), `"answered":3`) {
		t.Fatalf("all shards are there: %d %s", whole.Code, whole.Body)
	}
	if w := call(c.whole, "/search?q=the&partial=refuse", ""); w.Code != http.StatusOK {
		t.Errorf("an index that is not in shards: %d %s", w.Code, w.Body)
	}
	c.replicas[1][0].Close()
	for _, path := range []string{"/search?q=the", "/search?q=the&partial=allow"} {
		w := call(c.root, path, "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"answered":2`) {
			t.Errorf("%s without a shard: %d %s, want an answer of two", path, w.Code, w.Body)
		}
	}
	// Also if other stages than the search ask the shards.
	for _, path := range []string{"/search?q=the&partial=refuse", "/search?q=th*&partial=refuse",
		"/search?q=the&expand=rm3&partial=refuse", "/search?q=the&snippets=true&partial=refuse"} {
		w := call(c.root, path, "")
		var p problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusServiceUnavailable ||
			p.Code != "partial_answer" || !strings.Contains(p.Detail, "2 of 3 shards have answered") ||
			!strings.Contains(p.Detail, c.replicas[1][0].URL) {
			t.Errorf("%s without a shard: %d %s, want the shard that is missing", path, w.Code, w.Body)
		}
	}
	for _, body := range []string{`[{"q": "the", "partial": "refuse"}, {"q": "the", "partial": "allow"}]`,
		`[{"q": "the"}, {"q": "a"}]`} {
		w := call(c.root, "/search", body)
		if !strings.Contains(w.Body.String(), `"partial_answer"`) || strings.Contains(w.Body.String(), `"hits"`) {
			t.Errorf("the batch %s: %s, want an error that ends it", body, w.Body)
		}
	}
	for _, body := range []string{`[{"q": "the"}]`, // one query is not a batch
		`[{"q": "the", "partial": "allow"}, {"q": "a", "partial": "allow"}]`} {
		if w := call(c.root, "/search", body); !strings.Contains(w.Body.String(), `"answered":2`) {
			t.Errorf("%s: %s, want the answers of two shards", body, w.Body)
		}
	}
	if w := call(c.root, "/search?q=the&partial=perhaps", ""); w.Code != http.StatusBadRequest {
		t.Errorf("a wrong value: %d %s", w.Code, w.Body)
	}
}
