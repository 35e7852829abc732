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

// keeper limits the number of connections. When there are too many, it closes one of the client
// that has the most. It is the one that has waited for its client the longest, either idle or with
// a request or body that does not arrive. Connections whose request is being answered are never
// closed.
type keeper struct {
	max int

	mu      sync.Mutex
	conns   map[net.Conn]*conn
	clients map[netip.Addr]int // number of connections of each client
}

// conn is an open connection.
type conn struct {
	net    net.Conn
	client netip.Addr
	since  atomic.Int64 // start of waiting for the client, in Unix nanoseconds
	busy   atomic.Int32 // number of requests being answered: several in HTTP/2
	writes atomic.Int64 // deadline for the client to read what is sent
}

type connKey struct{}

func newKeeper(most int) *keeper {
	return &keeper{max: most, conns: map[net.Conn]*conn{}, clients: map[netip.Addr]int{}}
}

// context implements http.Server.ConnContext: handlers find their connection in the context.
func (k *keeper) context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, k.add(c))
}

func (k *keeper) add(c net.Conn) *conn {
	var who netip.Addr
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		who = networkOf(addressOf(a.String()))
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

// changed implements http.Server.ConnState.
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

// closeOne closes a connection that is waiting for its client.
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

// connOf returns the connection of a request, or nil if it does not come from Run.
func connOf(r *http.Request) *conn {
	n, _ := r.Context().Value(connKey{}).(*conn)
	return n
}

// answering notes that a request of the connection is being answered, or that this has ended.
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
