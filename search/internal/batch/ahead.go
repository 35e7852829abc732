package batch

import (
	"unsafe"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/simd"
)

// lookedUp is a request with its looked-up words, or the error of the lookup.
type lookedUp struct {
	i       int64
	wording lookup.Wording
	err     error
}

// upcoming holds the requests that a worker will answer next.
type upcoming struct {
	some  [lookAhead]lookedUp
	at, n int
}

// next returns the request that a worker answers next; nil if there is none.
func (c *pool[T]) next(w *worker[T]) *lookedUp {
	u := &w.upcoming
	if u.at == u.n && !c.lookUp(w) {
		return nil
	}
	u.at++
	return &u.some[u.at-1]
}

// lookUp claims some requests and looks up their words. It returns false if there are none.
func (c *pool[T]) lookUp(w *worker[T]) bool {
	u := &w.upcoming
	u.at, u.n = 0, 0
	i, ok := c.takeOne(w.claim)
	for most := min(lookAhead, 1+int(w.claim.count())/2); ok; i, ok = w.claim.pop() {
		u.some[u.n].i = i
		simd.PrefetchLine(unsafe.Pointer(unsafe.StringData(c.request(i).Text)))
		if u.n++; u.n == most {
			break
		}
	}
	some := u.some[:u.n]
	if err := mmap.Safely(func() error { c.find(some); return nil }); err != nil {
		for j := range some {
			some[j].err = err
		}
	}
	return u.n > 0
}

// find looks up the words of several requests, each step for all of them, so that their memory
// accesses overlap.
func (c *pool[T]) find(some []lookedUp) {
	for j := range some {
		l := &some[j]
		l.err = l.wording.Read(&c.s.Lexicon, c.request(l.i))
	}
	for j := range some {
		some[j].wording.Guess(&c.s.Lexicon)
	}
	for j := range some {
		l := &some[j]
		if l.err == nil {
			l.err = l.wording.LookUp(&c.s.Lexicon, c.request(l.i))
		}
	}
}
