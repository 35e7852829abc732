package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// replica is one server of a shard.
type replica struct {
	url    string
	client shardClient
	mu     sync.Mutex // held while the state is changed
	state  atomic.Pointer[replicaState]
	told   string // last message in the log; used by tell only
}

// replicaState is the state of a server, as last observed.
type replicaState struct {
	about  *shardAbout   // its answer to the last check; nil if it is down
	err    error         // why it is down
	missed int           // number of consecutive checks that it has not answered
	lost   chan struct{} // closed when it goes down
}

// gone is the number of consecutive checks that a server must miss before queries stop waiting for
// it.
const gone = 2

func newReplica(address string, u *url.URL) *replica {
	one := &replica{url: address, client: newShardClient(u)}
	down := &replicaState{err: errors.New("not checked yet"), lost: make(chan struct{})}
	close(down.lost)
	one.state.Store(down)
	return one
}

// fail records that a server has not answered a query or a check.
func (one *replica) fail(err error, look bool) {
	one.mu.Lock()
	defer one.mu.Unlock()
	was := one.state.Load()
	now := &replicaState{err: err, missed: was.missed, lost: was.lost}
	if look {
		now.missed++
	}
	one.state.Store(now)
	if was.about != nil {
		close(was.lost)
	}
}

// answer records the answer of a server to a check.
func (one *replica) answer(a *shardAbout) {
	one.mu.Lock()
	defer one.mu.Unlock()
	was := one.state.Load()
	now := &replicaState{about: a, lost: was.lost}
	if was.about == nil {
		now.lost = make(chan struct{})
	}
	one.state.Store(now)
}

// has reports whether the server is known to have a shard.
func (s *replicaState) has(shard *shardAbout) bool { return s.about != nil && s.about.same(shard) }

// lookCall is the check of a server. Its answer has the schema of the index.
var lookCall = shardCall{method: http.MethodGet, path: "/internal/shard", room: 16 << 20}

// look checks all replicas.
func (r *Root) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.lookTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, g := range r.groups {
		for _, one := range g.replicas {
			wg.Go(func() {
				a := new(shardAbout)
				err := r.call(ctx, one, &lookCall, a)
				if err == nil {
					err = a.valid()
				}
				switch {
				case err == nil:
					one.answer(a)
				case !errors.Is(ctx.Err(), context.Canceled):
					one.fail(err, true)
				}
			})
		}
	}
	wg.Wait()
	r.met.update(r.groups)
}

// metIndexes remembers the order in which a root first saw the indexes that its shards have now.
type metIndexes struct {
	mu    sync.Mutex
	whole map[string]int
	n     int
}

func (m *metIndexes) update(groups []*group) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := map[string]int{}
	for _, g := range groups {
		for _, one := range g.replicas {
			a := one.state.Load().about
			if a == nil {
				continue
			}
			when, known := m.whole[a.Whole]
			if !known {
				when = m.n
			}
			now[a.Whole] = when
		}
	}
	m.whole = now
	m.n++
}

// view returns the index to serve: the one with the most reachable shards, if it was cut into as
// many as the root has. Of several complete ones it is the one that was seen last, so that replicas
// can switch to a new index one after the other. Of several incomplete ones it is the one that is
// served now. It is nil if no server answers.
func (r *Root) view(now string) (best *shardAbout) {
	r.met.mu.Lock()
	defer r.met.mu.Unlock()
	most, latest := 0, 0
	for _, g := range r.groups {
		for _, one := range g.replicas {
			a := one.state.Load().about
			if a == nil {
				continue
			}
			n, when := r.count(a.Whole), r.met.whole[a.Whole]
			better := a.Whole == now
			if n == len(r.groups) {
				better = when > latest
			}
			fits := a.Of == len(r.groups)
			if best != nil && fits != (best.Of == len(r.groups)) {
				n, better = most, fits // an index in another number of shards is only named in errors
			}
			if n > most || n == most && better {
				most, latest, best = r.count(a.Whole), when, a
			}
		}
	}
	return best
}

// count returns the number of reachable shards of an index.
func (r *Root) count(whole string) (n int) {
	for _, g := range r.groups {
		if slices.ContainsFunc(g.replicas, func(one *replica) bool {
			a := one.state.Load().about
			return a != nil && a.Whole == whole
		}) {
			n++
		}
	}
	return n
}

// unreachable returns the reason why no server answers.
func (r *Root) unreachable() error {
	for _, g := range r.groups {
		for _, one := range g.replicas {
			if s := one.state.Load(); s.err != nil {
				return fmt.Errorf("%w: %s: %w", errNoShards, one.url, s.err)
			}
		}
	}
	return errNoShards
}

// notReady returns the reason why an index cannot be searched, or nil if one of its shards is
// reachable.
func (r *Root) notReady(of *generation) error {
	for _, g := range r.groups {
		for _, one := range g.replicas {
			if g.wrong(one, of) == "" {
				return nil
			}
		}
	}
	return r.unserved()
}

// unserved returns the reason why no index is served.
func (r *Root) unserved() error {
	best := r.view("")
	if best == nil {
		return r.unreachable()
	}
	if err := r.consistent(best); err != nil {
		return fmt.Errorf("%w: %w", errNoShards, err)
	}
	return errNoShards // the index was just seen and will be served
}

// consistent checks the list of shards: each number must be there once, and their ranges of
// documents must neither overlap nor leave out any.
func (r *Root) consistent(whole *shardAbout) error {
	if whole.Of != len(r.groups) {
		return fmt.Errorf("the index has %d shards, but %d are listed", whole.Of, len(r.groups))
	}
	taken := map[int]string{}
	var seen []*shardAbout
	var seenAt []string
	for _, g := range r.groups {
		number := -1
		for _, one := range g.replicas {
			a := one.state.Load().about
			switch {
			case a == nil || a.Whole != whole.Whole:
				continue
			case number >= 0 && a.Number != number:
				return fmt.Errorf("%s serves shard %d of the index, but is listed as a replica of shard %d",
					one.url, a.Number, number)
			case number < 0 && taken[a.Number] != "":
				return fmt.Errorf("%s and %s serve the same shard: put | between replicas",
					taken[a.Number], one.url)
			}
			number = a.Number
			taken[number] = one.url
			for at, b := range seen {
				if !(b.Number == number && b.same(a)) && (b.Number == number || !a.apart(b)) {
					return fmt.Errorf("%s has %v, and %s has %v: some documents are in both, or in neither",
						seenAt[at], b, one.url, a)
				}
			}
			seen, seenAt = append(seen, a), append(seenAt, one.url)
		}
	}
	return nil
}

// settle records which shard of an index each group has, once that is known. From then on, a server
// of the group with another shard is not asked.
func (r *Root) settle(of *generation) {
	for _, g := range r.groups {
		for _, one := range g.replicas {
			a := one.state.Load().about
			if of.shards[g.place].Load() == nil && a != nil && a.Whole == of.shard.Whole &&
				of.beside(a) {
				of.shards[g.place].Store(a)
			}
		}
	}
}

// beside reports whether a shard and those that are known so far have different documents.
func (g *generation) beside(a *shardAbout) bool {
	for i := range g.shards {
		if b := g.shards[i].Load(); b != nil && (b.Number == a.Number || !a.apart(b)) {
			return false
		}
	}
	return true
}

// wrong returns the reason why a server is not asked about an index, or "" if it is.
func (g *group) wrong(one *replica, of *generation) string {
	s, mine := one.state.Load(), of.shards[g.place].Load()
	switch {
	case s.about == nil:
		return s.err.Error()
	case of.shard.Whole == "":
		return "no index is served yet"
	case s.about.Whole != of.shard.Whole && s.about.Of != of.shard.Of:
		return fmt.Sprintf("it has shard %d of an index in %d shards (%s), not one of %d (%s)",
			s.about.Number, s.about.Of, s.about.Whole, of.shard.Of, of.shard.Whole)
	case s.about.Whole != of.shard.Whole:
		return fmt.Sprintf("it has another index: %s instead of %s", s.about.Whole, of.shard.Whole)
	case mine == nil && !of.has(s.about.Number):
		return fmt.Sprintf("it has %v, which others have, too", s.about)
	case mine == nil:
		return fmt.Sprintf("it has shard %d of the index, and so have others: write | between replicas",
			s.about.Number)
	case s.about.Number != mine.Number:
		return fmt.Sprintf("it has shard %d of the index, where shard %d should be", s.about.Number,
			mine.Number)
	case !s.about.same(mine):
		return fmt.Sprintf("it has %v, where %v should be", s.about, mine)
	}
	return ""
}

// has reports whether the shard of a number is known.
func (g *generation) has(number int) bool {
	for i := range g.shards {
		if a := g.shards[i].Load(); a != nil && a.Number == number {
			return true
		}
	}
	return false
}

// name returns the name of a group for answers and logs.
func (g *group) name(of *generation) string {
	if mine := of.shards[g.place].Load(); mine != nil {
		return fmt.Sprintf("shard %d", mine.Number)
	}
	return "a shard"
}

// failures are the errors of servers that have not answered a query.
type failures map[*replica]error

// missing returns the error of a group of which no server has answered.
func (g *group) missing(of *generation, failed failures) error {
	var why []string
	m := &missingShard{}
	for _, one := range g.replicas {
		reason := g.wrong(one, of)
		if err := failed[one]; err != nil {
			reason = err.Error()
			said := new(statusError)
			errors.As(err, &said)
			m.busy = m.busy || said.status == http.StatusTooManyRequests
			m.changed = m.changed || said.status == http.StatusConflict
			m.answered = m.answered || said.status != 0
		} else if reason == "" {
			reason = errLate.Error()
		}
		why = append(why, one.url+": "+reason)
	}
	m.text = g.name(of) + ": " + strings.Join(why, "; ")
	return m
}

// missingShard is the reason why no server has answered for a shard.
type missingShard struct {
	text     string
	busy     bool // a server is overloaded: the client should retry
	changed  bool // a server has another index than at the last check
	answered bool // a server has answered with an error
}

func (m *missingShard) Error() string { return m.text }

// Is makes it match errBusy.
func (m *missingShard) Is(err error) bool { return m.busy && err == errBusy }

// final returns the error of a shard that is the error of the whole query: the query is invalid, or
// the shard is busy. For other errors it returns nil, and the shard is missing in the answer.
func final(err error) error {
	if refused := new(statusError); errors.As(err, &refused) &&
		refused.status == http.StatusBadRequest {
		return refusal{err}
	}
	if errors.Is(err, errBusy) {
		return err
	}
	return nil
}

// tell logs which servers went down or came up since the last call.
func (r *Root) tell(log *slog.Logger, of *generation) {
	for _, g := range r.groups {
		for _, one := range g.replicas {
			now := g.wrong(one, of)
			switch {
			case now == one.told:
			case now == "":
				log.Warn("a server answers again", "shard", g.name(of), "server", one.url)
			default:
				log.Warn("a server is not asked", "shard", g.name(of), "server", one.url, "error",
					now)
			}
			one.told = now
		}
	}
}
