//go:build race

package emu

// Go's race detector sees the memory accesses that the interpreter makes for kernels. It would
// report kernels that tolerate races, such as a hash table that is read while others write to it.
// With one worker it reports only races of the interpreter itself.
const defaultWorkers = 1
