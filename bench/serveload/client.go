//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Numbers of concurrent connections. For the capacity there are enough to keep the server busy. At
// half of it there are more, so that a connection that waits for an answer seldom delays a request.
const (
	busyClients  = 32
	pacedClients = 64
	overClients  = 1024
)

// manyAddresses is the number of source addresses of idle connections and of an overload. Other
// connections have a single one, as behind a proxy.
const manyAddresses = 8

// connection is an HTTP/1.1 connection that stays open. It needs less CPU time than package http,
// as client and server share the cores.
type connection struct {
	conn  net.Conn
	in    *bufio.Reader
	body  []byte
	until time.Time // deadline
}

// connect opens the i-th of conns connections.
func connect(addr string, i, conns int) (*connection, error) {
	from := net.IPv4(127, 0, 3, byte(1+i%manyAddresses))
	if conns < overClients {
		from = net.IPv4(127, 0, 0, 1)
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: 10 * time.Second}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &connection{conn: c, in: bufio.NewReaderSize(c, 4096)}, nil
}

// ask sends a request and reads the answer, which stays in body until the next call.
func (c *connection) ask(request []byte) (status int, err error) {
	if now := time.Now(); now.After(c.until.Add(-30 * time.Second)) { // setting it for each request costs too much
		c.until = now.Add(time.Minute)
		c.conn.SetDeadline(c.until)
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	size := -1
	for first := true; ; first = false {
		row, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		switch {
		case first && len(row) > 12:
			if status, err = strconv.Atoi(string(row[9:12])); err != nil {
				return 0, err
			}
		case len(row) > 16 && bytes.EqualFold(row[:15], []byte("Content-Length:")):
			if size, err = strconv.Atoi(string(bytes.TrimSpace(row[15:]))); err != nil {
				return 0, err
			}
		}
		if len(row) <= 2 {
			break
		}
	}
	if size < 0 {
		return 0, errors.New("an answer without Content-Length")
	}
	c.body = slices.Grow(c.body[:0], size)[:size]
	_, err = io.ReadFull(c.in, c.body)
	return status, err
}

// askOK is like ask, but returns an error for any other status than 200.
func (c *connection) askOK(request []byte) error {
	status, err := c.ask(request)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	return err
}

// load has the results of a load.
type load struct {
	Rate     float64        `json:"requests_per_second"`
	Requests int            `json:"requests"`
	Statuses map[string]int `json:"statuses"`
	// Latencies, from when a request was due.
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
	// Latency of requests with status 200, from when they were sent. It is less than P99 if a
	// connection was busy when its request was due, or if the client was late.
	SentP99 float64 `json:"p99_since_sent_ms"`
	// Number of requests that were due but not sent when the time was over.
	Unsent int `json:"due_but_not_sent,omitempty"`
	// Delay of the client itself: how late requests were sent whose connection was free.
	LagP50 float64 `json:"client_lag_p50_ms,omitempty"`
	LagP99 float64 `json:"client_lag_p99_ms,omitempty"`
	// CPU time, user and system.
	CPUMicros    float64 `json:"server_cpu_micros_per_request"`
	ClientMicros float64 `json:"client_cpu_micros_per_request"`
	LastError    string  `json:"last_error,omitempty"`
}

// tally collects the results of one connection.
type tally struct {
	times, sent, lags []time.Duration
	statuses          map[int]int
	err               error
}

// moment is the time when a request is due.
type moment struct {
	due   time.Time
	early bool // the connection was free at that time
	over  bool // no request is due any more, or it is too late
}

// closed measures a closed loop: each connection sends its next request when it has the answer.
func (b *bench) closed(s *server, length time.Duration) (*load, error) {
	end := time.Now().Add(length)
	return b.drive(s, busyClients, length, func(int) moment {
		now := time.Now()
		return moment{due: now, over: now.After(end)}
	})
}

// paced measures an open loop: requests are due at a rate, whether or not earlier ones have been
// answered. The connections take turns; a busy one sends its request late.
func (b *bench) paced(s *server, rate float64, length time.Duration, conns int) (*load, error) {
	start := time.Now()
	each := time.Duration(float64(time.Second) * float64(conns) / rate) // interval of a connection
	next := make([]time.Time, conns)
	for i := range next {
		next[i] = start.Add(each * time.Duration(i) / time.Duration(conns))
	}
	l, err := b.drive(s, conns, length, func(i int) moment {
		due := next[i]
		wait := time.Until(due)
		if due.Sub(start) >= length || time.Since(start) > length+time.Second {
			return moment{over: true}
		}
		next[i] = due.Add(each)
		time.Sleep(wait)
		return moment{due: due, early: wait > 0}
	})
	if err == nil {
		for _, due := range next {
			l.Unsent += max(0, int(math.Ceil(float64(start.Add(length).Sub(due))/float64(each))))
		}
	}
	return l, err
}

// drive sends requests on all connections, each at the times that next returns.
func (b *bench) drive(s *server, conns int, length time.Duration,
	next func(int) moment) (*load, error) {
	requests := make([][]byte, len(b.queries))
	for i, q := range b.queries {
		requests[i] = requestOf(q)
	}
	tallies := make([]tally, conns)
	cpu, own := s.cpu(), ownCPU()
	var all sync.WaitGroup
	start := time.Now()
	for i := range conns {
		all.Go(func() {
			t := &tallies[i]
			t.statuses = map[int]int{}
			c, err := connect(s.addr, i, conns)
			for n := i * len(requests) / conns; ; n++ { // each begins with another query
				if err != nil { // counted as status 0
					t.err = err
					t.statuses[0]++
					if c != nil {
						c.conn.Close()
					}
					time.Sleep(100 * time.Millisecond)
					if c, err = connect(s.addr, i, conns); err != nil {
						if time.Since(start) > length {
							return
						}
						continue
					}
				}
				at := next(i)
				if at.over {
					c.conn.Close()
					return
				}
				sent := time.Now()
				var status int
				if status, err = c.ask(requests[n%len(requests)]); err == nil {
					now := time.Now()
					t.statuses[status]++
					t.times = append(t.times, now.Sub(at.due))
					if status == http.StatusOK {
						t.sent = append(t.sent, now.Sub(sent))
					}
					if at.early {
						t.lags = append(t.lags, sent.Sub(at.due))
					}
				}
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	l, err := summary(tallies)
	if err != nil {
		return nil, err
	}
	n := float64(l.Requests)
	l.Rate = n / took.Seconds()
	l.CPUMicros = float64((s.cpu() - cpu).Microseconds()) / n
	l.ClientMicros = float64((ownCPU() - own).Microseconds()) / n
	return l, nil
}

// summary combines the results of all connections.
func summary(tallies []tally) (*load, error) {
	l := &load{Statuses: map[string]int{}}
	var times, sent, lags []time.Duration
	for i := range tallies {
		t := &tallies[i]
		times, sent, lags = append(times, t.times...), append(sent, t.sent...), append(lags, t.lags...)
		for status, n := range t.statuses {
			name := strconv.Itoa(status)
			if status == 0 {
				name = "errors"
			}
			l.Statuses[name] += n
		}
		if t.err != nil {
			l.LastError = t.err.Error()
		}
	}
	if len(times) == 0 {
		return nil, fmt.Errorf("no request was answered: %s", l.LastError)
	}
	at := func(list []time.Duration, share float64) float64 {
		if len(list) == 0 {
			return 0
		}
		return list[int(share*float64(len(list)-1))].Seconds() * 1000
	}
	for _, list := range [][]time.Duration{times, sent, lags} {
		slices.Sort(list)
	}
	l.Requests = len(times)
	l.P50, l.P99, l.Max = at(times, 0.5), at(times, 0.99), at(times, 1)
	l.SentP99 = at(sent, 0.99)
	l.LagP50, l.LagP99 = at(lags, 0.5), at(lags, 0.99)
	return l, nil
}

// ownCPU returns the CPU time that this program has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
