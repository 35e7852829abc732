package freelist

import (
	"runtime"
	"testing"
)

// Values that were put back are used again, even after garbage collections. At most as many are
// kept as there are cores.
func TestList(t *testing.T) {
	made := 0
	l := New(func() *int { made++; n := made; return &n })
	a, b := l.Get(), l.Get()
	if *a != 1 || *b != 2 {
		t.Fatalf("%d and %d, want two values", *a, *b)
	}
	l.Put(b)
	runtime.GC()
	runtime.GC()
	if c := l.Get(); c != b {
		t.Errorf("got %d, want the one that was put back", *c)
	}
	for range 2 * runtime.GOMAXPROCS(0) {
		l.Put(new(int))
	}
	if kept := len(l.free); kept != runtime.GOMAXPROCS(0) {
		t.Errorf("%d values are kept, want one per core", kept)
	}
}
