package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/text"
)

// Root is how a server without an index reaches the shards of one: see [Options.Root]. Each shard
// has one server or several, its replicas.
//
// A query goes to one shard first. If that has k answers, the others are only asked for those that
// are at least as good as its k-th; if it takes longer than usual, they are asked for all. A
// replica that fails is replaced by the next for the query at hand, and left alone until it
// answers again when it is looked at, every second. Where a replica takes longer than 95% of the
// last queries took, another is asked, too, and the first answer counts; that is done for at most
// one query in 20.
//
// An answer says how many shards and documents it covers. Those of shards that nobody answers for
// are missing.
type Root struct {
	groups []*group
	token  string
	first  int
	turn   atomic.Uint32 // whose turn it is to be asked first

	hedged, failed, missing atomic.Uint64
}

// group is the servers that have the same shard.
type group struct {
	replicas []*replica
	turn     atomic.Uint32
	times    recentTimes
	hedges   hedgeBudget
}

// replica is one server.
type replica struct {
	url    string
	client shardClient
	was    atomic.Pointer[shardAbout] // what it said when it was last looked at; nil: it is down
	down   atomic.Pointer[error]      // why
}

// RootOptions say how to ask. The zero value is useful.
type RootOptions struct {
	// Token is that of the shards' servers.
	Token string
	// First is how many shards are asked before the others; 0 for 1, negative for none.
	First int
}

// ParseShards reads a list of shards as in "http://a:8080|http://b:8080,http://c:8080": two shards,
// the first of which has two replicas.
func ParseShards(list string, o RootOptions) (*Root, error) {
	if strings.ContainsFunc(o.Token, unicode.IsControl) {
		return nil, errors.New("the token of the shards has a control character")
	}
	r := &Root{token: o.Token, first: o.First}
	if r.first == 0 {
		r.first = 1
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(list, ",") {
		g := &group{}
		for address := range strings.SplitSeq(part, "|") {
			address = strings.TrimRight(strings.TrimSpace(address), "/")
			u, err := url.Parse(address)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
				return nil, fmt.Errorf("shard %q: want an address as in http://host:8080, "+
					"with | between replicas and commas between shards", address)
			}
			if seen[address] {
				return nil, fmt.Errorf("shard %q: it is named twice", address)
			}
			seen[address] = true
			one := &replica{url: address, client: newShardClient(u)}
			unseen := errors.New("it was not looked at yet")
			one.down.Store(&unseen)
			g.replicas = append(g.replicas, one)
		}
		r.groups = append(r.groups, g)
	}
	return r, nil
}

// look asks all replicas what they have.
func (r *Root) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for _, g := range r.groups {
		for _, one := range g.replicas {
			wg.Go(func() {
				var a shardAbout
				if err := r.ask(ctx, one, http.MethodGet, "/internal/shard", nil, &a); err != nil {
					if ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
						one.fail(err)
					}
					return
				}
				one.was.Store(&a)
				one.down.Store(nil)
			})
		}
	}
	wg.Wait()
}

// has says whether it has a shard of that index, as far as is known.
func (one *replica) has(whole string) bool {
	a := one.was.Load()
	return a != nil && a.Whole == whole
}

func (one *replica) fail(err error) {
	one.was.Store(nil)
	one.down.Store(&err)
}

// view is which index the shards have: that of which most shards can be asked.
func (r *Root) view() (best *shardAbout, err error) {
	most := 0
	for _, g := range r.groups {
		for _, one := range g.replicas {
			a := one.was.Load()
			if a == nil {
				continue
			}
			n := 0
			for _, g := range r.groups {
				if slices.ContainsFunc(g.replicas, func(o *replica) bool { return o.has(a.Whole) }) {
					n++
				}
			}
			if n > most {
				most, best = n, a
			}
		}
	}
	if best == nil {
		for _, g := range r.groups {
			for _, one := range g.replicas {
				if why := one.down.Load(); why != nil {
					return nil, fmt.Errorf("%w: %w", errNoShards, *why)
				}
			}
		}
		return nil, errNoShards
	}
	return best, r.consistent(best)
}

// consistent says what is wrong with the list of shards: each number must be there once.
func (r *Root) consistent(whole *shardAbout) error {
	if whole.Of != len(r.groups) {
		return fmt.Errorf("the index has %d shards, but %d are named", whole.Of, len(r.groups))
	}
	taken := map[int]string{}
	for _, g := range r.groups {
		number := -1
		for _, one := range g.replicas {
			a := one.was.Load()
			switch {
			case a == nil || a.Whole != whole.Whole:
				continue
			case number >= 0 && a.Number != number:
				return fmt.Errorf("%s has shard %d of the index and is named as a replica of shard %d", one.url, a.Number, number)
			case number < 0 && taken[a.Number] != "":
				return fmt.Errorf("%s and %s have the same shard: write | between replicas", taken[a.Number], one.url)
			}
			number = a.Number
			taken[number] = one.url
		}
	}
	return nil
}

// statusError is an answer of a server that is not what was asked for.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// ask asks one replica.
func (r *Root) ask(ctx context.Context, one *replica, method, path string, body []byte, into any) error {
	headers := traceHeader(ctx)
	if r.token != "" {
		headers += "Authorization: Bearer " + r.token + "\r\n"
	}
	status, said, err := one.client.do(ctx, method, path, headers, body)
	if err != nil {
		return fmt.Errorf("%s: %w", one.url, err)
	}
	if status != http.StatusOK {
		var f failure
		if json.Unmarshal(said, &f); f.Error == "" {
			f.Error = fmt.Sprintf("%d %s", status, http.StatusText(status))
		}
		return &statusError{status, fmt.Sprintf("%s: %s", one.url, f.Error)}
	}
	if a, ok := into.(*shardAnswer); ok && a.parsePlain(string(said)) {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(said))
	in.UseNumber() // stored fields stay as they were written
	if err := in.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", one.url, err)
	}
	return nil
}

// maxShardAnswer is more than an answer of a shard has, in bytes.
const maxShardAnswer = 1 << 30

// order is the replicas in the order in which they are asked: those that are up first, another
// first each time.
func (g *group) order(whole string) []*replica {
	n := len(g.replicas)
	from := int(g.turn.Add(1)) % n
	up, rest := make([]*replica, 0, n), []*replica{}
	for i := range n {
		one := g.replicas[(from+i)%n]
		if a := one.was.Load(); a != nil && a.Whole == whole {
			up = append(up, one)
		} else if a == nil {
			rest = append(rest, one)
		}
	}
	return append(up, rest...)
}

// askGroup asks a group until a replica answers.
func askGroup[T any](ctx context.Context, r *Root, g *group, whole, path string, body []byte) (*T, error) {
	order := g.order(whole)
	if len(order) == 0 {
		return nil, errors.New("it has another index")
	}
	if len(order) == 1 { // there is nobody else to ask
		one, answer, begin := order[0], new(T), time.Now()
		err := r.ask(ctx, one, http.MethodPost, path, body, answer)
		if err == nil {
			g.times.add(time.Since(begin))
			return answer, nil
		}
		r.note(ctx, one, err)
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // also of those who are not waited for
	type outcome struct {
		one    *replica
		answer *T
		err    error
		took   time.Duration
	}
	done := make(chan outcome, len(order))
	next, running := 0, 0
	start := func() {
		one := order[next]
		next++
		running++
		go func() {
			begin, o := time.Now(), outcome{one: one, answer: new(T)}
			o.err = r.ask(ctx, one, http.MethodPost, path, body, o.answer)
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
			return nil, ctx.Err()
		case <-slow:
			slow = nil
			if next < len(order) && order[next].was.Load() != nil && g.hedges.spend() {
				r.hedged.Add(1)
				start()
			}
		case o := <-done:
			running--
			if o.err == nil {
				g.times.add(o.took)
				return o.answer, nil
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !r.note(ctx, o.one, o.err) {
				return nil, o.err
			}
			if next < len(order) {
				start()
			} else if running == 0 {
				return nil, o.err
			}
		}
	}
}

// note takes note of why a replica has not answered, and says whether another may.
func (r *Root) note(ctx context.Context, one *replica, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	refused := new(statusError)
	switch {
	case errors.As(err, &refused) && refused.status == http.StatusBadRequest:
		return false // others would say the same
	case errors.As(err, &refused) && refused.status != http.StatusServiceUnavailable:
		// It is there, but busy, or has another index.
	default:
		one.fail(err)
	}
	r.failed.Add(1)
	return true
}

// recentTimes are how long the last answers of a group took.
type recentTimes struct {
	mu   sync.Mutex
	ring [256]time.Duration
	n    int
	last time.Duration // the 95th percentile, as of the last time it was computed
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

// p95 is what 95% of the last answers did not exceed; it is not known before there were some.
func (t *recentTimes) p95() (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.last > 0
}

// worthAFirst is how long shards must take, in the median, for one of them to be asked before the
// others: the wait is one more way there and back, and what it saves is work.
const worthAFirst = 500 * time.Microsecond

// quick says that shards take less than that, as far as is known.
func (t *recentTimes) quick() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.half > 0 && t.half < worthAFirst
}

// hedgeBudget lets one query in 20 be asked twice, in the long run.
type hedgeBudget struct{ twentieths atomic.Int64 }

func (b *hedgeBudget) earn() {
	if b.twentieths.Add(1) > 200 { // ten at once, after a quiet time
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

// follow looks at the shards every second and serves the index that they have, until the context
// ends.
func (v *Server) follow(ctx context.Context) {
	said := ""
	for {
		v.o.Root.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if err := v.seeShards(); err != nil && err.Error() != said {
			said = err.Error()
			v.log.Warn("shards", "error", err)
		} else if err == nil && said != "" {
			said = ""
			v.log.Warn("shards can be asked again")
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// seeShards makes the index that the shards have the one that is served.
func (v *Server) seeShards() error {
	seen, err := v.o.Root.view()
	if err != nil {
		return err
	}
	now := v.current.Load()
	if now.shard.Whole == seen.Whole {
		return nil
	}
	g := &generation{number: now.number + 1, shard: *seen, tokens: newTokens()}
	if now.shard.Whole == "" {
		g.number = 1
	}
	g.analyzerName, g.hasText, g.docs = seen.Analyzer, seen.Text, int(seen.WholeDocs)
	if g.analyzer, err = text.ParseAnalyzer(seen.Analyzer); err != nil {
		return err
	}
	if seen.Schema != nil {
		if g.schema, err = fields.ParseJSON(seen.Schema); err != nil {
			return err
		}
	}
	g.users.Store(1)
	v.reloading.Lock()
	defer v.reloading.Unlock()
	old := v.current.Swap(g)
	v.log.Info("another index is served", "generation", g.number, "docs", g.docs)
	v.letGo(old)
	return nil
}

// Shards is how many shards there are, and how many documents they have in all, as far as that is
// known.
func (v *Server) Shards() (shards int, docs uint64) {
	if v.o.Root == nil {
		return 0, 0
	}
	return len(v.o.Root.groups), v.current.Load().shard.WholeDocs
}

// NewRoot makes a server that has no index, but asks the shards of one: see Options.Root. They need
// not be there yet.
func NewRoot(ctx context.Context, o Options) *Server {
	v := newServer(o)
	empty := &generation{tokens: newTokens()}
	empty.users.Store(1)
	v.current.Store(empty)
	o.Root.look(ctx)
	if err := v.seeShards(); err != nil {
		v.log.Warn("shards", "error", err)
	}
	return v
}
