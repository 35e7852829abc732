package main

import (
	"io"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/mmap"
)

// Verbs that keep to --memory bound the heap by it, index by what mapped files leave of it; search
// does not bound the heap.
func TestMemoryLimit(t *testing.T) {
	old := debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetMemoryLimit(old)
		mmap.Trim(math.MaxInt64)
	}()
	for line, want := range map[string]int64{
		"weigh":       int64(800*bytesize.MB + heapSpare),
		"index":       int64(700*bytesize.MB + heapSpare),
		"index stats": int64(700*bytesize.MB + heapSpare),
		"search":      math.MaxInt64,
	} {
		debug.SetMemoryLimit(math.MaxInt64)
		a := newApp(strings.NewReader(""), io.Discard, io.Discard)
		cmd, _, err := newRoot(a).Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		a.memory = 800 * bytesize.MB
		a.boundMemory(cmd)
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("%s: the heap limit is %d, want %d", line, got, want)
		}
	}
}
