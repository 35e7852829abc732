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

// testClient asks a server for tests, and counts its connections.
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

// Answers of all forms are read, over one connection, and what is sent arrives as it was.
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
			status, said, err := c.do(t.Context(), try.method, try.path, "Authorization: Bearer x\r\n", try.body)
			if err != nil || status != try.status || string(said) != try.want {
				t.Fatalf("%s: %d %.50q %v, want %d %.50q", try.path, status, said, err, try.status, try.want)
			}
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections, want one", n)
	}
	// A connection that the server closed meanwhile is replaced.
	server.CloseClientConnections()
	if status, _, err := c.do(t.Context(), http.MethodGet, "/echo", "", nil); err != nil || status != 200 {
		t.Errorf("after a connection was closed: %d, %v", status, err)
	}
}

// A request ends with its context, and its connection is not used again.
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
	if _, _, err := c.do(late, http.MethodGet, "/wait", "", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past its time: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, stop)
	if _, _, err := c.do(stopped, http.MethodGet, "/wait", "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if len(c.idle) != 0 {
		t.Errorf("%d connections are kept that wait for an answer", len(c.idle))
	}
	if status, _, err := c.do(t.Context(), http.MethodGet, "/now", "", nil); err != nil || status != 200 {
		t.Errorf("another request: %d, %v", status, err)
	}
	u, err := url.Parse(strings.Replace(server.URL, "http:", "https:", 1))
	if err != nil {
		t.Fatal(err)
	}
	encrypted := newShardClient(u)
	if _, _, err := encrypted.do(t.Context(), http.MethodGet, "/now", "", nil); err == nil {
		t.Error("a server without TLS was taken for one with it")
	}
}

// Servers that say something else than HTTP, or half of it, are errors.
func TestShardClientMistrusts(t *testing.T) {
	for _, said := range []string{"", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive5"} {
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
		if status, body, err := c.do(t.Context(), http.MethodGet, "/", "", nil); err == nil {
			t.Errorf("%q is taken for the answer %d %q", said, status, body)
		}
		listener.Close()
	}
	if _, err := ParseShards("http://a", RootOptions{Token: "a\nb"}); err == nil {
		t.Error("a token of two lines is no error")
	}
}
