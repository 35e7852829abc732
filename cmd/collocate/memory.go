package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/mmap"
)

// boundedVerbs are those whose jobs keep to --memory. Searching maps indexes of any size, and
// is faster the more of them is in memory.
var boundedVerbs = map[string]bool{
	"index": true, "weigh": true, "vocab": true, "cooccur": true, "neighbours": true,
	"dict": true, "tokens": true, "generate": true,
}

const (
	// heapSpare is what Go's runtime takes besides, such as for stacks and its own tables.
	heapSpare = 16 * bytesize.MB
	// mappedShare is the part of the memory that mapped files may take.
	mappedShare = 8
)

// boundMemory makes the rest of the program follow the jobs, which count what they hold: the
// garbage collector lets no garbage double that, and mapped files that are read
// from front to back do not stay resident.
func (a *app) boundMemory(cmd *cobra.Command) {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	if boundedVerbs[cmd.Name()] {
		heap := a.memory
		if cmd.Name() == "index" { // whose own data leave that part to what it maps
			heap -= a.memory / mappedShare
		}
		debug.SetMemoryLimit(int64(heap + heapSpare))
		mmap.Trim(int64(a.memory / mappedShare))
	}
}
