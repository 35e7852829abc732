package device

import (
	"sync"

	"github.com/collocate/collocate/internal/heap"
)

// Garbage is collected when the heap has doubled. That of a searcher is small, since the index is
// in mapped files and on the device, but a batch fills it fast: 50,000 queries of the web leave 12
// MB behind with ten answers each and 180 with a thousand. So garbage was collected 1.6 times in a
// batch of these (16 cores), each time for seven milliseconds in which the collector takes a
// quarter of the cores, and goroutines that allocate have to assist it.

// emptySpace is reserved address space that makes the heap count as larger, so that garbage is
// collected less often. It is never given back.
type emptySpace struct {
	some, rest sync.Once
	space      [2]heap.Space
}

// take takes some of the space, and all of it if the given number of bytes were kept.
func (e *emptySpace) take(kept int64) {
	e.some.Do(func() { e.space[0].Take(min(emptySome, mostEmpty())) })
	if kept > muchKept {
		e.rest.Do(func() { e.space[1].Take(mostEmpty() - emptySome) })
	}
}

// bytes is how large the space is that was taken.
func (e *emptySpace) bytes() int { return e.space[0].Bytes() + e.space[1].Bytes() }

func mostEmpty() int { return emptyBytes(heap.Memory()) }

// emptyBytes is how large the space may be if there is so much memory.
func emptyBytes(memory int64) int {
	if n := min(memory/emptyShare, emptyMost); n >= emptyLeast {
		return int(n)
	}
	return 0
}
