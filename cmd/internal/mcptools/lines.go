package mcptools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Lines returns a transport of JSON-RPC messages, one per line. It differs from the SDK's in three
// ways:
//
//   - A line that is no message is answered with an error, and the next one is read. The SDK's
//     transport would end.
//   - Its input ends only when all earlier calls are answered. So a file of calls can be piped in;
//     otherwise its end would cancel them.
//   - It holds at most maxPending calls and maxLine bytes of a line, whatever the client sends.
func Lines(r io.Reader, w io.Writer) mcp.Transport { return &lines{r, w} }

const (
	maxLine    = 4 << 20 // bytes
	maxPending = 256
)

// Codes of errors in JSON-RPC.
const (
	codeParse   = -32700 // no JSON
	codeInvalid = -32600 // JSON, but no message
)

type lines struct {
	r io.Reader
	w io.Writer
}

func (l *lines) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{w: l.w, in: make(chan received), closed: make(chan struct{})}
	c.changed.L = &c.mu
	go c.receive(bufio.NewReaderSize(l.r, 1<<16))
	return c, nil
}

// lineConn is a connection of the transport.
type lineConn struct {
	in        chan received
	closed    chan struct{}
	closeOnce sync.Once

	writing sync.Mutex
	w       io.Writer

	mu      sync.Mutex
	changed sync.Cond // signalled when pending changes
	pending int       // calls not answered yet
	ended   bool
}

// received is a message, or the error that ended the input.
type received struct {
	message jsonrpc.Message
	err     error
}

func (c *lineConn) SessionID() string { return "" }

// receive reads messages until the input ends. It is a goroutine of its own, since a read of
// standard input cannot be interrupted.
func (c *lineConn) receive(r *bufio.Reader) {
	for {
		line, whole, err := readLine(r)
		if err != nil && len(line) == 0 {
			c.wait(0)
			c.send(received{err: err})
			return
		}
		if line = bytes.TrimSpace(line); len(line) == 0 && whole {
			continue
		}
		m, bad := parseMessage(line, whole)
		if bad != nil {
			if err := c.writeLine(bad); err != nil {
				c.send(received{err: err})
				return
			}
			continue
		}
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			c.wait(maxPending - 1)
			c.mu.Lock()
			c.pending++
			c.mu.Unlock()
		}
		if !c.send(received{message: m}) {
			return
		}
	}
}

// readLine reads a line. Of one that is longer than maxLine it returns the beginning, and whole is
// false.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	for whole = true; ; {
		part, err := r.ReadSlice('\n')
		if room := maxLine - len(line); len(part) > room {
			part, whole = part[:room], false
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// parseMessage parses a line, or returns the line of an error that answers it.
func parseMessage(line []byte, whole bool) (jsonrpc.Message, []byte) {
	switch {
	case !whole:
		return nil, wrongLine(nil, codeInvalid, fmt.Errorf("the line has more than %d bytes", maxLine))
	case !utf8.Valid(line): // encoding/json would replace the bytes
		return nil, wrongLine(nil, codeParse, errors.New("the line is not UTF-8"))
	}
	var any json.RawMessage
	if err := json.Unmarshal(line, &any); err != nil {
		return nil, wrongLine(nil, codeParse, fmt.Errorf("the line is not JSON: %w", err))
	}
	if line[0] == '[' {
		return nil, wrongLine(nil, codeInvalid,
			errors.New("a list of messages: send each on a line of its own"))
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, wrongLine(line, codeInvalid, err)
	}
	return m, nil
}

// wrongLine returns the error that answers a message. It has the ID of the message, if that can be
// read.
func wrongLine(message []byte, code int, err error) []byte {
	var of struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(message, &of) == nil {
		var id any
		if json.Unmarshal(of.ID, &id) == nil {
			if _, err := jsonrpc.MakeID(id); err != nil {
				of.ID = nil
			}
		}
	}
	type wrong struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	text, _ := json.Marshal(struct { // cannot fail
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   wrong           `json:"error"`
	}{"2.0", of.ID, wrong{code, err.Error()}})
	return text
}

// wait waits until at most this many calls are pending.
func (c *lineConn) wait(most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pending > most && !c.ended {
		c.changed.Wait()
	}
}

// send passes on what was received; false means that the connection was closed.
func (c *lineConn) send(x received) bool {
	select {
	case c.in <- x:
		return true
	case <-c.closed:
		return false
	}
}

func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case x := <-c.in:
		return x.message, x.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err == nil {
		err = c.writeLine(text)
	}
	if _, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pending--
		c.changed.Broadcast()
	}
	return err
}

func (c *lineConn) writeLine(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.w.Write(append(text, '\n'))
	return err
}

func (c *lineConn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closed)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
		c.changed.Broadcast()
	})
	return nil
}
