package prim

import "github.com/collocate/collocate/internal/gpu"

// The exported API of package dict names no device, since users of the library cannot import this
// package. So dict sets Upload here, and packages that import dict may call it.

// Dictionary is a dictionary in device memory.
type Dictionary interface {
	// LookUp writes to ids the number of each word of a text on the device, or all ones for words
	// that are not in the dictionary. Words are references as of StringRef. If there are many,
	// one in 32 words fills a cache beforehand; frequent words of up to 8 bytes then take one
	// memory access. The cache needs half a byte of temporary memory per word, at most 16 MB.
	LookUp(s *gpu.Stream, tmp *gpu.Arena, text gpu.Buffer[uint8], words gpu.Buffer[uint64],
		ids gpu.Buffer[uint32]) error
	// Bytes returns the size of the dictionary in device memory.
	Bytes() int64
	// Free frees the device memory.
	Free() error
}

// Upload queues the copy of a *dict.File to the device of a stream.
var Upload func(file any, s *gpu.Stream) (Dictionary, error)
