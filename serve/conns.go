package serve

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// keeper bounds the number of connections. When there are too many, the client with the most of
// them loses the one that has been waited for the longest: an idle one, or one whose request or
// body does not come. Connections whose request is being answered are never closed.
type keeper struct {
	max int

	mu      sync.Mutex
	conns   map[net.Conn]*conn
	clients map[netip.Addr]int // connections of each
}

// conn is an open connection.
type conn struct {
	net    net.Conn
	client netip.Addr
	since  atomic.Int64 // when it began to wait for its client, in Unix nanoseconds
	busy   atomic.Int32 // requests being answered: several in HTTP/2
	writes atomic.Int64 // until when its client may take what is sent
}

type connKey struct{}

func newKeeper(most int) *keeper {
	return &keeper{max: most, conns: map[net.Conn]*conn{}, clients: map[netip.Addr]int{}}
}

// context is the server's ConnContext: handlers find their connection in it.
func (k *keeper) context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, k.add(c))
}

func (k *keeper) add(c net.Conn) *conn {
	var who netip.Addr
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		who = clientOf(&http.Request{RemoteAddr: a.String()})
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	n := &conn{net: c, client: who}
	n.since.Store(time.Now().UnixNano())
	k.conns[c] = n
	if k.clients[who]++; len(k.conns) > k.max {
		k.closeOne()
	}
	return n
}

// changed is the server's ConnState.
func (k *keeper) changed(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.forget(c)
	}
}

func (k *keeper) forget(c net.Conn) {
	n := k.conns[c]
	if n == nil {
		return
	}
	delete(k.conns, c)
	if k.clients[n.client]--; k.clients[n.client] == 0 {
		delete(k.clients, n.client)
	}
}

// closeOne closes a connection that waits for its client.
func (k *keeper) closeOne() {
	var worst *conn
	var waited int64
	for _, n := range k.conns {
		if n.busy.Load() > 0 {
			continue
		}
		since := n.since.Load()
		if worst == nil || k.clients[n.client] > k.clients[worst.client] ||
			k.clients[n.client] == k.clients[worst.client] && since < waited {
			worst, waited = n, since
		}
	}
	if worst != nil {
		k.forget(worst.net)
		worst.net.Close()
	}
}

// connOf is the connection of a request; nil if it does not come from Run.
func connOf(r *http.Request) *conn {
	n, _ := r.Context().Value(connKey{}).(*conn)
	return n
}

// answering says that a request of the connection is being answered, or that its client is waited
// for, in turn.
func (n *conn) answering(busy bool) {
	switch {
	case n == nil:
	case busy:
		n.busy.Add(1)
	default:
		n.since.Store(time.Now().UnixNano())
		n.busy.Add(-1)
	}
}
