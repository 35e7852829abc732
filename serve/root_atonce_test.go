package serve

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/collocate/collocate/api"
)

// Queries at once never share a connection, and give all of them back.
func TestConnectionsAtOnce(t *testing.T) {
	const queries, rounds = 8, 500
	closed := 0
	c := &shardClient{}
	for range queries {
		c.give(&shardConn{Conn: closable{closed: &closed}})
	}
	var wg sync.WaitGroup
	for range queries {
		wg.Go(func() {
			for range rounds {
				conn, kept, err := c.take(t.Context())
				if err != nil || !kept {
					t.Errorf("took %v, kept %v, %v; want one of those that are idle", conn, kept, err)
					return
				}
				conn.left++ // a race, were it lent twice
				c.give(conn)
			}
		})
	}
	wg.Wait()
	uses := int64(0)
	for _, conn := range c.idle {
		uses += conn.left
	}
	if len(c.idle) != queries || uses != queries*rounds || closed != 0 {
		t.Errorf("%d connections are idle after %d uses, %d were closed; want %d, %d and 0",
			len(c.idle), uses, closed, queries, queries*rounds)
	}
}

// Queries that fail and checks that succeed change the state of a server at the same time. Those
// that wait for it are told once when it goes down, and only then.
func TestServerGoesUpAndDownAtOnce(t *testing.T) {
	about, late := &shardAbout{Of: 1}, errors.New("late")
	for _, failing := range []int{1, 4} { // against checks, and against each other, too
		one := newReplica("http://a", &url.URL{Scheme: "http", Host: "a"})
		for round := range 2000 {
			one.answer(about)
			var wg sync.WaitGroup
			start := make(chan struct{})
			for range failing {
				wg.Go(func() {
					<-start
					for range 4 {
						one.fail(late, false)
					}
				})
			}
			wg.Go(func() {
				<-start
				for range 4 {
					one.answer(about)
				}
			})
			close(start)
			wg.Wait()
			s := one.state.Load()
			told := false
			select {
			case <-s.lost:
				told = true
			default:
			}
			if down := s.about == nil; told != down {
				t.Fatalf("%d failing, round %d: the server is down: %v, and those that wait were told so: %v",
					failing, round, down, told)
			}
		}
	}
}

// A request for the state of a root finds the index to serve while a check records which there are.
func TestViewsBesideChecks(t *testing.T) {
	r := &Root{}
	for i := range 2 {
		one := newReplica("http://a", &url.URL{Scheme: "http", Host: "a"})
		one.answer(&shardAbout{Whole: "whole", Number: i, Of: 2})
		r.groups = append(r.groups, &group{place: i, replicas: []*replica{one}})
	}
	const rounds = 100
	var wg sync.WaitGroup
	wg.Go(func() {
		for range rounds {
			r.met.update(r.groups)
		}
	})
	for range 2 {
		wg.Go(func() {
			for range rounds {
				if best := r.view(""); best == nil || best.Whole != "whole" {
					t.Errorf("the index to serve is %v, want the one that all have", best)
					return
				}
			}
		})
	}
	wg.Wait()
	if r.met.n != rounds {
		t.Errorf("%d checks were counted, want %d", r.met.n, rounds)
	}
}

// Shards that answer and shards that are missing are counted while others arrive.
func TestAnswersAndMissesAtOnce(t *testing.T) {
	const shards = 64
	p, late := &partial{}, new(lateShards)
	groups := make([]group, shards)
	var wg sync.WaitGroup
	for i := range shards {
		wg.Go(func() {
			g := &groups[i]
			if err := late.of(g); err != nil {
				t.Errorf("shard %d is late before it was asked: %v", i, err)
			}
			if i%2 == 0 {
				p.take(&shardAnswer{Hits: []api.Hit{{Doc: uint32(i), Score: 1}}, Total: 1, Documents: 10})
				return
			}
			err := fmt.Errorf("shard %d is late", i)
			late.add(g, err)
			p.miss(err)
		})
	}
	wg.Wait()
	p.best(shards)
	if !slices.IsSortedFunc(p.hits, func(a, b placedHit) int { return int(a.Doc) - int(b.Doc) }) ||
		len(p.hits) != shards/2 || p.total != shards/2 {
		t.Errorf("hits %v of %d; want %d in the order of documents", p.hits, p.total, shards/2)
	}
	c := p.coverage
	if c.Answered != shards/2 || c.Documents != 10*shards/2 || len(c.Missing) != shards/2 {
		t.Errorf("%d shards of %d documents answered, %d are missing; want %d, %d, %d",
			c.Answered, c.Documents, len(c.Missing), shards/2, 10*shards/2, shards/2)
	}
	for i := range groups {
		if err := late.of(&groups[i]); (err != nil) != (i%2 == 1) {
			t.Errorf("shard %d: late because of %v; want every second one", i, err)
		}
	}
}
