package device

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/ask"
)

// garbage allocates the given number of bytes and returns the number of garbage collections
// meanwhile.
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

// Garbage as large as the empty space may accumulate before a collection. A program with a small
// memory limit has no empty space.
func TestEmptySpace(t *testing.T) {
	want := min(mostEmpty(), emptySome)
	var e emptySpace
	e.take(0)
	e.take(muchKept)
	runtime.GC()
	if n := garbage(want * 3 / 4); n > 1 {
		t.Errorf("%d collections for less garbage than the empty space, want at most 1", n)
	}
	if got := e.bytes(); got < want || got > want+want/8 {
		t.Errorf("empty space of %d bytes, want %d", got, want)
	}
	e.take(muchKept + 1)
	if got, want := e.bytes(), mostEmpty(); got < want || got > want+want/8 {
		t.Errorf("empty space of %d bytes after much was kept, want %d", got, want)
	}

	defer debug.SetMemoryLimit(debug.SetMemoryLimit(2 << 30))
	var small emptySpace
	if small.take(muchKept + 1); small.bytes() != 0 {
		t.Errorf("empty space of %d bytes with a memory limit of 2 GB, want none", small.bytes())
	}
}

func TestEmptyBytes(t *testing.T) {
	for _, x := range []struct{ memory, want int64 }{
		{0, 0}, {4<<30 - 1, 0}, {4 << 30, 64 << 20}, {16 << 30, 256 << 20}, {128 << 30, 1 << 30},
		{math.MaxInt64, 1 << 30},
	} {
		if got := emptyBytes(x.memory); int64(got) != x.want {
			t.Errorf("empty space of %d bytes for a memory of %d, want %d", got, x.memory, x.want)
		}
	}
}

// Only a batch that keeps many results allocates empty space.
func TestEmptySpaceOfBatches(t *testing.T) {
	want := min(mostEmpty(), emptySome)
	s := buildLines(t, "whitespace", "a b", "b c", "c d a")
	use(t, s, Options{})
	requests := slices.Repeat([]ask.Request{{Text: "nowhere"}}, fewKept+1)
	count := func(_ int, found *ask.Result) (int, error) { return len(found.Hits), nil }
	b := ask.Batch{Engine: engine.GPU}
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
	if got := s.gpu.space.bytes(); got != 0 {
		t.Errorf("empty space of %d bytes after few results, and many that were not kept; want none", got)
	}
	for _, err := range s.SearchBatch(context.Background(), slices.Values(requests), b) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := s.gpu.space.bytes(); got < want || got > want+want/8 {
		t.Errorf("empty space of %d bytes after many results, want %d", got, want)
	}
}
