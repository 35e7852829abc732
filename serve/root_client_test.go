package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// testClient returns a client of a new server with this handler, and the number of its connections.
func testClient(t *testing.T, handler http.HandlerFunc) (client *shardClient, server *httptest.Server, opened *atomic.Int32) {
	t.Helper()
	opened = new(atomic.Int32)
	server = httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL + "/under")
	if err != nil {
		t.Fatal(err)
	}
	c := newShardClient(u)
	return &c, server, opened
}

// The client sends bodies and headers and reads answers of all forms, over one connection.
func TestShardClient(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789"), 1<<18)
	c, server, opened := testClient(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/under/echo":
			fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("Authorization"), body)
		case "/under/long":
			w.Write(long) // in chunks
		case "/under/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/under/last":
			w.Header().Set("Connection", "close")
		default:
			http.Error(w, r.URL.Path, http.StatusTeapot)
		}
	})
	for range 3 {
		for _, try := range []struct {
			method, path string
			body         []byte
			status       int
			want         string
		}{
			{http.MethodPost, "/echo", []byte("{}"), 200, "POST Bearer x {}"},
			{http.MethodGet, "/echo", nil, 200, "GET Bearer x "},
			{http.MethodGet, "/long", nil, 200, string(long)},
			{http.MethodGet, "/empty", nil, 204, ""},
			{http.MethodPost, "/other", long, 418, "/under/other\n"},
		} {
			status, said, err := c.do(t.Context(), try.method, try.path, "Authorization: Bearer x\r\n", try.body, 1<<22)
			if err != nil || status != try.status || string(said) != try.want {
				t.Fatalf("%s: status %d %.50q, %v; want %d %.50q", try.path, status, said, err, try.status, try.want)
			}
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections, want one", n)
	}
	// A connection that the server is about to close, or has closed, is replaced.
	if status, _, err := c.do(t.Context(), http.MethodGet, "/last", "", nil, 1<<22); err != nil || status != 200 || len(c.idle) != 0 {
		t.Errorf("an answer with Connection: close: status %d, %v, %d connections kept; want 200, none", status,
			err, len(c.idle))
	}
	if status, _, err := c.do(t.Context(), http.MethodGet, "/echo", "", nil, 1<<22); err != nil || status != 200 {
		t.Errorf("after Connection: close: status %d, %v; want 200", status, err)
	}
	server.CloseClientConnections()
	if status, _, err := c.do(t.Context(), http.MethodGet, "/echo", "", nil, 1<<22); err != nil || status != 200 {
		t.Errorf("after a connection was closed: status %d, %v; want 200", status, err)
	}
}

// A request ends with its context, and its connection is not used again. TLS to a server without it
// fails.
func TestShardClientStops(t *testing.T) {
	release := make(chan struct{})
	c, server, _ := testClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/under/wait" {
			<-release
		}
	})
	defer close(release)
	late, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := c.do(late, http.MethodGet, "/wait", "", nil, 1<<22); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past its deadline: error %v, want %v", err, context.DeadlineExceeded)
	}
	stopped, stop := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, stop)
	if _, _, err := c.do(stopped, http.MethodGet, "/wait", "", nil, 1<<22); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v, want %v", err, context.Canceled)
	}
	if len(c.idle) != 0 {
		t.Errorf("%d connections that wait for an answer are kept, want none", len(c.idle))
	}
	if status, _, err := c.do(t.Context(), http.MethodGet, "/now", "", nil, 1<<22); err != nil || status != 200 {
		t.Errorf("another request: status %d, %v; want 200", status, err)
	}
	u, err := url.Parse(strings.Replace(server.URL, "http:", "https:", 1))
	if err != nil {
		t.Fatal(err)
	}
	encrypted := newShardClient(u)
	if _, _, err := encrypted.do(t.Context(), http.MethodGet, "/now", "", nil, 1<<22); err == nil {
		t.Error("TLS to a server without it: no error")
	}
}

// Answers that are not HTTP, or that are truncated, are errors, and so is a token of two lines.
func TestShardClientRefusesBrokenAnswers(t *testing.T) {
	for _, said := range []string{"", "hello\r\n\r\n", strings.Repeat("p", 10_000) + "\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive5"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				conn.Read(make([]byte, 1000))
				io.WriteString(conn, said)
				conn.Close()
			}
		}()
		c := shardClient{address: listener.Addr().String(), host: "x"}
		if status, body, err := c.do(t.Context(), http.MethodGet, "/", "", nil, 1<<22); err == nil {
			t.Errorf("answer %q: status %d, body %q, want an error", said, status, body)
		} else if len(err.Error()) > 300 {
			t.Errorf("the error has %d bytes, want a line", len(err.Error()))
		}
		listener.Close()
	}
	got := make(chan string, 2)
	shard := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
	}))
	defer shard.Close()
	root, err := ParseShards(shard.URL, RootOptions{Token: "old"})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"old", "new"} { // a new token is sent from the next request on
		root.SetToken(token)
		root.call(t.Context(), root.groups[0].replicas[0], &shardCall{method: http.MethodGet, path: "/", room: 1 << 20}, nil)
		if sent := <-got; sent != "Bearer "+token {
			t.Errorf("the shard got %q, want the token %s", sent, token)
		}
	}
	if _, err := ParseShards("http://a", RootOptions{Token: "a\nb"}); err == nil {
		t.Error("a token of two lines: no error")
	}
}

// Answers that are cut within a header, at their length or the deadline, are errors that say so.
func TestShardClientCutsHeaders(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				conn.Read(make([]byte, 1000))
				for said := "HTTP/1.1 200 OK\r\nContent-Ty"; err == nil; said = strings.Repeat("p", 1<<16) {
					_, err = io.WriteString(conn, said)
				}
			}()
		}
	}()
	c := shardClient{address: listener.Addr().String(), host: "x"}
	if _, _, err := c.do(t.Context(), http.MethodGet, "/", "", nil, 1000); !errors.Is(err, errTooLong) {
		t.Errorf("an endless header: %.100v, want that it is too long", err)
	}
	late, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, _, err := c.do(late, http.MethodGet, "/", "", nil, 1<<50); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a header without end within the deadline: %.100v, want that it is late", err)
	}
}

// closable is a connection that counts how often one was closed.
type closable struct {
	net.Conn
	closed *int
}

func (c closable) Close() error { *c.closed++; return nil }

// A client keeps at most keepIdle idle connections, none for longer than keepIdleTime, and uses the
// last one first.
func TestIdleConnectionsAreBounded(t *testing.T) {
	closed := 0
	c := &shardClient{}
	var last *shardConn
	for range keepIdle + 10 {
		last = &shardConn{Conn: closable{closed: &closed}}
		c.give(last)
	}
	if len(c.idle) != keepIdle || closed != 10 {
		t.Errorf("%d connections are idle, %d were closed; want %d and 10", len(c.idle), closed, keepIdle)
	}
	if got, kept, err := c.take(t.Context()); got != last || !kept || err != nil {
		t.Errorf("took %p, kept %v, %v; want the last, %p", got, kept, err, last)
	}
	for _, old := range c.idle {
		old.used = old.used.Add(-2 * keepIdleTime)
	}
	c.give(last)
	if len(c.idle) != 1 || closed != keepIdle+9 {
		t.Errorf("%d connections are idle after a pause, %d were closed; want 1 and %d", len(c.idle), closed, keepIdle+9)
	}
}
