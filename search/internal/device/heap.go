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

// fewKept is how many results a batch may keep before it takes some of the space, and muchKept how
// many bytes of answers before it takes the rest. A caller that asks for some at a time, as a
// server's clients do, leaves little behind at once, and memory counts for more there.
const (
	fewKept  = manyQueries
	muchKept = 1 << 26
)

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

// The space is at most a 64th of the memory that there is, and a gigabyte; if it would be small
// there is none. To keep the results of 50,000 queries of the web with a thousand answers each took
// 5 to 10 ms beside the 9 to 12 of all else with 256 MB, 2 to 6 with 512, and less than one with a
// gigabyte (16 cores, medians). It has a price beside memory: until the heap has grown as large,
// results are written to pages that the system has to give first. With ten answers each, the first
// 45 batches took 4 to 5 ms, later ones 2.5.
const (
	emptyShare = 64
	emptySome  = 1 << 28
	emptyMost  = 1 << 30
	emptyLeast = 1 << 26
)

// emptyBytes is how large the space may be if there is so much memory.
func emptyBytes(memory int64) int {
	if n := min(memory/emptyShare, emptyMost); n >= emptyLeast {
		return int(n)
	}
	return 0
}
