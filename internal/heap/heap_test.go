package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

var kept []byte

// With space as much garbage may pile up as it is large, and without it may not. While one
// collection lasts, and on a busy machine it may last long, no other begins; so there are pauses.
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
		t.Errorf("%d bytes were taken", n)
	}
	if with := collections(); with > 1 || without < 2 {
		t.Errorf("%d collections with space, %d without", with, without)
	}
	runtime.KeepAlive(&s)
}

func TestMemory(t *testing.T) {
	if m := Memory(); m < 1<<20 {
		t.Errorf("this machine has %d bytes of memory", m)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	if m := Memory(); m > 1<<30 {
		t.Errorf("%d bytes, although the limit is lower", m)
	}
}
