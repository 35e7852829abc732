package search

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
)

// garbage leaves so many bytes behind and says how often they were collected.
func garbage(bytes int) uint32 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range bytes >> 16 {
		kept = make([]byte, 1<<16)
	}
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}

var kept []byte

// With empty space as much garbage may pile up as it is large. A program that is to keep its memory small has none.
func TestEmptySpace(t *testing.T) {
	if debug.SetMemoryLimit(-1) < 32*emptyBytes {
		t.Skip("this program is to keep its memory small")
	}
	var e emptySpace
	e.take()
	runtime.GC()
	if n := garbage(emptyBytes * 3 / 4); n > 1 {
		t.Errorf("%d collections for less garbage than there is empty space", n)
	}
	if got := e.space.Cap(); got < emptyBytes {
		t.Errorf("empty space of %d bytes, want %d", got, emptyBytes)
	}

	defer debug.SetMemoryLimit(debug.SetMemoryLimit(16 * emptyBytes))
	var small emptySpace
	if small.take(); small.space.Cap() != 0 {
		t.Errorf("empty space of %d bytes in a program that may have %d", small.space.Cap(), 16*emptyBytes)
	}
}

// A batch takes the space if it keeps many results, and only then.
func TestEmptySpaceOfBatches(t *testing.T) {
	if debug.SetMemoryLimit(-1) < 32*emptyBytes {
		t.Skip("this program is to keep its memory small")
	}
	s := buildLines(t, "whitespace", "a b", "b c", "c d a")
	use(t, s, GPUOptions{})
	requests := slices.Repeat([]Request{{Text: "nowhere"}}, fewKept+1)
	count := func(_ int, found *Result) (int, error) { return len(found.Hits), nil }
	b := Batch{Engine: engine.GPU}
	for _, err := range s.SearchBatch(context.Background(), slices.Values(requests[:fewKept]), b) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range MapBatch(context.Background(), s, slices.Values(requests), b, count) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := s.gpu.space.space.Cap(); got != 0 {
		t.Errorf("empty space of %d bytes after few results, and many that were not kept", got)
	}
	for _, err := range s.SearchBatch(context.Background(), slices.Values(requests), b) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := s.gpu.space.space.Cap(); got < emptyBytes {
		t.Errorf("empty space of %d bytes after many results, want %d", got, emptyBytes)
	}
}
