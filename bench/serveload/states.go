//go:build unix

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"
)

// idle is what many idle connections do to a server.
type idle struct {
	Connections int   `json:"connections"`
	MemoryMB    int   `json:"memory_mb"` // with them
	BeforeMB    int   `json:"memory_before_mb"`
	Half        *load `json:"half"` // latency of others at half of the capacity
	Working     int   `json:"still_working"`
}

func (b *bench) idleConnections(s *server, rate float64) (*idle, error) {
	r := &idle{BeforeMB: s.memory()}
	request := requestOf(b.queries[0])
	var open []*connection
	defer func() {
		for _, c := range open {
			c.conn.Close()
		}
	}()
	for i := range b.idle {
		c, err := connect(s.addr, i, b.idle)
		if err != nil {
			return nil, fmt.Errorf("idle connection %d: %w (see ulimit -n)", i+1, err)
		}
		open = append(open, c)
		if status, err := c.ask(request); err != nil || status != 200 {
			return nil, fmt.Errorf("idle connection %d: status %d, %w", i+1, status, err)
		}
	}
	var err error
	if r.Half, err = b.paced(s, rate, b.length, pacedClients); err != nil {
		return nil, err
	}
	r.Connections, r.MemoryMB = len(open), s.memory()
	for _, c := range open {
		if status, err := c.ask(request); err == nil && status == 200 {
			r.Working++
		}
	}
	return r, nil
}

// over is what too many requests do to a server.
type over struct {
	*load
	OtherStatuses int   `json:"other_than_200_and_429"`
	MemoryMB      []int `json:"memory_mb"` // as time goes on
	Recovery      *load `json:"first_second_afterwards"`
}

func (b *bench) tooMuch(s *server, capacity float64) (*over, error) {
	if b.overload <= 0 {
		return nil, nil
	}
	r := &over{}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(max(time.Second, b.overload/20))
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.MemoryMB = append(r.MemoryMB, s.memory())
			case <-done:
				return
			}
		}
	})
	var err error
	r.load, err = b.paced(s, 2*capacity, b.overload, overClients)
	close(done)
	watching.Wait()
	if err != nil {
		return nil, err
	}
	for status, n := range r.Statuses {
		if status != "200" && status != "429" {
			r.OtherStatuses += n
		}
	}
	r.Recovery, err = b.paced(s, capacity/10, time.Second, pacedClients)
	return r, err
}

// killed is what kill -9 under load does.
type killed struct {
	Answers     int     `json:"answers"`
	Different   int     `json:"different"`
	RestartSecs float64 `json:"restart_seconds"`
}

func (b *bench) kill(s **server) (*killed, error) {
	before, err := b.answers(*s)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := b.closed(*s, 2*time.Second)
		ended <- err
	}()
	time.Sleep(time.Second)
	(*s).cmd.Process.Kill()
	(*s).cmd.Wait()
	<-ended
	start := time.Now()
	if *s, err = b.start(b.collocate, "serve", b.index, "--addr", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	after, err := b.answers(*s)
	if err != nil {
		return nil, err
	}
	r := &killed{Answers: len(before), RestartSecs: time.Since(start).Seconds()}
	for _, q := range slices.Sorted(maps.Keys(before)) {
		if before[q] != after[q] {
			r.Different++
		}
	}
	return r, nil
}

// answers are those to all queries, without the time that they took.
func (b *bench) answers(s *server) (map[string]string, error) {
	c, err := connect(s.addr, 0, 1)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	all := map[string]string{}
	for _, q := range b.queries {
		status, err := c.ask(requestOf(q))
		if err != nil || status != 200 {
			return nil, fmt.Errorf("%q: status %d, %w", q, status, err)
		}
		all[q] = regexp.MustCompile(`,"micros":[0-9]+`).ReplaceAllString(string(c.body), "")
	}
	return all, nil
}
