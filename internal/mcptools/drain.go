package mcptools

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Drained returns a transport that reports the end of its input only when all earlier calls are
// answered. So a file of calls can be piped in; otherwise its end would cancel them.
func Drained(t mcp.Transport) mcp.Transport { return drained{t} }

type drained struct{ mcp.Transport }

func (d drained) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainedConn{Connection: c, idle: make(chan struct{}, 1)}, nil
}

type drainedConn struct {
	mcp.Connection
	mu      sync.Mutex
	pending int           // calls not answered yet
	idle    chan struct{} // signalled when there are none
}

func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		for c.add(0) > 0 {
			select {
			case <-ctx.Done():
				return nil, err
			case <-c.idle:
			}
		}
		return nil, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.add(1)
	}
	return m, nil
}

func (c *drainedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok && c.add(-1) == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
	return err
}

func (c *drainedConn) add(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending += n
	return c.pending
}
