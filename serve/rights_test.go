package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// as sends a request with a token.
func as(h http.Handler, token, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return serveOne(h, r)
}

// changesOf are requests that change an index.
var changesOf = [][2]string{{"PUT", "/v1/indexes/new"}, {"DELETE", "/v1/indexes/i"}, {"POST", "/v1/indexes/i/documents"},
	{"DELETE", "/v1/indexes/i/documents?q=x"}, {"DELETE", "/v1/documents/1"}, {"POST", "/v1/indexes/i/commit"},
	{"POST", "/v1/merge"}, {"POST", "/v1/indexes/i/compact"}}

// Only tokens that may write change anything, and only if the server was started so. Tokens are
// replaced without a restart.
func TestRights(t *testing.T) {
	h := writable(t, Options{Tokens: []Token{{Secret: "look", Name: "reader"}, {Secret: "pen", Write: true}}})
	if w := as(h, "pen", "PUT", "/v1/indexes/i", ""); w.Code != 201 {
		t.Fatalf("with a token that may write: %d %s", w.Code, w.Body)
	}
	for _, c := range changesOf {
		for token, want := range map[string]int{"": 401, "guess": 401, "look": 403} {
			if w := as(h, token, c[0], c[1], ""); w.Code != want {
				t.Errorf("%s %s with %q: %d %s, want %d", c[0], c[1], token, w.Code, w.Body, want)
			}
		}
	}
	for token, want := range map[string]int{"": 401, "look": 200, "pen": 200} {
		if w := as(h, token, "GET", "/v1/indexes/i/search?q=a", ""); w.Code != want {
			t.Errorf("a search with %q: %d, want %d", token, w.Code, want)
		}
	}
	if w := as(h, "", "GET", "/nowhere", ""); w.Code != 404 {
		t.Errorf("no such path, without a token: %d, want 404", w.Code)
	}
	// A job that changes an index is cancelled by those who may write.
	j := decode[jobAnswer](t, as(h, "pen", "POST", "/v1/indexes/i/merge", "").Body.String())
	for token, want := range map[string]int{"look": 403, "pen": 202} {
		if w := as(h, token, "DELETE", "/v1/jobs/"+j.ID, ""); w.Code != want {
			t.Errorf("cancelling with %q: %d, want %d", token, w.Code, want)
		}
	}
	h.SetTokens([]Token{{Secret: "look", Write: true}})
	if w := as(h, "look", "POST", "/v1/indexes/i/documents", `{"id":"a","text":"b"}`); w.Code != 202 {
		t.Errorf("after the tokens changed: %d %s, want 202", w.Code, w.Body)
	}
	if w := as(h, "pen", "GET", "/v1/indexes/i/search?q=a", ""); w.Code != 401 {
		t.Errorf("an old token: %d, want 401", w.Code)
	}
	reading := New(nil, Options{Limits: unheld})
	defer reading.Close()
	if err := reading.Open(t.Context(), "i", indexOf(t, map[string]string{"1": "a"})); err != nil {
		t.Fatal(err)
	}
	for _, c := range changesOf {
		if w := send(reading, c[0], c[1], ""); w.Code != 403 || !strings.Contains(w.Body.String(), "writable") {
			t.Errorf("%s %s of a server that only reads: %d %s, want 403", c[0], c[1], w.Code, w.Body)
		}
	}
	// Without a folder for them no indexes are made, and none outside it is deleted.
	h = New(nil, Options{Writable: true, Deletable: true, Limits: unheld})
	defer h.Close()
	if err := h.Open(t.Context(), "i", indexOf(t, map[string]string{"1": "a"})); err != nil {
		t.Fatal(err)
	}
	must(t, h, "PUT", "/v1/indexes/new", "", 403)
	must(t, h, "DELETE", "/v1/indexes/i", "", 403)
}

// An index that another process changes is searched, but not changed: the error says who holds it.
// One that the program opened itself has no folder to change.
func TestIndexesOfOtherWriters(t *testing.T) {
	h := New(elife(t, false), Options{Writable: true, Limits: unheld})
	defer h.Close()
	dir := indexOf(t, map[string]string{"1": "bear"})
	if err := h.Open(t.Context(), "i", dir); err != nil {
		t.Fatal(err)
	}
	w, err := segments.NewWriter(dir, segments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const docs = "/v1/indexes/i/documents"
	if said := must(t, h, "POST", docs, `{"id":"2","text":"bear"}`, 409); !strings.Contains(said, "held by process") {
		t.Errorf("%s, want who holds the index", said)
	}
	must(t, h, "DELETE", docs+"/1", "", 409)
	must(t, h, "GET", docs+"/1", "", 200)
	must(t, h, "POST", "/v1/documents", `{"id":"2","text":"bear"}`, 409)
	w.Close()
	must(t, h, "POST", docs+"?refresh=true", `{"id":"2","text":"bear"}`, 200)
	if _, err := segments.NewWriter(dir, segments.Options{}); err == nil {
		t.Error("a second writer beside the server's, want an error")
	}
	if got := find(t, h, "i", "bear"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%q, want both documents", got)
	}
}

// A client that has used its quota is told when to come back; others go on. A token has a quota of
// its own, wherever it is used.
func TestQuotas(t *testing.T) {
	limits := Limits{Hold: -1, Requests: 3, Written: 1000}
	h := writable(t, Options{Limits: limits, CommitEvery: time.Hour, Tokens: []Token{{Secret: "a", Write: true}, {Secret: "b", Write: true}}})
	var mu sync.Mutex
	now := time.Now()
	h.quotas.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	pass := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	if w := as(h, "a", "PUT", "/v1/indexes/i", ""); w.Code != 201 {
		t.Fatal(w.Code, w.Body)
	}
	for i, want := range []int{200, 200, 429, 429} {
		if w := as(h, "a", "GET", "/v1/indexes", ""); w.Code != want {
			t.Errorf("request %d: %d, want %d", i+2, w.Code, want)
		} else if after := w.Header().Get("Retry-After"); want == 429 && after != "20" {
			t.Errorf("Retry-After %q, want 20 seconds", after)
		}
	}
	if w := as(h, "b", "GET", "/v1/indexes", ""); w.Code != 200 {
		t.Errorf("another token: %d, want 200", w.Code)
	}
	if w := as(h, "a", "GET", "/v1/ready", ""); w.Code != 200 {
		t.Errorf("readiness: %d, want 200", w.Code)
	}
	pass(20 * time.Second)
	for i, want := range []int{200, 429} {
		if w := as(h, "a", "GET", "/v1/indexes", ""); w.Code != want {
			t.Errorf("request %d after a pause: %d, want %d", i, w.Code, want)
		}
	}
	pass(time.Minute)
	lines := ""
	for i := range 3000 {
		lines += fmt.Sprintf("{\"id\":\"%d\",\"text\":\"%s\"}\n", i, strings.Repeat("x", 30))
	}
	a := decode[writeAnswer](t, as(h, "a", "POST", "/v1/indexes/i/documents", lines).Body.String())
	if a.Added == 0 || a.Added >= 3000 || a.Failed != 1 || !strings.Contains(a.Errors[0].Error, "nothing was added: the quota of 1000 bytes") {
		t.Errorf("%+v, want some documents and an error about the rest", a)
	}
	w := as(h, "a", "POST", "/v1/indexes/i/documents", lines)
	if after := w.Header().Get("Retry-After"); w.Code != 429 || len(after) < 5 {
		t.Errorf("the next bytes: %d, after %q s: want 429 and most of a day or more", w.Code, after)
	}
	if w := as(h, "b", "POST", "/v1/indexes/i/documents", `{"id":"b","text":"b"}`); w.Code != 202 {
		t.Errorf("another token: %d %s, want 202", w.Code, w.Body)
	}
	// However many clients there are, few are remembered.
	q := newQuotas(limits)
	for i := range 3 * maxClients {
		if err := q.ask(quotaKey{token: [32]byte{byte(i), byte(i >> 8)}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(q.clients); n > maxClients {
		t.Errorf("%d clients are remembered, want at most %d", n, maxClients)
	}
}

// Documents are added as a job: the answer comes when they have arrived, and GET shows how far they
// are.
func TestDocumentsAsAJob(t *testing.T) {
	h := writable(t, Options{})
	must(t, h, "PUT", "/v1/indexes/i", "", 201)
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"text\":\"bear number %d\"}\n", i, i)
	}
	lines.WriteString("nonsense\n")
	r := httptest.NewRequest("POST", "/v1/indexes/i/documents?job=true&refresh=true", strings.NewReader(lines.String()))
	w := serveOne(h, r)
	j := decode[jobAnswer](t, w.Body.String())
	if w.Code != 202 || j.Kind != "documents" || j.Index != "i" || w.Header().Get("Location") != "../../jobs/"+j.ID {
		t.Fatalf("%d %s, Location %s, want a job", w.Code, w.Body, w.Header().Get("Location"))
	}
	j = waitForJob(t, h, j.ID)
	if c := j.Change; j.State != "done" || j.Done != 100 || c == nil || c.Added != 5000 || c.Failed != 1 || !c.Durable ||
		c.Errors[0].Line != 5001 {
		t.Errorf("%+v %+v, want 5000 documents, durable, and an error in line 5001", j, j.Change)
	}
	if got := find(t, h, "i", "4711"); !slices.Equal(got, []string{"4711"}) {
		t.Errorf("%q, want document 4711", got)
	}
	must(t, h, "DELETE", "/v1/indexes/i/documents?q=bear&refresh=true", "", 200)
	j = waitForJob(t, h, decode[jobAnswer](t, must(t, h, "POST", "/v1/indexes/i/compact", "", 202)).ID)
	if j.State != "done" || j.Change == nil {
		t.Errorf("%+v, want it done", j)
	}
	if n := h.spooled.Load(); n != 0 {
		t.Errorf("%d bytes of jobs that have ended are counted", n)
	}
}

// A client that leaves in the middle ends the work. The lines that arrived whole are kept, and no
// slot stays taken. One that sends nothing more is given up in the same way.
func TestClientsThatLeave(t *testing.T) {
	h := writable(t, Options{CommitEvery: 10 * time.Millisecond})
	must(t, h, "PUT", "/v1/indexes/i", "", 201)
	ctx, stop := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx, l) }()
	for n := range 3 {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf("{\"id\":\"whole%d\",\"text\":\"bear\"}\n{\"id\":\"half%[1]d\",\"te", n)
		body = strings.Repeat("{\"id\":\"pad\",\"text\":\"pad\"}\n", 20000) + body
		fmt.Fprintf(conn, "POST /v1/indexes/i/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", 10*len(body), body)
		if n == 1 {
			conn.(*net.TCPConn).SetLinger(0) // a reset
		}
		conn.Close()
	}
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		got := find(t, h, "i", "pad")
		busy := 0
		for _, lane := range h.gate.state() {
			busy += lane.running + lane.waiting
		}
		if len(got) == 1 && busy == 0 {
			break
		}
		if time.Since(start) > 20*time.Second {
			t.Fatalf("%q are found, %d requests are at work, want the pad and none", got, busy)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := find(t, h, "i", "bear"); slices.ContainsFunc(got, func(id string) bool { return strings.HasPrefix(id, "half") }) {
		t.Errorf("%q, want no document whose line did not end", got)
	}
}

// While a client sends documents slowly, others change the index: the generation that was current
// when it began is closed nevertheless.
func TestSlowClientsKeepNoGeneration(t *testing.T) {
	h := writable(t, Options{CommitEvery: time.Hour})
	must(t, h, "PUT", "/v1/indexes/i", "", 201)
	body, to := io.Pipe()
	answered := make(chan *httptest.ResponseRecorder)
	go func() {
		answered <- serveOne(h, httptest.NewRequest("POST", "/v1/indexes/i/documents?refresh=true", body))
	}()
	fmt.Fprintln(to, `{"id":"slow","text":"bear"}`)
	old := h.index("i").current.Load()
	must(t, h, "POST", "/v1/indexes/i/documents?refresh=true", `{"id":"quick","text":"bear"}`, 200)
	for start := time.Now(); old.users.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("the old generation still has %d users", old.users.Load())
		}
	}
	to.Close()
	if w := <-answered; w.Code != 200 {
		t.Errorf("the slow client: %d %s, want 200", w.Code, w.Body)
	}
	if got := find(t, h, "i", "bear"); !slices.Equal(got, []string{"quick", "slow"}) {
		t.Errorf("%q, want both documents", got)
	}
}

// A line of any length takes a bounded part of memory, and so do its errors.
func TestLongLines(t *testing.T) {
	limits := unheld
	limits.Document = 1000
	h := writable(t, Options{Limits: limits})
	must(t, h, "PUT", "/v1/indexes/i", `{"analyzer":"whitespace"}`, 201)
	long := `{"id":"` + strings.Repeat("x", 800) + `","text":7e}`
	body := io.MultiReader(strings.NewReader(`{"id":"a","text":"one"}`+"\n"), io.LimitReader(manyXs{}, 10<<20),
		strings.NewReader("\n"+`{"id":"b","text":"two"}`+"\n"+strings.Repeat(long+"\n", 300)))
	r := httptest.NewRequest("POST", "/v1/indexes/i/documents?refresh=true", body)
	w := serveOne(h, r)
	a := decode[writeAnswer](t, w.Body.String())
	if a.Added != 2 || a.Failed != 301 || len(a.Errors) != maxLineErrors || a.Errors[0].Line != 2 {
		t.Errorf("%d documents, %d errors, %d of them listed, the first %+v", a.Added, a.Failed, len(a.Errors), a.Errors[0])
	}
	if w.Body.Len() > 200*maxLineErrors+3*maxErrorSize*maxLineErrors {
		t.Errorf("an answer of %d bytes", w.Body.Len())
	}
}

type manyXs struct{}

func (manyXs) Read(to []byte) (int, error) {
	for i := range to {
		to[i] = 'x'
	}
	return len(to), nil
}

// A folder that another index takes while the server changes it: the old index is served further,
// and the log says so once. An index that the program opened itself is never looked at.
func TestReplacedWhileWriting(t *testing.T) {
	var log strings.Builder
	h := New(elife(t, false), Options{Writable: true, Limits: unheld, Log: slog.New(slog.NewTextHandler(&log, nil))})
	defer h.Close()
	dir := indexOf(t, map[string]string{"1": "bear"})
	if err := h.Open(t.Context(), "i", dir); err != nil {
		t.Fatal(err)
	}
	must(t, h, "POST", "/v1/indexes/i/documents?refresh=true", `{"id":"2","text":"bear"}`, 200)
	log.Reset()
	if opened, err := h.Look(t.Context(), true); err != nil || !slices.Equal(opened, []string{"i"}) {
		t.Errorf("%q were opened, %v; want i", opened, err)
	}
	if strings.Contains(log.String(), "ERROR") {
		t.Errorf("looking logs %s, want no error", log.String())
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(indexOf(t, map[string]string{"3": "bear"}), dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if opened, err := h.Look(t.Context(), false); err != nil || len(opened) > 0 {
			t.Errorf("%q were opened, %v; want none", opened, err)
		}
	}
	if n := strings.Count(log.String(), "another folder is in the place of"); n != 1 {
		t.Errorf("the log says it %d times, want once: %s", n, log.String())
	}
	if got := find(t, h, "i", "bear"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%q, want the documents of the old index", got)
	}
}

// A server with a folder of indexes opens all of them, and removes what a crash left of a deletion.
func TestFolderOfIndexes(t *testing.T) {
	dir := t.TempDir()
	analyzer, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", dropped + "c"} {
		w, err := segments.NewWriter(filepath.Join(dir, name), segments.Options{Analyzer: analyzer})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	write(t, filepath.Join(dir, "notes.txt"), "not an index")
	h := writable(t, Options{Dir: dir})
	if err := h.OpenAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, ix := range h.describeAll() {
		names = append(names, ix.Name)
	}
	// One that is put there later is served after a signal, which makes the command look at all.
	if err := os.Rename(indexOf(t, map[string]string{"1": "bear"}), filepath.Join(dir, "later")); err != nil {
		t.Fatal(err)
	}
	if opened, err := h.Look(t.Context(), true); err != nil || !slices.Equal(opened, []string{"a", "b", "later"}) {
		t.Errorf("%q were opened, %v; want a, b and later", opened, err)
	}
	if got := find(t, h, "later", "bear"); !slices.Equal(got, []string{"1"}) {
		t.Errorf("%q, want the document of the new index", got)
	}
	must(t, h, "DELETE", "/v1/indexes/later", "", 204)
	if w := call(h, "/metrics", ""); strings.Contains(w.Body.String(), `"later"`) {
		t.Errorf("metrics still have an index that was deleted: %s", w.Body)
	}
	// Folders that are there are not made again, and a body that is too large makes none.
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	must(t, h, "PUT", "/v1/indexes/taken", "", 409)
	must(t, h, "PUT", "/v1/indexes/large", `{"analyzer":"`+strings.Repeat("x", maxBody)+`"}`, 413)
	if !slices.Equal(names, []string{"a", "b"}) || isIndex(filepath.Join(dir, dropped+"c")) {
		t.Errorf("%q are served, want a and b, and the third removed", names)
	}
}
