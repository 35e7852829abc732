package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// clients is how many connections ask at once; each comes from one of a few addresses.
const (
	clients   = 16
	addresses = 8
)

// connection is a connection of HTTP/1.1 that stays open. It costs less than package http's, so that
// the client takes little of the cores that it shares with the server.
type connection struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte
}

func connect(addr string, i int) (*connection, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, byte(1+i%addresses))}, Timeout: 10 * time.Second}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &connection{conn: c, in: bufio.NewReaderSize(c, 4096)}, nil
}

// ask sends a request and reads the answer, which is in body until the next.
func (c *connection) ask(request []byte) (status int, err error) {
	c.conn.SetDeadline(time.Now().Add(time.Minute))
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
		return 0, errors.New("an answer without its length")
	}
	c.body = slices.Grow(c.body[:0], size)[:size]
	_, err = io.ReadFull(c.in, c.body)
	return status, err
}

// load is what clients saw.
type load struct {
	Rate      float64        `json:"requests_per_second"`
	Requests  int            `json:"requests"`
	Statuses  map[string]int `json:"statuses"`
	P50       float64        `json:"p50_ms"`
	P99       float64        `json:"p99_ms"`
	Max       float64        `json:"max_ms"`
	CPUMicros float64        `json:"server_cpu_micros_per_request"`
	LastError string         `json:"last_error,omitempty"`
}

// tally collects what one client saw.
type tally struct {
	times    []time.Duration
	statuses map[int]int
	err      error
}

// closed lets clients ask without pause.
func (b *bench) closed(s *server, length time.Duration) (*load, error) {
	end := time.Now().Add(length)
	return b.drive(s, clients, length, func(int) (time.Time, bool) {
		now := time.Now()
		return now, now.Before(end)
	})
}

// paced lets requests be due at a rate, whether or not earlier ones were answered, as long as one of
// the connections is free.
func (b *bench) paced(s *server, rate float64, length time.Duration, conns int) (*load, error) {
	start := time.Now()
	each := time.Duration(float64(time.Second) * float64(conns) / rate) // between two of a connection
	next := make([]time.Time, conns)
	for i := range next {
		next[i] = start.Add(each * time.Duration(i) / time.Duration(conns))
	}
	return b.drive(s, conns, length, func(i int) (time.Time, bool) {
		due := next[i]
		next[i] = due.Add(each)
		time.Sleep(time.Until(due))
		return due, due.Sub(start) < length
	})
}

// drive lets connections ask, each when next says, which also says when the request was due.
func (b *bench) drive(s *server, conns int, length time.Duration, next func(int) (time.Time, bool)) (*load, error) {
	requests := make([][]byte, len(b.queries))
	for i, q := range b.queries {
		requests[i] = requestOf(q)
	}
	tallies := make([]tally, conns)
	cpu := s.cpu()
	var all sync.WaitGroup
	start := time.Now()
	for i := range conns {
		all.Go(func() {
			t := &tallies[i]
			t.statuses = map[int]int{}
			c, err := connect(s.addr, i)
			for n := i; ; n++ {
				if err != nil { // 0 stands for it
					t.err = err
					t.statuses[0]++
					if c != nil {
						c.conn.Close()
					}
					time.Sleep(100 * time.Millisecond)
					if c, err = connect(s.addr, i); err != nil {
						if time.Since(start) > length {
							return
						}
						continue
					}
				}
				due, ok := next(i)
				if !ok {
					c.conn.Close()
					return
				}
				var status int
				if status, err = c.ask(requests[n%len(requests)]); err == nil {
					t.statuses[status]++
					t.times = append(t.times, time.Since(due))
				}
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	used := s.cpu() - cpu
	l := &load{Statuses: map[string]int{}}
	var times []time.Duration
	for i := range tallies {
		times = append(times, tallies[i].times...)
		for status, n := range tallies[i].statuses {
			name := strconv.Itoa(status)
			if status == 0 {
				name = "errors"
			}
			l.Statuses[name] += n
		}
		if tallies[i].err != nil {
			l.LastError = tallies[i].err.Error()
		}
	}
	if len(times) == 0 {
		return nil, fmt.Errorf("no request was answered: %s", l.LastError)
	}
	slices.Sort(times)
	at := func(share float64) float64 { return times[int(share*float64(len(times)-1))].Seconds() * 1000 }
	l.Requests, l.Rate = len(times), float64(len(times))/took.Seconds()
	l.P50, l.P99, l.Max = at(0.5), at(0.99), at(1)
	l.CPUMicros = float64(used.Microseconds()) / float64(len(times))
	return l, nil
}
