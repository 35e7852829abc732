package device

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/collocate/collocate/search/internal/ask"
)

// stubPart stores the document number of each result.
type stubPart struct{ docs []uint32 }

func (p *stubPart) make(i int, found *ask.Result) error { p.docs[i] = found.Hits[0].Doc; return nil }

func (p *stubPart) kept() []*ask.Result { return nil }

// A stub takes the place of the device. Several lanes take chunks, helpers fetch requests and make
// results, and each request is answered once, in order, although the ring is filled several times.
// Without a device, this can run under the race detector. There storeRelease is an atomic Store, so
// the detector checks the order that it promises, not its assembly.
func TestRingDeliversInOrder(t *testing.T) {
	total := 3 * len(ringSlots{})
	if testing.Short() {
		total = 5 * len(ringSlots{}) / 4
	}
	for _, stopAt := range []int{total, total / 3} {
		var batches atomic.Int32
		var wg sync.WaitGroup
		ring := newRing(func(_, n int) batchPart { return &stubPart{make([]uint32, n)} })
		helpers := newHelperPool(4, &batches, &wg)
		for lane := range 3 {
			wg.Go(func() {
				for c := ring.take(helpers); c != nil; c = ring.take(helpers) {
					each := func(do func(i int)) {
						helpers.spread(lane, c.first, len(c.requests), spreadBy, func(from, to int) {
							for i := from; i < to; i++ {
								do(i)
							}
						})
					}
					helpers.spread(lane, c.first, len(c.requests), spreadBy,
						func(from, to int) { ring.copyOut(c, from, to) })
					ring.copied(c)
					each(func(i int) {
						r := c.requests[i].whole()
						c.use(i, &ask.Result{Hits: []ask.Hit{{Doc: uint32(len(r.Text) + r.K)}}}, nil)
					})
					ring.space.took(len(c.requests), len(c.requests))
					c.answered()
					ring.busy.Add(-1)
				}
			})
		}
		wg.Go(func() {
			ring.fetch(func(yield func(ask.Request) bool) {
				for i := 0; i < total; i++ {
					if !yield(ask.Request{Text: fmt.Sprintf("%*d", i%7, 0), K: 10 + i%1000}) {
						return
					}
				}
			}, helpers)
		})
		n := 0
		for c := ring.next(helpers); c != nil && n < stopAt; c = ring.next(helpers) {
			<-c.done
			for _, doc := range c.made.(*stubPart).docs {
				if want := uint32(max(n%7, 1) + 10 + n%1000); doc != want {
					t.Fatalf("result %d is %d, want %d", n, doc, want)
				}
				n++
			}
			c.free()
		}
		ring.stop()
		helpers.stop()
		wg.Wait()
		ring.free()
		if n < stopAt {
			t.Errorf("%d results of %d", n, stopAt)
		}
	}
}
