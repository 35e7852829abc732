// Package heap answers: how often is garbage collected?
//
// Go collects garbage when the heap has doubled. A program that has its data in mapped files has a
// small heap, so a load of requests makes it collect many times a second. Space changes that
// without a setting. Memory that is never touched is not resident but counts as heap, so the same
// amount of garbage may accumulate between collections.
package heap

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strings"
)

// Space is memory that nobody touches. Allocating it triggers a collection, so keep it permanently.
type Space struct {
	space strings.Builder // because it does not clear its memory
}

// Take allocates a number of bytes, once.
func (s *Space) Take(bytes int) { s.space.Grow(max(0, bytes)) }

// Bytes returns the number of bytes allocated, which the runtime rounds up.
func (s *Space) Bytes() int { return s.space.Cap() }

// Memory returns the memory that the program may use: that of the machine, of the container, or
// GOMEMLIMIT.
func Memory() int64 { return min(debug.SetMemoryLimit(-1), machineMemory()) }

// usualMemory is assumed for a machine that does not report its memory.
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
