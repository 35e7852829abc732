package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// atOnce calls functions many times, each in a goroutine of its own. They take no lock but the one
// that is tested: with another the race detector would take their calls for ordered.
func atOnce(t *testing.T, what string, fns ...func(n int)) {
	t.Helper()
	t.Run(what, func(t *testing.T) {
		var group sync.WaitGroup
		for _, fn := range fns {
			group.Go(func() {
				for n := range 100 {
					fn(n)
				}
			})
		}
		group.Wait()
	})
}

// What requests share may be used by many at once: for each method there is another beside which
// the race detector notices if its lock is missing.
func TestSharedStateAtOnce(t *testing.T) {
	who := netip.MustParseAddr("192.0.2.1")
	k := newKeeper(8)
	pipe, _ := net.Pipe()
	atOnce(t, "connections", func(int) { c, _ := net.Pipe(); k.add(c) }, func(int) { c, _ := net.Pipe(); k.add(c) },
		func(int) { k.changed(pipe, http.StateClosed) })

	g := newGate(Limits{Wait: time.Minute, Waiting: 1000, Hold: time.Second}, 2, 2)
	var done []func()
	for range 100 + freeStrikes {
		_, end := g.penalty(who)
		done = append(done, end)
	}
	done = done[len(done)-100:]
	enter := func(in lane) func(int) {
		return func(int) {
			if slot, err := g.enter(t.Context(), who, in); err != nil {
				t.Error(err)
			} else {
				slot.leave()
			}
		}
	}
	atOnce(t, "penalties", func(int) { g.penalty(who) }, func(n int) { done[n]() }, func(int) { g.penalty(who) })
	atOnce(t, "gate", enter(longLane), enter(shortLane), func(int) { g.state() }, func(int) { g.cores(longLane, 2) },
		func(int) { g.write(new(bytes.Buffer)) })

	m := newMetrics()
	count := func(int) { m.count(requestKey{verb: "search", status: 200, index: "i"}, 1) }
	atOnce(t, "counts", count, func(int) { m.forget("i") })
	atOnce(t, "metrics", count, func(int) { m.write(new(bytes.Buffer)) })
	atOnce(t, "latencies", count, func(int) { m.lately(1) })
	atOnce(t, "searches", func(int) { m.searched(engine.Sequential, new(search.Stats), 1) }, func(int) { m.strategy(new(search.Stats)) })

	mined := newMinedCache()
	atOnce(t, "answers about places", func(n int) { mined.put(fmt.Sprint(n), []byte("a")) },
		func(n int) { mined.get(fmt.Sprint(n)) }, func(n int) { mined.put(fmt.Sprint(n), []byte("a")) })

	q := newQuotas(Limits{Requests: 1 << 30})
	take := func(int) { q.take(q.requests, quotaKey{}, func(u *usage) *level { return &u.requests }, 1) }
	atOnce(t, "quotas", take, take)

	var times recentTimes
	add := func(int) { times.add(time.Millisecond) }
	atOnce(t, "times", add, add, func(int) { times.p95() }, func(int) { times.quick() })

	seen := new(replica)
	seen.state.Store(&replicaState{about: &shardAbout{Whole: "whole"}})
	root := &Root{groups: []*group{{replicas: []*replica{seen}}}}
	atOnce(t, "indexes of shards", func(int) { root.met.update(root.groups) }, func(int) { root.met.update(nil) },
		func(int) { root.view("") })

	var late lateShards
	one := new(group)
	atOnce(t, "late shards", func(int) { late.add(one, io.EOF) }, func(int) { late.of(one) }, func(int) { late.add(one, io.EOF) })

	var p partial
	miss := func(int) { p.miss(errors.New("gone")) }
	atOnce(t, "partial answers", miss, miss, func(int) { p.take(new(shardAnswer)) })

	var client shardClient
	atOnce(t, "connections to shards", func(int) { client.give(&shardConn{Conn: pipe}) }, func(int) { client.give(&shardConn{Conn: pipe}) })
	atOnce(t, "idle connections", func(int) { client.take(t.Context()) }, func(int) { client.take(t.Context()) })

	j := newJobs()
	b := &job{changed: make(chan struct{}), answer: jobAnswer{ID: "1", State: "running"}}
	stage := func(n int) { b.change(func(a *jobAnswer) { a.Stage = fmt.Sprint(n) }) }
	atOnce(t, "a job", stage, stage, func(int) { b.now() })
	atOnce(t, "progress", stage, func(int) { b.progress("", 0, 0) })
	keep := func(int) { j.add(&job{answer: jobAnswer{State: "done"}}) }
	v := New(elife(t, false), Options{})
	v.jobs = j
	atOnce(t, "jobs", keep, keep, func(int) { j.find("1") })
	atOnce(t, "list of jobs", keep, func(int) {
		x := &exchange{Server: v, w: httptest.NewRecorder(), r: httptest.NewRequest("GET", "/v1/jobs", nil)}
		x.listJobs()
	})

	var out bytes.Buffer
	traces, n := &tracer{to: &out}, new(trace)
	span := func(int) {
		traces.write(&exchange{trace: new(trace), r: httptest.NewRequest("GET", "/", nil)}, time.Now(), time.Now())
	}
	atOnce(t, "traces", span, span)
	part := func(int) { n.part("part", time.Now()) }
	atOnce(t, "parts of a trace", part, part, func(int) {
		new(tracer{to: io.Discard}).write(&exchange{trace: n, r: httptest.NewRequest("GET", "/", nil)}, time.Now(), time.Now())
	})

	dir := t.TempDir()
	o := Options{TLSCert: filepath.Join(dir, "cert"), TLSKey: filepath.Join(dir, "key")}
	writeCertificate(t, o, 1)
	c, err := newCertificate(o.TLSCert, o.TLSKey, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.looked = time.Time{}
	get := func(int) { c.get(nil) }
	atOnce(t, "certificate", get, get)
}

// So may the writer of an index, while it is opened, commits, merges and closes. Documents that
// match a query are deleted in the generation in which they were found.
func TestAWriterAtOnce(t *testing.T) {
	v := writable(t, Options{CommitEvery: time.Millisecond})
	must(t, v, "PUT", "/v1/indexes/i", `{"analyzer":"whitespace"}`, 201)
	ix := v.index("i")
	c := ix.writer
	open := func(int) { c.open(segments.Options{}) }
	read := []func(int){open, open, func(int) { c.counts() }, func(int) { c.active() }}
	atOnce(t, "opened", read...)
	w, broken, err := c.open(segments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	change := func(n int) {
		if err := w.Add(text.Document{ID: fmt.Sprint(n), Text: []byte("rose")}); err != nil {
			t.Error(err)
		}
		if err := c.changed(t.Context(), 1, 1, broken, refreshNot, new(writeAnswer)); err != nil {
			t.Error(err)
		}
	}
	atOnce(t, "changed", append(read, change, func(n int) {
		if n%10 == 0 {
			c.poke()
			time.Sleep(time.Millisecond)
		}
	}, func(n int) {
		if n%20 == 0 {
			c.waitForMerge()
		}
	}, func(n int) {
		if n%20 == 0 {
			if _, err := v.Look(t.Context(), false); err != nil {
				t.Error(err)
			}
		}
	}, func(n int) {
		if n%5 > 0 {
			return
		}
		if _, err := c.deleteMatching(w, func(s *search.Searcher) (*search.Within, error) {
			return s.Match(t.Context(), search.Request{Text: "rose"})
		}); err != nil {
			t.Error(err)
		}
	})...)
	atOnce(t, "closed", append(read, func(n int) {
		if n == 0 {
			if err := c.close(); err != nil {
				t.Error(err)
			}
		}
	})...)
}

// Checks of the shards by the clock and by queries take turns, and what shards say of documents is
// taken one answer at a time.
func TestShardsAtOnce(t *testing.T) {
	var replicas [][]*machine
	for _, s := range shardServers(t, elife(t, true), 2) {
		replicas = append(replicas, []*machine{newMachine(t, s)})
	}
	root := rootOver(t, new(strings.Builder), replicas...)
	see := func(n int) {
		if n%20 == 0 {
			if err := root.seeShards(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	atOnce(t, "checks", see, see)
	x := &exchange{Server: root, g: root.first().hold(), r: httptest.NewRequest("GET", "/", nil)}
	for _, r := range replicas {
		r[0].Close()
	}
	answers := 0
	q := &shardAsk{Whole: x.g.shard.Whole, Ask: searchParams{late: new(lateShards)}}
	for range 20 {
		err := x.eachOwner(t.Context(), []uint32{0, uint32(x.g.docs - 1)}, q, func([]int, *shardAnswer, error) { answers++ })
		if err != nil {
			t.Fatal(err)
		}
	}
	if answers != 40 {
		t.Errorf("%d answers, want two for each of twenty questions", answers)
	}
}
