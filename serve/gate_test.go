package serve

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	greedy = netip.MustParseAddr("192.0.2.1")
	modest = netip.MustParseAddr("192.0.2.2")
)

// queued waits until n requests wait in the lane.
func queued(t *testing.T, g *gate, in lane, n int) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		g.mu.Lock()
		waiting := g.lanes[in].waiting
		g.mu.Unlock()
		if waiting == n {
			return
		}
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d requests wait after 10 s, want %d", waiting, n)
		}
	}
}

func mustEnter(t *testing.T, g *gate, who netip.Addr, in lane) func() {
	t.Helper()
	slot, err := g.enter(t.Context(), who, in)
	if err != nil {
		t.Fatal(err)
	}
	return slot.leave
}

// Of two clients, the one that used less time recently goes first, although the other came first.
func TestModestClientGoesFirst(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 100}, 1, 1)
	leave := mustEnter(t, g, greedy, shortLane)
	var mu sync.Mutex
	var order []netip.Addr
	var all sync.WaitGroup
	ask := func(who netip.Addr) {
		all.Go(func() {
			slot, err := g.enter(t.Context(), who, shortLane)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, who)
			mu.Unlock()
			slot.leave()
		})
	}
	for i := range 5 {
		ask(greedy)
		queued(t, g, shortLane, i+1)
	}
	ask(modest)
	queued(t, g, shortLane, 6)
	time.Sleep(10 * time.Millisecond) // the time that the greedy one uses
	leave()
	all.Wait()
	if want := []netip.Addr{modest, greedy, greedy, greedy, greedy, greedy}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// A client may fill an eighth of the queue. When the queue is full, the client with the most
// waiting requests loses one to a client that has none.
func TestQueueIsShared(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 16}, 1, 1)
	defer mustEnter(t, g, modest, longLane)()
	refused := make(chan error, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait := func(who netip.Addr, n int) {
		go func() {
			slot, err := g.enter(ctx, who, longLane)
			if err == nil {
				slot.leave()
			} else if !errors.Is(err, context.Canceled) {
				refused <- err
			}
		}()
		queued(t, g, longLane, n)
	}
	n := 0
	for i := range 8 { // eight clients with two each: the queue is full
		for range 2 {
			n++
			wait(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), n)
		}
	}
	if _, err := g.enter(ctx, netip.AddrFrom4([4]byte{10, 0, 0, 1}), longLane); !errors.Is(err, errBusy) {
		t.Errorf("a third request of one client: error %v, want %v", err, errBusy)
	}
	wait(modest, n) // a client without requests: another loses one of its two
	if err := <-refused; !errors.Is(err, errBusy) {
		t.Errorf("the request that lost its place: error %v, want %v", err, errBusy)
	}
	if len(refused) > 0 {
		t.Errorf("%d more requests were refused, want one in all", len(refused))
	}
}

// A root, which has many clients, may fill the whole queue, but makes room for others.
func TestRootsMayWait(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 16}, 1, 1)
	defer mustEnter(t, g, modest, longLane)()
	g.isRoot(greedy)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 16)
	for i := range 16 {
		go func() {
			_, err := g.enter(ctx, greedy, longLane)
			ended <- err
		}()
		queued(t, g, longLane, i+1)
	}
	if _, err := g.enter(ctx, greedy, longLane); !errors.Is(err, errBusy) {
		t.Errorf("a root with a full queue: error %v, want %v", err, errBusy)
	}
	go g.enter(ctx, modest, longLane)
	if err := <-ended; !errors.Is(err, errBusy) {
		t.Errorf("a request of the root when another client comes: error %v, want %v", err, errBusy)
	}
}

// A request that waits too long is refused, and one that is cancelled leaves the queue; neither
// takes a slot.
func TestWaitingEnds(t *testing.T) {
	g := newGate(Limits{Wait: 20 * time.Millisecond, Waiting: 8}, 1, 1)
	leave := mustEnter(t, g, greedy, shortLane)
	if _, err := g.enter(t.Context(), modest, shortLane); !errors.Is(err, errBusy) {
		t.Errorf("waited too long: error %v, want %v", err, errBusy)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := g.enter(ctx, modest, shortLane); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: error %v, want %v", err, context.DeadlineExceeded)
	}
	queued(t, g, shortLane, 0)
	leave()
	mustEnter(t, g, modest, shortLane)()
}

// Long requests do not take slots of the short lane.
func TestLongRequestsLeaveShortOnesAlone(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 8}, 2, 1)
	defer mustEnter(t, g, greedy, longLane)()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go g.enter(ctx, greedy, longLane)
	queued(t, g, longLane, 1)
	mustEnter(t, g, greedy, shortLane)()
}

// Answers to a client that keeps sending wrong requests are delayed more and more, up to a limit;
// after a while that is forgotten.
func TestPenaltyGrowsAndFades(t *testing.T) {
	g := newGate(Limits{Hold: time.Second, Wait: 1, Waiting: 8}, 1, 1)
	now := time.Now()
	g.now = func() time.Time { return now }
	var waits []time.Duration
	for range 100 {
		wait, done := g.penalty(greedy)
		waits = append(waits, wait)
		done()
	}
	if waits[0] != 0 || waits[freeStrikes-1] != 0 || waits[freeStrikes+4] == 0 || waits[99] != time.Second {
		t.Errorf("delays %v, want none for the first %d, some from the %dth on, and %v in the end", waits,
			freeStrikes, freeStrikes+5, time.Second)
	}
	if wait, _ := g.penalty(modest); wait != 0 {
		t.Errorf("delay of another client %v, want none", wait)
	}
	now = now.Add(20 * time.Second)
	if wait, _ := g.penalty(greedy); wait != 0 {
		t.Errorf("delay after 20 s %v, want none", wait)
	}
}

// With many clients at once, no slot is lost, and never more are taken than there are.
func TestGateUnderLoad(t *testing.T) {
	g := newGate(Limits{Wait: 2 * time.Millisecond, Waiting: 16}, 3, 2)
	var all sync.WaitGroup
	for c := range 40 {
		all.Go(func() {
			for i := range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5)*time.Millisecond)
				in := lane(i % 2)
				slot, err := g.enter(ctx, netip.AddrFrom4([4]byte{10, 0, 0, byte(c)}), in)
				if err == nil {
					g.mu.Lock()
					if l := g.lanes[in]; l.running > l.slots {
						t.Errorf("%d requests run in %d slots", l.running, l.slots)
					}
					g.mu.Unlock()
					slot.leave()
				}
				cancel()
			}
		})
	}
	all.Wait()
	for _, l := range g.lanes {
		if l.running != 0 || l.waiting != 0 {
			t.Errorf("%d running, %d waiting at the end, want none", l.running, l.waiting)
		}
	}
}

// asker is a client of a simulation. It sends the next request after the answer to the last one,
// and not sooner than pace after sending that.
type asker struct {
	who        netip.Addr
	pace, work time.Duration
	sent       time.Time
	client     *client
	waiter     *waiter
	ends       time.Time // end of the work; zero while it waits or pauses
	next       time.Time // when it sends the next request
	waits      []time.Duration
}

// simulate lets askers use a gate for some time of a simulated clock.
func simulate(g *gate, askers []*asker, length time.Duration) {
	start := time.Unix(0, 0)
	now := start
	g.now = func() time.Time { return now }
	for now.Sub(start) < length {
		soonest := start.Add(length)
		for _, a := range askers {
			if a.waiter == nil && !a.next.After(now) {
				a.sent = now
				a.client, a.waiter = g.join(a.who, shortLane)
			}
			if a.waiter != nil && a.ends.IsZero() && len(a.waiter.turn) > 0 {
				<-a.waiter.turn
				a.waits = append(a.waits, now.Sub(a.sent))
				a.ends = now.Add(a.work)
			}
			switch {
			case !a.ends.IsZero() && a.ends.Before(soonest):
				soonest = a.ends
			case a.waiter == nil && a.next.Before(soonest):
				soonest = a.next
			}
		}
		now = soonest
		for _, a := range askers {
			if !a.ends.IsZero() && !a.ends.After(now) {
				g.mu.Lock()
				g.end(a.client, shortLane, a.work)
				g.mu.Unlock()
				a.next = now.Add(200 * time.Microsecond)
				if at := a.sent.Add(a.pace); at.After(a.next) {
					a.next = at
				}
				a.waiter, a.ends = nil, time.Time{}
			}
		}
	}
}

// Nine clients send requests without pause, for more than all slots. Clients that want less than an
// equal share hardly wait. One with expensive requests gets about its share.
func TestSharesAreFair(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 100}, 2, 1)
	var hostile, good []*asker
	for i := range 9 {
		hostile = append(hostile, &asker{who: netip.AddrFrom4([4]byte{10, 0, 1, byte(i)}),
			work: 700 * time.Microsecond})
	}
	for i := range 4 {
		good = append(good, &asker{who: netip.AddrFrom4([4]byte{10, 0, 2, byte(i)}),
			pace: 10 * time.Millisecond, work: 1200 * time.Microsecond})
	}
	much := &asker{who: greedy, work: 5 * time.Millisecond}
	simulate(g, append(append([]*asker{much}, hostile...), good...), 5*time.Second)
	for _, a := range good {
		slices.Sort(a.waits)
		p50, p99 := a.waits[len(a.waits)/2], a.waits[len(a.waits)*99/100]
		t.Logf("%d requests waited %v, %v (99%%), %v (all)", len(a.waits), p50, p99, a.waits[len(a.waits)-1])
		if len(a.waits) < 480 || p50 > 2*time.Millisecond || p99 > 6*time.Millisecond {
			t.Errorf("%d requests, median wait %v, p99 %v; want at least 480, at most 2 ms and 6 ms",
				len(a.waits), p50, p99)
		}
	}
	for _, a := range hostile {
		t.Logf("hostile: %d", len(a.waits))
	}
	slices.Sort(much.waits)
	longest := much.waits[len(much.waits)-1]
	t.Logf("much: %d, longest wait %v", len(much.waits), longest)
	if share := time.Duration(len(much.waits)) * much.work; share < 5*time.Second*2/14*3/4 ||
		longest > 300*time.Millisecond {
		t.Errorf("the client with expensive requests got %v and waited up to %v; want at least %v, at most 300 ms",
			share, longest, 5*time.Second*2/14*3/4)
	}
}

// While short queries come, long requests get few slots; after a while without, they get all.
func TestLongRequestsGetFewSlotsBesideShortOnes(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 100}, 16, 16)
	now := time.Now()
	g.now = func() time.Time { return now }
	short := mustEnter(t, g, modest, shortLane)
	first, second := mustEnter(t, g, greedy, longLane), mustEnter(t, g, greedy, longLane)
	third := make(chan func(), 1)
	go func() {
		slot, err := g.enter(t.Context(), greedy, longLane)
		if err != nil {
			t.Error(err)
		}
		third <- slot.leave
	}()
	queued(t, g, longLane, 1)
	short()
	first() // the third gets its slot
	leave := <-third
	g.mu.Lock()
	now = now.Add(time.Second)
	g.mu.Unlock()
	for range 14 {
		defer mustEnter(t, g, greedy, longLane)()
	}
	second()
	leave()
}

// Long requests share the cores that short ones leave free.
func TestLongRequestsUseFreeCores(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 100}, 16, 15)
	now := time.Now()
	g.now = func() time.Time { return now }
	want := func(in lane, cores int) {
		t.Helper()
		if got := g.cores(in, 16); got != cores {
			t.Errorf("%d cores of 16, want %d", got, cores)
		}
	}
	first := mustEnter(t, g, greedy, longLane)
	want(longLane, 16)
	second := mustEnter(t, g, greedy, longLane)
	want(longLane, 8)
	second()
	var short []func()
	for range 4 { // four at a time without pause
		short = append(short, mustEnter(t, g, modest, shortLane))
	}
	want(shortLane, 13)
	for range 1000 {
		now = now.Add(time.Millisecond)
		short[0]()
		short = append(short[1:], mustEnter(t, g, modest, shortLane))
	}
	want(longLane, 16-1-2*4)
	for range 8 {
		short = append(short, mustEnter(t, g, modest, shortLane))
	}
	now = now.Add(time.Second)
	short[0]()
	want(longLane, 1)
	for _, leave := range short[1:] {
		leave()
	}
	now = now.Add(time.Second)
	want(longLane, 16)
	first()
}

// Clients that send requests without pause get all slots, or half of them if there are others.
func TestGreedyClientsLeaveRoom(t *testing.T) {
	for _, with := range []int{0, 2} {
		g := newGate(Limits{Wait: time.Minute, Waiting: 100}, 16, 15)
		var greedy, good []*asker
		for i := range 12 {
			greedy = append(greedy, &asker{who: netip.AddrFrom4([4]byte{10, 0, 1, byte(i)}), work: time.Millisecond})
		}
		for i := range with {
			good = append(good, &asker{who: netip.AddrFrom4([4]byte{10, 0, 2, byte(i)}),
				pace: 10 * time.Millisecond, work: time.Millisecond})
		}
		simulate(g, append(slices.Clone(greedy), good...), 10*time.Second)
		answered := 0
		for _, a := range greedy {
			answered += len(a.waits)
		}
		// A request takes 1 ms, and the next follows after 0.2 ms.
		if all := 12 * 10_000 * 10 / 12; with == 0 && answered < all*95/100 {
			t.Errorf("alone: %d requests were answered, want about %d", answered, all)
		}
		if some := 8 * 10_000; with > 0 && (answered < some*8/10 || answered > some*115/100) {
			t.Errorf("beside others: %d requests were answered, want about %d", answered, some)
		}
		for _, a := range good {
			if longest := slices.Max(a.waits); longest > time.Millisecond || len(a.waits) < 900 {
				t.Errorf("other clients: %d requests, longest wait %v; want at least 900, at most 1 ms",
					len(a.waits), longest)
			}
		}
	}
}

// quietGate has one slot in each lane and a clock that only the test moves.
type quietGate struct {
	*gate
	at time.Time
}

func newQuietGate() *quietGate {
	q := &quietGate{newGate(Limits{Wait: time.Minute, Waiting: 1000, Hold: time.Second}, 1, 1), time.Unix(1e9, 0)}
	q.now = func() time.Time { return q.at }
	return q
}

// work lets a client alone work for some time, in one request.
func (q *quietGate) work(t *testing.T, who netip.Addr, took time.Duration) {
	t.Helper()
	s, ok := q.enterFree(who, shortLane)
	if !ok {
		t.Fatal("the slot is not free")
	}
	q.at = q.at.Add(took)
	s.leave()
}

// inTurn lets requests of two clients, which both always have one waiting, run for a millisecond
// each. It returns how many of the second run before the first has its turn.
func (q *quietGate) inTurn(t *testing.T, first, second netip.Addr, most int) int {
	t.Helper()
	other := netip.MustParseAddr("192.0.2.3")
	s, ok := q.enterFree(other, shortLane)
	if !ok {
		t.Fatal("the slot is not free")
	}
	one, waits := q.join(first, shortLane)
	two, next := q.join(second, shortLane)
	q.at = q.at.Add(time.Millisecond)
	s.leave()
	for n := range most {
		if len(waits.turn) == 1 {
			q.end(one, shortLane, 0)
			q.remove(two, shortLane, next)
			return n
		}
		if len(next.turn) != 1 {
			t.Fatal("nobody has the slot")
		}
		two, next = q.join(second, shortLane)
		q.at = q.at.Add(time.Millisecond)
		q.mu.Lock()
		q.end(two, shortLane, time.Millisecond)
		q.mu.Unlock()
	}
	t.Fatalf("the first client has no turn in %d", most)
	return 0
}

// A client that comes back after a long pause goes first, but not for as long as it was away: it
// has a head start of 5 milliseconds. A client that used more than its share waits for it, but not
// for all of it: at most for 50 milliseconds of another.
func TestPausesAndDebtsAreBounded(t *testing.T) {
	q := newQuietGate()
	for range 1000 {
		q.work(t, greedy, time.Millisecond)
	}
	if n := q.inTurn(t, greedy, modest, 100); n < 4 || n > 7 {
		t.Errorf("after a pause of a second, %d requests of a millisecond went first, want about 5", n)
	}
	q = newQuietGate()
	q.work(t, modest, time.Millisecond)
	q.work(t, greedy, 10*time.Second)
	if n := q.inTurn(t, greedy, modest, 1000); n < 45 || n > 57 {
		t.Errorf("after 10 seconds in one request, %d requests of another went first, want about 50", n)
	}
}

// At most 2,048 refusals are delayed at once: more would hold connections and memory for those who
// are refused.
func TestHeldRefusalsAreBounded(t *testing.T) {
	q := newQuietGate()
	ends := 0
	for held := 0; ; held++ {
		wait, done := q.penalty(greedy)
		defer done()
		if held >= freeStrikes+2048 {
			if wait > 0 {
				t.Errorf("refusal %d is delayed by %v, beside %d others", held, wait, q.held)
			}
			break
		}
		if (wait > 0) != (held >= freeStrikes) {
			t.Fatalf("refusal %d is delayed by %v", held, wait)
		}
		ends++
	}
	if ends != freeStrikes+2048 || q.held != 2048 {
		t.Errorf("%d refusals, %d delayed", ends, q.held)
	}
}

// The server remembers some thousand clients. If there are more, it forgets those without requests
// and refusals, and no others.
func TestIdleClientsAreForgotten(t *testing.T) {
	q := newQuietGate()
	defer mustEnter(t, q.gate, greedy, shortLane)()
	var done func()
	for range freeStrikes + 1 {
		_, done = q.penalty(modest)
	}
	defer done()
	for i := range 10_000 {
		q.mu.Lock()
		q.client(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}))
		q.mu.Unlock()
		if i == 4000 && len(q.clients) != 4003 {
			t.Errorf("%d clients are known after 4,003 came", len(q.clients))
		}
		if len(q.clients) > 4096 {
			t.Fatalf("%d clients are remembered", len(q.clients))
		}
	}
	if q.clients[greedy] == nil || q.clients[modest] == nil {
		t.Error("a client with a request or a delayed refusal was forgotten")
	}
}

// Where there are four slots or more, a client that works almost without pause gets half of them
// while a modest one is about. Of three or fewer it may have all.
func TestGreedyClientsGetHalf(t *testing.T) {
	for slots, want := range map[int]int{1: 1, 3: 3, 4: 2, 9: 4} {
		q := newQuietGate()
		q.lanes[shortLane].slots = slots
		q.half = newGate(Limits{}, slots, 1).half
		q.work(t, greedy, 2*time.Second)
		q.work(t, modest, time.Millisecond)
		got := 0
		for range slots {
			if s, ok := q.enterFree(greedy, shortLane); ok {
				defer s.leave()
				got++
			}
		}
		if got != want {
			t.Errorf("of %d slots a greedy client gets %d, want %d", slots, got, want)
		}
	}
}
