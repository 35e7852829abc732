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

// idle has the results with many idle connections.
type idle struct {
	Connections int   `json:"connections"`
	MemoryMB    int   `json:"memory_mb"` // with the idle connections
	BeforeMB    int   `json:"memory_before_mb"`
	Half        *load `json:"half"` // other connections at half of the capacity
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
		if err := c.askOK(request); err != nil {
			return nil, fmt.Errorf("idle connection %d: %w", i+1, err)
		}
	}
	var err error
	if r.Half, err = b.paced(s, rate, b.length, pacedClients); err != nil {
		return nil, err
	}
	r.Connections, r.MemoryMB = len(open), s.memory()
	for _, c := range open {
		if err := c.askOK(request); err == nil {
			r.Working++
		}
	}
	return r, nil
}

// over has the results of an overload.
type over struct {
	*load
	OtherStatuses int   `json:"other_than_200_and_429"`
	MemoryMB      []int `json:"memory_mb"` // at intervals during the overload
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

// killed has the results of kill -9 under load: how many answers differ afterwards.
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

// answers returns the answers to all queries, without their times.
func (b *bench) answers(s *server) (map[string]string, error) {
	c, err := connect(s.addr, 0, 1)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	all := map[string]string{}
	for _, q := range b.queries {
		if err := c.askOK(requestOf(q)); err != nil {
			return nil, fmt.Errorf("query %q: %w", q, err)
		}
		all[q] = regexp.MustCompile(`,"micros":[0-9]+`).ReplaceAllString(string(c.body), "")
	}
	return all, nil
}
