package serve

import (
	"net"
	"testing"
	"time"
)

// An HTTP/2 connection has several requests at once. While one of them is being answered, it is not
// closed to make room.
func TestConnectionsThatAnswerAreKept(t *testing.T) {
	k := newKeeper(1)
	open := func() (*conn, net.Conn) {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close(); theirs.Close() })
		return k.add(ours), theirs
	}
	closed := func(c net.Conn) bool {
		c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		_, err := c.Read(make([]byte, 1))
		timeout, ok := err.(net.Error)
		return !ok || !timeout.Timeout()
	}
	first, client := open()
	first.answering(true)
	first.answering(true)
	first.answering(false)
	second, other := open()
	if closed(client) || !closed(other) {
		t.Errorf("the connection with a request was closed: %v, the new idle one: %v; want only the latter",
			closed(client), closed(other))
	}
	first.answering(false)
	second.answering(true)
	if open(); !closed(client) {
		t.Error("the idle connection was kept, want it closed to make room")
	}
}
