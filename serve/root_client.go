package serve

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// shardClient sends requests to the server of a shard over connections that it keeps open. Requests
// are written, and answers read (by net/http), in the goroutine of the caller. http.Transport
// passes each to two other goroutines and back, which takes much of the time of answers that need
// less than a millisecond.
//
// It follows no redirects and uses no proxy.
type shardClient struct {
	address string // host and port, to connect to
	host    string // for the Host header
	prefix  string // of paths
	tls     bool

	mu   sync.Mutex
	idle []*shardConn // most recently used last
}

// newShardClient returns a client for the server at a URL.
func newShardClient(u *url.URL) shardClient {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return shardClient{
		address: net.JoinHostPort(u.Hostname(), port), host: u.Host, prefix: u.EscapedPath(), tls: u.Scheme == "https",
	}
}

// shardConn is a connection with its buffers.
type shardConn struct {
	net.Conn
	in   *bufio.Reader
	used time.Time
	left int64 // number of bytes that may still be read, so that a server cannot fill the memory
	// cut is why the answer could not be read to its end, if it is too long or too late. Who parses
	// headers may return another error, on what is missing in a line that was cut.
	cut error
}

// errTooLong is the error of answers that are longer than the request allows.
var errTooLong = errors.New("its answer is longer than any answer to this request can be")

// maxOverhead is more than the headers of an answer and the borders of its chunks take, in bytes.
const maxOverhead = 1 << 20

func (c *shardConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		c.cut = errTooLong
		return 0, errTooLong
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.cut = err
	}
	return n, err
}

const (
	keepIdle     = 256         // connections per server
	keepIdleTime = time.Minute // shorter than the idle time of servers
)

// do sends a request and reads the answer with its body, of at most room bytes. headers are
// complete lines.
func (c *shardClient) do(ctx context.Context, method, path, headers string, body []byte, room int64) (
	int, []byte, error,
) {
	message := make([]byte, 0, 512+len(body))
	message = fmt.Appendf(message, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: collocate\r\n%s",
		method, c.prefix+path, c.host, headers)
	if body != nil {
		message = fmt.Appendf(message, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	message = append(append(message, '\r', '\n'), body...)
	for {
		conn, kept, err := c.take(ctx)
		if err != nil {
			return 0, nil, err
		}
		status, said, begun, err := conn.roundTrip(ctx, method, message, room)
		if err == nil {
			if said.close {
				conn.Close()
			} else {
				c.give(conn)
			}
			return status, said.body, nil
		}
		conn.Close()
		if conn.cut != nil {
			err = conn.cut
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			<-ctx.Done() // the deadline has passed, but its timer may fire a little later
		}
		// A server may have closed an idle connection: try another. Requests can be repeated
		// safely.
		if !kept || begun || ctx.Err() != nil || errors.Is(err, errTooLong) {
			return 0, nil, errors.Join(ctx.Err(), err)
		}
	}
}

// shardSaid is an answer.
type shardSaid struct {
	body  []byte
	close bool // the connection cannot be reused
}

// roundTrip sends a request and reads the answer. If it fails, begun reports whether any part of
// the answer arrived.
func (c *shardConn) roundTrip(ctx context.Context, method string, message []byte, room int64) (
	status int, said shardSaid, begun bool, err error,
) {
	deadline, _ := ctx.Deadline()
	if err := c.SetDeadline(deadline); err != nil {
		return 0, said, false, err
	}
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() { // the deadline may still be changed
			said.close = true
		}
	}()
	c.left, c.cut = room+room/8+maxOverhead, nil
	if _, err := c.Write(message); err != nil {
		return 0, said, false, err
	}
	if _, err := c.in.Peek(1); err != nil {
		return 0, said, false, err
	}
	response, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		return 0, said, true, fmt.Errorf("its answer is not HTTP: %.200s", err)
	}
	switch n := response.ContentLength; {
	case n > room:
		err = errTooLong
	case n >= 0 && n <= 1<<20:
		said.body = make([]byte, n)
		_, err = io.ReadFull(response.Body, said.body)
	default:
		said.body, err = io.ReadAll(io.LimitReader(response.Body, room+1))
		if err == nil && int64(len(said.body)) > room {
			err = errTooLong
		}
	}
	if err == nil { // otherwise the connection is closed, and the rest not read
		err = response.Body.Close()
	}
	said.close = response.Close
	return response.StatusCode, said, true, err
}

// take returns an idle connection, or a new one.
func (c *shardClient) take(ctx context.Context) (conn *shardConn, kept bool, err error) {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		conn, c.idle = c.idle[n-1], c.idle[:n-1]
	}
	c.mu.Unlock()
	if conn != nil {
		return conn, true, nil
	}
	dialer := net.Dialer{Timeout: time.Second, KeepAlive: 15 * time.Second}
	var raw net.Conn
	if c.tls {
		raw, err = (&tls.Dialer{NetDialer: &dialer}).DialContext(ctx, "tcp", c.address)
	} else {
		raw, err = dialer.DialContext(ctx, "tcp", c.address)
	}
	if err != nil {
		return nil, false, err
	}
	conn = &shardConn{Conn: raw}
	conn.in = bufio.NewReader(conn)
	return conn, false, nil
}

// give keeps a connection for reuse, and closes those that were idle for too long.
func (c *shardClient) give(conn *shardConn) {
	now := time.Now()
	conn.used = now
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.idle) > 0 && (now.Sub(c.idle[0].used) > keepIdleTime || len(c.idle) >= keepIdle) {
		c.idle[0].Close()
		c.idle = c.idle[1:]
	}
	c.idle = append(c.idle, conn)
}
