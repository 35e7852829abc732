package device

import (
	"sync"

	"github.com/collocate/collocate/internal/heap"
)

// Garbage is collected when the heap has doubled. A searcher's heap is small, since the index is in
// mapped files and on the device. But a batch fills it fast: 50,000 web queries leave 12 MB of
// garbage with ten answers each and 180 MB with a thousand. So there were 1.6 collections per such
// batch (16 cores), each taking seven milliseconds. During that time the collector uses a quarter
// of the cores, and allocating goroutines must assist it.

// emptySpace is reserved address space that makes the heap count as larger, so that garbage is
// collected less often. It is never released.
type emptySpace struct {
	some, rest sync.Once
	space      [2]heap.Space
}

// take reserves part of the space, and all of it if more than muchKept bytes were kept.
func (e *emptySpace) take(kept int64) {
	e.some.Do(func() { e.space[0].Take(min(emptySome, mostEmpty())) })
	if kept > muchKept {
		e.rest.Do(func() { e.space[1].Take(mostEmpty() - emptySome) })
	}
}

// bytes returns the size of the space that was reserved.
func (e *emptySpace) bytes() int { return e.space[0].Bytes() + e.space[1].Bytes() }

func mostEmpty() int { return emptyBytes(heap.Memory()) }

// emptyBytes returns the size of the space for the given amount of memory.
func emptyBytes(memory int64) int {
	if n := min(memory/emptyShare, emptyMost); n >= emptyLeast {
		return int(n)
	}
	return 0
}
