package freelist

import (
	"runtime"
	"testing"
)

// What was put back is given out again, even after garbage collections, and no more is kept than
// there are cores.
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
		t.Errorf("%d are kept", kept)
	}
}
