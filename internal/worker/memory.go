package worker

import (
	"math"
	"runtime/debug"
	"sync"
)

const (
	defaultMemory = 2e9
	// heapSpare is what Go's runtime takes besides, such as for stacks and its own tables.
	heapSpare = 16e6
)

// jobs is the memory of all large jobs under way.
var jobs struct {
	sync.Mutex
	memory int64
}

// bounded has the garbage collector keep to the memory of the jobs under way. When the last one
// has ended, what they held goes back to the system: a worker may then wait for hours.
func bounded(memory int64) (done func()) {
	if memory <= 0 {
		memory = defaultMemory
	}
	change := func(by int64) {
		jobs.Lock()
		defer jobs.Unlock()
		if jobs.memory += by; jobs.memory > 0 {
			debug.SetMemoryLimit(jobs.memory + heapSpare)
			return
		}
		debug.SetMemoryLimit(math.MaxInt64)
		debug.FreeOSMemory()
	}
	change(memory)
	return func() { change(-memory) }
}
