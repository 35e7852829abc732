package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/mmap"
)

// boundedVerbs are the verbs whose jobs keep to --memory. Search is not among them: it maps indexes
// of any size and is faster the more of an index is resident.
var boundedVerbs = map[string]bool{
	"index": true, "sync": true, "weigh": true, "vocab": true, "cooccur": true, "neighbours": true,
	"collocations": true, "concordance": true, "dispersion": true, "keywords": true, "ngrams": true,
	"wordlist": true, "embed": true, "dict": true, "tokens": true, "generate": true,
}

const (
	// heapSpare is the memory that Go's runtime needs besides the data, such as for stacks.
	heapSpare = 16 * bytesize.MB
	// mappedShare is the divisor of --memory that gives the part for mapped files.
	mappedShare = 8
)

// boundMemory keeps the program within --memory. The jobs bound their own data; here the garbage
// collector gets a limit, so that garbage does not double the heap, and mapped files that are read
// sequentially do not stay resident.
func (a *app) boundMemory(cmd *cobra.Command) {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	if boundedVerbs[cmd.Name()] {
		heap := a.memory
		if cmd.Name() == "index" { // its bound includes the files that it maps
			heap -= a.memory / mappedShare
		}
		debug.SetMemoryLimit(int64(heap + heapSpare))
		mmap.Trim(int64(a.memory / mappedShare))
	}
}
