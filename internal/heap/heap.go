// Package heap answers: how often is garbage collected?
//
// Go collects when the heap has doubled. A program that has its data in mapped files has a small
// heap, so a load of requests makes it collect many times a second. Space changes that without a
// setting: memory that is never touched takes no place but counts as heap, so as much garbage may
// pile up.
package heap

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strings"
)

// Space is memory that nobody touches. Taking it looks like much to collect, so garbage is
// collected once at that time: take it for good.
type Space struct {
	space strings.Builder // for it does not clear its memory
}

// Take takes a number of bytes, once.
func (s *Space) Take(bytes int) { s.space.Grow(max(0, bytes)) }

// Bytes is how many were taken; the runtime rounds up.
func (s *Space) Bytes() int { return s.space.Cap() }

// Memory is what the program may use: that of the machine, of the container, or GOMEMLIMIT.
func Memory() int64 { return min(debug.SetMemoryLimit(-1), machineMemory()) }

// usualMemory is what a machine is taken to have that does not say.
const usualMemory = 16 << 30

func machineMemory() int64 {
	least := int64(math.MaxInt64)
	for _, x := range []struct {
		file, format string
		unit         int64
	}{{"/proc/meminfo", "MemTotal: %d kB", 1 << 10}, {"/sys/fs/cgroup/memory.max", "%d", 1},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "%d", 1}} {
		text, err := os.ReadFile(x.file)
		n := int64(0)
		if err != nil {
			continue
		}
		if _, err := fmt.Sscanf(string(text), x.format, &n); err == nil && n > 0 {
			least = min(least, n*x.unit)
		}
	}
	if least == math.MaxInt64 {
		return usualMemory
	}
	return least
}
