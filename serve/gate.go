package serve

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// gate decides which request is worked on next.
//
// Goals: a client that asks little is served at once, however much others ask; no more requests are
// worked on than there are cores; what cannot be served soon is refused early, with 429.
//
// Requests take one of two lanes. Short queries have as many slots as there are cores. Long
// queries, large results and batches have one slot fewer, so that a core stays free for short ones,
// and an eighth of them while short queries come. With more, on 16 cores, other clients got a sixth
// as many short queries answered, and good clients' p99 was 16 times the quiet one instead of 5.
// Each uses as many cores as short queries leave free: see cores. Work that is under way rests
// while short queries want the cores: see turn.
//
// A system whose cores are all at work lets threads wait for milliseconds. So on four cores or
// more, clients that ask without pause get half of the short slots while others are there that ask
// little.
//
// In each lane clients get equal shares of the time. Each has a clock that runs while its requests
// are worked on, and a free slot goes to the client whose clock is behind those of the others. Who
// comes back after a pause is set to a little behind the present, so that absence earns the next
// turn and no more. When all places in the queue are taken, the client with the most waiting
// requests loses its newest.
//
// Not a goal: to defend the machine's network. Connections are the business of [keeper].
type gate struct {
	wait        time.Duration
	maxWaiting  int
	clientShare int
	hold        time.Duration
	now         func() time.Time

	few  int // slots of the long lane while short queries come
	half int // slots of the short lane for greedy clients while others come

	atWork atomic.Int32 // requests of the short lane that are running

	mu      sync.Mutex
	lanes   [2]laneState
	clients map[netip.Addr]*client
	held    int           // refusals that are being held back
	short   time.Time     // when a request of the short lane last began or ended
	modest  time.Time     // when a client that is not greedy last came to the short lane
	load    float64       // requests of the short lane at work lately, in the mean
	pressed bool          // short queries want all cores but one, or the only one
	calm    chan struct{} // closed when they no longer do; nil if nobody waits for that
}

// lane is one of the two queues.
type lane uint8

const (
	shortLane lane = iota
	longLane
)

func (l lane) String() string { return [...]string{"short", "long"}[l] }

type laneState struct {
	slots, running, waiting int
	queue                   []*client // those with requests that wait
	clock                   float64   // of the client that got a slot last
}

// client is what the gate remembers of an address.
type client struct {
	waiting [2][]*waiter // first come first
	running int
	holding int        // refusals
	clock   [2]float64 // in each lane, in seconds
	mean    [2]float64 // time of a request in each lane, in seconds, the latest counting most
	used    float64    // seconds of the short lane's slots, fading
	strikes float64    // requests that were refused, fading
	root    bool       // a root, which asks for many: it may have all places in the queue
	at      time.Time  // when they were last brought up to date
}

// waiter is a request in the queue. Its channel says that its turn has come, or why it will not.
type waiter struct{ turn chan error }

// errBusy refuses a request because others are before it.
var errBusy = errors.New("the server is busy: try again later")

const (
	fade        = 2 * time.Second        // in which what is remembered of a client halves
	headStart   = 0.005                  // seconds that the clock of a client is behind after a pause, at most
	mostDebt    = 0.05                   // seconds that it is ahead, at most
	freeStrikes = 20                     // refusals that are not held back
	maxHeld     = 2048                   // refusals held back at once
	maxClients  = 4096                   // remembered at once, those with requests aside
	modestTime  = 100 * time.Millisecond // for which greedy clients are held back after others came
	loadTime    = 50 * time.Millisecond  // over which the load of short queries is averaged
)

func newGate(l Limits, shortSlots, longSlots int) *gate {
	g := &gate{
		few:  max(1, longSlots/8),
		half: shortSlots,
		wait: l.Wait, maxWaiting: l.Waiting, clientShare: max(1, l.Waiting/8), hold: l.Hold,
		now: time.Now, clients: map[netip.Addr]*client{},
	}
	if shortSlots >= 4 {
		g.half = shortSlots / 2
	}
	g.lanes[shortLane].slots, g.lanes[longLane].slots = shortSlots, longSlots
	return g
}

// clientOf tells clients apart by address. A household of IPv6 addresses is one client.
func clientOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	a := at.Addr().Unmap().WithZone("")
	if a.Is6() {
		p, _ := a.Prefix(64) // 64 fits
		return p.Addr()
	}
	return a
}

// slot is leave to work on a request.
type slot struct {
	gate   *gate
	client *client
	in     lane
	start  time.Time
}

// leave gives a slot back. The zero slot is nobody's.
func (s slot) leave() {
	if s.gate == nil {
		return
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	s.gate.end(s.client, s.in, s.gate.now().Sub(s.start))
}

// enter waits for a slot, which must be left.
func (g *gate) enter(ctx context.Context, who netip.Addr, in lane) (slot, error) {
	if err := ctx.Err(); err != nil {
		return slot{}, err
	}
	if s, ok := g.enterFree(who, in); ok {
		return s, nil
	}
	c, w := g.join(who, in)
	timer := time.NewTimer(g.patience(in))
	defer timer.Stop()
	var err error
	select {
	case err = <-w.turn:
	case <-timer.C:
		err = errBusy
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil {
		return g.slot(c, in), nil // grant counted it as running
	}
	select {
	case turn := <-w.turn: // at the last moment
		if turn == nil {
			g.end(c, in, 0)
		}
	default:
		g.remove(c, in, w)
	}
	return slot{}, err
}

// enterFree takes a slot if one is free that nobody waits for.
func (g *gate) enterFree(who netip.Addr, in lane) (slot, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := &g.lanes[in]; l.waiting > 0 || l.running >= g.slots(in) {
		return slot{}, false
	}
	c := g.come(who, in)
	if g.heldBack(c, in) {
		return slot{}, false
	}
	g.begin(c, in)
	g.press()
	return g.slot(c, in), true
}

// come is a client with a new request.
func (g *gate) come(who netip.Addr, in lane) *client {
	c, l := g.client(who), &g.lanes[in]
	if c.clock[in] = min(c.clock[in], l.clock+mostDebt); c.idle() {
		c.clock[in] = max(c.clock[in], l.clock-headStart)
	}
	if now := g.now(); in == shortLane {
		if c.update(now); !c.greedy() {
			g.modest = now
		}
	}
	return c
}

// isRoot notes that a client is a root.
func (g *gate) isRoot(who netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.client(who).root = true
}

// share is how many places of the queue a client may have.
func (g *gate) share(c *client) int {
	if c.root {
		return g.maxWaiting
	}
	return g.clientShare
}

// join puts a request into the queue. It may have its turn at once, or be refused.
func (g *gate) join(who netip.Addr, in lane) (*client, *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, l := g.come(who, in), &g.lanes[in]
	w := &waiter{make(chan error, 1)}
	if c.waiting[in] = append(c.waiting[in], w); len(c.waiting[in]) == 1 {
		l.queue = append(l.queue, c)
	}
	l.waiting++
	g.grant(in)
	if len(w.turn) == 0 && (len(c.waiting[in]) > g.share(c) || l.waiting > g.maxWaiting && !g.makeRoom(c, in)) {
		g.remove(c, in, w)
		w.turn <- errBusy
	}
	return c, w
}

// patience is how long a request waits in a lane. Those of the long lane take longer themselves.
func (g *gate) patience(in lane) time.Duration {
	if in == longLane {
		return 3 * g.wait
	}
	return g.wait
}

// makeRoom drops the newest request of the client with the most waiting ones, unless that is c.
func (g *gate) makeRoom(c *client, in lane) bool {
	most := c
	for _, other := range g.lanes[in].queue {
		if len(other.waiting[in]) > len(most.waiting[in]) {
			most = other
		}
	}
	if most == c || len(most.waiting[in]) <= len(c.waiting[in]) {
		return false
	}
	last := most.waiting[in][len(most.waiting[in])-1]
	g.remove(most, in, last)
	last.turn <- errBusy
	return true
}

// remove takes a request out of the queue, if it is still there.
func (g *gate) remove(c *client, in lane, w *waiter) {
	for i, other := range c.waiting[in] {
		if other == w {
			g.drop(c, in, i)
			g.press()
			return
		}
	}
}

// drop takes a client's i-th request out of the queue.
func (g *gate) drop(c *client, in lane, i int) {
	l := &g.lanes[in]
	if c.waiting[in] = slices.Delete(c.waiting[in], i, i+1); len(c.waiting[in]) == 0 {
		at := slices.Index(l.queue, c)
		l.queue = slices.Delete(l.queue, at, at+1)
	}
	l.waiting--
}

// slot is what a request has that was counted as running.
func (g *gate) slot(c *client, in lane) slot { return slot{g, c, in, g.now()} }

// begin counts a request of a client as running. The client's clock is set forward by what its
// requests mostly take; what is wrong with that is put right at the end.
func (g *gate) begin(c *client, in lane) {
	l := &g.lanes[in]
	if in == shortLane {
		g.note()
	}
	l.clock = max(l.clock, c.clock[in])
	c.clock[in] += c.mean[in]
	c.running++
	l.running++
	g.atWork.Store(int32(g.lanes[shortLane].running))
}

// end frees a slot and gives it to the next.
func (g *gate) end(c *client, in lane, took time.Duration) {
	if in == shortLane {
		g.note()
		c.update(g.short)
		c.used += took.Seconds()
	}
	c.clock[in] += took.Seconds() - c.mean[in]
	c.mean[in] += (took.Seconds() - c.mean[in]) / 8
	c.running--
	g.lanes[in].running--
	g.atWork.Store(int32(g.lanes[shortLane].running))
	g.grant(in)
}

// note is called before the number of short queries at work changes.
func (g *gate) note() {
	now := g.now()
	share := min(1, max(0, now.Sub(g.short).Seconds()/loadTime.Seconds()))
	g.load += share * (float64(g.lanes[shortLane].running) - g.load)
	g.short = now
}

// slots is how many a lane has now.
func (g *gate) slots(in lane) int {
	l := &g.lanes[in]
	if in == longLane && !g.noShort() {
		return min(l.slots, g.few)
	}
	return l.slots
}

// grant gives the free slots of a lane to those who wait.
func (g *gate) grant(in lane) {
	l := &g.lanes[in]
	for l.running < g.slots(in) {
		c := g.next(in)
		if c == nil {
			break
		}
		w := c.waiting[in][0]
		g.drop(c, in, 0)
		g.begin(c, in)
		w.turn <- nil
	}
	g.press()
}

// next is the waiting client whose clock is behind those of the others; nil if none may have a
// slot.
func (g *gate) next(in lane) (next *client) {
	for _, c := range g.lanes[in].queue {
		if (next == nil || c.clock[in] < next.clock[in]) && !g.heldBack(c, in) {
			next = c
		}
	}
	return next
}

// heldBack reports whether a client must wait although a slot is free.
func (g *gate) heldBack(c *client, in lane) bool {
	return in == shortLane && g.lanes[in].running >= g.half && c.greedy() && g.now().Sub(g.modest) < modestTime
}

// greedy says that a client asks without pause, or nearly: it has used a slot for a quarter of the
// time.
func (c *client) greedy() bool { return c.used > fade.Seconds()/math.Ln2/4 }

// cores is how many of the server's cores a request that has a slot may use. A short query has
// those that no other has. A long one has a share of all, or, while short queries come, of those
// that they leave free. These take about as much time outside their slots, to be read and sent, as
// inside.
func (g *gate) cores(in lane, all int) int {
	if in == shortLane {
		return max(1, all-int(g.atWork.Load())+1)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.noShort() {
		all = max(g.few, all-1-int(math.Round(2*g.load)))
	}
	return max(1, all/max(1, g.lanes[in].running))
}

// noShort reports whether no short query was worked on for a while. Then long ones may take all
// cores.
func (g *gate) noShort() bool {
	l := &g.lanes[shortLane]
	return l.running+l.waiting == 0 && g.now().Sub(g.short) > 200*time.Millisecond
}

// penalty counts a refusal and says how long to hold it back. A client that keeps sending what is
// refused would otherwise take a core with refusals alone. The caller calls done when it was sent.
func (g *gate) penalty(who netip.Addr) (wait time.Duration, done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.client(who)
	c.update(g.now())
	c.strikes++
	if over := c.strikes - freeStrikes; over > 0 && g.hold > 0 {
		wait = min(g.hold, time.Duration(over*float64(g.hold)/freeStrikes))
	}
	if wait == 0 || g.held >= maxHeld {
		return 0, func() {}
	}
	g.held++
	c.holding++
	return wait, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.held--
		c.holding--
	}
}

// client finds what is known of a client, and forgets others if there are too many.
func (g *gate) client(who netip.Addr) *client {
	if c := g.clients[who]; c != nil {
		return c
	}
	if len(g.clients) >= maxClients {
		for name, c := range g.clients {
			if c.idle() && c.holding == 0 {
				delete(g.clients, name)
			}
		}
	}
	c := &client{at: g.now()}
	g.clients[who] = c
	return c
}

// idle says that a client has no request here.
func (c *client) idle() bool {
	return c.running+len(c.waiting[shortLane])+len(c.waiting[longLane]) == 0
}

// update lets what a client did be forgotten.
func (c *client) update(now time.Time) {
	if d := now.Sub(c.at); d > 0 {
		left := math.Exp2(-d.Seconds() / fade.Seconds())
		c.strikes, c.used, c.at = c.strikes*left, c.used*left, now
	}
}
