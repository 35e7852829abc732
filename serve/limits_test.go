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

// Queries of too many words and batches of too many queries are refused before anything is looked
// up.
func TestTooMuchIsRefused(t *testing.T) {
	h := New(elife(t, true), Options{Limits: Limits{Words: 300, Queries: 3}})
	words := strings.Repeat("cell membrane ", 2000)
	for _, c := range []struct{ path, body, says string }{
		{"/search?snippets=1&k=100&q=" + url.QueryEscape(words), "", "q has 28000 bytes: want at most 300 words"},
		{"/search?q=" + url.QueryEscape(words[:302*7]), "", "q has 302 words: want at most 300"},
		{"/search", `[{"q": "` + words[:7000] + `"}]`, "query 1: q has 1000 words: want at most 300"},
		{"/search", `[{"q":"a"},{"q":"a"},{"q":"a"},{"q":"a"}]`, "it has more than 3 queries"},
	} {
		w := call(h, c.path, c.body)
		if said := decode[failure](t, w.Body.String()); w.Code != 400 || !strings.Contains(said.Error, c.says) {
			t.Errorf("%d %q, want 400 %q", w.Code, said.Error, c.says)
		}
	}
	if w := call(h, "/search?q="+url.QueryEscape(strings.Repeat("cell membrane ", 150)), ""); w.Code != 200 {
		t.Errorf("300 words: %d %s", w.Code, w.Body)
	}
}

// A request that takes too long ends with 503.
func TestDeadline(t *testing.T) {
	h := New(elife(t, true), Options{Limits: Limits{Time: 1, BatchTime: 1}})
	for _, body := range []string{"", `[{"q": "cell"}]`} {
		w := call(h, "/search?q=cell", body)
		if said := decode[failure](t, w.Body.String()); w.Code != 503 ||
			said.Error != "the request took too long" || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d %q %v", w.Code, said.Error, w.Header())
		}
	}
}

// When all slots are taken and the queue is full, the answer is 429 with when to come back.
func TestBusy(t *testing.T) {
	h := New(elife(t, false), Options{Threads: 1, Limits: Limits{Wait: time.Millisecond}})
	defer mustEnter(t, h.gate, modest, shortLane)()
	defer mustEnter(t, h.gate, modest, longLane)()
	for _, body := range []string{"", `[{"q": "cell"}]`} {
		w := call(h, "/search?q=cell", body)
		if said := decode[failure](t, w.Body.String()); w.Code != 429 ||
			!strings.Contains(said.Error, "busy") || w.Header().Get("Retry-After") != "1" {
			t.Errorf("%d %q %v", w.Code, said.Error, w.Header())
		}
	}
	if w := call(h, "/healthz", ""); w.Code != 200 {
		t.Errorf("health: %d", w.Code)
	}
}

// Document text goes to nobody who came under a foreign name or from a foreign page.
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
			t.Errorf("%s %s at %q %q: %d %s, want %d", c.method, c.path, c.host, c.header, w.Code, w.Body, c.status)
		}
	}
}

// What goes wrong in the server is logged.
func TestServerErrorsAreLogged(t *testing.T) {
	var log bytes.Buffer
	h := New(elife(t, false), Options{Engine: engine.GPU,
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	call(h, "/search?q=a", "")
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "not on a GPU") {
		t.Errorf("log: %s", log.String())
	}
	log.Reset()
	call(h, "/search?q=", "")
	if log.Len() > 0 {
		t.Errorf("a client's mistake is logged: %s", log.String())
	}
}

// An index that cannot be read any more makes the server say so: 503, and not ready. It goes on.
func TestFaultMakesNotReady(t *testing.T) {
	var log bytes.Buffer
	h := New(elife(t, false), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if w := call(h, "/readyz", ""); w.Code != 200 || w.Body.String() != `{"status":"ready"}`+"\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	broken := &os.PathError{Op: "read", Path: "index/text", Err: syscall.EIO}
	for range 2 {
		w := httptest.NewRecorder()
		x := &exchange{Server: h, w: w, r: httptest.NewRequest("GET", "/search?q=a", nil), g: h.current.Load()}
		x.failed(broken)
		if said := decode[failure](t, w.Body.String()); w.Code != 503 || !strings.Contains(said.Error, "index/text") {
			t.Errorf("%d %q", w.Code, said.Error)
		}
	}
	if w := call(h, "/readyz", ""); w.Code != 503 || !strings.Contains(w.Body.String(), "index/text") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := call(h, "/search?q=cell", ""); w.Code != 200 {
		t.Errorf("what can be read is not answered: %d", w.Code)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

// Files that are cut under the server make it answer 503 and say that it is not ready, until
// another index takes their place.
func TestCutFiles(t *testing.T) {
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
				t.Errorf("%s cut, %s: %d %s", file, path, w.Code, w.Body)
			}
		}
		if w := call(h, "/search", `[{"q":"bears","snippets":true},{"q":"n5"}]`); w.Code == 503 {
			failed++
		}
		if failed == 0 {
			t.Errorf("%s cut: nobody noticed", file)
		}
		if w := call(h, "/readyz", ""); w.Code != 503 {
			t.Errorf("%s cut: ready: %d", file, w.Code)
		}
		_, other := open("two")
		h.Reload(other)
		if w := call(h, "/readyz", ""); w.Code != 200 {
			t.Errorf("another index: %d", w.Code)
		}
		if w := call(h, "/v1/search?q=two&snippets=1", ""); w.Code != 200 {
			t.Errorf("another index: %d %s", w.Code, w.Body)
		}
	}
}

// Idle and trickling connections make room for new ones, those of the greediest client first.
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
			t.Skipf("cannot come from %s: %v", from, err)
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
	if err := ask(good); err != nil { // the connection that was there before still is
		t.Errorf("the good client's connection: %v", err)
	}
	if err := ask(dial("127.0.0.4")); err != nil {
		t.Errorf("a new client: %v", err)
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
