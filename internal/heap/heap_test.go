package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

var kept []byte

// With Space, as much garbage as its size may accumulate, otherwise not. No collection begins while
// another one runs, which may take long on a busy machine, so the test pauses between allocations.
func TestSpace(t *testing.T) {
	collections := func() uint32 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range 3 << 24 >> 16 { // 48 MB
			kept = make([]byte, 1<<16)
			if i%16 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		runtime.ReadMemStats(&after)
		return after.NumGC - before.NumGC
	}
	without := collections()
	var s Space
	s.Take(1 << 26)
	if n := s.Bytes(); n < 1<<26 || n > 1<<26+1<<23 {
		t.Errorf("%d bytes were allocated, want 64 to 72 MB", n)
	}
	if with := collections(); with > 1 || without < 2 {
		t.Errorf("%d collections with space and %d without, want at most 1 and at least 2", with, without)
	}
	runtime.KeepAlive(&s)
}

func TestMemory(t *testing.T) {
	if m := Memory(); m < 1<<20 {
		t.Errorf("Memory returned %d bytes, want at least 1 MB", m)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	if m := Memory(); m > 1<<30 {
		t.Errorf("Memory returned %d bytes, want at most the limit of 1 GB", m)
	}
}
