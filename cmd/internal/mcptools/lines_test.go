package mcptools

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// connect returns a connection that reads a text, and what it writes.
func connect(t *testing.T, in string) (read func() (jsonrpc.Message, error), c *lineConn,
	out *strings.Builder) {
	t.Helper()
	out = &strings.Builder{}
	to, err := Lines(strings.NewReader(in), out).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close() })
	return func() (jsonrpc.Message, error) { return to.Read(t.Context()) }, to.(*lineConn), out
}

// A line that is no message is answered, and the messages after it arrive.
func TestLinesThatAreNoMessages(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                            `"id":null,"error":{"code":-32700`,
		`{"jsonrpc":"2.0","id":1`:          `"id":null,"error":{"code":-32700`,
		"{\"a\":\"\xff\"}":                 `"id":null,"error":{"code":-32700`,
		"42":                               `"id":null,"error":{"code":-32600`,
		"{}":                               `"id":null,"error":{"code":-32600`,
		`{"id":7,"method":"ping"}`:         `"id":7,"error":{"code":-32600`,
		`{"id":[],"method":"ping"}`:        `"id":null,"error":{"code":-32600`,
		"[]":                               `each on a line of its own`,
		strings.Repeat(" ", maxLine) + "1": `more than 4194304 bytes`,
	} {
		read, _, out := connect(t, "\n"+line+"\n"+`{"jsonrpc":"2.0","method":"next"}`)
		m, err := read()
		if r, ok := m.(*jsonrpc.Request); !ok || r.Method != "next" {
			t.Errorf("after %.40q comes %v, %v, want the next message", line, m, err)
		}
		if got := out.String(); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%.40q is answered with %s, want %s", line, got, want)
		}
		if _, err := read(); err != io.EOF {
			t.Errorf("at the end of the input the error is %v", err)
		}
	}
}

// However many calls a client sends, only so many are held at once.
func TestPendingCallsAreBounded(t *testing.T) {
	var in strings.Builder
	for id := range 2 * maxPending {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id)
	}
	read, c, _ := connect(t, in.String())
	for range maxPending {
		if _, err := read(); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-c.in:
		t.Errorf("call %d arrived before any was answered", maxPending+1)
	case <-time.After(50 * time.Millisecond):
	}
	for id := range 2 * maxPending {
		n, _ := jsonrpc.MakeID(float64(id))
		if err := c.Write(t.Context(), &jsonrpc.Response{ID: n, Result: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if id < maxPending {
			if _, err := read(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := read(); err != io.EOF {
		t.Errorf("at the end of the input the error is %v", err)
	}
}
