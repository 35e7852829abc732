package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/text"
)

// Root lets a server without an index ask the servers of an index's shards; see Options.Root. Each
// shard has one server or several, its replicas.
//
// A query goes to one shard first. If that has k hits, the other shards are only asked for hits
// that are at least as good as the k-th; if it takes longer than usual, they are asked without that
// threshold. If a replica fails, the next one is asked. The failed one gets no requests until it
// answers the check that is made every second. If a replica takes longer than 95% of the latest
// queries, another one is asked as well, and the first answer counts. That is done for at most one
// query in 20.
//
// An answer says how many shards and documents it covers. Hits of shards that do not answer are
// missing.
type Root struct {
	groups []*group
	token  atomic.Pointer[string]
	first  int
	turn   atomic.Uint32 // counter that rotates which shard is asked first
	met    metIndexes
	seeing sync.Mutex // held while the shards are checked
	looked time.Time  // when the last check began
	// lookTime is the longest time that a check waits for a server.
	lookTime time.Duration

	hedged, failed, missing atomic.Uint64
}

// group is the servers of one shard.
type group struct {
	place    int // index in the list of groups
	replicas []*replica
	turn     atomic.Uint32
	times    recentTimes
	hedges   hedgeBudget
}

// RootOptions controls how a root asks the servers of its shards. The zero value is useful.
type RootOptions struct {
	// Token is the token of the shards' servers; empty if they need none.
	Token string
	// First is the number of shards that are asked before the others; 0 means 1, and a negative
	// number none.
	First int
}

// ParseShards parses a list of shards such as "http://a:8080|http://b:8080,http://c:8080": commas
// separate shards, bars the replicas of a shard.
func ParseShards(list string, o RootOptions) (*Root, error) {
	if strings.ContainsFunc(o.Token, unicode.IsControl) {
		return nil, errors.New("the token of the shards contains a control character")
	}
	r := &Root{first: o.First, lookTime: time.Second}
	r.token.Store(&o.Token)
	if r.first == 0 {
		r.first = 1
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(list, ",") {
		g := &group{place: len(r.groups)}
		for address := range strings.SplitSeq(part, "|") {
			address = strings.TrimRight(strings.TrimSpace(address), "/")
			u, err := url.Parse(address)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
				u.RawQuery != "" {
				return nil, fmt.Errorf("shard %q: want a URL such as http://host:8080, "+
					"with | between replicas and commas between shards", address)
			}
			if seen[address] {
				return nil, fmt.Errorf("shard %q: it is listed twice", address)
			}
			seen[address] = true
			g.replicas = append(g.replicas, newReplica(address, u))
		}
		r.groups = append(r.groups, g)
	}
	return r, nil
}

// SetToken replaces the token that is sent to the shards' servers; "" means none.
func (r *Root) SetToken(token string) { r.token.Store(&token) }

// statusError is an answer with an HTTP status other than 200.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// shardCall is a request to the server of a shard.
type shardCall struct {
	method, path, headers string // headers are complete lines
	body                  []byte
	room                  int64 // longest body of the answer
}

// call sends a request to one replica. Errors do not name it.
func (r *Root) call(ctx context.Context, one *replica, c *shardCall, into any) error {
	header, answered := asking(ctx, c.method, c.path, one.url)
	headers := c.headers + header
	if token := *r.token.Load(); token != "" {
		headers += "Authorization: Bearer " + token + "\r\n"
	}
	status, said, err := one.client.do(ctx, c.method, c.path, headers, c.body, c.room)
	answered(status)
	if err == nil {
		err = ctx.Err() // large answers take long to parse
	}
	if err != nil {
		return plainly(err)
	}
	if status != http.StatusOK {
		var f problem
		if json.Unmarshal(said, &f); f.Error == "" {
			f.Error = fmt.Sprintf("%d %s", status, http.StatusText(status))
		}
		return &statusError{status, f.Error}
	}
	if a, ok := into.(*shardAnswer); ok && a.parsePlain(string(said)) {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(said))
	in.UseNumber() // keep numbers of stored fields as they are written
	if err := in.Decode(into); err != nil {
		return err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more data after its answer")
	}
	return nil
}

// askReplica asks one replica of a group, and checks that its answer is one to this question.
func (r *Root) askReplica(ctx context.Context, one *replica, c *shardCall, q *shardAsk,
	mine *shardAbout) (*shardAnswer, error) {
	answer := new(shardAnswer)
	if err := r.call(ctx, one, c, answer); err != nil {
		return nil, err
	}
	return answer, answer.fits(q, mine)
}

// errLate is the error of servers that take too long.
var errLate = errors.New("no answer in time")

// plainly strips the address from a network error; the caller adds the server's name.
func plainly(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errLate
	}
	if op := new(net.OpError); errors.As(err, &op) {
		return op.Err
	}
	return err
}

// order returns the replicas in the order in which to ask them: those that are up first, starting
// with another one each time.
func (g *group) order(of *generation) []*replica {
	mine := of.shards[g.place].Load()
	if mine == nil {
		return nil
	}
	n := len(g.replicas)
	from := int(g.turn.Add(1)) % n
	up, rest := make([]*replica, 0, n), []*replica{}
	for i := range n {
		one := g.replicas[(from+i)%n]
		if s := one.state.Load(); s.about == nil && s.missed < gone {
			rest = append(rest, one)
		} else if s.has(mine) {
			up = append(up, one)
		}
	}
	return append(up, rest...)
}

// shardPath is the path of queries to servers of a shard. It contains the number of the shard, so
// that a server whose folder was just replaced does not answer for another shard.
func shardPath(mine *shardAbout) string {
	return "/internal/shard/search?shard=" + strconv.Itoa(mine.Number)
}

// askGroup asks the replicas of a group until one answers, and returns the first answer. A single
// replica is asked directly. With several:
//
//  1. The first replica of the order is asked, in a goroutine.
//  2. The next one is asked as well if the last one goes down (lost), or, as a hedge, if no answer
//     has come after the usual time (slow), while the budget of hedges allows it.
//  3. The next one is also asked when one fails. If all have failed, the error lists why. A request
//     that a replica calls invalid is not repeated: the others would say the same.
//
// Returning cancels the requests that are still running.
func (r *Root) askGroup(ctx context.Context, g *group, of *generation, q *shardAsk,
	body []byte) (*shardAnswer, error) {
	order, mine := g.order(of), of.shards[g.place].Load()
	if len(order) == 0 {
		return nil, g.missing(of, nil)
	}
	c := &shardCall{method: http.MethodPost, path: shardPath(mine), body: body, room: q.room(mine)}
	var failed failures
	if len(order) == 1 { // a single replica
		one, begin := order[0], time.Now()
		answer, err := r.askReplica(ctx, one, c, q, mine)
		if err == nil {
			g.times.add(time.Since(begin))
			return answer, nil
		}
		if ctx.Err() == nil {
			if !r.note(one, err) {
				return nil, err
			}
			failed = failures{one: err}
		}
		return nil, g.missing(of, failed)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // also of slower replicas
	type outcome struct {
		one    *replica
		answer *shardAnswer
		err    error
		took   time.Duration
	}
	done := make(chan outcome, len(order))
	next, running := 0, 0
	var lost <-chan struct{} // closed when the replica that was asked last goes down
	start := func() {
		one := order[next]
		next++
		running++
		lost = one.state.Load().lost
		go func() {
			begin, o := time.Now(), outcome{one: one}
			o.answer, o.err = r.askReplica(ctx, one, c, q, mine)
			o.took = time.Since(begin)
			done <- o
		}()
	}
	start()
	g.hedges.earn()
	var slow <-chan time.Time
	if usual, known := g.times.p95(); known {
		timer := time.NewTimer(usual)
		defer timer.Stop()
		slow = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return nil, g.missing(of, failed)
		case <-slow:
			slow = nil
			if next < len(order) && order[next].state.Load().about != nil && g.hedges.spend() {
				r.hedged.Add(1)
				start()
			}
		case <-lost: // it hangs: ask the next one as well
			lost = nil
			if next < len(order) {
				start()
			}
		case o := <-done:
			running--
			if o.err == nil {
				g.times.add(o.took)
				return o.answer, nil
			}
			if ctx.Err() != nil {
				return nil, g.missing(of, failed)
			}
			if !r.note(o.one, o.err) {
				return nil, o.err
			}
			if failed == nil {
				failed = failures{}
			}
			failed[o.one] = o.err
			if next < len(order) {
				start()
			} else if running == 0 {
				return nil, g.missing(of, failed)
			}
		}
	}
}

// note records why a replica has not answered, and reports whether to ask another.
func (r *Root) note(one *replica, err error) bool {
	refused := new(statusError)
	if errors.As(err, &refused) && refused.status == http.StatusBadRequest {
		return false // others would answer the same
	}
	r.failed.Add(1)
	if refused.status == 0 || refused.status == http.StatusServiceUnavailable {
		one.fail(err, false)
	} // otherwise it is up, but busy or with another index
	return true
}

// recentTimes are the durations of the last answers of a group.
type recentTimes struct {
	mu   sync.Mutex
	ring [256]time.Duration
	n    int
	last time.Duration // 95th percentile, as last computed
	half time.Duration // the median
}

func (t *recentTimes) add(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring[t.n%len(t.ring)] = took
	if t.n++; t.n%32 == 0 {
		sorted := slices.Clone(t.ring[:min(t.n, len(t.ring))])
		slices.Sort(sorted)
		t.last, t.half = sorted[len(sorted)*95/100], sorted[len(sorted)/2]
	}
}

// p95 returns the 95th percentile of the last answers; false while there are too few.
func (t *recentTimes) p95() (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.last > 0
}

// worthAFirst is the median latency of shards above which one of them is asked before the others.
// Asking one first costs an additional round trip, and saves work of the other shards.
const worthAFirst = 500 * time.Microsecond

// quick reports whether shards are known to be faster than worthAFirst.
func (t *recentTimes) quick() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.half > 0 && t.half < worthAFirst
}

// hedgeBudget allows a second request for one query in 20, on average.
type hedgeBudget struct{ twentieths atomic.Int64 }

func (b *hedgeBudget) earn() {
	if b.twentieths.Add(1) > 200 { // at most ten in a row, after an idle time
		b.twentieths.Add(-1)
	}
}

func (b *hedgeBudget) spend() bool {
	if b.twentieths.Add(-20) >= 0 {
		return true
	}
	b.twentieths.Add(20)
	return false
}

// follow checks the shards every second and serves the index that they have, until the context
// ends.
func (v *Server) follow(ctx context.Context) {
	said := ""
	for {
		if err := v.seeShards(ctx); ctx.Err() != nil {
			return
		} else if err != nil && err.Error() != said {
			said = err.Error()
			v.log.Warn("shards", "error", err)
		} else if err == nil && said != "" {
			said = ""
			v.log.Warn("shards can be asked again")
		}
		v.o.Root.tell(v.log, v.first().current.Load())
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// seeShards checks the shards, and serves the index that they have.
func (v *Server) seeShards(ctx context.Context) error {
	v.o.Root.seeing.Lock()
	defer v.o.Root.seeing.Unlock()
	return v.seeShardsNow(ctx)
}

// seeChange is seeShards for a query that found another index than the root serves, unless the
// shards were checked since. It returns the current generation, which the caller must release.
func (v *Server) seeChange(ctx context.Context) *generation {
	met, r := time.Now(), v.o.Root
	r.seeing.Lock()
	defer r.seeing.Unlock()
	if r.looked.Before(met) {
		v.seeShardsNow(context.WithoutCancel(ctx)) // the end of a query does not end the check
	}
	return v.first().hold()
}

func (v *Server) seeShardsNow(ctx context.Context) error {
	r, ix := v.o.Root, v.first()
	now := ix.current.Load()
	r.looked = time.Now()
	r.look(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	seen := r.view(now.shard.Whole)
	if seen == nil {
		return r.unreachable()
	}
	if now.shard.Whole == seen.Whole {
		r.settle(now)
		return nil
	}
	if err := r.consistent(seen); err != nil {
		return err
	}
	g := &generation{number: now.number + 1, shard: *seen, tokens: newTokens(),
		shards: make([]atomic.Pointer[shardAbout], len(r.groups))}
	if now.shard.Whole == "" {
		g.number = 1
	}
	g.analyzerName, g.hasText, g.docs = seen.Analyzer, seen.Text, int(seen.WholeDocs)
	var err error
	if g.analyzer, err = text.ParseAnalyzer(seen.Analyzer); err != nil {
		return err
	}
	if seen.Schema != nil {
		if g.schema, err = fields.ParseJSON(seen.Schema); err != nil {
			return err
		}
	}
	if g.synonyms, err = hasSynonyms(g.analyzer, g.schema); err != nil {
		return err
	}
	r.settle(g)
	g.users.Store(1)
	ix.reloading.Lock()
	defer ix.reloading.Unlock()
	old := ix.current.Swap(g)
	if g.number > 1 {
		v.log.Warn("the shards have another index, which is served now",
			"documents", g.docs, "generation", g.number)
	}
	v.letGo(old)
	return nil
}

// Shards returns the number of shards and of all their documents, as far as they are known.
func (v *Server) Shards() (shards int, docs uint64) {
	if v.o.Root == nil {
		return 0, 0
	}
	return len(v.o.Root.groups), v.first().current.Load().shard.WholeDocs
}

// NewRoot returns a server that has no index, but asks the shards of one; see Options.Root. They
// need not be running yet. The context bounds the first look at them.
func NewRoot(ctx context.Context, o Options) *Server {
	if ctx == nil {
		ctx = context.Background() // there is no error to return
	}
	v := newServer(o)
	empty := &generation{tokens: newTokens(),
		shards: make([]atomic.Pointer[shardAbout], len(o.Root.groups))}
	empty.users.Store(1)
	v.indexes.Store(&[]*served{v.newServed(v.o.Name, "", empty)})
	v.seeShards(ctx) // follow logs errors
	return v
}
