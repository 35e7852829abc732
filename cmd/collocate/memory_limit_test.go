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

// A job that keeps to --memory bounds the heap by it, index by what it leaves to mapped files; a
// search bounds nothing.
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
			t.Errorf("%s: the heap is bound to %d, want %d", line, got, want)
		}
	}
}
