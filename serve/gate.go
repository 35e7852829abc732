package serve

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// gate decides which request is processed next.
//
// Goals: a client with few requests is served at once, however many others send; no more requests
// run than there are cores; what cannot be served soon is refused early, with status 429.
//
// Requests take one of two lanes. Short queries have as many slots as there are cores. Long
// queries, large results and batches have one slot fewer, so that a core stays free for short
// queries, and an eighth of the slots while short queries arrive. With more, on 16 cores, other
// clients got a sixth as many short queries answered, and the p99 of modest clients was 16 times
// that of an idle server instead of 5. A long request uses as many cores as short queries leave
// free: see cores. It pauses while short queries need the cores: see turn.
//
// On a system whose cores are all busy, threads wait for milliseconds. Therefore, on four cores or
// more, greedy clients get half of the short slots while modest ones send requests.
//
// In each lane, clients get equal shares of the time. Each has a clock that runs while its requests
// are processed, and a free slot goes to the client whose clock is furthest behind. The clock of a
// client that returns after a pause is set to slightly behind the present, so that absence earns
// the next slot and no more. When the queue is full, the client with the most waiting requests
// loses its newest.
//
// Not a goal: protection of the network. [keeper] limits connections.
type gate struct {
	wait        time.Duration
	maxWaiting  int
	clientShare int
	hold        time.Duration
	now         func() time.Time

	few  int // slots of the long lane while short queries arrive
	half int // slots of the short lane for greedy clients while others send requests

	atWork atomic.Int32 // running requests of the short lane

	mu      sync.Mutex
	lanes   [2]laneState
	clients map[netip.Addr]*client
	held    int           // refusals that are being delayed
	short   time.Time     // when a request of the short lane last began or ended
	modest  time.Time     // when a modest client last sent a request to the short lane
	load    float64       // mean number of running requests of the short lane over loadTime
	pressed bool          // short queries need all cores but one, or the only one
	calm    chan struct{} // closed when they no longer do; nil if nothing waits for that
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
	queue                   []*client // clients with waiting requests
	clock                   float64   // of the client that got the last slot
}

// client is the gate's state of an address.
type client struct {
	waiting [2][]*waiter // in order of arrival
	running int
	holding int        // delayed refusals
	clock   [2]float64 // of each lane, in seconds
	mean    [2]float64 // exponential mean of the time of a request in each lane, in seconds
	used    float64    // time in slots of the short lane, in seconds, decaying
	strikes float64    // number of refused requests, decaying
	root    bool       // a root, which sends the queries of many clients: it may fill the queue
	at      time.Time  // when used and strikes were last decayed
}

// waiter is a request in the queue. Its channel receives nil for a slot, or the reason of a
// refusal.
type waiter struct{ turn chan error }

// errBusy refuses a request because others have precedence.
var errBusy = errors.New("the server is busy: try again later")

const (
	fade        = 2 * time.Second        // half-life of used and strikes
	headStart   = 0.005                  // most seconds that the clock of a client is behind after a pause
	mostDebt    = 0.05                   // most seconds that it is ahead
	freeStrikes = 20                     // number of refusals that are not delayed
	maxHeld     = 2048                   // largest number of refusals that are delayed at once
	maxClients  = 4096                   // clients to remember, besides those with requests
	modestTime  = 100 * time.Millisecond // how long greedy clients are restricted after a modest one
	loadTime    = 50 * time.Millisecond  // time constant of the mean load of the short lane
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

// slot is the permission to process a request.
type slot struct {
	gate   *gate
	client *client
	in     lane
	start  time.Time
}

// leave releases a slot. The zero slot is none.
func (s slot) leave() {
	if s.gate == nil {
		return
	}
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	s.gate.end(s.client, s.in, s.gate.now().Sub(s.start))
}

// enter waits for a slot, which the caller must leave.
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
		return g.slot(c, in), nil // grant has counted it as running
	}
	select {
	case turn := <-w.turn: // granted at the last moment
		if turn == nil {
			g.end(c, in, 0)
		}
	default:
		g.remove(c, in, w)
	}
	return slot{}, err
}

// enterFree takes a slot if one is free that nothing waits for.
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

// come returns the client of a new request.
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

// isRoot marks a client as a root.
func (g *gate) isRoot(who netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.client(who).root = true
}

// share is the number of places in the queue that a client may have.
func (g *gate) share(c *client) int {
	if c.root {
		return g.maxWaiting
	}
	return g.clientShare
}

// join puts a request into the queue. It may get a slot or be refused at once.
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

// patience is the longest time that a request waits in a lane. Requests of the long lane take
// longer themselves.
func (g *gate) patience(in lane) time.Duration {
	if in == longLane {
		return 3 * g.wait
	}
	return g.wait
}

// makeRoom drops the newest request of the client with the most waiting requests, unless that is c.
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

// drop takes the i-th request of a client out of the queue.
func (g *gate) drop(c *client, in lane, i int) {
	l := &g.lanes[in]
	if c.waiting[in] = slices.Delete(c.waiting[in], i, i+1); len(c.waiting[in]) == 0 {
		at := slices.Index(l.queue, c)
		l.queue = slices.Delete(l.queue, at, at+1)
	}
	l.waiting--
}

// slot returns the slot of a request that was counted as running.
func (g *gate) slot(c *client, in lane) slot { return slot{g, c, in, g.now()} }

// begin counts a request as running. The client's clock is advanced by the mean time of its
// requests; end corrects the error.
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

// end frees a slot and grants it to the next request.
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

// note updates the mean load. It must be called before the number of running short queries changes.
func (g *gate) note() {
	now := g.now()
	share := min(1, max(0, now.Sub(g.short).Seconds()/loadTime.Seconds()))
	g.load += share * (float64(g.lanes[shortLane].running) - g.load)
	g.short = now
}

// slots returns the current number of slots of a lane.
func (g *gate) slots(in lane) int {
	l := &g.lanes[in]
	if in == longLane && !g.noShort() {
		return min(l.slots, g.few)
	}
	return l.slots
}

// grant gives the free slots of a lane to waiting requests.
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
	return in == shortLane && g.lanes[in].running >= g.half && c.greedy() &&
		g.now().Sub(g.modest) < modestTime
}

// greedy reports whether a client sends requests almost without pause: it has used a slot for a
// quarter of the time.
func (c *client) greedy() bool { return c.used > fade.Seconds()/math.Ln2/4 }

// cores returns the number of the server's cores that a request with a slot may use. A short query
// gets those that no other request uses. A long one gets a share of all cores or, while short
// queries arrive, of those that they leave free. Short queries take about as much time outside
// their slots, for reading and sending, as inside.
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

// quietTime is how long no short query must have run before long ones may use all cores.
const quietTime = 200 * time.Millisecond

// noShort reports whether no short query has run for quietTime.
func (g *gate) noShort() bool {
	l := &g.lanes[shortLane]
	return l.running+l.waiting == 0 && g.now().Sub(g.short) > quietTime
}

// penalty counts a refusal and returns how long to delay it. Without a delay, a client that keeps
// sending invalid requests could occupy a core with refusals alone. The caller calls done when the
// refusal was sent.
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

// client returns the state of a client, and forgets others if there are too many.
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

// idle reports whether a client has no running or waiting request.
func (c *client) idle() bool {
	return c.running+len(c.waiting[shortLane])+len(c.waiting[longLane]) == 0
}

// update decays used and strikes.
func (c *client) update(now time.Time) {
	if d := now.Sub(c.at); d > 0 {
		left := math.Exp2(-d.Seconds() / fade.Seconds())
		c.strikes, c.used, c.at = c.strikes*left, c.used*left, now
	}
}
