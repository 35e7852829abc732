package search

import (
	"runtime/debug"
	"strings"
	"sync"
)

// Garbage is collected when the heap has doubled. That of a searcher is small, since the index is in mapped files and on the device, but a batch fills it fast:
// 50,000 queries of the web leave 12 MB behind with ten answers each and 180 with a thousand. So garbage was collected 1.6 times in a batch of these, and
// now 0.5 times (16 cores), each time for one to three milliseconds in which whoever makes results has to help.

// emptySpace is memory that nobody touches, which takes no place but counts as heap: so much garbage, too, may pile up.
type emptySpace struct {
	once  sync.Once
	space strings.Builder // for that does not clear its memory
}

// emptyBytes is how large it is. The 50,000 queries took 4.4 to 6.3 ms without it (all words wanted, ten answers), 3.7 to 4.4 with 64 MB and 2.8 to 3.5 with 256; with
// a thousand answers for any word 21 to 22, 19.5 and 17 (16 cores, medians).
const emptyBytes = 256 << 20

// fewKept is how many results a batch may keep before it takes the space. Who asks for some at a time, as a server's clients do, leaves little behind at once, and
// memory counts for more there.
const fewKept = manyQueries

// take takes the space for good, unless the program is to keep its memory small.
func (e *emptySpace) take() {
	e.once.Do(func() {
		if debug.SetMemoryLimit(-1) >= 32*emptyBytes {
			e.space.Grow(emptyBytes)
		}
	})
}
