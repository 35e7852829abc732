package worker

import (
	"math"
	"runtime/debug"
	"sync"
)

const (
	defaultMemory = 2e9
	// heapSpare is memory of Go's runtime, such as stacks and its own tables.
	heapSpare = 16e6
)

// jobs has the sum of the memory bounds of all large jobs in progress.
var jobs struct {
	sync.Mutex
	memory int64
}

// bounded sets Go's memory limit to the memory of the jobs in progress. After the last one, free
// memory is returned to the system, since a worker may then be idle for hours.
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
