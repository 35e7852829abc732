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

// queued waits until the lane has a number of waiting requests.
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
			t.Fatalf("%d requests wait, want %d", waiting, n)
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

// Of two clients the one that used less time lately goes first, although the other came first.
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
	time.Sleep(10 * time.Millisecond) // that the greedy one has used
	leave()
	all.Wait()
	if want := []netip.Addr{modest, greedy, greedy, greedy, greedy, greedy}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// A client can fill an eighth of the queue, and when the queue is full the client with the most
// waiting requests makes room.
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
		t.Errorf("a third request of one client: %v, want that it is refused", err)
	}
	wait(modest, n) // one who had none: another loses one of two
	if err := <-refused; !errors.Is(err, errBusy) {
		t.Error(err)
	}
	if len(refused) > 0 {
		t.Errorf("%d more were refused", len(refused))
	}
}

// A root asks for many clients, and may have all places that others leave.
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
		t.Errorf("no place is left: %v", err)
	}
	go g.enter(ctx, modest, longLane)
	if err := <-ended; !errors.Is(err, errBusy) {
		t.Errorf("another client comes: %v, want that the root loses a place", err)
	}
}

// A client that waits too long is refused; one that goes away is forgotten; neither takes a slot
// with it.
func TestWaitingEnds(t *testing.T) {
	g := newGate(Limits{Wait: 20 * time.Millisecond, Waiting: 8}, 1, 1)
	leave := mustEnter(t, g, greedy, shortLane)
	if _, err := g.enter(t.Context(), modest, shortLane); !errors.Is(err, errBusy) {
		t.Errorf("waited too long: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := g.enter(ctx, modest, shortLane); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("went away: %v", err)
	}
	queued(t, g, shortLane, 0)
	leave()
	mustEnter(t, g, modest, shortLane)()
}

// Long requests, however many, leave the short lane free.
func TestLongRequestsLeaveShortOnesAlone(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 8}, 2, 1)
	defer mustEnter(t, g, greedy, longLane)()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go g.enter(ctx, greedy, longLane)
	queued(t, g, longLane, 1)
	mustEnter(t, g, greedy, shortLane)()
}

// Refusals are held back from who keeps sending such, and that is forgotten after a while.
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
		t.Errorf("waits %v", waits)
	}
	if wait, _ := g.penalty(modest); wait != 0 {
		t.Errorf("another client waits %v", wait)
	}
	now = now.Add(20 * time.Second)
	if wait, _ := g.penalty(greedy); wait != 0 {
		t.Errorf("after 20 s still %v", wait)
	}
}

// Many clients at once: no slot is lost, and never more than there are are taken.
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
						t.Errorf("%d running in %d slots", l.running, l.slots)
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
			t.Errorf("%d running, %d waiting when all is over", l.running, l.waiting)
		}
	}
}

// asker is a client of a simulation: it sends a request, and another when it was answered, not
// sooner than pace after the last.
type asker struct {
	who        netip.Addr
	pace, work time.Duration
	sent       time.Time
	client     *client
	waiter     *waiter
	ends       time.Time // of the work; zero: it waits, or pauses
	next       time.Time // when it asks again
	waits      []time.Duration
}

// simulate lets askers use a gate for a time, by a clock that jumps from one event to the next.
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

// Nine clients ask without pause, for more than there is. Others that ask for less than an equal
// share hardly wait. One that asks for more waits for its share, but is not left out.
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
			t.Errorf("%d requests, half waited longer than %v, one of a hundred longer than %v", len(a.waits), p50, p99)
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
		t.Errorf("the one that asks for much got %v and waited up to %v", share, longest)
	}
}

// While short queries come, long requests get few slots; when none has come for a while, all.
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
	first() // its slot goes to the third
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

// A long request may use the cores that short ones leave free, and shares them with other long
// ones.
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
	for range 4 { // four at a time, without pause
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

// Clients that ask without pause get all slots, or half of them while others are there.
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
		// A request takes a millisecond, and a fifth of one passes until the next.
		if all := 12 * 10_000 * 10 / 12; with == 0 && answered < all*95/100 {
			t.Errorf("alone, %d requests were answered, want about %d", answered, all)
		}
		if some := 8 * 10_000; with > 0 && (answered < some*8/10 || answered > some*115/100) {
			t.Errorf("beside others, %d requests were answered, want about %d", answered, some)
		}
		for _, a := range good {
			if longest := slices.Max(a.waits); longest > time.Millisecond || len(a.waits) < 900 {
				t.Errorf("one of %d requests waited for %v", len(a.waits), longest)
			}
		}
	}
}
