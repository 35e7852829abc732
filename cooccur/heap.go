package cooccur

import (
	"runtime"
	"runtime/debug"
)

// boundHeap keeps the garbage collector from letting the heap grow to twice what
// is in use while a job runs that needs some more bytes, the runtime's own
// included: it lowers the program's memory limit, which makes collections more
// frequent but never fails, and returns what puts the old limit back. A stricter
// limit is left as it is.
func boundHeap(more int64) (restore func()) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	limit := int64(m.HeapAlloc) + more
	old := debug.SetMemoryLimit(-1)
	if limit >= old {
		return func() {}
	}
	debug.SetMemoryLimit(limit)
	return func() { debug.SetMemoryLimit(old) }
}
