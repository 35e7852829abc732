package serve

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// quotas bound what a client may do in a time: requests a minute, and bytes a day. Clients are told
// apart by token, or else by address. A quota is a bucket that fills evenly: after a pause of a
// minute, a client may send the requests of a minute at once. Quotas begin anew with the server.
type quotas struct {
	requests, written rate
	now               func() time.Time

	mu      sync.Mutex
	clients map[quotaKey]*usage
}

// rate is how much is allowed in a time; 0 means any.
type rate struct {
	most float64
	in   time.Duration
	what string
}

// quotaKey identifies a client.
type quotaKey struct {
	token [sha256.Size]byte
	at    netip.Addr // if there is no token
}

// usage is what a client has used.
type usage struct{ requests, written level }

// level is the used part of a bucket at a time.
type level struct {
	used float64
	at   time.Time
}

// overQuota is the error of a client that has used its quota.
type overQuota struct {
	rate
	wait time.Duration // until some of it is free again
}

func (e *overQuota) Error() string {
	return fmt.Sprintf("the quota of %.0f %s is used up", e.most, e.what)
}

func newQuotas(l Limits) *quotas {
	return &quotas{
		requests: rate{float64(l.Requests), time.Minute, "requests a minute"},
		written:  rate{float64(l.Written), 24 * time.Hour, "bytes of documents a day"},
		now:      time.Now, clients: map[quotaKey]*usage{},
	}
}

// ask counts a request.
func (q *quotas) ask(who quotaKey) error {
	return q.take(q.requests, who, func(u *usage) *level { return &u.requests }, 1)
}

// write counts bytes of documents.
func (q *quotas) write(who quotaKey, n int64) error {
	return q.take(q.written, who, func(u *usage) *level { return &u.written }, float64(n))
}

// take uses n of a quota, unless it is used up.
func (q *quotas) take(r rate, who quotaKey, of func(*usage) *level, n float64) error {
	if r.most == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	u := q.clients[who]
	if u == nil {
		q.forget(now)
		u = &usage{}
		q.clients[who] = u
	}
	l := of(u)
	l.drain(r, now)
	if l.used+min(n, 1) > r.most {
		free := (l.used + 1 - r.most) / r.most * float64(r.in)
		return &overQuota{r, max(time.Second, time.Duration(free))}
	}
	l.used += n
	return nil
}

// drain frees what has become free since the last time.
func (l *level) drain(r rate, now time.Time) {
	l.used = max(0, l.used-r.most*float64(now.Sub(l.at))/float64(r.in))
	l.at = now
}

// forget makes room for another client: it drops those that have used nothing, or else any.
func (q *quotas) forget(now time.Time) {
	if len(q.clients) < maxClients {
		return
	}
	for who, u := range q.clients {
		u.requests.drain(q.requests, now)
		u.written.drain(q.written, now)
		if u.requests.used+u.written.used == 0 {
			delete(q.clients, who)
		}
	}
	for who := range q.clients {
		if len(q.clients) < maxClients*3/4 {
			break
		}
		delete(q.clients, who)
	}
}

// quotaKey returns whose quota a request uses.
func (x *exchange) quotaKey() quotaKey {
	if x.token != nil {
		return quotaKey{token: x.token.hash}
	}
	return quotaKey{at: x.client}
}
