//go:build race

package emu

// Go's race detector looks at the interpreter's own memory accesses, and would report
// those of kernels that races are part of, such as a hash table that is read while
// others write to it. With one worker there is nothing to report but our own.
const defaultWorkers = 1
