package serve

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
)

// Queries of too many words and batches of too many queries are refused.
func TestTooMuchIsRefused(t *testing.T) {
	h := New(elife(t, true), Options{Limits: Limits{Words: 300, Queries: 3}})
	words := strings.Repeat("cell membrane ", 2000)
	for _, c := range []struct{ path, body, says string }{
		{"/search?snippets=1&k=100&q=" + url.QueryEscape(words), "", "q has 28000 bytes: want at most 300 words"},
		{"/search?q=" + url.QueryEscape(words[:302*7]), "", "q has 302 words: want at most 300"},
		{"/search", `[{"q": "` + words[:7000] + `"}]`, "query 1: q has 1000 words: want at most 300"},
		{"/search", `[{"q":"a"},{"q":"a"},{"q":"a"},{"q":"a"}]`, "it has more than 3 queries"},
		{"/v1/search", strings.Repeat("{\"q\":\"a\"}\n", 4), "want at most 3 queries"},
	} {
		w := call(h, c.path, c.body)
		if said := decode[problem](t, w.Body.String()); w.Code != 400 || !strings.Contains(said.Error, c.says) {
			t.Errorf("%.60s %.60s: status %d %q, want 400 %q", c.path, c.body, w.Code, said.Error, c.says)
		}
	}
	if w := call(h, "/search?q="+url.QueryEscape(strings.Repeat("cell membrane ", 150)), ""); w.Code != 200 {
		t.Errorf("300 words: status %d %s, want 200", w.Code, w.Body)
	}
}

// A request that takes too long ends with status 503.
func TestDeadline(t *testing.T) {
	h := New(elife(t, true), Options{Limits: Limits{Time: 1, BatchTime: 1}})
	for body, path := range map[string]string{"": "/search?q=cell", `[{"q": "cell"}]`: "/search"} {
		w := call(h, path, body)
		if said := decode[problem](t, w.Body.String()); w.Code != 503 ||
			said.Error != "the request took too long" || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: status %d %q %v, want 503 and Retry-After", body, w.Code, said.Error, w.Header())
		}
	}
}

// When all slots are taken and the queue is full, the status is 429, with Retry-After.
func TestBusy(t *testing.T) {
	h := New(elife(t, false), Options{Threads: 1, Limits: Limits{Wait: time.Millisecond}})
	defer mustEnter(t, h.gate, modest, shortLane)()
	defer mustEnter(t, h.gate, modest, longLane)()
	for body, path := range map[string]string{"": "/search?q=cell", `[{"q": "cell"}]`: "/search"} {
		w := call(h, path, body)
		if said := decode[problem](t, w.Body.String()); w.Code != 429 ||
			!strings.Contains(said.Error, "busy") || w.Header().Get("Retry-After") != "1" {
			t.Errorf("%s: status %d %q %v, want 429 busy and Retry-After 1", body, w.Code, said.Error, w.Header())
		}
	}
	if w := call(h, "/healthz", ""); w.Code != 200 {
		t.Errorf("health: status %d, want 200", w.Code)
	}
}

// Requests under a foreign host name or from a foreign page are refused.
func TestForeignHostsAndPages(t *testing.T) {
	h := New(elife(t, true), Options{Hosts: []string{"papers.example"},
		Origins: []string{"https://friend.example"}, Limits: unheld})
	for _, c := range []struct {
		method, path, host string
		header             []string // name, value, ...
		status             int
	}{
		{"GET", "/search?q=cell", "127.0.0.1:8080", nil, 200},
		{"GET", "/search?q=cell", "[::1]:8080", nil, 200},
		{"GET", "/search?q=cell", "[::1]", nil, 200},
		{"GET", "/search?q=cell", "localhost:8080", nil, 200},
		{"GET", "/search?q=cell", "LocalHost.", nil, 200},
		{"GET", "/search?q=cell", "Papers.example:80", nil, 200},
		{"GET", "/search?q=cell", "192.0.2.7", nil, 200},
		{"GET", "/search?q=cell", "rebound.example:8080", nil, 421},
		{"GET", "/", "rebound.example", nil, 421},
		{"GET", "/healthz", "", nil, 421},
		{"GET", "/search?q=cell", "localhost.evil.example", nil, 421},

		{"GET", "/search?q=cell", "localhost:1", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"GET", "/search?q=cell", "localhost:1", []string{"Sec-Fetch-Site", "none"}, 200},
		{"GET", "/search?q=cell", "localhost:1", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", "/search?q=cell", "localhost:1", []string{"Sec-Fetch-Site", "same-site"}, 403}, // another port
		{"GET", "/?q=cell", "localhost:1", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		{"GET", "/search?q=cell", "localhost:1",
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403},
		{"GET", "/search?q=cell", "localhost:1", []string{"Origin", "http://localhost:1"}, 200},
		{"GET", "/search?q=cell", "localhost:1", []string{"Origin", "http://localhost:2"}, 403},
		{"POST", "/search", "localhost:1", []string{"Origin", "null"}, 403},
		{"GET", "/search?q=cell", "localhost:1",
			[]string{"Origin", "https://friend.example", "Sec-Fetch-Site", "cross-site"}, 200},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader("[]"))
		r.Host = c.host
		for i := 0; i < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s %s at host %q, headers %q: status %d %s, want %d", c.method, c.path, c.host, c.header,
				w.Code, w.Body, c.status)
		}
	}
}

// Errors of the server are logged, those of clients are not.
func TestServerErrorsAreLogged(t *testing.T) {
	var log bytes.Buffer
	h := New(elife(t, false), Options{Engine: engine.GPU,
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	call(h, "/search?q=a", "")
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "not on a GPU") {
		t.Errorf("log %q, want an error that the index is not on a GPU", log.String())
	}
	log.Reset()
	call(h, "/search?q=", "")
	if log.Len() > 0 {
		t.Errorf("log %q of a client's error, want none", log.String())
	}
}

// If the index cannot be read, the answer is 503 and the server is not ready, which is logged once.
// Requests that need nothing of what cannot be read are still answered.
func TestFaultMakesNotReady(t *testing.T) {
	var log bytes.Buffer
	h := New(elife(t, false), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if w := call(h, "/readyz", ""); w.Code != 200 || w.Body.String() != `{"status":"ready"}`+"\n" {
		t.Errorf("before: status %d %s, want 200 ready", w.Code, w.Body)
	}
	broken := &os.PathError{Op: "read", Path: "index/text", Err: syscall.EIO}
	for range 2 {
		w := httptest.NewRecorder()
		x := &exchange{Server: h, w: w, r: httptest.NewRequest("GET", "/search?q=a", nil), g: h.first().current.Load()}
		x.failed(broken)
		if said := decode[problem](t, w.Body.String()); w.Code != 503 || !strings.Contains(said.Error, "index/text") {
			t.Errorf("after an error of the disk: status %d %q, want 503 that names the file", w.Code, said.Error)
		}
	}
	if w := call(h, "/readyz", ""); w.Code != 503 || !strings.Contains(w.Body.String(), "index/text") {
		t.Errorf("ready after an error of the disk: status %d %s, want 503 that names the file", w.Code, w.Body)
	}
	if w := call(h, "/search?q=cell", ""); w.Code != 200 {
		t.Errorf("a search that can be answered: status %d, want 200", w.Code)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("logged %d times, want once: %s", n, log.String())
	}
}

// If files of the index are truncated, requests get 503 and the server is not ready, until it is
// given another index.
func TestTruncatedFiles(t *testing.T) {
	open := func(word string) (string, *search.Searcher) {
		dir := t.TempDir()
		corpus := filepath.Join(dir, "c.jsonl")
		var lines strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&lines, `{"id": "%s-%d", "text": "bears %[1]s n%[2]d"}`+"\n", word, i)
		}
		write(t, corpus, lines.String())
		return filepath.Join(dir, "index"), build(t, dir, corpus, index.BuildOptions{StoreText: true})
	}
	for _, file := range []string{"postings", "text", "documents"} {
		folder, s := open("one")
		h := New(s, Options{Limits: unheld})
		if err := os.Truncate(filepath.Join(folder, file), 0); err != nil {
			t.Fatal(err)
		}
		failed := 0
		for _, path := range []string{"/v1/search?q=bears+n17&snippets=1", "/v1/search?q=one&k=500",
			"/v1/documents/one-2999", "/plain?q=bears"} {
			w := call(h, path, "")
			if w.Code == 503 {
				failed++
			} else if w.Code >= 500 {
				t.Errorf("%s truncated, %s: status %d %s, want an answer or 503", file, path, w.Code, w.Body)
			}
		}
		if w := call(h, "/search", `[{"q":"bears","snippets":true},{"q":"n5"}]`); w.Code == 503 {
			failed++
		}
		if failed == 0 {
			t.Errorf("%s truncated: no request failed, want at least one", file)
		}
		if w := call(h, "/readyz", ""); w.Code != 503 {
			t.Errorf("%s truncated: ready has status %d, want 503", file, w.Code)
		}
		_, other := open("two")
		h.Reload(other)
		if w := call(h, "/readyz", ""); w.Code != 200 {
			t.Errorf("ready after Reload: status %d, want 200", w.Code)
		}
		if w := call(h, "/v1/search?q=two&snippets=1", ""); w.Code != 200 {
			t.Errorf("search after Reload: status %d %s, want 200", w.Code, w.Body)
		}
	}
}

// When there are too many connections, idle and slow ones are closed, those of the client with the
// most first.
func TestSlowClientsMakeRoom(t *testing.T) {
	h := New(elife(t, false), Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- run(t.Context(), l, h, Options{Limits: Limits{Connections: 8}, Log: silent}, time.Second)
	}()
	dial := func(from string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
		c, err := d.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Skipf("cannot connect from %s: %v", from, err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	ask := func(c net.Conn) error {
		c.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	good := dial("127.0.0.2")
	if err := ask(good); err != nil {
		t.Fatal(err)
	}
	var slow []net.Conn
	for range 30 {
		c := dial("127.0.0.3")
		io.WriteString(c, "POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n[") // and no more
		slow = append(slow, c)
	}
	if err := ask(good); err != nil { // its connection is still open
		t.Errorf("the connection of another client: error %v, want an answer", err)
	}
	if err := ask(dial("127.0.0.4")); err != nil {
		t.Errorf("a new client: error %v, want an answer", err)
	}
	var closed atomic.Int64
	var wg sync.WaitGroup
	for _, c := range slow {
		wg.Go(func() {
			c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); err != nil && !isTimeout(err) {
				closed.Add(1)
			}
		})
	}
	wg.Wait()
	if n := closed.Load(); n < 22 {
		t.Errorf("%d of 30 slow connections were closed, want at least 22", n)
	}
}

func isTimeout(err error) bool {
	n, ok := err.(net.Error)
	return ok && n.Timeout()
}

// A limit that is zero means its default, and a negative Hold stays: it disables the delay.
func TestZeroOptions(t *testing.T) {
	want := Limits{Words: 256, Queries: 10_000, Time: 10 * time.Second, BatchTime: time.Minute,
		Wait: time.Second, Waiting: 512, Hold: time.Second, Connections: 16_384, Document: 16e6}
	if got := (Limits{}).withDefaults(); got != want {
		t.Errorf("limits of zero mean %+v, want %+v", got, want)
	}
	given := Limits{Words: 1, Queries: 2, Time: 3, BatchTime: 4, Wait: 5, Waiting: 6, Hold: -1, Connections: 7, Document: 8}
	if got := given.withDefaults(); got != given {
		t.Errorf("withDefaults of %+v is %+v, want it unchanged", given, got)
	}
}

// The cache of answers about places is bounded, whatever is asked: also if the names of requests
// are longer than their answers.
func TestMinedCacheIsBounded(t *testing.T) {
	c := newMinedCache()
	for i := range 100 {
		c.put(fmt.Sprint(strings.Repeat("k", 1<<20), i), []byte("answer"))
	}
	held := 0
	for key, text := range c.text {
		held += len(key) + len(text)
	}
	if held > maxMined || held != c.size || len(c.order) != len(c.text) || len(c.text) == 0 {
		t.Errorf("%d answers in %d bytes, counted as %d: want at most %d", len(c.text), held, c.size, maxMined)
	}
}
