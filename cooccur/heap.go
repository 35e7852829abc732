package cooccur

import (
	"runtime"
	"runtime/debug"
)

// boundHeap keeps the heap from growing to twice its live size while a job runs that needs more
// bytes in addition, including the runtime's own. It lowers the program's memory limit, which makes
// garbage collections more frequent but never fails, and returns a function that restores the old
// limit. A stricter limit is left as it is.
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
